#!/usr/bin/env python3
"""Times of statements by `lapwing time`, by `pyperf timeit` and by `python -m timeit`, alternately.

    PYTHON benches/python_statements.py [--rounds 9] [--lapwing target/release/lapwing]

PYTHON needs pyperf (`pip install pyperf`); the statements are executed by it. Prints, per statement, each tool's median
over rounds, the median (and range) of the ratios Lapwing / other within a round, the ratio of the fastest rounds, and
how long the tools took.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

STATEMENTS = [
    ("x = list(range(1000))", "sorted(x)"),
    ("", "sum(range(100_000))"),
    ("import json; text = json.dumps([{'id': i, 'name': str(i)} for i in range(300)])", "json.loads(text)"),
]


def output(command, folder):
    before = time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout, time.perf_counter() - before


def lapwing(program, setup, statement, folder):
    command = [program, "time", statement, "--python", sys.executable, "--format", "json"]
    text, took = output([*command, *(["--setup", setup] if setup else [])], folder)
    (result,) = json.loads(text)["results"]
    return result["value"], took


def pyperf(setup, statement, folder):
    file = pathlib.Path(folder) / "pyperf.json"
    file.unlink(missing_ok=True)
    # As many processes and values as Lapwing has by default; pyperf's own default is 20 processes of 3.
    numbers = ["--processes=5", "--warmups=1", "--values=5"]
    command = [sys.executable, "-m", "pyperf", "timeit", "-q", *numbers, "-o", str(file)]
    _, took = output([*command, "-s", setup or "pass", statement], folder)
    (benchmark,) = json.loads(file.read_text())["benchmarks"]
    return statistics.mean(value for run in benchmark["runs"] for value in run.get("values", [])), took


def timeit(setup, statement, folder):
    command = [sys.executable, "-m", "timeit", "-u", "sec", "-s", setup or "pass", statement]
    text, took = output(command, folder)
    return float(text.split("best of")[1].split(":")[1].split()[0]), took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--lapwing", default="target/release/lapwing")
    options = parser.parse_args()
    program = str(pathlib.Path(options.lapwing).resolve())
    print("| statement | lapwing time | pyperf timeit | ratio; fastest | timeit (best of 5) | ratio; fastest | seconds |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for setup, statement in STATEMENTS:
            rounds = []
            for _ in range(options.rounds):
                rounds.append(
                    [
                        lapwing(program, setup, statement, folder),
                        pyperf(setup, statement, folder),
                        timeit(setup, statement, folder),
                    ]
                )
            ours, theirs, best = ([it[who][0] for it in rounds] for who in range(3))
            ratios = [[own / other for own, other in zip(ours, others)] for others in (theirs, best)]
            fastest = [min(ours) / min(others) for others in (theirs, best)]
            shown = [
                f"{statistics.median(it):.3f} ({min(it):.2f}–{max(it):.2f}); {least:.3f}"
                for it, least in zip(ratios, fastest)
            ]
            times = [f"{statistics.median(it) * 1e6:.2f} µs" for it in (ours, theirs, best)]
            took = ", ".join(f"{statistics.median(it[who][1] for it in rounds):.1f}" for who in range(3))
            cells = [f"`{statement}`", times[0], times[1], shown[0], times[2], shown[1], took]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
