#!/usr/bin/env python3
"""How often an A/A control alarms on a machine whose speed drifts: interleaved, and one side wholly before the other.

Both sides do the same work. Meanwhile a co-runner, pinned to every core, takes a share of the machine that rises from 0 to
90 % over the experiment. Interleaved, the two sides are the variants of one `lapwing run`; one by one, they are two
`lapwing run`, as measured by hand. Each experiment ends with `lapwing compare`, and an alarm is an interval of the ratio that
excludes 1. Prints a table with the 95 % interval (Wilson) of the rate of alarms.

    cargo build --release
    python3 benches/interleaving.py [--experiments 40] [--lapwing target/release/lapwing]

Needs a C compiler.
"""

import math
import pathlib
import statistics
import tempfile

from neighbour import build, compared, half_width, lapwing, lapwing_program, neighbour, options, steps_of, suite

SECONDS = 0.02


def interleaved(lapwing_path, folder, paths, seed):
    lapwing(lapwing_path, folder, "run", "--quiet", "--seed", str(seed), str(paths["both"]))
    return ["variant:a", "variant:b"]


def one_by_one(lapwing_path, folder, paths, seed):
    for side in ["a", "b"]:
        lapwing(lapwing_path, folder, "run", "--quiet", "--seed", str(seed), "--name", side, str(paths["one"]))
    return ["session:a", "session:b"]


def wilson(count, of):
    """Returns the 95 % interval of a share."""
    z = 1.959964
    centre = (count + z * z / 2) / (of + z * z)
    half = z * math.sqrt(count * (of - count) / of + z * z / 4) / (of + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


def main():
    given = options(__doc__, "experiments", 40, 3)
    lapwing_path = lapwing_program(given.lapwing)
    cpus = given.cpus.split(",")
    settings = f"instances = {given.instances}\niterations = {given.iterations}\nburn_in = 1"
    print("| speed of the machine | order | experiments | alarms | rate | half-width | ratio, median of distances from 1 |")
    print("|---|---|--:|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        steps = steps_of(program, SECONDS)
        paths = {}
        for name, variants in [("both", {"a": 0, "b": 0}), ("one", {"a": 0})]:
            own = folder / name
            own.mkdir()
            paths[name] = suite(own, program, steps, settings, variants)
        ways = {"interleaved": interleaved, "one side wholly before the other": one_by_one}
        for drifts in [True, False]:
            results = {name: [] for name in ways}
            # The machine slows down to about half: the co-runner reaches its most at the end.
            duration = 2 * given.instances * (given.iterations + 1) * SECONDS * 1.6
            for seed in range(given.experiments):
                for name, way in ways.items():
                    with tempfile.TemporaryDirectory() as store:
                        store = pathlib.Path(store)
                        if drifts:
                            with neighbour(program, "ramp", duration, cpus):
                                sides = way(lapwing_path, store, paths, seed)
                        else:
                            sides = way(lapwing_path, store, paths, seed)
                        results[name].append(compared(lapwing_path, store, *sides))
            for name, comparisons in results.items():
                alarms = sum(not it["lower"] <= 1 <= it["upper"] for it in comparisons)
                low, high = wilson(alarms, len(comparisons))
                width = statistics.median(half_width(it) for it in comparisons)
                distance = statistics.median(abs(math.log(it["ratio"])) for it in comparisons)
                speed = "falls" if drifts else "steady"
                print(
                    f"| {speed} | {name} | {len(comparisons)} | {alarms} | {alarms / len(comparisons):.3f} [{low:.3f}, {high:.3f}] "
                    f"| {100 * width:.1f} % | {100 * distance:.1f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
