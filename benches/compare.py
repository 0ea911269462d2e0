#!/usr/bin/env python3
"""How long a comparison of many benchmarks from the store takes.

Makes record v1 of 1,000 benchmarks in two variants, 20 instances each of 20 iterations,
imports it, and times `lapwing compare`: with all 20 instances a side, and with 10. The
numbers are made up; only their amount matters.

    cargo build --release
    python3 benches/compare.py [--benchmarks 1000] [--rounds 5]
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from timing import timed

INSTANCES = 20
ITERATIONS = 20


def identity(number):
    """Returns a UUIDv7 of that number."""
    text = f"{(1_700_000_000_000 << 80) | (7 << 76) | (2 << 62) | number:032x}"
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def write_records(path, benchmarks, instances):
    """Writes a session in which every tenth benchmark is a tenth slower in the candidate."""
    chance = random.Random(7)
    count = 0

    def next_id():
        nonlocal count
        count += 1
        return identity(count)

    with open(path, "w", encoding="utf-8") as out:

        def line(kind, **body):
            out.write(json.dumps({"v": 1, "kind": kind, **body}) + "\n")

        session = next_id()
        line("session", id=session, suite="many", started="2026-01-01T00:00:00Z",
             tool="made up", name="night")
        runs = {}
        for variant in ["baseline", "candidate"]:
            runs[variant] = next_id()
            line("run", id=runs[variant], session=session, variant=variant,
                 metrics={"wall_time": {"unit": "s", "better": "lower"}})
        position = 0
        for benchmark in range(benchmarks):
            level = chance.uniform(0.001, 10)
            for block in range(instances):
                for variant, run in runs.items():
                    instance = next_id()
                    slower = 1.1 if variant == "candidate" and benchmark % 10 == 0 else 1
                    mean = level * slower * chance.lognormvariate(0, 0.02)
                    line("instance", id=instance, run=run, block=block, position=position,
                         host="made-up", benchmark={"id": f"test_{benchmark}"})
                    position += 1
                    for index in range(ITERATIONS):
                        value = mean * chance.lognormvariate(0, 0.03)
                        line("iteration", instance=instance, index=index, burn_in=index == 0,
                             metrics={"wall_time": value})
                    line("instance_end", instance=instance)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--benchmarks", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--lapwing", default="target/release/lapwing")
    given = options.parse_args()
    program = str(pathlib.Path(given.lapwing).resolve())
    print("| instances a side | seconds (median, range) | peak memory |\n|---|--:|--:|")
    for instances in [INSTANCES // 2, INSTANCES]:
        with tempfile.TemporaryDirectory() as name:
            records = pathlib.Path(name) / "records.jsonl"
            store = str(pathlib.Path(name) / "lapwing.db")
            write_records(records, given.benchmarks, instances)
            subprocess.run([program, "import", "-q", "--store", store, str(records)], check=True,
                           stdout=subprocess.DEVNULL)
            command = [program, "compare", "--store", store, "variant:baseline",
                       "variant:candidate", "--format", "json"]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            verdicts = [row["verdict"] for row in answer["comparisons"]]
            found = [row["benchmark"] for row in answer["comparisons"]
                     if row["verdict"] == "regression"]
            slower = sum(int(it.removeprefix("test_")) % 10 == 0 for it in found)
            print(f"{len(verdicts)} comparisons, {slower} of {given.benchmarks // 10} slower ones "
                  f"found, {len(found) - slower} false", file=sys.stderr)
            rounds = [timed(command) for _ in range(given.rounds)]
            seconds = [it[0] for it in rounds]
            memory = max(it[1] for it in rounds)
            print(f"| {instances} | {statistics.median(seconds):.2f} "
                  f"({min(seconds):.2f}–{max(seconds):.2f}) | {memory:.0f} MB |")


if __name__ == "__main__":
    main()
