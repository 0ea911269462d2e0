#!/usr/bin/env python3
"""How long detection rates and plans take.

Makes record v1 of benchmarks with 60 instances of 75 iterations each (numbers made up; only
their amount matters), imports it, and times `lapwing mds` with Hail's full default grid: 150
cells, 100 experiments, 1,000 replicates, both strategies, the methods of Laaber and Schultz
(and Lapwing's own test). Then the closed form of all, and a plan.

    cargo build --release
    python3 benches/mds.py [--benchmarks 144] [--rounds 5]
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

from timing import timed

INSTANCES = 60
ITERATIONS = 75


def identity(number):
    """Returns a UUIDv7 of that number."""
    text = f"{(1_700_000_000_000 << 80) | (7 << 76) | (2 << 62) | number:032x}"
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def write_records(path, benchmarks):
    chance = random.Random(7)
    numbers = iter(range(1, 10**9))

    with open(path, "w", encoding="utf-8") as out:

        def line(kind, **body):
            out.write(json.dumps({"v": 1, "kind": kind, **body}) + "\n")

        session, run = identity(next(numbers)), identity(next(numbers))
        line("session", id=session, suite="many", started="2026-01-01T00:00:00Z",
             tool="made up", name="night")
        line("run", id=run, session=session,
             metrics={"wall_time": {"unit": "s", "better": "lower"}})
        for benchmark in range(benchmarks):
            level = chance.uniform(0.1, 30)
            between, within = chance.uniform(0.005, 0.1), chance.uniform(0.005, 0.1)
            for position in range(INSTANCES):
                centre = level * chance.lognormvariate(0, between)
                instance = identity(next(numbers))
                line("instance", id=instance, run=run, position=position,
                     benchmark={"id": f"benchmark_{benchmark:03}"})
                for index in range(ITERATIONS):
                    time = centre * chance.lognormvariate(0, within)
                    line("iteration", instance=instance, index=index,
                         metrics={"wall_time": round(time, 6)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmarks", type=int, default=144)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lapwing", default="target/release/lapwing")
    options = parser.parse_args()
    lapwing = str(pathlib.Path(options.lapwing).resolve())
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder, "in.jsonl")
        store = ["--store", str(pathlib.Path(folder, "store.db")), "--quiet"]
        write_records(records, options.benchmarks)
        subprocess.run([lapwing, "import", str(records), *store], check=True)
        one = ["-b", "benchmark_000"]
        hail = ["--method", "laaber,schultz"]
        cases = [
            ("one benchmark, Laaber and Schultz", ["mds", *one, *hail], options.rounds),
            ("one benchmark, and Welch besides", ["mds", *one, "--format", "csv"], options.rounds),
            ("all by formula", ["mds", "--closed-form"], options.rounds),
            ("a plan of all", ["plan"], options.rounds),
            ("all, Laaber and Schultz", ["mds", *hail, "--format", "csv"], 1),
        ]
        print("| | seconds | memory |\n|---|--:|--:|")
        for name, words, rounds in cases:
            found = [timed([lapwing, *words, *store]) for _ in range(rounds)]
            times = sorted(seconds for seconds, _ in found)
            memory = max(memory for _, memory in found)
            spread = f" ({times[0]:.2f}–{times[-1]:.2f})" if rounds > 1 else ""
            print(f"| {name} | {statistics.median(times):.2f}{spread} | {memory:.0f} MB |",
                  flush=True)


if __name__ == "__main__":
    main()
