"""What a file of results holds, read a second time.

This reader shares nothing with Lapwing's importers: it follows the formats' own documentation and
Python's standard library, and knows only as much of each format as is needed to compare the
structure and the values. The reference tests hold Lapwing's store against it.

An instance is a process, a fork or a visit; an iteration is one sample in it. Times are in
seconds. A source without samples gives summaries.
"""

import csv
import gzip
import itertools
import json
import math
import re
import shutil
import sqlite3
import tempfile
import xml.etree.ElementTree
from collections import Counter
from dataclasses import dataclass, field

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


@dataclass
class Iteration:
    values: dict[str, float]
    burn_in: bool = False
    outcome: str = OK


@dataclass
class Instance:
    """One visit to a benchmark. `summaries` holds, by metric, statistic → centre."""

    benchmark: object
    iterations: list[Iteration] = field(default_factory=list)
    outcome: str = OK
    summaries: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Counts:
    """What is compared first, because it says the most when it differs.

    `summarised` are the instances of which the source kept a summary and no samples.
    """

    benchmarks: int
    instances: int
    iterations: int
    burn_in: int
    failed: int
    skipped: int
    summarised: int
    seconds: str


def counts(instances):
    """Counts instances; `seconds` is the sum of all samples of `wall_time`, to twelve digits."""
    iterations = [it for instance in instances for it in instance.iterations]

    def ended(outcome):
        # That a benchmark failed may be said of its iterations or, without any, of the whole.
        return sum(it.outcome == outcome for it in iterations) + sum(
            instance.outcome == outcome and all(it.outcome != outcome for it in instance.iterations)
            for instance in instances
        )

    seconds = math.fsum(it.values["wall_time"] for it in iterations if "wall_time" in it.values)
    return Counts(
        benchmarks=len({instance.benchmark for instance in instances}),
        instances=len(instances),
        iterations=len(iterations),
        burn_in=sum(it.burn_in for it in iterations),
        failed=ended(FAILED),
        skipped=ended(SKIPPED),
        summarised=sum(bool(instance.summaries) and not instance.iterations for instance in instances),
        seconds=f"{seconds:.11e}",
    )


def instances_of_each_benchmark(instances):
    """How often 1, 2, 3 … instances belong to one benchmark: equal also where names differ."""
    return Counter(Counter(instance.benchmark for instance in instances).values())


# Units of time, as what one second is divided by: a division by a power of ten is exact
# where a multiplication by its inverse is not.
PARTS_OF_A_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "µs": 1e6, "μs": 1e6, "ns": 1e9, "ps": 1e12}


def text_of(path):
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content.decode("utf-8")


def document(path):
    # Python's reader takes bare NaN and Infinity.
    return json.loads(text_of(path))


def numbers(values):
    """What of a dictionary is a finite number."""
    return {name: value for name, value in values.items() if is_number(value)}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def scaled(values, divisor):
    return {name: value / divisor for name, value in numbers(values).items()}


def hail(path):
    """A line is an instance; the same line twice is the same instance."""
    found = []
    for line in dict.fromkeys(text_of(path).splitlines()):
        if not line.strip():
            continue
        trial = json.loads(line)
        instance = Instance((trial["path"], trial["name"]))
        for it in trial["iterations"]:
            failed = it.get("failure") is not None or it["timed_out"]
            values = {"wall_time": it.get("time"), "task_memory": it.get("task_memory")}
            instance.iterations.append(
                Iteration(numbers(values), it["is_burn_in"], FAILED if failed else OK)
            )
        if not instance.iterations:
            instance.outcome = SKIPPED
        found.append(instance)
    return found


