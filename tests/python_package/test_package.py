"""`import lapwing`: answers, errors, tables and records are those of the program."""

import ast
import csv
import functools
import http.server
import io
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest

import lapwing
from lapwing._program import option_words

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["LAPWING"]


def program(folder, *words):
    done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a store: two commands, one of which takes twice as long."""
    folder = tmp_path_factory.mktemp("measured")
    program(folder, "run", "-n", "6", "-i", "2", "--name", "pair", "-c", "sleep 0.02", "-c", "sleep 0.04")
    return folder


@pytest.fixture
def here(measured, monkeypatch):
    monkeypatch.chdir(measured)
    return measured


def test_an_answer_has_the_fields_of_its_schema(here):
    answer = lapwing.show("pair")
    assert isinstance(answer, lapwing.answers.Session)
    told = json.loads(program(here, "show", "pair", "--format", "json"))
    assert answer.headline == told["headline"] and answer.verdict == told["verdict"]
    rows = answer.results
    assert [row.value for row in rows] == [row["value"] for row in told["results"]]
    assert isinstance(rows[0], lapwing.answers.ResultRow) and isinstance(answer.next[0], lapwing.NextStep)
    # Rare fields that say nothing are absent in JSON, and None here.
    assert "is_upper_bound" not in told["results"][0] and rows[0].is_upper_bound is None
    assert answer.json["results"] == told["results"] and "shown" not in answer.json


def test_its_command_asks_the_same_in_a_shell(here):
    answer = lapwing.variability(benchmark="sleep 0.02", metric="wall_time")
    words = shlex.split(answer.command)
    assert words[0] == "lapwing"
    assert json.loads(program(here, *words[1:], "--format", "json"))["headline"] == answer.headline


def test_exit_codes_are_no_exceptions(here):
    gate = lapwing.compare("benchmark:sleep 0.02", "benchmark:sleep 0.04", fail_on="regression", metric="wall_time")
    assert (gate.exit_code, gate.verdict) == (1, "regression")
    assert lapwing.compare("benchmark:sleep 0.04", "benchmark:sleep 0.02", fail_on="regression", metric="wall_time").exit_code == 0


def test_errors_are_exceptions_with_the_words_of_the_program(here, tmp_path):
    with pytest.raises(lapwing.LapwingError) as raised:
        lapwing.show("pear")
    error = raised.value
    assert error.exit_code == 2 and "pear" in error.message and error.hint
    told = subprocess.run([PROGRAM, "show", "pear"], cwd=here, capture_output=True, text=True).stderr
    assert f"error: {error.message}" in told and error.hint in told
    with pytest.raises(lapwing.LapwingError, match="unexpected argument '--nonsense'"):
        lapwing.detect(nonsense=3)
    with pytest.raises(lapwing.LapwingError, match="nothing measured yet"):
        lapwing.table(store=tmp_path / "no.db")
    with pytest.raises(lapwing.LapwingError, match="invalid value 'nope'"):
        lapwing.table("nope")


def test_keywords_are_options():
    assert option_words({"smallest_effect": "5%", "full": True, "quiet": False, "name": None}) == ["--smallest-effect=5%", "--full"]
    assert option_words({"c": ["a", "b c"], "n": 5}) == ["-ca", "-cb c", "-n5"]
    assert option_words({"where": {"branch": "main", "host": "n1"}}) == ["--where=branch=main", "--where=host=n1"]
    assert option_words({"compare": ("old", "new")}) == ["--compare", "old", "new"]


def test_options_stand_before_a_measured_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = lapwing.run("--", "sh", "-c", "exit 0", n=3, i=1, name="ours")
    assert answer.session.name == "ours" and answer.session.instances == 3
    assert answer.command == "lapwing run -n3 -i1 --name=ours -- sh -c 'exit 0'"


def test_a_table_is_what_export_writes(here):
    table = lapwing.table("iterations").to_polars()
    rows = list(csv.DictReader(io.StringIO(program(here, "export", "--to", "csv"))))
    keys = ["instance", "index", "metric"]
    found = sorted(table.to_dicts(), key=lambda row: [str(row[key]) for key in keys])
    wanted = sorted(rows, key=lambda row: [row[key] for key in keys])
    assert len(found) == len(wanted) > 0
    for row, text in zip(found, wanted):
        for key, value in text.items():
            own = row[key]
            if isinstance(own, bool):
                assert str(own).lower() == value, key
            elif isinstance(own, (int, float)) and not math.isnan(own):
                assert float(own) == float(value), key
            else:
                assert (own or "") == value, key


def test_every_library_takes_a_table(here):
    measured = lapwing.table("iterations", metric="wall_time")
    count = len(measured)
    assert count == 36  # 2 commands, 6 instances, 2 iterations and one of burn-in
    assert polars.DataFrame(measured).height == count
    assert pyarrow.table(measured).num_rows == count
    assert len(pandas.DataFrame.from_arrow(measured)) == len(measured.to_pandas()) == count
    assert duckdb.sql("SELECT count(*) FROM measured").fetchall() == [(count,)]
    assert measured.to_arrow().schema.field("offset").metadata[b"unit"] == b"s"
    rows = lapwing.show("pair").table()
    assert rows.to_pandas()["value"].dtype == float and len(rows.rows()) == len(polars.DataFrame(rows))


def test_a_notebook_shows_sentence_table_charts_and_command(here):
    answer = lapwing.show("pair")
    shown = answer._repr_mimebundle_()
    text = shown["text/markdown"]
    assert answer.headline.rstrip(".") in text and "| benchmark |" in text and answer.command in text
    names = set()
    for svg in answer.pictures + lapwing.variability().pictures:
        assert xml.fromstring(svg).tag.endswith("svg")
        own = set(re.findall(r"\b(?:id|class)=\"([^\"]+)\"", svg)) | set(re.findall(r"(?m)^\.([\w-]+):hover", svg))
        assert own and not own & names, "two pictures of a page share names"
        names |= own
    page = answer.chart().page
    assert not re.search(r"(src|href)=[\"']?https?:", page)
    frame = answer.chart(300)._repr_html_()
    assert 'sandbox="allow-scripts"' in frame and "height:300px" in frame


def test_a_chart_is_a_file_too(here, tmp_path):
    chart = lapwing.variability().chart()
    chart.save(tmp_path / "noise.svg")
    chart.save(tmp_path / "noise.html")
    assert xml.parse(tmp_path / "noise.svg") and "<script" in (tmp_path / "noise.html").read_text()
    with pytest.raises(ValueError, match="does not end in"):
        chart.save(tmp_path / "noise.png")
    with pytest.raises(ValueError, match="no chart"):
        lapwing.list("runs").chart()


def test_recorded_measurements_are_those_of_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    losses = [[3.0, 2.5], [3.5, 2.0], [2.75, 2.25]]
    assert lapwing.record("one").name != lapwing.record("one").name
    with lapwing.record("training", name="ours", metrics={"loss": {"unit": "1", "better": "lower"}}, version="1.2") as session:
        for own in losses:
            with session.instance("epoch", batch=64) as instance:
                for loss in own:
                    with instance.iteration() as values:
                        values["loss"] = loss
                        time.sleep(0.001)
                instance.add(wall_time=0.25, burn_in=True)
    table = lapwing.table("iterations").to_polars()
    found = table.filter(polars.col("metric").cast(str) == "loss").sort("position", "index")
    assert found["value"].to_list() == [loss for own in losses for loss in own]
    assert set(found["better"].cast(str)) == {"lower"} and set(found["version"].cast(str)) == {"1.2"}
    assert table.filter(polars.col("burn_in"))["value"].to_list() == [0.25] * 3
    assert set(found["benchmark"].cast(str)) == {"epoch[batch=64]"}
    assert lapwing.show("ours").session.instances == 3


def test_what_cannot_be_recorded_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="metric 'loss': .*unti"):
        lapwing.record("training", metrics={"loss": {"unti": "s"}})
    with lapwing.record("training") as session, session.instance("epoch") as instance:
        for wrong in ("fast", float("nan"), None):
            with pytest.raises(ValueError, match="metric 'loss': .* is not a finite number"):
                instance.add(loss=wrong)


def test_a_store_knows_its_functions(here):
    store = lapwing.open(here / ".lapwing" / "lapwing.db")
    assert {"compare", "table", "study", "ask"} <= set(dir(store)) and "findings" in dir(store.study)
    assert store.compare.__doc__ == lapwing.compare.__doc__ and "smallest_effect" in lapwing.compare.__doc__
    assert store.ask("db info").headline
    with pytest.raises(AttributeError, match="a store has no 'nosuch'"):
        store.nosuch()
    with pytest.raises(TypeError, match="leave `format` out"):
        lapwing.show(format="json")
    with pytest.raises(lapwing.LapwingError, match="no answer"):
        lapwing.export(to="csv")


def test_a_failing_iteration_is_recorded_and_raised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ZeroDivisionError):
        with lapwing.record("training") as session:
            with session.instance("epoch") as instance:
                with instance.iteration():
                    pass
                with instance.iteration():
                    1 / 0
    rows = lapwing.table("iterations").rows()
    assert {(row["outcome"], row["message"]) for row in rows} == {("ok", None), ("failed", "ZeroDivisionError: division by zero")}


KILLED = """
import lapwing, os, signal
session = lapwing.record("training", name="killed")
with session.instance("epoch") as instance:
    instance.add(wall_time=0.5)
    instance.add(wall_time=0.6)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_nothing_that_was_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path).returncode == -signal.SIGKILL
    rows = lapwing.table("iterations").rows()
    assert sorted(row["value"] for row in rows) == [0.5, 0.6]


