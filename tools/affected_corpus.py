#!/usr/bin/env python3
"""`overlay affected --rendered` on random commits of a corpus, against rendering every overlay at both ends with a real kustomize.

usage: tools/affected_corpus.py OVERLAY CORPUS COMMITS [SEED]          (needs git, and kustomize on PATH or in KUSTOMIZE)

CORPUS has `expected.tsv`, whose first column names the overlays. Each commit changes one to three lines of files that the
overlays may read: a remark, a number, a word of a value, or the removal of a line.
"""
import json, os, random, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

overlay, corpus, commits = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
kustomize = os.environ.get("KUSTOMIZE", "kustomize")
top = tempfile.mkdtemp(prefix="affected-")
repo = os.path.join(top, "repo")
environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="c", GIT_AUTHOR_EMAIL="c@example.test",
                   GIT_COMMITTER_NAME="c", GIT_COMMITTER_EMAIL="c@example.test")


def git(*args):
    return subprocess.run(["git", "-C", repo, *args], check=True, capture_output=True, text=True, env=environment).stdout


def render(name):
    ran = subprocess.run([kustomize, "build", os.path.join(repo, name)], capture_output=True, env=environment)
    return ran.stdout if ran.returncode == 0 else None


def render_all():
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(overlays, pool.map(render, overlays)))


def is_component(name):
    """Components are no overlays: `affected` lists who uses them."""
    names = ("kustomization.yaml", "kustomization.yml", "Kustomization")
    paths = (os.path.join(corpus, name, file) for file in names)
    texts = (open(path, encoding="utf-8").read() for path in paths if os.path.exists(path))
    return any(re.search(r"^kind: *Component", text, re.M) for text in texts)


def change(path):
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    at = random.randrange(len(lines))
    kind = random.randrange(4)
    if kind == 0:
        lines.insert(at, "# a remark\n") if not lines[at].startswith((" ", "\t")) else None
    elif kind == 1:
        lines[at] = re.sub(r"\d+", lambda m: str(int(m.group()) + 1), lines[at], count=1)
    elif kind == 2:
        lines[at] = re.sub(r"(: )([A-Za-z]+)", r"\1\2x", lines[at], count=1)
    else:
        del lines[at]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


with open(os.path.join(corpus, "expected.tsv"), encoding="utf-8") as table:
    overlays = [line.split("\t")[0] for line in table.readlines()[1:]]
overlays = [name for name in overlays if not is_component(name)]
shutil.copytree(corpus, repo, ignore=shutil.ignore_patterns("expected", "*.tsv"), symlinks=True)
git("init", "-q", "-b", "main")
git("add", "-A", "-f")
git("commit", "-q", "-m", "start")
files = [f for f in git("ls-files").splitlines() if f.endswith((".yaml", ".yml", ".env", ".conf"))]
files = [f for f in files if os.path.getsize(os.path.join(repo, f)) and not os.path.islink(os.path.join(repo, f))]
before, wrong, differing = render_all(), 0, 0
for number in range(commits):
    for _ in range(random.randint(1, 3)):
        change(os.path.join(repo, random.choice(files)))
    git("add", "-A", "-f")
    git("commit", "-q", "--allow-empty", "-m", str(number))
    after = render_all()
    wanted = {name for name in overlays if before[name] != after[name]}
    args = [overlay, "affected", "--from", "HEAD~1", "--to", "HEAD", "--bases", "-o", "json"]
    ran = subprocess.run(args, cwd=repo, capture_output=True, text=True, env=environment)
    found = {o["path"]: o["rendersDifferently"] for o in json.loads(ran.stdout)["result"]["overlays"]}
    found = {path for path, differs in found.items() if differs and path in set(overlays)}
    differing += len(wanted)
    if found != wanted:
        wrong += 1
        print(f"commit {number}: not found {sorted(wanted - found)}, too many {sorted(found - wanted)}")
        print(git("show", "--stat", "--format=%h"))
    before = after
print(f"{commits} commits, {differing} renders that differ, {wrong} commits told wrongly; in {top}")
sys.exit(1 if wrong else 0)
