#!/usr/bin/env python3
"""Times `lapwing import` of a Hail file against pandas writing the same to SQLite.

Prints rows of a Markdown table. Needs the release build, and pandas (`--python` names an
interpreter that has it; without one, a virtual environment is made in the work folder).

    benches/import.py [--lapwing target/release/lapwing] [--python PYTHON] [--lines 10000]
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import timed

PANDAS = """
import json, sqlite3, sys
import pandas
frame = pandas.read_json(sys.argv[1], lines=True)
frame = frame.explode("iterations", ignore_index=True)
iterations = pandas.json_normalize(frame.pop("iterations").tolist())
frame = pandas.concat([frame, iterations], axis=1)
with sqlite3.connect(sys.argv[2]) as connection:
    frame.to_sql("iterations", connection, index=False)
"""


def generate(path, lines, iterations, names=200):
    random.seed(7)
    with open(path, "w") as out:
        for line in range(lines):
            name = line % names
            base = 0.5 + name / 10
            record = {
                "path": f"benchmark/hail/benchmark_{name % 7}.py",
                "name": f"test_{name}",
                "platform": "Linux-6.1.0-x86_64-with-glibc2.36",
                "python": "CPython 3.11.13",
                "version": "0.2.134-952ae203dbbe",
                "batch_id": 81,
                "job_id": line,
                "attempt_id": f"a{line:x}",
                "start": f"2026-01-{1 + line % 28:02}T00:00:{line % 60:02}.{line:06}+00:00",
                "end": f"2026-02-{1 + line % 28:02}T00:00:{line % 60:02}.{line:06}+00:00",
                "iterations": [
                    {
                        "time": random.gauss(base, base / 50),
                        "is_burn_in": index < 2,
                        "timed_out": False,
                        "task_memory": random.randrange(10**6, 10**9),
                    }
                    for index in range(iterations)
                ],
            }
            out.write(json.dumps(record) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lapwing", default="target/release/lapwing")
    parser.add_argument("--python", help="a Python with pandas")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    lapwing = str(Path(options.lapwing).resolve())
    with tempfile.TemporaryDirectory(prefix="lapwing-import-") as folder:
        folder = Path(folder)
        python = options.python
        if python is None:
            subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
            python = str(folder / "venv/bin/python")
            subprocess.run([python, "-m", "pip", "-q", "install", "pandas"], check=True)
        large, small = folder / "large.jsonl", folder / "small.jsonl"
        generate(large, options.lines, options.iterations)
        generate(small, options.lines // 10, options.iterations)
        number = 0

        def ours(path):
            nonlocal number
            number += 1
            store = folder / f"store-{number}/lapwing.db"
            result = timed([lapwing, "import", "--quiet", "--store", store, path])
            return result, store

        def theirs(path):
            nonlocal number
            number += 1
            return timed([python, "-c", PANDAS, path, folder / f"pandas-{number}.db"])

        # Alternating, so that the machine's weather hits both.
        ours_large, theirs_large = [], []
        for _ in range(options.repeat):
            (result, store) = ours(large)
            ours_large.append(result)
            theirs_large.append(theirs(large))
        ours_small = [ours(small)[0] for _ in range(options.repeat)]
        fastest, pandas = min(ours_large), min(theirs_large)
        total = options.lines * options.iterations
        size = large.stat().st_size / 1e6
        print("| what | lapwing | pandas | ratio |")
        print("|---|---:|---:|---:|")
        print(
            f"| import {total:,} iterations ({size:.0f} MB) into SQLite | {fastest[0]:.2f} s "
            f"| {pandas[0]:.2f} s | {pandas[0] / fastest[0]:.1f} × |"
        )
        print(
            f"| peak memory of it | {max(it[1] for it in ours_large):.0f} MB "
            f"| {max(it[1] for it in theirs_large):.0f} MB | |"
        )
        print(
            f"| peak memory of a tenth of it | {max(it[1] for it in ours_small):.0f} MB | | |"
        )

        # 100,000 iterations: listed, filtered, counted.
        (_, store) = ours(small) if options.lines // 10 * options.iterations == 100_000 else (
            None,
            None,
        )
        if store is not None:
            questions = {
                "list benchmarks": ["list"],
                "list sessions": ["list", "sessions"],
                "list metrics": ["list", "metrics"],
                "list one of them": ["list", "--benchmark", "*test_7"],
                "export one of them as CSV": ["export", "--to", "csv", "--benchmark", "*test_7"],
                "export all as wide CSV": ["export", "--to", "csv", "--wide"],
            }
            print("\n| of 100,000 iterations | time |\n|---|---:|")
            for question, words in questions.items():
                command = [lapwing, *words, "--store", store]
                seconds = min(timed(command)[0] for _ in range(5))
                print(f"| {question} | {seconds * 1000:.0f} ms |")


if __name__ == "__main__":
    main()
