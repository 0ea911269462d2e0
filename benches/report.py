#!/usr/bin/env python3
"""How long a report of a long history takes, and how large its pages are.

Makes record v1 of 1,000 benchmarks × 100 runs × 1 instance × 10 iterations (two metrics), imports it,
and times `lapwing report` with and without `--raw`, `lapwing mds` (of three instances or more), `lapwing list` and
a filtered list.
The numbers are made up; only their amount matters.

    cargo build --release
    python3 benches/report.py [--benchmarks 1000] [--runs 100] [--instances 1] [--iterations 10]
    python3 benches/report.py --benchmarks 100 --runs 10 --instances 10 --iterations 1000 --metrics 1    # 10 million
    python3 benches/report.py --benchmarks 1 --runs 10 --instances 100 --iterations 10000 --metrics 1    # of one benchmark
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time
import uuid

BASE = 1_700_000_000_000


def identity(number):
    """Returns a UUIDv7 of that number."""
    milliseconds = BASE + number
    value = (milliseconds << 80) | (7 << 76) | (2 << 62) | number
    return str(uuid.UUID(int=value))


def write_records(path, benchmarks, runs, instances, iterations, metrics):
    chance = random.Random(7)
    count = 0

    def next_id():
        nonlocal count
        count += 1
        return identity(count)

    levels = [chance.uniform(0.001, 10) for _ in range(benchmarks)]
    with open(path, "w", encoding="utf-8") as out:

        def line(kind, **body):
            out.write(json.dumps({"v": 1, "kind": kind, **body}) + "\n")

        for run in range(runs):
            session = next_id()
            day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + run * 86_400))
            line("session", id=session, suite="history", started=day, tool="made up",
                 name=f"night-{run:03}")
            run_id = next_id()
            line("run", id=run_id, session=session, version={"name": f"1.{run}"},
                 metrics={"wall_time": {"unit": "s", "better": "lower"},
                          "peak_memory": {"unit": "B", "better": "lower"}})
            for position in range(benchmarks * instances):
                benchmark = position % benchmarks
                instance = next_id()
                line("instance", id=instance, run=run_id, position=position, host="made-up",
                     benchmark={"id": f"benchmarks/test_{benchmark % 40}.py::test_{benchmark}",
                                "tags": [f"tag{benchmark % 5}"]})
                level = levels[benchmark] * chance.lognormvariate(0, 0.02)
                for index in range(iterations):
                    time_text = f'"wall_time":{level * chance.lognormvariate(0, 0.03)}'
                    memory = f',"peak_memory":{1e8 + 4096 * chance.randrange(1000)}' if metrics == 2 else ""
                    burn_in = ',"burn_in":true' if index == 0 else ""
                    out.write(f'{{"v":1,"kind":"iteration","instance":"{instance}","index":{index}{burn_in},'
                              f'"metrics":{{{time_text}{memory}}}}}\n')
                line("instance_end", instance=instance)


def timed(command, folder):
    begin = time.monotonic()
    done = subprocess.run(["/usr/bin/env", "time", "-f", "%M", *command], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.monotonic() - begin
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds, int(done.stderr.split()[-1]) / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--benchmarks", type=int, default=1000)
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--instances", type=int, default=1)
    options.add_argument("--iterations", type=int, default=10)
    options.add_argument("--metrics", type=int, choices=(1, 2), default=2)
    options.add_argument("--lapwing", default="target/release/lapwing")
    given = options.parse_args()
    program = str(pathlib.Path(given.lapwing).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        records = folder / "records.jsonl"
        write_records(records, given.benchmarks, given.runs, given.instances, given.iterations, given.metrics)
        print("| what | seconds | peak memory |\n|---|--:|--:|")

        def row(what, *words):
            seconds, memory = timed([program, *words], folder)
            print(f"| {what} | {seconds:.2f} | {memory:.0f} MiB |")

        size = records.stat().st_size / 1e6
        row(f"import of the records ({size:.0f} MB)", "import", "-q", str(records))
        row("`lapwing report --raw`", "report", "--raw", "-o", "raw", "-q")
        row("`lapwing report`", "report", "-o", "site", "-q")
        # It needs three instances of the latest version.
        if given.instances >= 3:
            row("`lapwing mds`", "mds", "--experiments", "100", "-q")
        row("`lapwing list`", "list", "-q")
        row("`lapwing list` of one tag and one month", "list", "--tag", "tag0",
            "--where", "since=2024-01-01", "--where", "until=2024-02-01", "-q")
        site = folder / "site"
        pages = [path for path in site.rglob("*.html")]
        largest = max(pages, key=lambda path: path.stat().st_size)
        sides = [path for path in (site / "data").rglob("*.js")]
        total, total_raw = (sum(path.stat().st_size for path in (folder / it).rglob("*") if path.is_file())
                            for it in ("site", "raw"))
        print(f"\n{len(pages)} pages, the largest {largest.stat().st_size / 1e3:.0f} kB "
              f"({largest.name}); index data {(max(sides, key=lambda p: 'index' in p.name)).stat().st_size / 1e3:.0f} kB; "
              f"largest side file {max(path.stat().st_size for path in sides) / 1e3:.0f} kB; "
              f"{total / 1e6:.0f} MB in all, {total_raw / 1e6:.0f} MB with --raw")


if __name__ == "__main__":
    main()
