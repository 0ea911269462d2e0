#!/usr/bin/env python3
"""Takes pictures of every kind of page of a report: three widths, light and dark; and the picture of the README.

Measurements are made up here, so that it is known what each page has to say: sixty nights with two regressions, an
improvement, a slow night of the machine and a flaky test; an A/B of twelve benchmarks with one regression; a study of
four factors; a trace of the fixtures; thirty stacks, and those of the example. Needs Playwright and
Chromium (`./test` installs both).

    cargo build --release
    python3 benches/pages.py [--lapwing target/release/lapwing] [-o target/pages] [--readme]
"""

import argparse
import csv
import datetime
import itertools
import json
import os
import pathlib
import random
import subprocess
import tempfile
import uuid

from playwright.sync_api import sync_playwright

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
SIZES = {"desktop": (1440, 900), "tablet": (820, 1180), "phone": (390, 844)}


class Records:
    """Records of version 1."""

    def __init__(self, path, seed):
        self.chance = random.Random(seed)
        self.out = path.open("w", encoding="utf-8")

    def line(self, kind, **body):
        self.out.write(json.dumps({"v": 1, "kind": kind, **body}) + "\n")

    def id(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def instance(self, run, benchmark, position, values, **more):
        instance = self.id()
        self.line("instance", id=instance, run=run, benchmark={"id": benchmark}, position=position, host="runner", **more)
        for index, metrics in enumerate(values):
            outcome = {} if metrics else {"outcome": "failed"}
            self.line("iteration", instance=instance, index=index, metrics=metrics, **outcome)
        self.line("instance_end", instance=instance)


METRICS = {"wall_time": {"unit": "s", "better": "lower"}, "peak_memory": {"unit": "B", "better": "lower"}}


def write_history(path, benchmarks=60, nights=60):
    """Sixty nights of one value: what changed is known."""
    records = Records(path, 5)
    chance = records.chance
    names = [f"tests/test_{'io join sort parse render cache query merge split index'.split()[at % 10]}.py::test_case[{at // 10}]"
             for at in range(benchmarks)]
    base = [10 ** chance.uniform(-2, 1) for _ in names]
    for night in range(nights):
        time = datetime.datetime(2026, 5, 1, 2) + datetime.timedelta(days=night)
        session, run = records.id(), records.id()
        records.line("session", id=session, suite="nightly", started=time.isoformat() + "Z", tool="made up", name=f"night-{night:03}")
        version = {"name": f"1.0+{night}", "commit": f"{chance.getrandbits(160):040x}", "date": time.isoformat() + "Z"}
        records.line("run", id=run, session=session, version=version, metrics=METRICS)
        for at, name in enumerate(names):
            factor = chance.lognormvariate(0, 0.02)
            factor *= 1.37 if at == 3 and night >= nights * 2 // 3 else 1
            factor *= 1.08 if at == 17 and night >= nights * 4 // 5 else 1
            factor *= 0.7 if at == 25 and night >= nights // 2 else 1
            factor *= 1.15 if night == nights // 3 else 1
            factor *= 1.8 if at == 31 and chance.random() < 0.15 else 1
            fails = at == 40 and night in (nights // 4, nights // 2)
            values = {} if fails else {"wall_time": base[at] * factor, "peak_memory": 1e8 * (1 + at) * chance.lognormvariate(0, 0.003)}
            records.instance(run, name, at, [values])


def write_ab(path):
    """Twelve benchmarks, eight instances a side; `checkout` is 14 % slower."""
    records = Records(path, 12)
    chance = records.chance
    names = "parse_config load_catalog search[short] search[long] checkout render_home render_product json_encode json_decode image_resize mail_queue report".split()
    base = [0.012, 0.85, 0.043, 0.21, 0.33, 0.12, 0.18, 0.004, 0.006, 1.4, 0.09, 3.2]
    session = records.id()
    records.line("session", id=session, suite="shop", started="2026-11-20T10:00:00Z", tool="made up", name="ab", seed=7)
    runs = {}
    for variant in ("baseline", "candidate"):
        runs[variant] = records.id()
        records.line("run", id=runs[variant], session=session, variant=variant, version={"name": "2026.9"}, metrics=METRICS)
    position = 0
    for block in range(8):
        items = list(itertools.product(range(len(names)), runs))
        chance.shuffle(items)
        drift = chance.gauss(0, 0.01)
        for at, variant in items:
            slower = 1.14 if variant == "candidate" and names[at] == "checkout" else 1
            level = base[at] * slower * (1 + drift + chance.gauss(0, 0.018))
            values = [{"wall_time": level * (1 + abs(chance.gauss(0, 0.01))), "peak_memory": 1e8 * (1 + at) * (1 + chance.gauss(0, 0.003))}
                      for _ in range(6)]
            records.instance(runs[variant], names[at], position, values, block=block)
            position += 1


def write_study(path):
    """Four factors at all combinations, three runs each: two matter and depend on each other, one hurts."""
    chance = random.Random(3)
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["cache", "threads", "logging", "checks", "seconds"])
        for levels in itertools.product((0, 1), repeat=4):
            cache, threads, logging, _ = levels
            for _ in range(3):
                seconds = 2.0 * (0.6 if cache else 1) * (0.7 if threads and not cache else 1) * (1.2 if logging else 1)
                table.writerow([*levels, round(seconds * chance.lognormvariate(0, 0.01), 5)])


def write_stacks(path):
    """Thirty stacks of three packages: numpy 2 is faster, but not with the latest scipy; some were not measured, some fail."""
    records = Records(path, 9)
    chance = records.chance
    numpys, scipys, pythons = ["1.24.4", "1.26.4", "2.0.2", "2.1.3", "2.3.5"], ["1.11.4", "1.13.1", "1.14.1"], ["3.11.9", "3.12.4"]
    refused = [{"factors": {"numpy": "2.3.5", "scipy": "1.11.4", "python": python}, "state": "unresolved",
                "log": "No solution found when resolving dependencies:\nBecause scipy==1.11.4 depends on numpy<1.28 and you require "
                       "numpy==2.3.5, we can conclude that your requirements are unsatisfiable."} for python in pythons]
    refused.append({"factors": {"numpy": "1.24.4", "scipy": "1.14.1", "python": "3.12.4"}, "state": "unimportable",
                    "log": "Traceback (most recent call last):\n  File \"<string>\", line 13, in <module>\n"
                           "ImportError: numpy.core.multiarray failed to import"})
    session = records.id()
    records.line("session", id=session, suite="stacks", started="2026-11-22T10:00:00Z", tool="made up", name="numpy-scipy",
                 attributes={"stacks": {"refused": refused}})
    metrics = {"elapsed": {"unit": "s", "better": "lower"}, "peak_memory": METRICS["peak_memory"]}
    for numpy, scipy, python in itertools.product(numpys, scipys, pythons):
        levels = {"numpy": numpy, "scipy": scipy, "python": python}
        state = next((it["state"] for it in refused if it["factors"] == levels), "")
        if state == "unresolved" or chance.random() < 0.2:
            continue
        run = records.id()
        records.line("run", id=run, session=session, variant=",".join(f"{name}={level}" for name, level in levels.items()),
                     factors=levels, metrics=metrics, environment={"cpu_model": "CPU 5000"})
        is_new = numpy.startswith("2")
        level = 0.0098 * (0.82 if is_new else 1) * (1.17 if is_new and scipy == "1.14.1" else 1) * (0.95 if python == "3.12.4" else 1)
        for position in range(4):
            values = [{"elapsed": level * chance.lognormvariate(0, 0.01), "peak_memory": 6e7 * (1.1 if is_new else 1)} for _ in range(2)]
            records.instance(run, "Matmul/numpy[matrix_size=256]", position, [{}] if state else values)


def reports(program, work):
    """Writes the reports, and returns the pages of each by name."""

    def lapwing(store, *words):
        subprocess.run([program, "--store", f"{store}.db", *words], cwd=work, check=True, stdout=subprocess.DEVNULL)

    write_history(work / "history.jsonl")
    write_ab(work / "ab.jsonl")
    write_study(work / "study.csv")
    write_stacks(work / "stacks.jsonl")
    trace = REPOSITORY / "tests/fixtures/earthkit-0.19"
    for name in ("history", "ab", "stacks"):
        lapwing(name, "import", f"{name}.jsonl")
    lapwing("study", "study", "import", "study.csv", "--columns", "value=seconds")
    lapwing("trace", "import", str(trace / "trace_2x1.log"), "--as", "benchmark=forecast")
    pages = {}
    indicators = REPOSITORY / "examples/indicators/record.jsonl.gz"
    lapwing("indicators", "import", str(indicators))
    for name in ("history", "ab", "study", "trace", "stacks", "indicators"):
        lapwing(name, "report", "-o", name)
        folder = work / name
        found = sorted(folder.glob("*.html"))
        for kind in ("benchmark", "test", "study", "trace"):
            found += sorted((folder / kind).glob("*.html"))[:1]
        pages.update({f"{name}-{path.stem if path.parent == folder else path.parent.name}": path for path in found})
    changed = next((work / "history/benchmark").glob("tests-test-parse-py-test-case-0-*.html"))
    pages["history-benchmark"] = changed
    pages["history-table"] = work / "history/index.html#view=table"
    return pages


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lapwing", default="target/release/lapwing")
    options.add_argument("-o", "--output", type=pathlib.Path, default=REPOSITORY / "target/pages")
    options.add_argument("--readme", action="store_true", help="write docs/images/report.png instead")
    given = options.parse_args()
    program = str(pathlib.Path(given.lapwing).resolve())
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        pages = reports(program, pathlib.Path(name))
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])

        def picture(address, path, size, theme, whole):
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
            page = context.new_page()
            page.goto(f"file://{address}")
            page.wait_for_timeout(600)
            page.screenshot(path=path, full_page=whole)
            context.close()

        if given.readme:
            picture(pages["history-index"], REPOSITORY / "docs/images/report.png", (1200, 760), "light", False)
            return
        given.output.mkdir(parents=True, exist_ok=True)
        for page, address in pages.items():
            for (size, pixels), theme in itertools.product(SIZES.items(), ("light", "dark")):
                picture(address, given.output / f"{page}-{size}-{theme}.png", pixels, theme, False)
        print(f"{len(pages)} pages in {len(SIZES)} widths and 2 themes: {given.output}")


if __name__ == "__main__":
    main()
