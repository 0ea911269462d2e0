#!/usr/bin/env python3
"""Counts the instructions of the kernels of lapwing-stats under valgrind's callgrind.

Unlike times, counts stay the same when the machine is busy, so that a change of the code
shows. Prints a Markdown table. Needs valgrind.

    cargo bench -p lapwing-stats --no-run
    python3 crates/stats/benches/instructions.py target/release/deps/kernels-*
"""

import os
import re
import subprocess
import sys

KERNELS = (
    "hierarchical_means",
    "hierarchical_medians",
    "welch_20",
    "studentised_20",
    "bca_20",
    "mann_whitney_20",
    "variance_20_by_20",
    "modes_20",
    "power_grid_welch",
)


def instructions(program, kernel):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    told = subprocess.run(
        [*command, program, "--once", kernel], capture_output=True, text=True, check=True
    ).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


def main():
    programs = [path for path in sys.argv[1:] if not path.endswith(".d")]
    if not programs:
        sys.exit(__doc__)
    program = max(programs, key=os.path.getmtime)
    start = instructions(program, "nothing")
    print("| kernel | instructions |\n|---|--:|")
    for kernel in KERNELS:
        print(f"| {kernel} | {instructions(program, kernel) - start:,} |", flush=True)


if __name__ == "__main__":
    main()
