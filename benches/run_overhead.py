#!/usr/bin/env python3
"""What measuring costs: `lapwing run` beside `hyperfine -N`, in turn, on the same commands.

Both execute /bin/true and a computation of about 50 ms equally often, without a shell.
Prints a Markdown table: the mean that each reports, the time that each takes in all, and
the peak memory of each (of the program itself, without what it starts). Every figure is
the median over the rounds; ratios are Lapwing / hyperfine, taken within each round.
The store is there before and grows with every round, as in daily use.

    cargo build --release
    python3 benches/run_overhead.py [--rounds 5] [--executions 1000]

Needs hyperfine and a C compiler, and a machine that does nothing else.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

INSTANCES = 10
WORK = """
#include <stdlib.h>
int main(int count, char **words) {
    volatile unsigned long sum = 0;
    for (unsigned long i = strtoul(words[1], 0, 10); i > 0; i--) sum += i;
    return 0;
}
"""


def busy_command(folder, seconds):
    """Returns a command that computes for about so long: always the same amount of work."""
    source, program = folder / "busy.c", folder / "busy"
    source.write_text(WORK)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    count = 50_000_000
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([program, str(count)], check=True)
        times.append(time.perf_counter() - begin)
    return [str(program), str(round(count * seconds / min(times)))]


def watch_memory(process, peak):
    """Keeps the high-water mark of a process in `peak`, in bytes, until it ends."""
    path = pathlib.Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            for line in path.read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak[0] = int(line.split()[1]) * 1024
        except OSError:
            return
        time.sleep(0.02)


def execute(words):
    """Executes; returns its output, how long it took and its peak memory."""
    peak = [0]
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watcher = threading.Thread(target=watch_memory, args=(process, peak))
    watcher.start()
    output, errors = process.communicate()
    took = time.perf_counter() - begin
    watcher.join()
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{errors.decode()}")
    return output, took, peak[0]


def lapwing_command(program, folder, command, instances, iterations):
    options = ["--store", f"{folder}/lapwing.db", "run", "--quiet", "--format", "json"]
    options += ["--instances", str(instances), "--burn-in", "0", "--iterations", str(iterations)]
    return [str(program), *options, "--", *command]


def by_lapwing(program, folder, command, executions):
    words = lapwing_command(program, folder, command, INSTANCES, executions // INSTANCES)
    output, took, peak = execute(words)
    rows = {row["metric"]: row for row in json.loads(output)["results"]}
    wall = rows["wall_time"]
    if wall["iterations"] != executions:
        sys.exit(f"lapwing kept {wall['iterations']} of {executions} iterations")
    return wall["value"], took, peak


def by_hyperfine(folder, command, executions):
    path = folder / "hyperfine.json"
    options = ["-N", "--style", "none", "--runs", str(executions), "--export-json", str(path)]
    _, took, peak = execute(["hyperfine", *options, " ".join(command)])
    return json.loads(path.read_text())["results"][0]["mean"], took, peak


def compare(program, folder, command, options):
    """Returns one (lapwing, hyperfine) pair of (mean, total, peak) for each round."""
    # A store is made once and used for years, so making it is not in the figures.
    execute(lapwing_command(program, folder, command, 1, 1))
    rounds = []
    for number in range(options.rounds):
        sides = {}
        # A B, B A, A B …: whoever comes second does not always profit from it.
        for side in ("lapwing", "hyperfine")[:: -1 if number % 2 else 1]:
            if side == "lapwing":
                sides[side] = by_lapwing(program, folder, command, options.executions)
            else:
                sides[side] = by_hyperfine(folder, command, options.executions)
        rounds.append((sides["lapwing"], sides["hyperfine"]))
    return rounds


def row(name, rounds):
    def middle(side, figure):
        return statistics.median(one[side][figure] for one in rounds)

    def ratio(figure):
        ratios = [one[0][figure] / one[1][figure] for one in rounds]
        return f"{statistics.median(ratios):.3f} ({min(ratios):.3f}–{max(ratios):.3f})"

    cells = [name]
    cells += [f"{1000 * middle(side, 0):.3f} ms" for side in (0, 1)] + [ratio(0)]
    cells += [f"{middle(side, 1):.2f} s" for side in (0, 1)] + [ratio(1)]
    cells += [f"{middle(side, 2) / 2**20:.1f} MiB" for side in (0, 1)]
    return f"| {' | '.join(cells)} |"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--executions", type=int, default=1000, help="a multiple of 10")
    parser.add_argument("--lapwing", default=root / "target/release/lapwing")
    parser.add_argument("--only", choices=["true", "busy"])
    options = parser.parse_args()
    if options.executions % INSTANCES:
        parser.error(f"--executions must be a multiple of {INSTANCES}")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        print(f"{options.rounds} rounds of {options.executions} executions, median (range)\n")
        print(
            "| command | mean, Lapwing | mean, hyperfine | ratio | total, Lapwing |"
            " total, hyperfine | ratio | memory, Lapwing | memory, hyperfine |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        if options.only != "busy":
            print(row("`/bin/true`", compare(options.lapwing, folder, ["/bin/true"], options)))
            sys.stdout.flush()
        if options.only != "true":
            command = busy_command(folder, 0.05)
            print(row("50 ms of computing", compare(options.lapwing, folder, command, options)))


if __name__ == "__main__":
    main()
