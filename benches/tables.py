#!/usr/bin/env python3
"""Time and memory of `lapwing export --to parquet` and `--to arrow`: ten million values of one metric in instances of many
iterations, and a million single results as history points and as iterations. Prints rows of a Markdown table.

    cargo build --release --features tables
    benches/tables.py [--lapwing target/release/lapwing] [--rounds 3] [--scale 1.0]
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from detect import write_records


def write_hail(path, instances, iterations):
    """Writes results of 100 benchmarks in Hail's format."""
    random.seed(7)
    values = [{"time": round(random.gauss(1.0, 0.02), 6)} for _ in range(10_000)]
    with open(path, "w") as out:
        for number in range(instances):
            begin = random.randrange(len(values))
            times = [values[(begin + at) % len(values)] for at in range(iterations)]
            line = {"path": "benchmark/a.py", "name": f"test_{number % 100}", "version": "0.2.133", "iterations": times}
            out.write(json.dumps(line) + "\n")


def measured(command):
    """Returns seconds of wall time, of processor time, and peak memory in MB of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed with status {status}: {command}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapwing", default="target/release/lapwing")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the ten millions and of the million")
    options = parser.parse_args()
    program = str(pathlib.Path(options.lapwing).resolve())
    with tempfile.TemporaryDirectory(prefix="lapwing-tables-", dir=".") as name:
        folder = pathlib.Path(name).resolve()
        many, single = folder / "many.db", folder / "single.db"
        write_hail(folder / "many.jsonl", int(10_000 * options.scale), 1000)
        write_records(folder / "single.jsonl", int(1000 * options.scale), 1000)
        for store, results in ((many, "many.jsonl"), (single, "single.jsonl")):
            subprocess.run([program, "--store", store, "import", "--quiet", folder / results], check=True)
        print("| what | wall time | processor time | memory | file |\n|---|--:|--:|--:|--:|")
        for what, store, words in (
            ("10 M values, Parquet", many, ["--to", "parquet"]),
            ("10 M values, Arrow", many, ["--to", "arrow"]),
            ("10 M values, Parquet in partitions", many, ["--to", "parquet", "--partitioned"]),
            ("10 M values, CSV", many, ["--to", "csv"]),
            ("1 M single results, history points", single, ["--to", "parquet", "--table", "history_points"]),
            ("1 M single results, iterations", single, ["--to", "parquet"]),
        ):
            rounds = []
            for number in range(options.rounds):
                out = folder / f"out-{abs(hash(what))}-{number}"
                rounds.append(measured([program, "--store", store, "export", "--quiet", *words, "-o", out]))
                files = [out] if out.is_file() else list(out.rglob("*.parquet"))
                size = sum(path.stat().st_size for path in files) / 1e6
            print(f"| {what} | {min(it[0] for it in rounds):.2f} s | {min(it[1] for it in rounds):.2f} s "
                  f"| {max(it[2] for it in rounds):.0f} MB | {size:.1f} MB |", flush=True)


if __name__ == "__main__":
    main()
