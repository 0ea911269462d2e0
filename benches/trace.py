#!/usr/bin/env python3
"""How long reading and analysing a trace takes, beside what the notebook of earthkit-workflows does with pandas.

The trace is made up: tasks of five classes on 40 workers, seven events each, a copy for every fifth task, and the
controller's phases. The notebook reads the JSON Lines into a frame, pivots events into columns, subtracts them
and sums up; Lapwing does that in `trace tasks`, and everything it knows in `trace findings`.

    cargo build --release
    python3 -m venv /tmp/pandas && /tmp/pandas/bin/pip install pandas
    /tmp/pandas/bin/python benches/trace.py [--events 1000000] [--rounds 3] [--no-pandas]
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from timing import timed

CLASSES = ["retrieve", "regrid", "threshold", "concat", "store"]
LAPWING = str(pathlib.Path(__file__).resolve().parents[1] / "target/release/lapwing")


def write_trace(path, events):
    """Writes so many events, about."""
    chance = random.Random(1)
    free = [1_700_000_000_000_000_000] * 40
    clock = free[0]
    with open(path, "w") as file:
        for number in range(events * 10 // 87):
            worker = number % 40
            host = f"h{worker // 4}"
            place = f'"worker": "{host}.w{worker % 4}", "task": "{CLASSES[number % 5]}:{number:07d}"'
            clock += 20_000
            at = planned = max(clock, free[worker])
            file.write(f'{{"host": "controller", "action": "task_planned", {place}, "at": {at}}}\n')
            for phase in ("enqueued", "started", "loaded", "computed", "published"):
                at += int(chance.expovariate(1e-6)) + 1
                file.write(f'{{"host": "{host}", "action": "task_{phase}", {place}, "at": {at}}}\n')
            free[worker] = at
            file.write(f'{{"host": "controller", "action": "task_completed", {place}, "at": {at + 300_000}}}\n')
            if number % 5 == 0:
                copy = f'"dataset": "d{number:07d}", "target": "{host}", "source": "h{number % 10}"'
                at = planned
                for phase in ("planned", "started", "loaded", "received", "unloaded", "completed"):
                    mode = ', "mode": "remote"' if phase in ("loaded", "unloaded") else ""
                    file.write(f'{{"host": "{host}", "action": "transmit_{phase}", {copy}{mode}, "at": {at}}}\n')
                    at += 100_000
            if number % 2 == 0:
                phase = ("assign", "plan", "flush", "wait")[number // 2 % 4]
                file.write(f'{{"host": "controller", "action": "ctrl_{phase}", "at": {clock}}}\n')


def notebook(path):
    """The notebook's way: a frame, pivots, differences, aggregates."""
    import pandas as pd

    frame = pd.read_json(path, lines=True, dtype=False)
    tasks = frame[frame.task.notna()]
    tasks = tasks.assign(action=tasks.action.str.removeprefix("task_"))
    wide = tasks.pivot(index=["task", "worker"], columns="action", values="at")
    wide["total"] = wide.completed - wide.planned
    wide["onWorker"] = wide.published - wide.enqueued
    wide["commDelay"] = wide.enqueued - wide.planned
    wide["queueDelay"] = wide.started - wide.enqueued
    wide["loadDelay"] = wide.loaded - wide.started
    wide["runtimes"] = wide.computed - wide.loaded
    columns = ["total", "onWorker", "commDelay", "queueDelay", "loadDelay", "runtimes"]
    classes = wide.index.get_level_values("task").str.split(":").str[0]
    by_class = wide[columns].groupby(classes).agg(["sum", "mean", "max"])
    by_worker = wide.onWorker.groupby("worker").agg(["mean", "sum"])

    copies = frame[frame.dataset.notna()]
    modes = copies[copies["mode"].notna()].drop_duplicates(["dataset", "target"], keep="last")
    copies = copies.drop(columns="mode").merge(modes[["dataset", "target", "mode"]], on=["dataset", "target"], how="left")
    copies = copies.assign(action=copies.action.str.removeprefix("transmit_"))
    wide = copies.pivot(index=["dataset", "target", "mode"], columns="action", values="at")
    total = (wide.completed - wide.planned).groupby("mode").agg(["sum", "mean", "max"])
    return by_class, by_worker, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-pandas", action="store_true")
    parser.add_argument("--notebook", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.notebook:
        import pandas  # noqa: F401 - not timed

        begin = time.perf_counter()
        notebook(options.notebook)
        print(time.perf_counter() - begin)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.jsonl")
        write_trace(path, options.events)
        with open(path, "rb") as file:
            print(f"{sum(1 for _ in file):,} events, {os.path.getsize(path) / 1e6:.0f} MB")
        theirs = None
        if not options.no_pandas:
            # In processes of their own: what this one holds would count as the memory of those that it starts.
            command = [sys.executable, __file__, "--notebook", path]
            times = [float(subprocess.check_output(command)) for _ in range(options.rounds)]
            theirs = min(times)
            print(f"pandas: {theirs:.2f} s")

        def show(name, *command):
            rounds = 1 if name == "import" else options.rounds
            best, memory = min(timed([LAPWING, "--store", os.path.join(folder, "lapwing.db"), *command]) for _ in range(rounds))
            ratio = f", {theirs / best:.1f} × as fast" if theirs else ""
            print(f"{name}: {best:.2f} s, {memory:.0f} MB{ratio}", flush=True)

        for action in ("tasks", "findings"):
            show(f"trace {action} FILE", "trace", action, path, "--format", "json")
        show("import", "import", "--quiet", path)
        for action in ("tasks", "findings"):
            show(f"trace {action} from the store", "trace", action, "--format", "json")


if __name__ == "__main__":
    main()
