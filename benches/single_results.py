#!/usr/bin/env python3
"""Processor time and memory of a million single results: their import, and a shared history pushed and pulled.

Each result is an instance with one iteration. Prints a row of a Markdown table per command: processor time of the
fastest round, of all rounds, and the most memory. Other programs on the machine disturb it less than the wall time.

    cargo build --release
    benches/single_results.py [--benchmarks 1000] [--nights 1000] [--rounds 3] [--lapwing target/release/lapwing]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from detect import write_records


def measured(command):
    """Returns seconds of processor time and peak memory in MB of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed with status {status}: {command}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmarks", type=int, default=1000)
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", help="results of an earlier call instead of new ones")
    parser.add_argument("--lapwing", default="target/release/lapwing")
    options = parser.parse_args()
    program = str(pathlib.Path(options.lapwing).resolve())
    with tempfile.TemporaryDirectory(prefix="lapwing-single-", dir=".") as name:
        folder = pathlib.Path(name)
        records = options.records
        if records is None:
            records = folder / "records.jsonl"
            write_records(records, options.benchmarks, options.nights)
        rounds = {"import": [], "db push": [], "db pull": []}
        for number in range(options.rounds):
            ours, history, theirs = [folder / f"{it}-{number}" for it in ["ours", "history", "theirs"]]
            history.mkdir()
            for what, command in {
                "import": ["--store", ours / "lapwing.db", "import", "--quiet", records],
                "db push": ["--store", ours / "lapwing.db", "db", "push", history],
                "db pull": ["--store", theirs / "lapwing.db", "db", "pull", history],
            }.items():
                rounds[what].append(measured([program, *map(str, command)]))
    print("| command | processor time | rounds | memory |\n|---|--:|---|--:|")
    for what, all_rounds in rounds.items():
        times = ", ".join(f"{it[0]:.1f}" for it in all_rounds)
        print(f"| `lapwing {what}` | {min(it[0] for it in all_rounds):.1f} s | {times} "
              f"| {max(it[1] for it in all_rounds):.0f} MB |")


if __name__ == "__main__":
    main()
