#!/usr/bin/env python3
"""Writes variants of the cases of fixtures/build, for `differential tree` to compare.

    tools/vary_fixtures.py SEED COUNT DIRECTORY [FEATURE ...]

Each variant is the input tree of a case (of these features; default all but charts) in which some lines
were changed at random: moved, repeated, removed, given another value, key, comment, tag or style. Some get
a kustomization above them whose fields are those of other cases. One seed gives the same variants for the
same cases. DIRECTORY must not exist.
"""

import argparse
import pathlib
import random
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "build"
NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
LEFT_OUT = {"helm", "openapi", "bases"}
# Fields that name files, and fields that say what a kustomization is.
NOT_INLINE = re.compile(r"resources|bases|components|apiVersion|kind|metadata|openapi|helm|crds|configurations"
                        r"|generators|transformers|validators|(?s:.*(path:|\.yaml|files|envs?:|\.env))", re.I)
VALUES = ["null", "~", '""', "true", '"true"', "3", '"3"', "1.0", "[]", "{}", "a b", "yes", "2001-01-01", "0x10",
          "x: y", "- x", "'a\\n", '"a\\nb"', "[a, b]", "{a: b}", "{a: null}", "# c", ""]
TAGS = ["!!str", "!!int", "!!binary", "!!foo", "!x", "&a"]
KEYS = ["metadata", "labels", "annotations", "name", "data", "spec", "items", "kind", "apiVersion", "$patch"]
LINES = ["$patch: delete", "$patch: replace", "- $patch: replace", "# c", "#", "---", "...", ""]
BLOCKS = [" |\n", " >-\n", " |+\n", " >\n"]
FIELD = re.compile(r"(\s*(?:- )?)([^:#]+)(:) ?(.*)")


def text_of(path):
    """The text of a small file; None for others."""
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return None
    return text if len(text) < 6000 and "\0" not in text else None


def indent_of(line):
    return len(line) - len(line.lstrip())


def fields_of(case):
    """The top-level fields of a case's kustomizations that name no file."""
    for path in sorted(case.rglob("*")):
        if path.name in NAMES and (text := text_of(path)):
            fields = re.split(r"\n(?=[A-Za-z])", text.strip())
            yield from (f for f in fields if re.match(r"[A-Za-z]+:", f) and not NOT_INLINE.match(f))


def change(dice, line, other):
    """What stands in place of a line; `other` is one of the same file."""
    field, indent = FIELD.fullmatch(line), " " * indent_of(line)
    kinds = ["drop", "repeat", "insert", "comment", "other"]
    if field:
        kinds += ["value", "value", "tag", "key", "quote", "explicit", "block"]
    lead, key, colon, value = field.groups() if field else ("", "", "", "")
    match dice.choice(kinds):
        case "drop":
            return []
        case "repeat":
            return [line, line]
        case "insert":
            return [indent + dice.choice(LINES), line]
        case "comment":
            return [line + dice.choice([" # c", " #"])]
        case "other":
            return [indent + other.lstrip()]
        case "value":
            return [f"{lead}{key}{colon} {dice.choice(VALUES)}"]
        case "tag":
            return [f"{lead}{key}{colon} {dice.choice(TAGS)} {value}"]
        case "key":
            return [f"{lead}{dice.choice(KEYS)}{colon} {value}"]
        case "quote":
            return [f'{lead}"{key}"{colon} {value}']
        case "explicit":
            return [f"{lead}? {key}", f"{' ' * len(lead)}: {value}"]
        case _:
            deeper = f"\n{indent}      deeper" * dice.randrange(2)
            return [f"{lead}{key}{colon}{dice.choice(BLOCKS)}{indent}    {value}{deeper}"]


def vary(dice, text):
    lines = text.split("\n")
    full = [at for at, line in enumerate(lines) if line.strip()]
    if not full:
        return text
    at = dice.choice(full)
    lines[at:at + 1] = change(dice, lines[at], lines[dice.choice(full)])
    return "\n".join(lines)


def write_variant(dice, case, fields, folder):
    """Copies the case, changes some lines, and may put a kustomization above it."""
    inner = folder / "overlay"
    has_folders = (case / "overlay").is_dir()
    shutil.copytree(case, folder if has_folders else inner)
    files = [path for path in sorted(folder.rglob("*.y*ml")) if text_of(path)]
    for _ in range(dice.choice([0, 1, 2, 3, 5])):
        if files:
            path = dice.choice(files)
            path.write_text(vary(dice, path.read_text()))
    if dice.random() < 0.5:
        chosen = {field.split(":")[0].lower(): field for field in dice.sample(fields, 3)}
        (folder / "above").mkdir()
        text = "\n".join(["resources:", "- ../overlay", *list(chosen.values())[:dice.randint(1, 3)]])
        (folder / "above" / "kustomization.yaml").write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("feature", nargs="*")
    asked = parser.parse_args()
    features = set(asked.feature)
    cases = [path for path in sorted(ROOT.glob("*/*/in")) if (path.parent / "expected.yaml").exists()]
    cases = [path for path in cases if path.parts[-3] not in LEFT_OUT]
    fields = [field for case in cases for field in fields_of(case)]
    cases = [path for path in cases if not features or path.parts[-3] in features]
    dice = random.Random(asked.seed)
    for number in range(asked.count):
        write_variant(dice, dice.choice(cases), fields, asked.directory / f"{number:05}")


if __name__ == "__main__":
    main()