def hyperfine(path):
    found = []
    for result in document(path)["results"]:
        name = (result["command"], json.dumps(result.get("parameters", {}), sort_keys=True))
        instance = Instance(name)
        memory = result.get("memory_usage_byte") or itertools.repeat(None)
        codes = result.get("exit_codes") or itertools.repeat(0)
        for seconds, size, code in zip(result["times"], memory, codes):
            values = {"wall_time": seconds, "peak_memory": size}
            instance.iterations.append(Iteration(numbers(values), outcome=OK if code == 0 else FAILED))
        instance.summaries = {
            f"{name}_time": {"mean": result[name]} for name in ("user", "system") if is_number(result[name])
        }
        found.append(instance)
    return found


def pytest_benchmark(path):
    """One process: a benchmark is one instance, its rounds are the iterations if all were kept."""
    found = []
    for benchmark in document(path)["benchmarks"]:
        stats = benchmark["stats"]
        instance = Instance(benchmark["fullname"])
        clock = benchmark["options"].get("timer")
        metric = "cpu_time" if clock in ("process_time", "thread_time") else "wall_time"
        if len(stats.get("data", [])) == stats["rounds"]:
            instance.iterations = [Iteration(numbers({metric: value})) for value in stats["data"]]
        else:
            kept = {name: stats.get(name) for name in ("mean", "median", "min", "max")}
            instance.summaries = {metric: numbers(kept)}
        found.append(instance)
    return found


def pyperf(path):
    """A run is a process; what it says of warm-ups is burn-in."""
    whole = document(path)
    found = []
    for benchmark in whole["benchmarks"]:
        known = {**whole.get("metadata", {}), **benchmark.get("metadata", {})}
        metric = {"second": "wall_time", "byte": "bytes"}.get(known.get("unit", "second"), "value")
        for run in benchmark["runs"]:
            instance = Instance(known["name"])
            for loops, value in run.get("warmups", []):
                instance.iterations.append(Iteration({metric: value}, burn_in=True))
            for value in run.get("values", []):
                instance.iterations.append(Iteration({metric: value}))
            # What all runs have in common stands at the top, also where there is only one run.
            told = {**known, **run.get("metadata", {})}
            memory = told.get("command_max_rss", told.get("mem_max_rss"))
            if memory is not None:
                instance.summaries = {"peak_memory": {"max": memory}}
            found.append(instance)
    return found


def google_benchmark(path):
    """Rows of one `run_name` are repetitions in one process; aggregates count where only they are."""
    found = {}
    rows = document(path)["benchmarks"]
    for row in rows:
        if row.get("run_type", "iteration") != "iteration" or "big_o" in row or "rms" in row:
            continue
        name = row.get("run_name", row["name"])
        divisor = PARTS_OF_A_SECOND[row.get("time_unit", "ns")]
        times = {"wall_time": row.get("real_time"), "cpu_time": row.get("cpu_time")}
        outcome = OK
        if row.get("error_occurred"):
            outcome = FAILED
        elif row.get("skipped"):
            outcome = SKIPPED
        values = scaled(times, divisor) if outcome == OK else {}
        found.setdefault(name, Instance(name)).iterations.append(Iteration(values, outcome=outcome))
    sampled = {name for name, instance in found.items() if instance.iterations}
    for row in rows:
        name = row.get("run_name", row["name"])
        aggregate = row.get("aggregate_name")
        of_time = "real_time" in row and row.get("aggregate_unit", "time") == "time"
        if name in sampled or aggregate is None or not of_time:
            continue
        summaries = found.setdefault(name, Instance(name)).summaries
        for metric, key in (("wall_time", "real_time"), ("cpu_time", "cpu_time")):
            summaries.setdefault(metric, {})[aggregate] = row[key] / PARTS_OF_A_SECOND[row.get("time_unit", "ns")]
    says_something = [it for it in found.values() if it.summaries or any(i.values or i.outcome != OK for i in it.iterations)]
    return says_something


