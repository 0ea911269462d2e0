"""Traces: the program's durations, aggregates and critical paths against those that other tools found.

`reference/D_traces.json` has what pandas and networkx say of the same files; WfCommons instances and
Dask's task streams are read a second time here.
"""

import json
from collections import defaultdict
from functools import cache

import pytest
from catalogue import DATA, TRACES, traces

EXPECTED = json.loads((DATA / "reference/D_traces.json").read_text()) if DATA.is_dir() else {}
# Our names of the durations in the notebook's words.
DURATIONS = {"commDelay": "to_worker", "queueDelay": "queue", "onWorker": "on_worker"}


def trace(store, *arguments):
    done = store.run("trace", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tasks(store, path, by):
    """Returns the statistics by group and duration."""
    groups = defaultdict(dict)
    for row in trace(store, "tasks", path, "--by", by, "--full")["durations"]:
        groups[row["group"]][row["duration"]] = row
    return groups


def near(ours, theirs):
    return ours == pytest.approx(theirs, rel=1e-9, abs=1)


@pytest.mark.parametrize("name", EXPECTED.get("earthkit", []))
def test_durations_are_those_of_pandas(name, store):
    expected = EXPECTED["earthkit"][name]
    path = DATA / f"D_traces/earthkit/{name}.jsonl"
    found = tasks(store, path, "all")[""]
    assert found["compute"]["count"] == expected["tasks"]
    for theirs, ours in DURATIONS.items():
        wanted = expected["totals"][theirs]
        for statistic in ("sum", "mean", "max", "min", "median"):
            assert near(found[ours][statistic], wanted[statistic]), (ours, statistic)
        assert near(found[ours]["p90"], wanted["p90_linear"]), ours
    # The notebook's run time is loading, computing and publishing; it knows nothing after that.
    assert sum(found[it]["sum"] for it in ("load", "compute", "publish")) == expected["totals"]["runtimes"]["sum"]
    assert found["total"]["sum"] - found["to_controller"]["sum"] == expected["totals"]["total"]["sum"]
    workers = tasks(store, path, "worker")
    assert set(workers) == set(expected["per_worker_onWorker"])
    for worker, wanted in expected["per_worker_onWorker"].items():
        assert all(near(workers[worker]["on_worker"][statistic], wanted[statistic]) for statistic in wanted)


def stream(path):
    """The tasks of a Dask task stream by their prefix: how often, and the seconds of computing."""
    by_prefix, transfers = defaultdict(list), []
    for row in json.loads(path.read_text()):
        for piece in row["startstops"]:
            if piece["action"] == "compute":
                key = row["key"] if isinstance(row["key"], str) else row["key"][0]
                by_prefix[key.strip("('").partition("-")[0]].append(piece["stop"] - piece["start"])
            elif piece["action"] == "transfer":
                transfers.append(piece["stop"] - piece["start"])
    return by_prefix, transfers


def test_a_task_stream_of_dask_is_summed_up_alike(store):
    path = DATA / "D_traces/dask/task_stream.json"
    expected = EXPECTED["dask"]
    found = {name: it["compute"] for name, it in tasks(store, path, "class").items()}
    by_prefix, transfers = stream(path)
    assert {name: it["count"] for name, it in found.items()} == {name: len(its) for name, its in by_prefix.items()}
    for name, wanted in expected["compute_by_prefix"].items():
        assert found[name]["count"] == wanted["count"]
        assert found[name]["sum"] == pytest.approx(wanted["sum"] * 1e9, abs=1e3)
    copies = trace(store, "transfers", path, "--full")["durations"]
    assert sum(it["count"] for it in copies if it["duration"] == "total") == expected["by_action"]["transfer"]["count"] == len(transfers)
    assert trace(store, "findings", path)["makespan"] == pytest.approx(expected["span"] * 1e9, abs=1e3)


@pytest.mark.parametrize("name", EXPECTED.get("wfcommons", []))
def test_critical_paths_of_wfcommons_are_those_of_networkx(name, store, tmp_path):
    expected = EXPECTED["wfcommons"][name]
    recorded = json.loads((DATA / "D_traces/wfcommons" / name).read_text())
    # Beside a makespan that the replay does not reach nothing is predicted.
    del recorded["workflow"]["execution"]["makespanInSeconds"]
    path = tmp_path / name
    path.write_text(json.dumps(recorded))
    answer = trace(store, "what-if", path, "--workers", f"1,{expected['tasks']}")
    one, all_at_once = (it["makespan"] for it in answer["scenarios"][1:])
    assert one == pytest.approx(expected["runtime_sum"] * 1e9, rel=1e-9)

    workflow = recorded["workflow"]
    parents = {it["id"]: it["parents"] for it in workflow["specification"]["tasks"]}
    runtime = {it["id"]: it["runtimeInSeconds"] for it in workflow["execution"]["tasks"]}

    @cache
    def end(task):
        return runtime.get(task, 0) + max(map(end, parents[task]), default=0)

    assert max(map(end, parents)) == pytest.approx(expected["critical_path"])
    assert all_at_once == pytest.approx(expected["critical_path"] * 1e9, rel=1e-9)


@pytest.mark.parametrize("name", EXPECTED.get("wfcommons", []))
def test_what_wfcommons_does_not_tell_is_not_predicted(name, store):
    path = DATA / "D_traces/wfcommons" / name
    done = store.run("trace", "what-if", path)
    if name == "bacass-dirt02-001.json":
        assert done.returncode == 0 and "differs by −6.6 %" in done.stdout, done.stdout
    else:
        assert done.returncode == 2 and "beyond 10 %, it predicts nothing" in done.stderr, done.stderr


@pytest.mark.parametrize("pattern", [pattern for _, pattern in TRACES])
def test_every_trace_is_imported_with_all_spans(pattern, store):
    paths = [path for _, path in traces() if path.match(pattern)]
    assert paths
    done = store.run("import", *paths)
    assert done.returncode == 0, done.stderr
    spans = sum(json.loads(line)["kind"] == "span" for line in store.records().splitlines())
    assert spans > len(paths)
