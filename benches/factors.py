#!/usr/bin/env python3
"""How long the statistics of factor studies take: least squares beside numpy and R's lm, deltas, Shapley values, designs.

The runs are made up: 30 treatments, of which half are present at random but always some neighbours of earlier sets, and a cost with
main effects and pairs. All times are of the function alone in a warm process, the smallest of several rounds; numpy has as many threads as
processors. R is left out if it is not installed.

    cargo build --release -p lapwing-stats --example time_factors
    python3 -m venv /tmp/factors && /tmp/factors/bin/pip install numpy
    /tmp/factors/bin/python benches/factors.py [--runs 15000] [--factors 30] [--program target/release/examples/time_factors]
"""

import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time

R_SCRIPT = """
d <- read.table(commandArgs(TRUE)[1]); k <- as.integer(commandArgs(TRUE)[2])
bits <- sapply(0:(k - 1), function(i) floor(d[[1]] / 2^i) %% 2)
colnames(bits) <- paste0("f", seq_len(k)); data <- data.frame(bits, y = d[[2]])
x <- model.matrix(y ~ .^2, data)
best <- Inf; full <- Inf
for (i in 1:3) best <- min(best, system.time(fit <- lm.fit(x, data$y))[["elapsed"]])
for (i in 1:2) full <- min(full, system.time(s <- summary(lm(y ~ .^2, data)))[["elapsed"]])
cat(best, full, s$coefficients[2, 1:2])
"""


def made_up(runs, factors, chance):
    effects = [chance.gauss(0, 20) for _ in range(factors)]
    pairs = {(chance.randrange(factors), chance.randrange(factors)): chance.gauss(0, 20) for _ in range(40)}
    sets, costs = [], []
    for _ in range(runs):
        if sets and chance.random() < 0.7:
            own = chance.choice(sets) ^ 1 << chance.randrange(factors)
        else:
            own = chance.getrandbits(factors)
        sets.append(own)
        cost = 1000 + sum(effect for at, effect in enumerate(effects) if own >> at & 1)
        cost += sum(effect for (a, b), effect in pairs.items() if own >> a & 1 and own >> b & 1)
        costs.append(round(cost + chance.gauss(0, 50), 6))
    return sets, costs


def smallest(work, seconds=4):
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() < start + seconds:
        before = time.perf_counter()
        work()
        best = min(best, 1e3 * (time.perf_counter() - before))
    return best


def by_numpy(sets, costs, factors):
    import numpy

    bits = numpy.array([[own >> at & 1 for at in range(factors)] for own in sets], dtype=float)
    pairs = [bits[:, a] * bits[:, b] for a in range(factors) for b in range(a + 1, factors)]
    x, y = numpy.column_stack([numpy.ones(len(sets)), bits, *pairs]), numpy.array(costs)
    print(f"numpy {numpy.__version__}: first coefficients {numpy.linalg.lstsq(x, y)[0][:3]}")

    def with_errors():
        inverse = numpy.linalg.inv(x.T @ x)
        beta = inverse @ (x.T @ y)
        return numpy.sqrt(((y - x @ beta) ** 2).sum() / (len(y) - x.shape[1]) * numpy.diag(inverse))

    return smallest(lambda: numpy.linalg.lstsq(x, y)), smallest(with_errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15000)
    parser.add_argument("--factors", type=int, default=30)
    parser.add_argument("--program", default="target/release/examples/time_factors")
    options = parser.parse_args()
    sets, costs = made_up(options.runs, options.factors, random.Random(22))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{own} {cost!r}\n" for own, cost in zip(sets, costs))
        file.flush()
        ours = json.loads(subprocess.run([options.program, file.name], check=True, capture_output=True).stdout)
        print(f"ours: first coefficients and errors {ours.pop('coefficients')}")
        for name, value in ours.items():
            print(f"| {name} | {value:.4g} |")
        lstsq, normal = by_numpy(sets, costs, options.factors)
        whole = ours["matrix"] + ours["fit"]
        print(f"| numpy lstsq, without errors | {lstsq:.0f} ms | {lstsq / ours['fit']:.1f} × |")
        print(f"| numpy normal equations with errors | {normal:.0f} ms | {normal / ours['fit']:.1f} × |")
        if shutil.which("Rscript"):
            with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
                script.write(R_SCRIPT)
                script.flush()
                command = ["Rscript", script.name, file.name, str(options.factors)]
                answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            fit, full = 1e3 * float(answer[0]), 1e3 * float(answer[1])
            print(f"| R lm.fit | {fit:.0f} ms | {fit / ours['fit']:.1f} × |")
            print(f"| R lm and summary, with the model matrix | {full:.0f} ms | {full / whole:.1f} × |")
            print(f"R: second coefficient and error {answer[2:]}")
