#!/usr/bin/env python3
"""What the pytest plugin's loop adds to a value: beside pytest-benchmark's `pedantic`.

An empty function, and one that waits busily for 1 ms, are executed equally often
  - by pytest-benchmark: `benchmark.pedantic(function, rounds=N)`, in a session of its own,
  - by the plugin, as the body of a test that is executed N times,
  - by the plugin's own fixture `benchmark`, which is in its place while recording.
Prints the median of each round's medians, and the differences from pytest-benchmark: wanted are 2 µs for the empty
function and 0.2 % for the other.

    target/venv-lapwing/bin/python benches/pytest_loop.py [--rounds 5] [--executions 1000]

Needs a Python with pytest-benchmark and pytest-lapwing, and a machine that does nothing else.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

SUITE = """
import time
import pytest

def empty():
    pass

def busy():
    end = time.perf_counter_ns() + 1_000_000
    while time.perf_counter_ns() < end:
        pass

@pytest.mark.parametrize("function", [empty, busy])
def test_pedantic(benchmark, function):
    benchmark.pedantic(function, rounds={executions}, warmup_rounds=10)

@pytest.mark.lapwing(burn_in=10, iterations={executions})
def test_empty():
    pass

@pytest.mark.lapwing(burn_in=10, iterations={executions})
def test_busy():
    busy()
"""


PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def pytest_run(folder):
    """Runs the suite, and returns the median of each benchmark that was recorded, and what the loop costs."""
    output = folder / "records.jsonl"
    output.unlink(missing_ok=True)
    command = [*PYTEST, "--lapwing", f"--lapwing-output={output}"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    names, values, costs = {}, {}, []
    for record in map(json.loads, output.read_text().splitlines()):
        if record["kind"] == "instance":
            names[record["id"]] = record["benchmark"]["id"].rpartition("::")[2]
            costs.append(record["attributes"]["loop_cost"])
        elif record["kind"] == "iteration" and not record["burn_in"]:
            values.setdefault(names[record["instance"]], []).append(record["metrics"]["wall_time"])
    return {name: statistics.median(it) for name, it in values.items()}, costs[0]


def one_round(folder):
    """Returns seconds by function and by who measured."""
    own, cost = pytest_run(folder)
    command = [*PYTEST, "-k", "pedantic", "--benchmark-disable-gc", "--benchmark-json=benchmark.json"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    theirs = {
        it["name"]: it["stats"]["median"] for it in json.loads((folder / "benchmark.json").read_text())["benchmarks"]
    }
    found = {("loop", "cost"): cost}
    for name in ("empty", "busy"):
        found[name, "theirs"] = theirs[f"test_pedantic[{name}]"]
        found[name, "own"] = own[f"test_{name}"]
        found[name, "stand-in"] = own[f"test_pedantic[{name}]"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--executions", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "test_it.py").write_text(SUITE.format(executions=options.executions))
        (folder / "pytest.ini").write_text("[pytest]\n")
        rounds = [one_round(folder) for _ in range(options.rounds)]
    middle = {key: statistics.median(it[key] for it in rounds) for key in rounds[0]}
    print(f"median of {options.rounds} rounds of {options.executions} executions, in µs\n")
    print("| function | `pedantic` | test body | difference | `benchmark` of the plugin | difference | wanted |")
    print("|---|---|---|---|---|---|---|")
    for name, label, wanted in (("empty", "empty", "within 2 µs"), ("busy", "1 ms", "within 0.2 %")):
        theirs = middle[name, "theirs"]
        cells = [f"{theirs * 1e6:.3f}"]
        for who in ("own", "stand-in"):
            difference = middle[name, who] - theirs
            cells += [f"{middle[name, who] * 1e6:.3f}", f"{difference * 1e6:+.3f} ({difference / theirs:+.3%})"]
        print(f"| {label} | {' | '.join(cells)} | {wanted} |")
    print(f"\nrecorded apart as the loop's own cost: {middle['loop', 'cost'] * 1e6:.3f} µs")


if __name__ == "__main__":
    main()