def criterion(folder):
    """Each folder with a sample is a process; the same sample under two names counts once."""
    found = {}
    for path in sorted(folder.rglob("sample.json")):
        name = document(path.with_name("benchmark.json"))["full_id"]
        sample = document(path)
        if isinstance(sample, dict):
            loops, times = sample["iters"], sample["times"]
        else:
            loops, times = sample
        values = [time / loop / 1e9 for loop, time in zip(loops, times)]
        instance = Instance(name, [Iteration({"wall_time": value}) for value in values])
        found.setdefault((name, tuple(loops), tuple(times)), instance)
    return list(found.values())


GO_SETTING = re.compile(r"([a-z][^\sA-Z:]*):(?:[ \t]+(.*))?$")
GO_OF_A_PROCESS = ("goos", "goarch", "pkg", "cpu")
GO_FAILURE = re.compile(r"\s*--- (FAIL|SKIP): (\S+)")
GO_END = re.compile(r"(PASS|FAIL|ok)(\s|$)")


def go(path):
    """Lines of one name under the same settings in one process are iterations of one visit.

    `go test` tells at the beginning of each process where it runs, and at its end how it went.
    """
    found = {}
    settings = {}
    failures = {}
    process, under_way = 0, False
    for line in text_of(path).splitlines():
        setting = GO_SETTING.match(line)
        if under_way and (GO_END.match(line) or (setting and setting[1] in GO_OF_A_PROCESS)):
            process, under_way = process + 1, False
        if setting:
            settings[setting[1]] = setting[2]
            continue
        if ending := GO_FAILURE.match(line):
            name = (settings.get("pkg") or None, ending[2])
            outcome = FAILED if ending[1] == "FAIL" else SKIPPED
            if not any(it.startswith(f"{ending[2]}/") for it in failures.get(process, [])):
                found[process, name, "ended"] = Instance(name, [Iteration({}, outcome=outcome)])
            failures.setdefault(process, []).append(ending[2])
            continue
        words = line.split()
        if len(words) < 4 or not words[0].startswith("Benchmark") or len(words) % 2:
            continue
        try:
            int(words[1])
            pairs = {unit: float(value) for value, unit in zip(words[2::2], words[3::2])}
        except ValueError:
            continue
        values = {}
        if "ns/op" in pairs:
            values["wall_time"] = pairs["ns/op"] / 1e9
        if "MB/s" in pairs:
            values["bytes_per_second"] = pairs["MB/s"] * 1e6
        under_way = True
        name = (settings.get("pkg") or None, words[0])
        key = (process, name, tuple(sorted((k, v) for k, v in settings.items() if v)))
        visit = found.setdefault(key, Instance(name))
        visit.iterations.append(Iteration(values))
    return list(found.values())


JMH_METRICS = {"thrpt": "throughput", "avgt": "wall_time", "sample": "wall_time", "ss": "wall_time"}


def jmh(path):
    """A fork is an instance."""
    found = []
    for benchmark in document(path):
        name = (benchmark["benchmark"], benchmark["mode"], json.dumps(benchmark.get("params", {}), sort_keys=True))
        measured = benchmark["primaryMetric"]
        metric = JMH_METRICS[benchmark["mode"]]
        upper, lower = measured["scoreUnit"].split("/")

        def convert(score):
            return score / PARTS_OF_A_SECOND[upper] if metric == "wall_time" else score * PARTS_OF_A_SECOND[lower]

        for fork in measured.get("rawDataHistogram", []):
            # So many calls took so long: all of them are told, but not one by one.
            calls = [call for iteration in fork for call in iteration]
            mean = math.fsum(value * times for value, times in calls) / sum(times for _, times in calls)
            found.append(Instance(name, summaries={metric: {"mean": convert(mean)}}))
        if "rawData" not in measured and "rawDataHistogram" not in measured:
            found.append(Instance(name, summaries={metric: {"mean": convert(measured["score"])}}))
        for fork in measured.get("rawData", []):
            iterations = [Iteration({metric: convert(v)} if is_number(v) else {}) for v in fork]
            found.append(Instance(name, iterations))
    return found


