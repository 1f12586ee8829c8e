#!/usr/bin/env python3
"""Time `overlay build` beside kustomize and kubectl, whole processes in turn, and print a Markdown table.

usage: tools/bench_build.py OVERLAY_BINARY CORPUS [--runs N] [--kustomize PATH] [--kubectl PATH] [--large DIR...]

CORPUS is a folder with `expected.tsv` (overlay, sha256, bytes) as the published corpus has. For each overlay every program runs
N times, one after the other, so that all see the same machine. The best wall time of each counts (noise only adds), and the
largest resident set is what GNU time (`time`) reports. Speed-up is the geometric mean over the overlays of the ratio.
"""
import argparse, csv, math, os, shutil, statistics, subprocess, sys, time


def run(command):
    """Wall seconds and exit status of one process; its output is thrown away."""
    start = time.perf_counter()
    code = subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start, code


def peak(command):
    """Peak resident KiB, as GNU time sees it: a child of this interpreter would be charged with the interpreter's own pages."""
    timed = subprocess.run(["time", "-f", "%M"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(timed.stderr.split()[-1])


def measure(programs, directory, runs):
    """Best wall seconds and peak KiB of each program on one overlay."""
    best = {name: math.inf for name in programs}
    for _ in range(runs):
        for name, command in programs.items():
            wall, code = run(command + [directory])
            if code != 0:
                sys.exit(f"{name} failed on {directory}")
            best[name] = min(best[name], wall)
    return {name: (wall, peak(programs[name] + [directory])) for name, wall in best.items()}


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def summary(programs, results):
    print("| program | geometric mean, ms | sum, ms | overlay is faster by (geometric mean) | peak memory, MiB | overlay needs of it |")
    print("|---|---|---|---|---|---|")
    for name in programs:
        walls = [r[name][0] for r in results]
        faster = geometric_mean([r[name][0] / r["overlay"][0] for r in results])
        memory = geometric_mean([r[name][1] for r in results])
        share = geometric_mean([r["overlay"][1] / r[name][1] for r in results])
        print(f"| {name} | {geometric_mean(walls) * 1e3:.2f} | {sum(walls) * 1e3:.0f} | {faster:.1f} x | {memory / 1024:.1f} | {share:.1%} |")


def largest(programs, rows):
    print("\nThe largest outputs:\n")
    print("| overlay | output, bytes | " + " | ".join(f"{n}, ms" for n in programs) + " | " + " | ".join(f"{n}, MiB" for n in programs) + " |")
    print("|---|---|" + "---|" * (2 * len(programs)))
    for name, size, result in rows:
        cells = [f"{result[n][0] * 1e3:.1f}" for n in programs] + [f"{result[n][1] / 1024:.0f}" for n in programs]
        print(f"| {name} | {size} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("corpus")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--kustomize", default=shutil.which("kustomize"))
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    parser.add_argument("--large", nargs="*", default=[])
    args = parser.parse_args()

    programs = {"overlay": [os.path.abspath(args.binary), "--root", "/", "build"]}
    if args.kustomize:
        programs["kustomize"] = [args.kustomize, "build"]
    if args.kubectl:
        programs["kubectl"] = [args.kubectl, "kustomize"]

    with open(os.path.join(args.corpus, "expected.tsv")) as table:
        overlays = [(row["overlay"], int(row["bytes"])) for row in csv.DictReader(table, delimiter="\t")]
    results = {o: measure(programs, os.path.join(args.corpus, o), args.runs) for o, _ in overlays}
    print(f"{len(overlays)} overlays, best of {args.runs} whole processes each:\n")
    summary(programs, results.values())

    rows = [(o, size, results[o]) for o, size in sorted(overlays, key=lambda x: -x[1])[:5]]
    for directory in args.large:
        output = subprocess.run(programs["overlay"] + [directory], stdout=subprocess.PIPE).stdout
        rows.append((os.path.basename(directory), len(output), measure(programs, directory, args.runs)))
    largest(programs, rows)


main()
