#!/usr/bin/env python3
"""How often `lapwing compare` and benchstat agree on benchstat's own test data.

Takes the folder cmd/benchstat/testdata of golang.org/x/perf, and what benchstat says from the outputs that are kept
there. Each pair of files is compared as it is (`-count=10`, one process per side) and with each sample in a file of its
own, as if each were a process. Prints the number of rows by benchstat's and our answer; exits with 1 if a row contradicts,
that is if both show a difference, in opposite directions.

    cargo build
    benches/benchstat.py perf/cmd/benchstat/testdata [--lapwing target/debug/lapwing]
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PAIRS = [("old.txt", "new.txt", "csvOldNew.stdout"), ("crc-old.txt", "crc-new.txt", "crcIgnore.stdout")]
METRICS = {"sec/op": "wall_time", "B/s": "bytes_per_second"}


def direction(change):
    """Returns -1, 0 or 1 of `-4.62%`, `~` and `+3.41%`."""
    return 0 if change == "~" else 1 if change.startswith("+") else -1


def expected(path):
    """Returns benchstat's answers by benchmark and metric, from text or CSV."""
    rows, metric = {}, None
    for line in path.read_text().splitlines():
        if "," in line:
            name, *cells = next(csv.reader([line]))
            change = cells[4] if len(cells) > 4 else ""
        else:
            name = line.split(" ")[0]
            found = re.search(r"([+-][0-9.]+%|~) \(p=", line)
            change = found.group(1) if found else ""
        metric = next((ours for unit, ours in METRICS.items() if unit in line), metric)
        if re.match(r"[+-]|~", change) and name != "geomean":
            rows[name, metric] = direction(change)
    return rows


def answered(program, sides):
    """Returns our answers by benchmark and metric: -1, 0 or 1 and the verdict."""
    command = [program, "compare", *sides, "--full", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {}
    for row in json.loads(done.stdout)["comparisons"]:
        ratio = row["ratio"] or row["descriptive_ratio"]
        is_change = row["verdict"] in {"regression", "improvement", "worse_in_runs", "better_in_runs", "changed"}
        name = row["benchmark"].split(".Benchmark", 1)[-1]
        rows[name, row["metric"]] = ((1 if ratio > 1 else -1) if is_change else 0), row["verdict"]
    return rows


def split(path, folder):
    """Writes a file per sample; returns a pattern of them."""
    lines = path.read_text().splitlines()
    settings = [line for line in lines if re.match(r"(goos|goarch|pkg): ", line)]
    samples = collections.defaultdict(list)
    for line in lines:
        if line.startswith("Benchmark"):
            samples[line.split()[0]].append(line)
    for at in range(max(map(len, samples.values()))):
        of_file = [of_one[at] for of_one in samples.values() if at < len(of_one)]
        (folder / f"{path.stem}-{at:02}.txt").write_text("\n".join([*settings, *of_file, "PASS", ""]))
    return str(folder / f"{path.stem}-*.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lapwing", default="target/debug/lapwing")
    options = parser.parse_args()
    contradicted = False
    with tempfile.TemporaryDirectory() as name:
        for kind in ["one file per side", "a file per sample"]:
            counts, verdicts = collections.Counter(), collections.Counter()
            for old, new, golden in PAIRS:
                theirs = expected(options.folder / golden)
                sides = [options.folder / old, options.folder / new]
                if kind == "a file per sample":
                    sides = [split(side, pathlib.Path(name)) for side in sides]
                ours = answered(options.lapwing, map(str, sides))
                for key, their in theirs.items():
                    our, verdict = ours[key]
                    what = ("no" if their == 0 else "a") + " difference, ours "
                    what += "contradicts" if our * their < 0 else "shows one" if our else "shows none"
                    counts[what] += 1
                    verdicts[verdict] += 1
                    contradicted |= our * their < 0
                    if (our == 0) != (their == 0):
                        print(f"  {kind}: {key[0]} {key[1]}: benchstat {their:+}, ours {verdict}")
            print(f"{kind}: {sum(counts.values())} rows")
            for what, count in sorted(counts.items()):
                print(f"  {count:3}  benchstat shows {what}")
            print("  verdicts: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    sys.exit(contradicted)


if __name__ == "__main__":
    main()