def benchmarkdotnet(path):
    """With its measurements a launch is an instance; else the original values, else the summary."""
    found = []
    for benchmark in document(path)["Benchmarks"]:
        name = benchmark.get("FullName") or (
            benchmark.get("Namespace"), benchmark["Type"], benchmark["Method"], benchmark.get("Parameters"))
        statistics = benchmark.get("Statistics") or {}
        if measurements := benchmark.get("Measurements"):
            launches = {}
            for it in measurements:
                if it["IterationMode"] == "Workload" and it["IterationStage"] in ("Warmup", "Actual"):
                    launch = launches.setdefault(it["LaunchIndex"], Instance(name))
                    seconds = it["Nanoseconds"] / it["Operations"] / 1e9
                    launch.iterations.append(Iteration({"wall_time": seconds}, it["IterationStage"] == "Warmup"))
            found += launches.values()
        elif originals := statistics.get("OriginalValues"):
            found.append(Instance(name, [Iteration({"wall_time": value / 1e9}) for value in originals]))
        elif statistics:
            kept = {kind.lower(): statistics.get(kind) for kind in ("Mean", "Median", "Min", "Max")}
            found.append(Instance(name, summaries={"wall_time": scaled(kept, 1e9)}))
        else:
            found.append(Instance(name, outcome=FAILED))
    return found


LIBTEST_LINE = re.compile(r"test (\S.*?) +\.\.\. bench:\s+([\d,.]+) (\S+)/iter \(\+/- [\d,.]+\)")
LIBTEST_RATE = re.compile(r"test (\S.*?) +\.\.\. bench:\s+([\d,.]+) (\S+) \(\+/- [\d,.]+\)")
LIBTEST_FAILED = re.compile(r"test (\S.*?) +\.\.\. FAILED")


def libtest(path):
    """Only the median is printed."""
    found = []
    for line in text_of(path).splitlines():
        if match := LIBTEST_LINE.match(line) or LIBTEST_RATE.match(line):
            value = float(match[2].replace(",", ""))
            if divisor := PARTS_OF_A_SECOND.get(match[3]):
                summaries = {"wall_time": {"median": value / divisor}}
            else:
                summaries = {match[3]: {"median": value}}
            found.append(Instance(match[1], summaries=summaries))
        elif match := LIBTEST_FAILED.match(line):
            found.append(Instance(match[1], outcome=FAILED))
    return found


REBAR_DURATION = re.compile(r"([\d.]+)(ns|us|ms|s)$")


def rebar(path):
    found = []
    for row in csv.DictReader(text_of(path).splitlines()):
        instance = Instance((row["name"], row["model"]))
        if row["err"]:
            instance.outcome = FAILED
        else:
            kept = {}
            for name in ("median", "mean", "min", "max"):
                value, unit = REBAR_DURATION.match(row[name]).groups()
                kept[name] = float(value) / PARTS_OF_A_SECOND[unit]
            instance.summaries = {"wall_time": kept}
        found.append(instance)
    return found


def runs(path):
    """A row is a run of a study; the cost is the last column, here in microseconds."""
    rows = csv.DictReader(text_of(path).splitlines(), delimiter=";")
    costs = [float(row["usec_per_task"]) / 1e6 for row in rows]
    return [Instance("runs", [Iteration({"time_per_task": cost})]) for cost in costs]


def rows_of(path):
    """The rows of a table, whose separator is the one that its first line has most of."""
    lines = [line for line in text_of(path).splitlines() if not line.startswith("#")]
    return csv.DictReader(lines, delimiter=max(",;\t", key=lines[0].count))


def history(path):
    """A row is a run; metrics without a unit have names of their own."""
    found = []
    for row in rows_of(path):
        cells = {name: cell for name, cell in row.items() if name not in ("benchmark", "params", "commit", "branch")}
        measured = [cell for name, cell in cells.items() if name not in ("time", "date_ms")]
        if all(cell.lower() in ("", "nan") for cell in measured):
            continue
        values = {"wall_time": float(row["seconds"])} if "seconds" in row else {}
        found.append(Instance((row.get("benchmark"), row.get("params")), [Iteration(values)]))
    return found


