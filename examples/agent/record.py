#!/usr/bin/env python3
"""Records times of work.py in each state of its three slow spots, with the changes that do nothing made at random: record.py OUTPUT [RUNS]

`recorded.py` prints one of them in place of a time.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent import CHANGES, REAL, changed


def main():
    output, runs = Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 50
    source = (Path(__file__).parent / "work.py").read_text()
    real = sorted(REAL)
    states = [f"{state:03b}" for state in range(8)]
    times, chance = {state: [] for state in states}, random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "work.py"
        for _ in range(runs):
            for state in chance.sample(states, len(states)):
                text = source
                made = [name for name, bit in zip(real, state) if bit == "1"]
                for name in made + [name for name in CHANGES if name not in REAL and chance.random() < 0.5]:
                    text = changed(text, name)
                program.write_text(text)
                begun = time.perf_counter()
                # Three iterations of an instance.
                for _ in range(3):
                    subprocess.run([sys.executable, program, "1000"], stdout=subprocess.DEVNULL, check=True)
                times[state].append(round((time.perf_counter() - begun) / 3, 6))
    output.write_text("".join(f"{state} {' '.join(map(str, times[state]))}\n" for state in states))


if __name__ == "__main__":
    main()