INTERRUPTED = """
import lapwing
try:
    lapwing.run("--", "sleep", "0.2", n=50, i=1, name="cut")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_stops_and_keeps_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (tmp_path / ".lapwing" / "lapwing.db").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=30)
    assert told == "interrupted\n" and process.returncode == 0
    assert 1 <= lapwing.show("cut").session.instances < 50


LEFT = """
import lapwing
lapwing.run("--", "sleep", "0.2", n=200, i=1, name="left")
"""


def test_a_measurement_ends_with_the_process_that_asked_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process = subprocess.Popen([sys.executable, "-c", LEFT], cwd=tmp_path)
    time.sleep(3)
    process.kill()
    process.wait()
    time.sleep(3)
    measured = len(lapwing.table("iterations", metric="wall_time").rows())
    time.sleep(1.5)
    assert 0 < measured == len(lapwing.table("iterations", metric="wall_time").rows()) < 200


def test_long_commands_show_progress(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    monkeypatch.setattr("lapwing._program.Progress.show", lambda self, text: seen.append(text))
    lapwing.run("--", "sleep", "0.1", n=5, i=1)
    counts = [re.search(r"(\d+)/10", text) for text in seen]
    assert len([it for it in counts if it]) >= 3, seen


def test_a_shared_history_is_opened_by_its_address(here, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    program(here, "db", "push", str(shared))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_words):
            pass

    handler = functools.partial(Quiet, directory=str(shared))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    try:
        store = lapwing.open(f"http://127.0.0.1:{server.server_port}/")
        assert store.show("pair").headline == lapwing.open(here / ".lapwing" / "lapwing.db").show("pair").headline
        assert len(store.table("instances", metric="wall_time")) == 12
    finally:
        server.shutdown()
    assert not (tmp_path / ".lapwing").exists()


def test_the_generated_modules_are_current():
    done = subprocess.run([sys.executable, ROOT / "python/lapwing/generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_kind_of_answer_has_a_class():
    told = subprocess.run([PROGRAM, "self", "schema", "answer", "-"], capture_output=True, text=True).stderr
    kinds = re.search(r"the answers are (.*)", told).group(1).split(", ")
    assert set(kinds) - {"error"} == set(lapwing.answers.KINDS)


def test_it_is_written_for_python_3_10():
    for path in (ROOT / "python/lapwing/src/lapwing").glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 10))