def grouped(rows, benchmark, instance, values):
    """Instances of rows that have the same cells in some columns."""
    found = {}
    for row in rows:
        name = tuple(row[column] for column in benchmark)
        key = name + tuple(row[column] for column in instance)
        found.setdefault(key, Instance(name)).iterations.append(Iteration(values(row)))
    return list(found.values())


def ripgrep(path):
    return grouped(rows_of(path), ["benchmark", "name"], [], lambda row: {})


def pa(path):
    """The format of the study of Laaber et al.: a row is an iteration of a fork of a trial on an instance."""

    def values(row):
        divisor = PARTS_OF_A_SECOND.get(row["unit"].removesuffix("/op"))
        return {"wall_time": float(row["value"]) / divisor} if divisor else {}

    return grouped(rows_of(path), ["benchmark", "params"], ["commit", "instance", "trial", "fork"], values)


def published(path):
    rows = rows_of(path)
    return [Instance((it["project"], it["benchmark"]), summaries={"value": {"mean": it["mean"]}}) for it in rows]


def benchmarkjs(path):
    found = []
    for line in text_of(path).splitlines():
        if match := re.match(r"(.+) x ([\d,.]+) ops/sec ", line):
            rate = float(match[2].replace(",", ""))
            found.append(Instance(match[1], summaries={"throughput": {"mean": rate}}))
    return found


def criterion_text(path):
    """The name is before the figures, or on the line before."""
    elements = {"elem/s": 1, "Kelem/s": 1e3, "Melem/s": 1e6, "Gelem/s": 1e9}
    found, before = [], None
    for line in text_of(path).splitlines():
        if match := re.match(r"(.*?)\s*(time|thrpt):\s+\[\S+ \S+ (\S+) ([a-zA-Zµ/]+) ", line):
            value, unit = float(match[3]), match[4]
            if match[2] == "time":
                seconds = value / PARTS_OF_A_SECOND[unit]
                found.append(Instance(match[1] or before, summaries={"wall_time": {"estimate": seconds}}))
            elif unit in elements:
                found[-1].summaries["throughput"] = {"estimate": value * elements[unit]}
        before = line
    return found


def catch2_text(path):
    """A row of figures, the mean on the line below; the names of case and sections are between dashes above."""
    found, names, name, lines = [], [], [], text_of(path).splitlines()
    unit = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1}
    for at, line in enumerate(lines):
        if re.fullmatch(r"\.{20,}", line):
            start = max(i for i in range(at) if lines[i].startswith("-----"))
            rule = max(i for i in range(start) if lines[i].startswith("-----"))
            names = [it.strip() for it in lines[rule + 1 : start]]
        elif match := re.fullmatch(r"(.*?) +(\d+) +\d+ +([\d.]+) ([num]?s) *", line):
            value, of = match[3], match[4]
            below = re.match(r" +([\d.]+) ([num]?s) ", lines[at + 1]) if at + 1 < len(lines) else None
            if below:
                value, of = below[1], below[2]
            full = " ".join([*name, match[1]]).strip()
            found.append(Instance("::".join([*names, full]), summaries={"wall_time": {"mean": float(value) / unit[of]}}))
            name = []
        elif match := re.match(r"(\S.*?) +Benchmark failed", line):
            found.append(Instance("::".join([*names, match[1]]), outcome=FAILED))
        elif re.fullmatch(r"\S.*  ", line):
            name.append(line.strip())
    return found


