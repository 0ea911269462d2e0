#!/usr/bin/env python3
"""Times `lapwing import` of a pytest-benchmark file of 1,000,000 samples against Python
reading the JSON and inserting the samples into SQLite with `executemany`; and measures the
memory that a single document of 200 MB takes.

Prints rows of a Markdown table. Needs the release build.

    benches/import_documents.py [--lapwing target/release/lapwing] [--samples 1000000]
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path

from timing import timed

# The least that keeps each sample with its benchmark and round.
PYTHON = """
import json, sqlite3, sys
with open(sys.argv[1]) as file:
    document = json.load(file)
with sqlite3.connect(sys.argv[2]) as connection:
    connection.execute("CREATE TABLE sample (benchmark TEXT, round INTEGER, seconds REAL)")
    connection.executemany(
        "INSERT INTO sample VALUES (?, ?, ?)",
        (
            (benchmark["fullname"], number, seconds)
            for benchmark in document["benchmarks"]
            for number, seconds in enumerate(benchmark["stats"]["data"])
        ),
    )
"""


def generate(path, samples, benchmarks, indent):
    """Writes a file as pytest-benchmark 5 does (`indent=4` is its own)."""
    random.seed(7)
    rounds = samples // benchmarks
    entries = []
    for number in range(benchmarks):
        data = [random.gauss(0.01, 0.001) for _ in range(rounds)]
        entries.append(
            {
                "group": None,
                "name": f"test_{number}",
                "fullname": f"tests/test_a.py::test_{number}",
                "params": None,
                "param": None,
                "extra_info": {},
                "options": {"disable_gc": False, "timer": "perf_counter", "min_rounds": 5,
                            "max_time": 1.0, "min_time": 5e-06, "warmup": False},
                "stats": {"min": min(data), "max": max(data), "mean": sum(data) / rounds,
                          "stddev": 0.001, "rounds": rounds, "median": 0.01, "iqr": 0.001,
                          "q1": 0.009, "q3": 0.011, "iqr_outliers": 0, "stddev_outliers": 0,
                          "outliers": "0;0", "ld15iqr": 0.007, "hd15iqr": 0.013,
                          "ops": rounds / sum(data), "total": sum(data), "data": data,
                          "iterations": 1},
            }
        )
    document = {
        "machine_info": {"node": "host-a", "machine": "x86_64", "python_version": "3.11.2",
                         "cpu": {"brand_raw": "Generic CPU", "count": 8}},
        "commit_info": {"id": "0" * 40, "time": "2026-01-02T03:04:05+00:00", "dirty": False,
                        "project": "demo", "branch": "main"},
        "benchmarks": entries,
        "datetime": "2026-01-02T03:05:00.000000+00:00",
        "version": "5.1.0",
    }
    with open(path, "w") as out:
        json.dump(document, out, indent=indent)


def apart(function, *arguments):
    """Calls a function in a process of its own: the peak memory of a command counts what the
    process that starts it has taken before."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    process.start()
    process.join()
    if process.exitcode != 0:
        sys.exit(f"failed with status {process.exitcode}: {function.__name__}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lapwing", default="target/release/lapwing")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--benchmarks", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    lapwing = str(Path(options.lapwing).resolve())
    with tempfile.TemporaryDirectory(prefix="lapwing-import-") as folder:
        folder = Path(folder)
        document = folder / "document.json"
        apart(generate, document, options.samples, options.benchmarks, 4)
        ours, theirs = [], []
        for number in range(options.repeat):
            # Alternating, so that the machine's weather hits both.
            store = folder / f"store-{number}/lapwing.db"
            ours.append(timed([lapwing, "import", "--quiet", "--store", store, document]))
            database = folder / f"python-{number}.db"
            theirs.append(timed([sys.executable, "-c", PYTHON, document, database]))
        fastest, python = min(ours), min(theirs)
        size = document.stat().st_size / 1e6
        print("| what | lapwing | Python | ratio |")
        print("|---|---:|---:|---:|")
        print(
            f"| {options.samples:,} pytest-benchmark samples ({size:.0f} MB) into SQLite "
            f"| {fastest[0]:.2f} s | {python[0]:.2f} s | {python[0] / fastest[0]:.1f} × |"
        )
        print(
            f"| peak memory of it | {max(it[1] for it in ours):.0f} MB "
            f"| {max(it[1] for it in theirs):.0f} MB | |"
        )
        # One document of 200 MB: with long lists, and with many small elements.
        for name, benchmarks in (("20 benchmarks", 20), ("200,000 benchmarks", 200_000)):
            large = folder / "large.json"
            per_sample = 21.5 if benchmarks == 20 else 850 / 5
            samples = int(200e6 / per_sample)
            samples = samples if benchmarks == 20 else benchmarks * 5
            apart(generate, large, samples, benchmarks, None)
            store = folder / f"large-{benchmarks}/lapwing.db"
            seconds, memory = timed([lapwing, "import", "--quiet", "--store", store, large])
            size = large.stat().st_size / 1e6
            print(
                f"| one document of {size:.0f} MB, {name} | {seconds:.1f} s, {memory:.0f} MB "
                f"| | {memory * 1.048576 / size:.1f} × the file |"
            )


if __name__ == "__main__":
    main()
