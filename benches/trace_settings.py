"""How well `lapwing trace what-if` predicts real runs with other numbers of workers.

    python benches/trace_settings.py LAPWING [FOLDER]

Jobs of earthkit-workflows and Dask (examples/earthkit, examples/dask-trace, which say what they need) run with one, two and
four workers. Each setting is predicted from one other, and four workers also with the runs of one and two.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent / "examples"
WORKERS = (1, 2, 4)


def earthkit(folder, workers, members):
    command = [sys.executable, ROOT / "earthkit/job.py", "1", str(workers), folder, str(members)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "trace.log", ["--graph", folder / "graph.json"]


def dask(folder, workers, days):
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, ROOT / "dask-trace/job.py", str(workers), "1", folder / "trace.jsonl", str(days)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "trace.jsonl", []


BEYOND = 0.1
"""The share by which a run may be beyond the range of its prediction."""

JOBS = {f"earthkit, {members} members": (earthkit, members) for members in (8, 12, 16, 24)}
JOBS |= {f"Dask, {days} days": (dask, days) for days in (2, 3, 5)}


def main(lapwing, folder):
    def predicted(trace, options, workers, others=()):
        command = [lapwing, "trace", "what-if", trace, *options, "--workers", str(workers), "--format", "json"]
        command += ["--", *others] if others else []
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        row = answer["scenarios"][-1]
        return answer["measured"], row["makespan"], row["with_full_machine"] or row["makespan"]

    errors = {"one or two workers": [], "four workers, from two": [], "four workers, with others": []}
    for name, (run, size) in JOBS.items():
        runs = {workers: run(folder / f"{run.__name__}-{size}-{workers}", workers, size) for workers in WORKERS}
        measured = {workers: predicted(*runs[workers], workers)[0] for workers in WORKERS}
        asked = [
            ("one or two workers", 1, 2, ()),
            ("one or two workers", 2, 1, ()),
            ("four workers, from two", 2, 4, ()),
            ("four workers, with others", 2, 4, (runs[1][0],)),
        ]
        for kind, known, workers, others in asked:
            _, makespan, other = predicted(*runs[known], workers, others)
            error = makespan / measured[workers] - 1
            low, high = min(makespan, other) * (1 - BEYOND), max(makespan, other) * (1 + BEYOND)
            errors[kind].append((abs(error), low <= measured[workers] <= high))
            others = " with 1" if others else ""
            print(f"{name}: {known}{others} → {workers} workers: {makespan / 1e9:.2f} s,", end=" ")
            print(f"measured {measured[workers] / 1e9:.2f} s, {error:+.1%}", flush=True)
    for kind, of in errors.items():
        within = [sum(error <= limit for error, _ in of) for limit in (0.05, 0.1, 0.2)]
        in_range = sum(is_within for _, is_within in of)
        print(f"{kind}: {len(of)} predictions, within 5, 10, 20 %: {', '.join(map(str, within))};", end=" ")
        print(f"in the range, give or take {BEYOND:.0%}: {in_range}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else folder))