def asv_text(path):
    """The rows of `asv compare` have two values, before and after."""
    found = []
    sizes = {"": 1, "k": 1e3, "M": 1e6}
    times = {"ns": 1e9, "μs": 1e6, "ms": 1e3, "s": 1}

    def instance(name, text):
        if text in ("failed", "n/a"):
            return Instance(name, outcome=FAILED if text == "failed" else SKIPPED)
        value, suffix = re.fullmatch(r"([\d.]+)(?:±[\d.]+)?(\D*)", text).groups()
        kinds = {"time": "wall_time", "mem": "memory", "peakmem": "peak_memory", "track": "value"}
        metric = kinds[name.partition("(")[0].rpartition(".")[2].partition("_")[0]]
        number = float(value) / times[suffix] if metric == "wall_time" else float(value) * sizes[suffix]
        return Instance(name, summaries={metric: {"median": number}})

    for line in text_of(path).splitlines():
        cells = [it.strip() for it in line.strip("|").split("|")]
        if len(cells) == 5 and cells[3] != "Ratio" and not cells[4].startswith("--"):
            found += [instance(cells[4], cell) for cell in cells[1:3]]
    return found


def benchmarktools(path):
    def below(name, value):
        kind, fields = value
        if kind == "BenchmarkGroup":
            return [it for key, within in fields["data"].items() for it in below((*name, key), within)]
        if kind == "TrialEstimate":
            return [Instance(name, summaries={"wall_time": {"estimate": fields["time"] / 1e9}})]
        return []

    return [it for value in document(path)[1] for it in below((), value)]


def junit(path):
    """A case has one time, unless it failed or was skipped."""
    found = []
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        instance = Instance((case.get("classname"), case.get("name")))
        if case.find("skipped") is not None:
            instance.outcome = SKIPPED
        elif case.find("failure") is not None or case.find("error") is not None:
            instance.outcome = FAILED
        elif float(case.get("time")):
            instance.iterations = [Iteration({"wall_time": float(case.get("time"))})]
        else:
            continue
        found.append(instance)
    return found


def lnt(path):
    tests = document(path)["tests"]
    return [Instance(it["name"], [Iteration({"wall_time": it["execution_time"]})]) for it in tests]


def vitest(path):
    groups = [group for file in document(path)["files"] for group in file["groups"]]
    return [
        Instance((group["fullName"], it["name"]), summaries={"wall_time": {"mean": it["mean"] / 1e3}})
        for group in groups
        for it in group["benchmarks"]
    ]


DIVAN_ROW = re.compile(
    r"(?:[│ ]  )*[├╰]─ .*? +(?:\(ignored\) +│.*|(?P<figures>[\d.]+ [mnpµ]?s +│.*│ *\d+ *│ *\d+ *))$"
)


def divan(path):
    """A row with figures is one process' summary; rows without are the branches of the tree."""
    found, above = [], []
    for line in text_of(path).splitlines():
        branch = re.match(r"((?:[│ ]  )*)[├╰]─ (.*?)(?: {2,}|$)", line)
        if branch:
            depth = len(branch[1]) // 3
            above[depth:] = [branch[2]]
        row = DIVAN_ROW.match(line)
        if row and row["figures"]:
            cells = [cell.split() for cell in row["figures"].split("│")[:4]]
            times = [float(value) / PARTS_OF_A_SECOND[unit] for value, unit in cells]
            kept = dict(zip(("min", "max", "median", "mean"), times, strict=True))
            found.append(Instance(tuple(above), summaries={"wall_time": kept}))
        elif row:
            found.append(Instance(tuple(above), outcome=SKIPPED))
    return found


def bmf(path):
    """Bencher Metric Format: a value of each measure. Bencher's own `latency` is in nanoseconds."""
    found = []
    for name, measures in document(path).items():
        instance = Instance(name)
        for measure, one in measures.items():
            metric, value = measure, one["value"]
            if measure == "latency":
                metric, value = "wall_time", value / 1e9
            instance.summaries[metric] = {"value": value}
        found.append(instance)
    return found


def github_action(path):
    """An array of results, or the history of many in `data.js`; only values are kept."""
    text = text_of(path)
    if text.lstrip().startswith("window"):
        history = json.loads(text[text.index("{"):])
        runs = [(suite, it["benches"]) for suite, its in history["entries"].items() for it in its]
    else:
        runs = [(None, json.loads(text))]
    return [
        Instance((suite, it["name"]), summaries=of_unit(float(it["value"]), it["unit"].partition("\t")[0]))
        for suite, results in runs
        for it in results
        if not repeats(it, results)
    ]


