"""Coiled's database, cell by cell: `export` gives back every value, unit, outcome and link."""

import csv
import io
import json
from collections import Counter
from datetime import datetime, timezone

import needs
import pytest
import reader
from catalogue import DATA, MISSING
from store import REPOSITORY

DATABASES = [
    REPOSITORY / "tests/fixtures/coiled/benchmark.db",
    REPOSITORY / "tests/fixtures/coiled/old.db",
    DATA / "coiled/benchmark_reconstructed.db",
]
SECONDS = ["duration", "compute_time", "disk_spill_time", "serializing_time", "transfer_time"]
UNITS = {
    **dict.fromkeys([*SECONDS, "worker_max_tick", "scheduler_max_tick"], "s"),
    **dict.fromkeys(["average_memory", "peak_memory", "scheduler_memory_max"], "B"),
    "scheduler_cpu_avg": "1",
}
LINKS = ["ci_run", "cluster_details", "performance_report", "cluster_dump", "memray_profiles", "py_spy_profiles"]
PACKAGES = ["dask", "distributed", "dask_expr", "duckdb", "pyspark", "polars"]


@pytest.fixture(scope="module", params=DATABASES, ids=lambda path: path.name)
def database(request):
    if not request.param.exists():
        needs.skip_or_fail(*MISSING)
    return request.param


def time(text):
    """SQLAlchemy writes UTC without an offset."""
    return text and datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def rows_of(text):
    """Puts the records of an export back into the columns of the database."""
    sessions, runs, instances = {}, {}, {}
    for line in text.splitlines():
        record = json.loads(line)
        match record["kind"]:
            case "session":
                sessions[record["id"]] = record
            case "run":
                runs[record["id"]] = record
            case "instance":
                instances[record["id"]] = record, [], {}
            case "iteration":
                instances[record["instance"]][1].append(record)
            case "instance_end":
                instances[record["instance"]][2].update(record)
    for instance, iterations, end in instances.values():
        run = runs[instance["run"]]
        benchmark, attributes = instance["benchmark"], instance.get("attributes", {})
        path, _, name = benchmark["id"].rpartition("::")
        if "scale" in benchmark.get("params", {}):
            # None of these tests has parameters of its own.
            name, _, _ = name.partition("[")
        metrics = {name: value for iteration in iterations for name, value in iteration["metrics"].items()}
        row = {
            "session_id": sessions[run["session"]]["name"],
            "path": path or None,
            "name": name,
            "start": time(instance.get("started")),
            "end": time(end.get("ended")),
            "python_version": run["environment"].get("python"),
            "platform": run["environment"].get("platform"),
            "coiled_software_name": run["environment"].get("coiled_software_name"),
            **run.get("attributes", {}),
            **{
                f"{name.replace('-', '_')}_version": value
                for name, value in run["environment"].get("packages", {}).items()
            },
            **{column: metrics.get(metric) for column, metric in reader.COILED_METRICS.items()},
            **{f"{name}_url": value for name, value in instance.get("artifacts", {}).items()},
            **instance.get("job", {}),
            **instance.get("environment", {}),
            **{name: value for name, value in benchmark.get("params", {}).items() if name != "param"},
            **{name: value for name, value in attributes.items() if name != "tpch_run"},
        }
        yield row, attributes.get("tpch_run", {}), run["metrics"], iterations, end


def key(row):
    return row["session_id"], row["path"] or "", row["name"], str(row["start"])


def told(row):
    return {column: value for column, value in row.items() if value is not None}


def test_every_cell_comes_back(database, store):
    said = store.take(database)
    assert (said.returncode, said.stderr) == (0, "")
    expected = reader.coiled_rows(database)
    found = sorted(rows_of(store.records()), key=lambda it: key(it[0]))
    for row in expected:
        for column in ("start", "end"):
            row[column] = time(row[column])
    expected.sort(key=key)
    assert [key(row) for row, *_ in found] == [key(row) for row in expected]
    for (row, apart, metrics, iterations, end), original in zip(found, expected):
        query = told(original.pop("tpch", {}))
        query.pop("id", None)
        original = told(original)
        original.pop("id", None)
        # What both tables say stands once, and what they say otherwise apart.
        assert apart == {name: value for name, value in query.items() if name in original and value != to_text(original[name])}
        assert told(row) == {**query, **original}
        units = {reader.COILED_METRICS[name]: {"unit": unit, "better": "lower"} for name, unit in UNITS.items()}
        assert metrics == {name: units[name] for name in metrics}
        outcomes = {"passed": "ok", "failed": "failed", "skipped": "skipped"}
        ended = outcomes[original.get("call_outcome") or original.get("setup_outcome") or "passed"]
        assert [it["outcome"] for it in iterations] == [ended] or (not iterations and end["outcome"] == ended)


def to_text(value):
    return value.strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(value, datetime) else value


def test_the_table_of_values_is_the_database_s(database, store):
    store.take(database)
    done = store.run("export", "--to", "csv")
    assert done.returncode == 0, done.stderr
    found = Counter(
        (row["session"], row["benchmark"], row["metric"], row["unit"], float(row["value"]))
        for row in csv.DictReader(io.StringIO(done.stdout))
        if row["metric"]
    )
    expected = Counter(
        (row["session_id"], reader.coiled_id(row), metric, UNITS[column], row[column])
        for row in reader.coiled_rows(database)
        for column, metric in reader.COILED_METRICS.items()
        if row.get(column) is not None
    )
    assert found == expected


def test_importing_again_changes_nothing(database, store):
    store.take(database)
    before = store.records()
    said = store.run("import", database)
    assert "nothing new, everything is already in the store" in said.stdout
    assert store.records() == before
