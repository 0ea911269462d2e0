#!/usr/bin/env python3
"""Runs a workload whose ideal time is known on a pool of workers, and prints what the pool adds to it.

    workload.py KIND [--tasks N] [--workers N] [--pool threads|processes] [--chunk N] [--size X]

The ideal is the time that the same work takes without a pool, divided by the number of workers that can share it:

KIND     a task                                            ideal
no-op    returns at once                                   0
sleep    sleeps for SIZE milliseconds                      rounds of workers × SIZE
cpu      adds SIZE thousand numbers                        measured alone, divided by the processors in use
memory   fills SIZE MiB                                    measured alone, divided by the processors in use
io       writes and reads a file of SIZE MiB               measured alone
chain    as `cpu`, each task after the result of the last  measured alone, one after the other

Prints JSON: `elapsed` and `ideal` in seconds, `overhead` = elapsed − ideal in seconds, `overhead_per_task` in seconds, `rate` in tasks per
second. Threads of Python share one processor, so threads are expected to be far from the ideal of `cpu`.
"""

import argparse
import json
import math
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

SIZES = {"no-op": 0, "sleep": 2, "cpu": 20, "memory": 4, "io": 1, "chain": 20}
ALONE = 5
"""How often a task is measured without a pool; the fastest counts."""


def no_op(_size):
    return None


def sleep(size):
    time.sleep(size / 1000)


def cpu(size):
    return sum(range(int(size * 1000)))


def memory(size):
    return len(bytearray(b"\x01") * int(size * 2**20))


def io(size):
    with tempfile.TemporaryFile() as file:
        file.write(b"\0" * int(size * 2**20))
        file.flush()
        file.seek(0)
        return len(file.read())


KINDS = {"no-op": no_op, "sleep": sleep, "cpu": cpu, "memory": memory, "io": io, "chain": cpu}


def alone(task, size):
    times = []
    for _ in range(ALONE):
        begin = time.perf_counter()
        task(size)
        times.append(time.perf_counter() - begin)
    return min(times)


def ideal(kind, tasks, workers, size):
    if kind == "no-op":
        return 0.0
    if kind == "sleep":
        return math.ceil(tasks / workers) * size / 1000
    one = alone(KINDS[kind], size)
    if kind in ("io", "chain"):
        return tasks * one
    return tasks * one / min(workers, len(os.sched_getaffinity(0)))


def run(pool, kind, tasks, size, chunk):
    task = KINDS[kind]
    if kind == "chain":
        for _ in range(tasks):
            pool.submit(task, size).result()
    else:
        for _ in pool.map(task, [size] * tasks, chunksize=chunk):
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pool", choices=("threads", "processes"), default="threads")
    parser.add_argument("--chunk", type=int, default=1)
    parser.add_argument("--size", type=float)
    given = parser.parse_args()
    size = SIZES[given.kind] if given.size is None else given.size
    best = ideal(given.kind, given.tasks, given.workers, size)
    executor = ThreadPoolExecutor if given.pool == "threads" else ProcessPoolExecutor
    with executor(given.workers) as pool:
        # Workers are started by the first tasks.
        list(pool.map(no_op, [0] * given.workers))
        begin = time.perf_counter()
        run(pool, given.kind, given.tasks, size, given.chunk)
        elapsed = time.perf_counter() - begin
    overhead = elapsed - best
    print(
        json.dumps(
            {
                "elapsed": elapsed,
                "ideal": best,
                "overhead": overhead,
                "overhead_per_task": overhead / given.tasks,
                "rate": given.tasks / elapsed,
            }
        )
    )


if __name__ == "__main__":
    main()