def repeats(entry, results):
    """Whether it is a metric of another entry, named `X - unit`."""
    return any(entry["name"] == f"{other['name']} - {entry['unit']}" for other in results)


def amun(path):
    """An inspection of Amun: a folder, the older single document, or one result."""
    if path.is_dir():
        files = sorted(path.glob("results/*/result"), key=lambda it: int(it.parent.name))
        results = [document(it) for it in files]
    else:
        whole = document(path)
        results = whole["job_logs"] if "inspection_id" in whole else [whole]
    found = []
    for result in results:
        printed, usage = result["stdout"], result["usage"]
        ok = result["exit_code"] == 0 and isinstance(printed, dict) and "@result" in printed
        name = json.dumps([printed.get("name"), printed["@parameters"]], sort_keys=True) if ok else "script"
        values = {"user_time": usage["ru_utime"], "system_time": usage["ru_stime"], "peak_memory": usage["ru_maxrss"] * 1024.0}
        iteration = Iteration(values, outcome=OK if ok else FAILED)
        found.append(Instance(name, [iteration], outcome=iteration.outcome))
    return found


def conbench(path):
    """One result, a list of them, or the answer with a page of them."""
    whole = document(path)
    if isinstance(whole, dict):
        whole = whole.get("data", [whole])
    found = []
    for result in whole:
        tags = {name: value for name, value in result["tags"].items() if name != "id"}
        instance = Instance(json.dumps(tags, sort_keys=True), outcome=FAILED if result.get("error") else OK)
        stats = result.get("stats") or {}
        for value in stats.get("data") or []:
            outcome = OK if is_number(value) else FAILED
            values = of_unit(value, stats["unit"]) if outcome == OK else {}
            kept = {metric: one["value"] for metric, one in values.items()}
            instance.iterations.append(Iteration(kept, outcome=outcome))
        for it, time in zip(instance.iterations, stats.get("times") or []):
            it.values.setdefault("wall_time", time / PARTS_OF_A_SECOND[stats["time_unit"]])
        if not instance.iterations and "mean" in stats:
            for name in ("mean", "median"):
                for metric, one in of_unit(stats[name], stats["unit"]).items():
                    instance.summaries.setdefault(metric, {})[name] = one["value"]
        found.append(instance)
    return found


def conbench_comparisons(path):
    """What Conbench answers when asked to compare: of each side only one number is told."""
    found = []
    for pair in document(path)["data"]["data"]:
        for side in (pair["baseline"], pair["contender"]):
            name = json.dumps(side["tags"], sort_keys=True)
            metric = "wall_time" if pair["unit"] == "s" else "other"
            summaries = {metric: {"value": side["single_value_summary"]}}
            found.append(Instance(name, outcome=FAILED if side["error"] else OK, summaries=summaries))
    return found


BYTES = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def of_unit(value, unit):
    """A summary of one value of which only the unit says what it is."""
    time, _, times = unit.removesuffix("/op").removesuffix("/iter").partition("/")
    if time in PARTS_OF_A_SECOND and not times:
        return {"wall_time": {"value": value / PARTS_OF_A_SECOND[time]}}
    if times in ("s", "sec", "second"):
        return {"bytes_per_second" if time in BYTES else "throughput": {"value": value * BYTES.get(time, 1)}}
    return {unit: {"value": value}}


