#!/usr/bin/env python3
"""How long change detection takes: single series beside Apache Otava, and a store of many series.

The series are made up: noise of 2 % around a level that steps by 3 % now and then. Otava's time is that of its
function alone, in this process, without reading anything; ours likewise, by an example of the library.
With --store a history of so many benchmarks and nights is imported, and `lapwing detect` timed on it.

    cargo build --release
    python3 -m venv /tmp/otava && /tmp/otava/bin/pip install apache-otava==0.8.0
    /tmp/otava/bin/python benches/detect.py [--store 2000] [--nights 1000] [--rounds 3]
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time

from timing import timed


def series(length, chance):
    """Returns a series whose level steps about every 90 points."""
    level, values = 10.0, []
    for _ in range(length):
        if chance.random() < 1 / 90:
            level *= chance.choice([1 / 1.03, 1.03])
        values.append(round(level * chance.lognormvariate(0, 0.02), 6))
    return values


def beside_otava(values):
    from otava.analysis import compute_change_points

    best = float("inf")
    start = time.perf_counter()
    while time.perf_counter() < start + 5:
        before = time.perf_counter()
        points, _ = compute_change_points(list(values), 50, 0.001, 0.0)
        best = min(best, 1e3 * (time.perf_counter() - before))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        command = ["cargo", "run", "-q", "--release", "-p", "lapwing-stats", "--example",
                   "time_change_points", "--", file.name]
        ours = float(subprocess.run(command, check=True, capture_output=True).stdout)
    print(f"| {len(values)} | {len(points)} | {best:.2f} ms | {ours:.3f} ms, {best / ours:.0f} × |",
          flush=True)


def identity(number):
    """Returns a UUIDv7 of that number."""
    text = f"{(1_700_000_000_000 << 80) | (7 << 76) | (2 << 62) | number:032x}"
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def write_records(path, benchmarks, nights):
    chance = random.Random(7)
    all_values = [series(nights, chance) for _ in range(benchmarks)]
    numbers = iter(range(1, 10**9))
    with open(path, "w", encoding="utf-8") as out:
        for night in range(nights):
            day = time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(86_400 * (18_000 + night)))
            session, run = identity(next(numbers)), identity(next(numbers))
            out.write(json.dumps({"v": 1, "kind": "session", "id": session, "suite": "many",
                                  "started": day, "tool": "made up"}) + "\n")
            out.write(json.dumps({"v": 1, "kind": "run", "id": run, "session": session,
                                  "version": {"name": f"v{night}", "date": day},
                                  "metrics": {"wall_time": {"unit": "s", "better": "lower"}}})
                      + "\n")
            for benchmark, values in enumerate(all_values):
                instance = identity(next(numbers))
                out.write(f'{{"v": 1, "kind": "instance", "id": "{instance}", "run": "{run}", '
                          f'"benchmark": {{"id": "test_{benchmark}"}}}}\n'
                          f'{{"v": 1, "kind": "iteration", "instance": "{instance}", "index": 0, '
                          f'"metrics": {{"wall_time": {values[night]}}}}}\n')


def from_store(benchmarks, nights, rounds, program):
    with tempfile.TemporaryDirectory() as name:
        records = pathlib.Path(name) / "records.jsonl"
        store = str(pathlib.Path(name) / "lapwing.db")
        write_records(records, benchmarks, nights)
        subprocess.run([program, "import", "-q", "--store", store, str(records)], check=True,
                       stdout=subprocess.DEVNULL)
        records.unlink()
        times = [timed([program, "detect", "--store", store, "--format", "json"])
                 for _ in range(rounds)]
    print(f"\n`lapwing detect` of {benchmarks} series × {nights} points from the store: "
          f"{min(it[0] for it in times):.1f} s (at most {max(it[0] for it in times):.1f} s), "
          f"{max(it[1] for it in times):.0f} MB")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--store", type=int, metavar="SERIES")
    options.add_argument("--series", nargs="*", default=[], metavar="FILE",
                         help="also time this series, a JSON list of numbers")
    options.add_argument("--nights", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--lapwing", default="target/release/lapwing")
    given = options.parse_args()
    print("| points | change points of Otava | Otava | changepoint |\n|--:|--:|--:|--:|")
    for length in [365, 1000, 10_000]:
        beside_otava(series(length, random.Random(length)))
    for path in given.series:
        beside_otava(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    if given.store:
        program = str(pathlib.Path(given.lapwing).resolve())
        from_store(given.store, given.nights, given.rounds, program)


if __name__ == "__main__":
    main()
