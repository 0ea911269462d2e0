#!/usr/bin/env python3
"""Duet against interleaving, on a machine with a noisy neighbour.

A program of about 30 ms and the same with 3 % more work are compared again and again: interleaved on all cores,
and as a duet, with as many instances and iterations. Beside them a neighbour is busy in bursts of random length
(0.27 s on average), pinned to every core at the same time, or on one core after the other; or always busy on the last core, as if that were
slower; and without one.
Prints, for each, the typical half-width of the 95 % interval of the ratio, the typical error of the ratio, how often
the interval holds the true ratio, how often the difference is found, and the time that it took; and the same of an
A/A control beside the first and the third neighbour, where both do the same work.

    cargo build --release
    python3 benches/duet.py [--repetitions 10] [--lapwing target/release/lapwing]

Needs a C compiler, and two physical cores.
"""

import math
import pathlib
import statistics
import tempfile
import time

from neighbour import build, compared, half_width, lapwing, lapwing_program, neighbour, options, steps_of, suite

# Of a thousand.
MORE = 30
WAYS = {"interleaved": [], "duet": ["--duet"]}


def experiment(program, lapwing_path, path, way, seed):
    """Measures once; returns the comparison and the seconds that measuring took."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        begin = time.perf_counter()
        lapwing(lapwing_path, folder, "run", "--quiet", "--seed", str(seed), *WAYS[way], str(path))
        took = time.perf_counter() - begin
        return compared(lapwing_path, folder, "variant:a", "variant:b"), took


def row(kind, way, truth, results):
    """Returns a row of the table."""
    comparisons = [comparison for comparison, _ in results]
    errors = [abs(math.log(it["ratio"] / truth)) for it in comparisons]
    widths = [half_width(it) for it in comparisons]
    holds = sum(it["lower"] <= truth <= it["upper"] for it in comparisons)
    found = sum(not it["lower"] <= 1 <= it["upper"] for it in comparisons)
    seconds = statistics.mean(duration for _, duration in results)
    return (
        f"| {kind} | {100 * (truth - 1):.0f} % | {way} | {100 * statistics.median(widths):.2f} % "
        f"| {100 * statistics.median(errors):.2f} % | {holds} / {len(results)} | {found} / {len(results)} | {seconds:.1f} s |"
    )


def main():
    given = options(__doc__, "repetitions", 10, 5)
    lapwing_path = lapwing_program(given.lapwing)
    cpus = given.cpus.split(",")
    settings = f"instances = {given.instances}\niterations = {given.iterations}\nburn_in = 1"
    print("| neighbour | truth | measured | half-width | error | holds the truth | differs from 1 | time |")
    print("|---|--:|---|--:|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        steps = steps_of(program, 0.03)
        for kind, thousandths in [("together", [MORE, 0]), ("alternating", [MORE]), ("slower", [0]), ("none", [MORE])]:
            for more in thousandths:
                path = suite(folder, program, steps, settings, {"a": 0, "b": more})
                results = {way: [] for way in WAYS}
                for seed in range(given.repetitions):
                    # In turn, so that both see the same of the machine.
                    for way in WAYS:
                        if kind == "none":
                            measured = experiment(program, lapwing_path, path, way, seed)
                        else:
                            words = ("ramp", 0.01, cpus[-1:]) if kind == "slower" else (kind, seed + 1, cpus)
                            with neighbour(program, *words):
                                measured = experiment(program, lapwing_path, path, way, seed)
                        results[way].append(measured)
                for way, measured in results.items():
                    print(row(kind, way, 1 + more / 1000, measured), flush=True)


if __name__ == "__main__":
    main()