def asv(path):
    """Each combination of parameters is an instance; null failed, NaN was skipped.

    A time without its samples is a summary of them; memory and what is tracked is one value.
    """
    whole = document(path)
    types = {}
    for folder in (path.parent, path.parent.parent):
        if (folder / "benchmarks.json").is_file():
            types = document(folder / "benchmarks.json")
            break
    found = []
    for name, row in whole["results"].items():
        if isinstance(row, list):
            row = dict(zip(whole["result_columns"], row))
        elif not isinstance(row, dict):
            row = {"result": row}
        combinations = list(itertools.product(*(row.get("params") or [])))
        results = row.get("result")
        if not isinstance(results, list):
            results = [results] * len(combinations)
        samples = row.get("samples") or [None] * len(results)
        for combination, result, sample in zip(combinations, results, samples):
            found.append(asv_instance((name, combination), asv_metric(name, types), result, sample))
    return found


def asv_metric(name, types):
    kind = types.get(name, {}).get("type") if isinstance(types.get(name), dict) else None
    last = name.rpartition(".")[2]
    kind = kind or last.partition("_")[0]
    return {"time": "wall_time", "timeraw": "wall_time", "peakmem": "peak_memory", "peakmemory": "peak_memory"}.get(
        kind, "other"
    )


def asv_instance(benchmark, metric, result, sample):
    instance = Instance(benchmark)
    if result is None:
        instance.outcome = FAILED
    elif math.isnan(result):
        instance.outcome = SKIPPED
    elif not sample and metric != "wall_time":
        instance.iterations = [Iteration({metric: result})]
    elif sample:
        instance.iterations = [Iteration({metric: value}) for value in sample]
    else:
        instance.summaries = {metric: {"value": result}}
    return instance


COILED_METRICS = {
    "duration": "wall_time",
    **{
        name: name
        for name in (
            *("average_memory", "peak_memory", "compute_time", "disk_spill_time", "serializing_time"),
            *("transfer_time", "scheduler_cpu_avg", "scheduler_memory_max", "worker_max_tick", "scheduler_max_tick"),
        )
    },
}


def coiled_rows(path):
    """The rows of both tables as dictionaries; a test of TPC-H has its second row under `tpch`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        connection = sqlite3.connect(copy)
        connection.row_factory = sqlite3.Row
        tables = {name for (name,) in map(tuple, connection.execute("SELECT name FROM sqlite_schema"))}
        tests, queries = (
            [dict(row) for row in connection.execute(f"SELECT * FROM {table}")] if table in tables else []
            for table in ("test_run", "tpch_run")
        )
        connection.close()
    found = {}
    for row in tests:
        del row["id"]
        # Rows that are alike in all the rest are one.
        found.setdefault(tuple(row.values()), row)
    rows = list(found.values())
    for query in queries:
        of_test = [it for it in rows if all(it[key] == query[key] for key in ("session_id", "path", "name"))]
        if of_test:
            of_test[0]["tpch"] = query
        else:
            rows.append(query)
    return rows


def coiled_id(row):
    """Path and name; of TPC-H also what Coiled's charts tell apart."""
    query = {**row.get("tpch", {}), **row}
    parts = [f"scale={query['scale']}"] if query.get("scale") is not None else []
    parts += ["local"] if query.get("local") else []
    name = row["name"]
    if parts:
        inner = [name[:-1]] if name.endswith("]") else []
        name = "-".join([*inner, *parts]) + "]" if inner else f"{name}[{'-'.join(parts)}]"
    return "::".join(filter(None, [row["path"], name]))


def coiled(path):
    """A row is an instance with one iteration; one that was skipped or not set up has none."""
    found = []
    for row in coiled_rows(path):
        values = {metric: row[column] for column, metric in COILED_METRICS.items() if row.get(column) is not None}
        setup, call, teardown = (row.get(f"{stage}_outcome") for stage in ("setup", "call", "teardown"))
        name = coiled_id(row)
        if call is None and setup in ("failed", "skipped"):
            found.append(Instance(name, outcome=FAILED if setup == "failed" else SKIPPED))
            continue
        outcome = {"failed": FAILED, "skipped": SKIPPED}.get(call, OK)
        ended = FAILED if teardown == "failed" else OK
        found.append(Instance(name, [Iteration(values, outcome=outcome)], ended))
    return found
