#!/usr/bin/env python3
"""What a cluster costs: `lapwing run --executor slurm` beside a bare `sbatch` array of the same commands.

Starts the small Slurm of tests/slurm and runs, in turn, an array of TASKS tasks that each execute /bin/true once, and
`lapwing run` with TASKS instances of one iteration. Prints a Markdown table: the time from submission until the queue is empty
(and everything is collected), and what `lapwing cluster-task` adds inside one job, alone. Then submits an array of 10,000
tasks, held, and measures how long submission and one `squeue` for all take.

    cargo build --release
    python3 benches/slurm.py [--rounds 5] [--tasks 100]
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/slurm"))

from small_cluster import SmallCluster  # noqa: E402

SUITE = """
suite = "overhead"
[defaults]
burn_in = 0
iterations = 1
[executor.slurm]
exclusive = false
memory = "100M"
[benchmark.true]
command = ["/bin/true"]
"""


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def bare(cluster, folder, tasks):
    """Submits an array and waits until its tasks are gone."""
    script = folder / "bare.sh"
    script.write_text("#!/bin/sh\nexec /bin/true\n")
    array = [f"--array=0-{tasks - 1}", "--mem=100M", "--output=/dev/null"]
    cluster.run("sbatch", *array, script)
    while cluster.queue():
        time.sleep(0.1)


def lapwing(program, cluster, folder, tasks):
    command = [program, "run", "--quiet", "--executor", "slurm", "--instances", str(tasks)]
    subprocess.run(command, cwd=folder, env=cluster.environment, check=True, stdout=subprocess.DEVNULL)


def one_task(program, cluster, folder):
    """Returns how long one task takes without Slurm: a session is left in the queue, and its first task executed here."""
    command = [program, "run", "--quiet", "--executor", "slurm", "--instances", "20", "--cluster=options=--hold"]
    client = subprocess.Popen(command, cwd=folder, env=cluster.environment, stdout=subprocess.DEVNULL)
    while not list(folder.glob(".lapwing/cluster/*/batch-1.jobs")):
        time.sleep(0.05)
    client.kill()
    client.wait()
    shared = next(folder.glob(".lapwing/cluster/*"))
    times = []
    for index in range(20):
        task = ["sh", shared / "batch-1.sh", str(index)]
        times.append(seconds(lambda: subprocess.run(task, cwd=folder, check=True)))
    cluster.run("scancel", "--user", os.environ.get("USER", "root"))
    shutil.rmtree(shared)
    return statistics.median(times)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--tasks", type=int, default=100)
    arguments.add_argument("--program", default=str(ROOT / "target/release/lapwing"))
    options = arguments.parse_args()
    options.program = pathlib.Path(options.program).absolute()
    place = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SmallCluster(place / "c")
    try:
        cluster.start()
        folder = place / "suite"
        folder.mkdir()
        (folder / "lapwing.toml").write_text(SUITE)
        alone = one_task(options.program, cluster, folder)
        rounds = []
        for _ in range(options.rounds):
            without = seconds(lambda: bare(cluster, folder, options.tasks))
            rounds.append((without, seconds(lambda: lapwing(options.program, cluster, folder, options.tasks))))
        large = [f"--array=0-{9999}", "--hold", "--output=/dev/null"]
        submission = seconds(lambda: cluster.run("sbatch", *large, folder / "bare.sh"))
        asking = seconds(lambda: cluster.run("squeue", "--noheader", "--states=all"))
        medians = [statistics.median(it) for it in zip(*rounds)]
        more = statistics.median((ours - theirs) / options.tasks for theirs, ours in rounds)
        print(f"| {options.tasks} tasks | time | per task |\n|---|--:|--:|")
        for name, median in zip(["bare `sbatch` array", "`lapwing run --executor slurm`"], medians):
            print(f"| {name} | {median:.1f} s | {median / options.tasks * 1e3:.0f} ms |")
        print(f"\nmore per instance: {more * 1e3:.0f} ms; one task alone, without Slurm: {alone * 1e3:.0f} ms")
        print(f"10,000 tasks: {submission * 1e3:.0f} ms to submit, {asking * 1e3:.0f} ms for one squeue of all")
        print(json.dumps({"rounds": rounds}), file=sys.stderr)
    finally:
        cluster.stop()
        time.sleep(0.5)
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
