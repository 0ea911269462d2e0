#!/usr/bin/env python3
"""Measures the memory that `lapwing import` takes for text formats, by the size of the file.

Each format comes with all names different, and Go also with 100 names that come again and
again, as with `-count`, one after another and in turn. Prints rows of a Markdown table. Needs
the release build.

    benches/import_lines.py [--lapwing target/release/lapwing] [--megabytes 24 240]
"""

import argparse
import random
import sys
import tempfile
from itertools import count
from pathlib import Path

from timing import timed

REBAR_HEAD = (
    "name,model,rebar_version,engine,engine_version,err,haystack_len,iters,total,median,mad,"
    "mean,stddev,min,max\n"
)
DIVAN_HEAD = (
    "table               fastest       │ slowest       │ median        │ mean          "
    "│ samples │ iters\n"
)


def go(name):
    time_taken = random.uniform(1e3, 1e6)
    return (
        f"BenchmarkTable/rows={name}/kind=plain-8 \t {random.randrange(10**3, 10**6)}\t"
        f"{time_taken:10.1f} ns/op\t {8e4 / time_taken:.2f} MB/s\t 128 B/op\t 1 allocs/op\n"
    )


def go_of_100_names(lines):
    """100 names, each 500 times in a row, over and over in one process."""
    for number in range(lines):
        yield go(number // 500 % 100)


def go_in_turn(lines):
    for number in range(lines):
        yield go(number % 100)


def go_all_different(lines):
    return (go(number) for number in range(lines))


def libtest(lines):
    yield f"\nrunning {lines} tests\n"
    for number in range(lines):
        taken = random.uniform(1e3, 1e6)
        yield (
            f"test tables::rows_{number}::plain ... bench: {taken:>14,.2f} ns/iter "
            f"(+/- {taken / 50:,.2f}) = {int(1e6 / taken)} MB/s\n"
        )


def rebar(lines):
    yield REBAR_HEAD
    for number in range(lines):
        taken = random.uniform(1, 900)
        yield (
            f"tables/rows-{number}/plain,count,0.0.1 (rev 0123456789),engine-{number % 8},1.2.3,,"
            f"1000000,{random.randrange(10**3, 10**5)},4.50s,{taken:.2f}us,{taken / 50:.2f}us,"
            f"{taken:.2f}us,{taken / 40:.2f}us,{taken / 2:.2f}us,{taken * 2:.2f}us\n"
        )


def divan(lines):
    yield DIVAN_HEAD
    for number in range(lines):
        times = " │ ".join(f"{random.uniform(1, 999):.4g} ns".ljust(13) for _ in range(4))
        branch = "├─" if number + 1 < lines else "╰─"
        yield f"{branch} {f'rows_{number}':<16} {times} │ 100     │ 12800\n"


FILES = {
    "Go, 100 names, each 500 times in a row": go_of_100_names,
    "Go, 100 names in turn": go_in_turn,
    "Go, all names different": go_all_different,
    "libtest, all names different": libtest,
    "rebar, all names different": rebar,
    "divan, all names different": divan,
}


def generate(path, make, megabytes):
    """Writes a file of about that size; returns its number of lines."""
    random.seed(7)
    sample = sum(len(line.encode()) for line in make(10_000)) / 10_000
    lines = int(megabytes * 1e6 / sample)
    with open(path, "w") as out:
        out.writelines(make(lines))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lapwing", default="target/release/lapwing")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[24, 240])
    parser.add_argument("--only", default="", help="only files whose description has this")
    options = parser.parse_args()
    lapwing = str(Path(options.lapwing).resolve())
    print("| file | size | lines | time | memory | memory / file |")
    print("|---|---:|---:|---:|---:|---:|")
    numbers = count()
    for name, make in FILES.items():
        if options.only not in name:
            continue
        for megabytes in options.megabytes:
            with tempfile.TemporaryDirectory(prefix="lapwing-import-") as folder:
                file = Path(folder) / f"lines-{next(numbers)}.txt"
                lines = generate(file, make, megabytes)
                store = Path(folder) / "store/lapwing.db"
                command = [lapwing, "import", "--quiet", "--store", store, file]
                seconds, mebibytes = timed(command)
                memory = mebibytes * 1024 * 1024 / 1e6
                size = file.stat().st_size / 1e6
            print(
                f"| {name} | {size:.0f} MB | {lines:,} | {seconds:.1f} s "
                f"| {memory:.0f} MB | {memory / size:.2f} × |",
                flush=True,
            )


if __name__ == "__main__":
    main()
