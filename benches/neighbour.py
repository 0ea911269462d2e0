"""What the scripts about disturbed machines share: a busy program to measure, and a noisy neighbour beside it.

Both are compiled here by a C compiler. The neighbour ends with the script, and by itself after ten minutes.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import subprocess
import time

SOURCE = """
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <math.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void until(double end, int busy) {
    volatile unsigned long sum = 0;
    while (now() < end) {
        if (!busy) usleep((end - now()) * 1e6 > 0 ? (end - now()) * 1e6 : 0);
        else for (int i = 0; i < 10000; i++) sum += i;
    }
}
/* busy COUNT [THOUSANDTHS_MORE] */
static int work(int count, char **words) {
    unsigned long steps = strtoul(words[2], 0, 10);
    if (count > 3) steps += steps / 1000 * strtoul(words[3], 0, 10);
    volatile unsigned long sum = 0;
    for (unsigned long i = steps; i > 0; i--) sum += i;
    return 0;
}
/* One process per CPU: all are busy at the same time (together), each in turn (alternating), or for a share of each
   20 ms that rises to 90 % within SECONDS (ramp). */
int main(int count, char **words) {
    if (!strcmp(words[1], "busy")) return work(count, words);
    double begin = now() + 0.05;
    int cpus = count - 3;
    for (int at = 0; at < cpus; at++) {
        if (at + 1 < cpus && fork() > 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(600);
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(words[3 + at]), &set);
        sched_setaffinity(0, sizeof set, &set);
        double end = begin, argument = atof(words[2]);
        srand48((long)argument);
        for (unsigned long burst = 0;; burst++) {
            if (!strcmp(words[1], "ramp")) {
                double share = 0.9 * (now() - begin) / argument;
                share = share < 0 ? 0 : share > 0.9 ? 0.9 : share;
                double start = now();
                until(start + 0.02 * share, 1);
                until(start + 0.02, 0);
                continue;
            }
            /* Exponential lengths, the same for every process. */
            end += 0.02 - 0.25 * log(1 - drand48());
            int mine = !strcmp(words[1], "together") || burst / 2 % cpus == (unsigned long)at;
            until(end, burst % 2 == 0 && mine);
        }
    }
}
"""


def build(folder):
    """Compiles; returns the program."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", program, source, "-lm"], check=True)
    return program


def steps_of(program, seconds):
    """Returns how many steps take about so long where nothing disturbs."""
    count, times = 20_000_000, []
    for _ in range(9):
        begin = time.perf_counter()
        subprocess.run([program, "busy", str(count)], check=True)
        times.append(time.perf_counter() - begin)
    return round(count * seconds / min(times))


@contextlib.contextmanager
def neighbour(program, kind, argument, cpus):
    """Runs a neighbour beside what is done meanwhile."""
    words = [program, kind, str(argument), *map(str, cpus)]
    processes = subprocess.Popen(words, start_new_session=True)
    try:
        yield
    finally:
        # Its group is its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(processes.pid, 9)
        processes.wait()


def suite(folder, program, steps, settings, variants):
    """Writes a suite of one benchmark whose variants do so many thousandths more work."""
    text = f'[benchmark.busy]\ncommand = ["{program}", "busy", "{steps}"]\n{settings}\n'
    text += "[factor.more]\nlevels = [{}]\napply.arguments = [\"{{level}}\"]\n".format(
        ", ".join(str(level) for level in sorted(set(variants.values())))
    )
    for name, more in variants.items():
        text += f"[variant.{name}]\nfactors = {{ more = {more} }}\n"
    path = folder / "lapwing.toml"
    path.write_text(text)
    return path


def lapwing(program, folder, *words):
    """Runs Lapwing in a folder; returns what it prints."""
    options = ["--store", str(folder / "lapwing.db")]
    done = subprocess.run([program, *options, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"lapwing {' '.join(words)} failed:\n{done.stderr}")
    return done.stdout


def compared(program, folder, *words):
    """Compares; returns the first comparison."""
    answer = lapwing(program, folder, "compare", *words, "--metric", "wall_time", "--format", "json")
    return json.loads(answer)["comparisons"][0]


def half_width(comparison):
    """Returns half the width of the interval of a ratio, on the logarithmic scale."""
    return math.log(comparison["upper"] / comparison["lower"]) / 2


def lapwing_program(given):
    """Returns the program to measure with: the given one, or the release build of this repository."""
    root = pathlib.Path(__file__).resolve().parent.parent
    return pathlib.Path(given or root / "target/release/lapwing").resolve()


def options(description, counted, count, iterations):
    """Returns the parsed options of a script: how many experiments or repetitions, each of how many instances and iterations."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(f"--{counted}", type=int, default=count)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=iterations)
    parser.add_argument("--cpus", default="0,1", help="where the other program runs")
    parser.add_argument("--lapwing")
    return parser.parse_args()
