#!/usr/bin/env python3
"""How long reading and analysing a trace takes, beside what the notebook of earthkit-workflows does with pandas.

The trace is made up: tasks of five classes on 40 workers, seven events each, a copy for every fifth task, and the
controller's phases. The notebook reads the JSON Lines into a frame, pivots events into columns, subtracts them
and sums up; Lapwing does that in `trace tasks`, and everything it knows in `trace findings`.

With `--graph` the trace is that of a scheduler with a graph, data on ten hosts, and causes to be found: a slow worker,
slow tasks, copies, and a controller that notices late. Processor time is that of all threads.

    cargo build --release
    python3 -m venv /tmp/pandas && /tmp/pandas/bin/pip install pandas
    /tmp/pandas/bin/python benches/trace.py [--events 1000000] [--rounds 3] [--no-pandas]
    python3 benches/trace.py --graph [--events 1000000]
"""

import argparse
import heapq
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from timing import timed_all

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


# Of each step: its classes, the number of their tasks, how many results of the class before each needs, and the
# mean time to compute in ms.
STEPS = [("retrieve", 12, 0, 4), ("regrid", 12, 1, 20), ("ensemble", 4, 3, 30), ("threshold", 4, 1, 8), ("concat", 2, 2, 15)]


def write_run(path, graph_path, events):
    """Writes so many events, about, of a run whose tasks go to a free worker, of their host if it has one."""
    chance = random.Random(1)
    tasks, inputs = [], []
    while len(tasks) < events * 10 // 87:
        step, before = len(tasks) // 34, []
        for name, count, needs, mean in STEPS:
            first = len(tasks)
            # Some need data of another host.
            host = step + (step % 4 == 0 and name == "ensemble")
            for at in range(count):
                tasks.append((f"{name}:{len(tasks):07d}", mean, host % 10))
                inputs.append(before[at * needs : (at + 1) * needs])
            before = list(range(first, len(tasks)))
    outputs = [[] for _ in tasks]
    waiting = [len(it) for it in inputs]
    for task, needed in enumerate(inputs):
        for it in needed:
            outputs[it].append(task)
    ready = [[] for _ in range(10)]
    for task, count in enumerate(waiting):
        if count == 0:
            ready[tasks[task][2]].append(task)
    begin = 1_700_000_000_000_000_000
    clock, idle, ends, place, copied = begin, list(range(40)), [], {}, set()
    with open(path, "w") as file:

        def event(host, action, fields, at):
            file.write(f'{{"host": "{host}", "action": "{action}", {fields}, "at": {at}}}\n')

        def run(task, worker):
            name, mean, _ = tasks[task]
            host = f"h{worker // 4}"
            fields = f'"worker": "{host}.w{worker % 4}", "task": "{name}"'
            event("controller", "task_planned", fields, clock)
            at = clock
            for it in inputs[task]:
                if place[it] // 4 != worker // 4 and (it, worker // 4) not in copied:
                    copied.add((it, worker // 4))
                    copy = f'"dataset": "{tasks[it][0]}.0", "target": "{host}", "source": "h{place[it] // 4}"'
                    for phase in ("planned", "started", "loaded", "received", "unloaded", "completed"):
                        mode = ', "mode": "remote"' if phase in ("loaded", "unloaded") else ""
                        event(host, f"transmit_{phase}", copy + mode, at)
                        at += int(chance.expovariate(1e-6)) + 1
            for phase in ("enqueued", "started", "loaded", "computed", "published"):
                usual = mean * 1e6 * chance.lognormvariate(0, 0.3) if phase == "computed" else chance.expovariate(2e-6)
                slow = 1.5 if worker == 7 else 1
                at += int(usual * slow * (50 if task % 20_000 == 60 and phase == "computed" else 1)) + 1
                event(host, f"task_{phase}", fields, at)
            noticed = at + int(chance.expovariate(5e-7))
            event("controller", "task_completed", fields, noticed)
            heapq.heappush(ends, (noticed, worker, task))
            place[task] = worker

        loops = 0
        while True:
            loops += 1
            event("controller", f"ctrl_{('assign', 'plan', 'flush', 'wait')[loops % 4]}", f'"n": {loops}', clock)
            for worker in sorted(idle):
                own = ready[worker // 4]
                queue = own if own else max(ready, key=len)
                if not queue:
                    break
                run(heapq.heappop(queue), worker)
                idle.remove(worker)
            if not ends:
                break
            clock, worker, task = heapq.heappop(ends)
            idle.append(worker)
            for output in outputs[task]:
                waiting[output] -= 1
                if waiting[output] == 0:
                    heapq.heappush(ready[tasks[output][2]], output)
    with open(graph_path, "w") as file:
        json.dump({tasks[task][0]: [tasks[it][0] for it in needed] for task, needed in enumerate(inputs)}, file)


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
    parser.add_argument("--graph", action="store_true", help="a run with a graph, without pandas")
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
        graph_path = os.path.join(folder, "graph.json")
        graph = ["--graph", graph_path] if options.graph else []
        if options.graph:
            write_run(path, graph_path, options.events)
        else:
            write_trace(path, options.events)
        with open(path, "rb") as file:
            print(f"{sum(1 for _ in file):,} events, {os.path.getsize(path) / 1e6:.0f} MB")
        theirs = None
        if not options.no_pandas and not options.graph:
            # In processes of their own: what this one holds would count as the memory of those that it starts.
            command = [sys.executable, __file__, "--notebook", path]
            times = [float(subprocess.check_output(command)) for _ in range(options.rounds)]
            theirs = min(times)
            print(f"pandas: {theirs:.2f} s")

        def show(name, *command):
            rounds = 1 if name == "import" else options.rounds
            command = [LAPWING, "--store", os.path.join(folder, "lapwing.db"), *command]
            best, memory, processor = min(timed_all(command) for _ in range(rounds))
            ratio = f", {theirs / best:.1f} × as fast" if theirs else ""
            print(f"{name}: {best:.2f} s, processor time {processor:.2f} s, {memory:.0f} MB{ratio}", flush=True)

        for action in ("tasks", "findings"):
            show(f"trace {action} FILE", "trace", action, path, *graph, "--format", "json")
        show("import", "import", "--quiet", path)
        for action in ("tasks", "findings"):
            show(f"trace {action} from the store", "trace", action, *graph, "--format", "json")


if __name__ == "__main__":
    main()
