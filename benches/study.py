#!/usr/bin/env python3
"""How much processor time a whole `lapwing study` of a large table needs, beside numpy's least squares of the same table.

The table has runs with 30 treatments, of which half are present at random but often some neighbours of earlier settings, the time of
each run, and a cost with main effects, pairs and noise. All times are user and system time of whole processes, the smallest of several
rounds: Lapwing imports the table, fits all pairs (466 columns) from its store, and states the findings; numpy reads the table, builds
the same columns and solves for the coefficients, without standard errors.

    cargo build --release -p lapwing
    python3 -m venv /tmp/factors && /tmp/factors/bin/pip install numpy
    /tmp/factors/bin/python benches/study.py [--runs 15000] [--factors 30] [--table FILE] [--program target/release/lapwing]
"""

import argparse
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

BY_NUMPY = """
import sys, numpy
with open(sys.argv[1]) as table:
    cells = [line.rstrip().split(";")[1:] for line in table][1:]
bits = numpy.array([[cell == "True" for cell in row[:-1]] for row in cells], dtype=float)
y = numpy.log(numpy.array([float(row[-1]) for row in cells]))
k = bits.shape[1]
pairs = [bits[:, a] * bits[:, b] for a in range(k) for b in range(a + 1, k)]
if sys.argv[2] == "solve":
    x = numpy.column_stack([numpy.ones(len(y)), bits, *pairs])
    numpy.linalg.lstsq(x, y, rcond=None) if sys.argv[3] == "lstsq" else numpy.linalg.solve(x.T @ x, x.T @ y)
"""


def write_table(path, runs, factors, chance):
    effects = [chance.gauss(0, 0.1) for _ in range(factors)]
    pairs = {(chance.randrange(factors), chance.randrange(factors)): chance.gauss(0, 0.1) for _ in range(20)}
    sets = []
    with path.open("w") as file:
        print("unix_time", *(f"f{at:02}" for at in range(factors)), "usec_per_task", sep=";", file=file)
        for run in range(runs):
            if sets and chance.random() < 0.7:
                own = chance.choice(sets) ^ 1 << chance.randrange(factors)
            else:
                own = chance.getrandbits(factors)
            sets.append(own)
            has = [own >> at & 1 == 1 for at in range(factors)]
            log = math.log(1000) + sum(effect for present, effect in zip(has, effects) if present)
            log += sum(effect for (a, b), effect in pairs.items() if has[a] and has[b]) + chance.gauss(0, 0.05)
            print(f"{1.7e9 + 577 * run:.3f}", *has, f"{math.exp(log):.4f}", sep=";", file=file)


def processor_seconds(command, folder, rounds, **environment):
    best = math.inf
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=os.environ | environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15000)
    parser.add_argument("--factors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/lapwing")
    options = parser.parse_args()
    program = pathlib.Path(options.program).absolute()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table.csv"
        if options.table:
            table.write_bytes(options.table.read_bytes())
        else:
            write_table(table, options.runs, options.factors, random.Random(42))
        imports = []
        for place in range(options.rounds):
            own = pathlib.Path(folder) / str(place)
            own.mkdir()
            imports.append(processor_seconds([program, "import", "--from", "runs", table], own, 1))
        print(f"| import | {min(imports):.2f} s |")
        for name, words in [("fit", ["--model", "pairs"]), ("findings", [])]:
            seconds = processor_seconds([program, "study", name, *words], own, options.rounds)
            print(f"| study {name} | {seconds:.2f} s |")
        one_thread = {"OPENBLAS_NUM_THREADS": "1"}
        for name in ["lstsq", "normal equations"]:
            for threads, environment in [("one thread", one_thread), ("all threads", {})]:
                words = [sys.executable, "-c", BY_NUMPY, table]
                whole, read = (
                    processor_seconds([*words, step, name], own, options.rounds, **environment) for step in ["solve", "read"]
                )
                print(f"| numpy {name}, {threads} | {whole:.2f} s, of which {whole - read:.2f} s solve |")
