#!/usr/bin/env python3
"""Change detection by the jobs of a Slurm, beside the same on one machine.

Starts the small Slurm of tests/slurm, imports a made-up history of SERIES benchmarks and NIGHTS nights (or takes a store with
one), and runs `lapwing detect` here and by each of these numbers of jobs. Checks that the answers are the same bytes, and prints
what each job read, its time and its memory. All of it is on this machine: with two cores, no number of jobs is faster.

    cargo build --release
    python3 benches/detect_jobs.py [--series 2000] [--nights 1000] [--jobs 1 2 4 7] [--store lapwing.db]
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from detect import write_records

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/slurm"))

from small_cluster import SmallCluster  # noqa: E402

SUITE = """
suite = "many"
[executor.slurm]
exclusive = false
memory = "800M"
program = "{program}"
[benchmark.none]
command = "true"
"""

# Notes what a job reads and uses.
PROGRAM = """#!/bin/sh
exec /usr/bin/time -a -o {noted} -f "$(stat -c %s "$2/share-$4.jsonl") %e %U %S %M" {lapwing} "$@"
"""


def answer(command, environment, folder):
    """Returns what a command answers, without the command itself, and its time and peak memory."""
    measured = folder / "time"
    start = time.monotonic()
    done = subprocess.run(["/usr/bin/time", "-o", measured, "-f", "%M", *command], cwd=folder, env=environment,
                          check=True, capture_output=True)
    seconds = time.monotonic() - start
    read = json.loads(done.stdout)
    del read["command"]
    return json.dumps(read), seconds, int(measured.read_text().split()[-1]) / 1000


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--series", type=int, default=2000)
    options.add_argument("--nights", type=int, default=1000)
    options.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 7])
    options.add_argument("--store", type=pathlib.Path)
    options.add_argument("--lapwing", default="target/release/lapwing")
    given = options.parse_args()
    program = str(pathlib.Path(given.lapwing).resolve())
    # Sockets have short paths.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SmallCluster(folder / "c")
    try:
        cluster.start()
        store = given.store and given.store.resolve()
        if store is None:
            records, store = folder / "records.jsonl", folder / "many.db"
            write_records(records, given.series, given.nights)
            subprocess.run([program, "import", "-q", "--store", store, records], check=True,
                           stdout=subprocess.DEVNULL)
            records.unlink()
        noted, wrapper = folder / "noted", folder / "lapwing.sh"
        wrapper.write_text(PROGRAM.format(noted=noted, lapwing=program))
        wrapper.chmod(0o755)
        (folder / "lapwing.toml").write_text(SUITE.format(program=wrapper))
        command = [program, "detect", "--store", store, "--format", "json", "--suite", "lapwing.toml"]
        # The first answer may make history points.
        answer(command, cluster.environment, folder)
        here, seconds, memory = answer(command, cluster.environment, folder)
        print("| jobs | s | client, MB | jobs: each read, MB | s | processor s in all | MB |\n|--:|--:|--:|--:|--:|--:|--:|")
        print(f"| none | {seconds:.0f} | {memory:.0f} | | | | |", flush=True)
        for number in given.jobs:
            noted.unlink(missing_ok=True)
            shared = [*command, "--quiet", "--executor", "slurm", "--cluster", f"jobs={number}"]
            there, seconds, memory = answer(shared, cluster.environment, folder)
            assert there == here, f"{number} jobs answer differently"
            jobs = [[float(it) for it in line.split()] for line in noted.read_text().splitlines()]
            size, elapsed, user, system, peak = zip(*jobs)
            between = lambda values, by, digits: f"{min(values) / by:.{digits}f}–{max(values) / by:.{digits}f}"
            print(f"| {number} | {seconds:.0f} | {memory:.0f} | {between(size, 1e6, 1)} | {between(elapsed, 1, 1)} | "
                  f"{sum(user) + sum(system):.0f} | {between(peak, 1e3, 0)} |", flush=True)
    finally:
        cluster.stop()
        time.sleep(0.5)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
