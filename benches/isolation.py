#!/usr/bin/env python3
"""What `--isolate` costs: the wall time of the same commands with and without it, in turn.

Executes /bin/true and an interpreter of Python that does nothing, each as often with as
without isolation, in turn. Prints a Markdown table: the median wall time of each side, and
the median over the rounds of the difference and of the ratio within a round.

    cargo build --release
    python3 benches/isolation.py [--rounds 7] [--executions 200]

Needs a machine where isolation holds (`lapwing doctor`), and one that does nothing else.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

COMMANDS = {"/bin/true": ["/bin/true"], "python3 -c pass": [sys.executable, "-c", "pass"]}


def median_time(program, command, option, executions):
    """Returns the median wall time of a command in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        lapwing = [program, "--store", "store.db", "--quiet"]
        options = ["-n", "1", "-i", str(executions), "--burn-in", "5", *option, "--", *command]
        subprocess.run([*lapwing, "run", *options], cwd=folder, check=True, capture_output=True)
        export = [*lapwing, "export", "--to", "json"]
        told = subprocess.run(export, cwd=folder, check=True, capture_output=True, text=True)
        iterations = [it for it in json.loads(told.stdout) if not it["burn_in"]]
        return statistics.median(it["metrics"]["wall_time"] for it in iterations)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/lapwing", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--executions", type=int, default=200)
    options = parser.parse_args()
    program = options.program.resolve()
    print("| command | without | with `--isolate` | difference | ratio |")
    print("|---|---|---|---|---|")
    for name, command in COMMANDS.items():
        rounds = [
            [
                median_time(program, command, option, options.executions)
                for option in ([], ["--isolate=possible"])
            ]
            for _ in range(options.rounds)
        ]
        without, isolated = (statistics.median(side) for side in zip(*rounds))
        difference = statistics.median(b - a for a, b in rounds)
        ratios = sorted(b / a for a, b in rounds)
        print(
            f"| `{name}` | {without * 1e3:.2f} ms | {isolated * 1e3:.2f} ms | {difference * 1e3:.2f} ms"
            f" | {statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) |"
        )


if __name__ == "__main__":
    main()
