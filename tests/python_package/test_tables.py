"""The tables of Arrow and Parquet, read by other programs, are what `lapwing export` says in text."""

import csv
import io
import math
import os
import subprocess
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.ipc
import pyarrow.parquet
import pytest

LAPWING = os.environ["LAPWING"]
KEYS = ["instance", "index", "metric", "statistic"]


def lapwing(folder, *words, text=True):
    done = subprocess.run([LAPWING, *words], cwd=folder, capture_output=True, text=text, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


SUITE = """
suite = "tables"
[benchmark.numbers]
command = '''sh -c 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; echo "{\\"cost\\": $n, \\"rate\\": 7.5}"' '''
metrics = "json"
metric.rate = { unit = "1/s", better = "higher" }
iterations = 4
burn_in = 1
[benchmark."fails sometimes"]
command = '''sh -c 'n=$(cat m 2>/dev/null || echo 0); echo $((n + 1)) > m; test $((n % 3)) -ne 2' '''
iterations = 3
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "lapwing.toml").write_text(SUITE)
    lapwing(folder, "run", "-n", "3", "--name", "one")
    (folder / "bmf.json").write_text('{"adder": {"latency": {"value": 88.0, "lower_value": 87.4, "upper_value": 88.9}}}')
    lapwing(folder, "import", "bmf.json")
    return folder


def rows_of_text(folder):
    return list(csv.DictReader(io.StringIO(lapwing(folder, "export", "--to", "csv"))))


def sorted_rows(rows):
    return sorted(rows, key=lambda row: [str(row[key] if row[key] is not None else "") for key in KEYS])


def as_text(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value


def test_every_value_is_that_of_the_text(store):
    path = store / "iterations.parquet"
    lapwing(store, "export", "--to", "parquet", "-o", str(path))
    stream = lapwing(store, "export", "--to", "arrow", text=False)
    readers = {
        "pyarrow": pyarrow.parquet.read_table(path).to_pylist(),
        "arrow": pyarrow.ipc.open_stream(stream).read_all().to_pylist(),
        "polars": polars.read_parquet(path).to_dicts(),
        "polars stream": polars.read_ipc_stream(io.BytesIO(stream)).to_dicts(),
        "duckdb": duckdb.sql(f"SELECT * FROM '{path}'").pl().to_dicts(),
        "pandas": pandas.read_parquet(path).astype(object).to_dict("records"),
    }
    expected = sorted_rows(rows_of_text(store))
    for name, rows in readers.items():
        rows = sorted_rows([{key: as_text(value) for key, value in row.items()} for row in rows])
        assert len(rows) == len(expected), name
        for row, text in zip(rows, expected):
            for key, wanted in text.items():
                found = row[key]
                same = float(found) == float(wanted) if wanted and isinstance(found, (int, float)) else found == wanted
                assert same, (name, key, found, wanted)


def test_what_is_used_is_what_is_analysed(store):
    path = store / "used.parquet"
    lapwing(store, "export", "--to", "parquet", "-o", str(path))
    of = lambda condition: duckdb.sql(f"SELECT count(*) FROM '{path}' WHERE {condition}").fetchall()[0][0]
    # Four iterations and one burn-in of three instances.
    assert of("benchmark = 'numbers' AND metric = 'cost' AND used") == 12
    assert of("benchmark = 'numbers' AND metric = 'cost' AND NOT used AND excluded_by = 'burn_in'") == 3
    assert of("benchmark = 'fails sometimes' AND metric = 'wall_time' AND excluded_by = 'failed'") == 3
    lapwing(store, "export", "--to", "parquet", "--table", "exclusions", "-o", str(store / "exclusions.parquet"))
    excluded = duckdb.sql(f"SELECT count(*) FROM '{store}/exclusions.parquet' WHERE metric = 'cost'").fetchall()[0][0]
    assert excluded == 3
    means = store / "instances.parquet"
    lapwing(store, "export", "--to", "parquet", "--table", "instances", "-o", str(means))
    compared = duckdb.sql(
        f"SELECT max(abs(a.mean - b.mean)) FROM '{means}' a JOIN (SELECT instance, metric, avg(value) AS mean "
        f"FROM '{path}' WHERE used GROUP BY ALL) b USING (instance, metric)"
    ).fetchall()[0][0]
    assert compared < 1e-9


def test_fields_say_their_unit_and_meaning(store):
    stream = lapwing(store, "export", "--to", "arrow", text=False)
    schema = pyarrow.ipc.open_stream(stream).schema
    assert schema.metadata[b"lapwing.table"] == b"iterations"
    assert schema.metadata[b"lapwing.table_version"] == b"1"
    assert schema.field("offset").metadata[b"unit"] == b"s"
    assert all(schema.field(name).metadata[b"about"] for name in schema.names)
    rates = polars.read_ipc_stream(io.BytesIO(stream)).filter(polars.col("metric").cast(str) == "rate")
    assert set(rates["unit"].cast(str)) == {"1/s"} and set(rates["better"].cast(str)) == {"higher"}


def test_partitions_have_every_row_once(store):
    folder = store / "parts"
    lapwing(store, "export", "--to", "parquet", "--partitioned", "-o", str(folder))
    assert all(path.parent.name.startswith("month=") for path in folder.rglob("*.parquet"))
    read = duckdb.sql(f"SELECT count(*) FROM read_parquet('{folder}/*/*/*.parquet', hive_partitioning = true)")
    assert read.fetchall()[0][0] == len(rows_of_text(store))
    again = subprocess.run([LAPWING, "export", "--to", "parquet", "--partitioned", "-o", str(folder)], cwd=store, capture_output=True, text=True)
    assert again.returncode == 2 and "is not empty" in again.stderr


@pytest.mark.parametrize("table", ["spans", "study_runs"])
def test_tables_without_months_have_no_partitions(store, table):
    words = ["export", "--to", "parquet", "--partitioned", "--table", table, "-o", str(store / f"parts-{table}")]
    refused = subprocess.run([LAPWING, *words], cwd=store, capture_output=True, text=True)
    assert refused.returncode == 2 and "hint: remove --partitioned" in refused.stderr


@pytest.mark.parametrize("table", ["runs", "history_points", "spans", "exclusions", "instances"])
def test_every_table_can_be_read(store, table):
    path = store / f"{table}.parquet"
    lapwing(store, "export", "--to", "parquet", "--table", table, "-o", str(path))
    assert pyarrow.parquet.read_table(path).schema.metadata[b"lapwing.table"] == table.encode()


def test_the_runs_of_a_study_have_a_column_for_each_factor(tmp_path):
    examples = Path(__file__).resolve().parents[2] / "examples" / "parsl" / "record.jsonl.gz"
    lapwing(tmp_path, "import", str(examples))
    lapwing(tmp_path, "export", "--to", "parquet", "--table", "study_runs", "--metric", "rate", "-o", "study.parquet")
    read = polars.read_parquet(tmp_path / "study.parquet")
    factors = [name for name in read.columns if name.startswith("factor.")]
    assert len(factors) == 6 and read["cost"].null_count() < len(read)
