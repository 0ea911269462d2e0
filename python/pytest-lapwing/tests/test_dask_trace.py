"""Traces of computations on a real cluster of Dask, on this machine."""

import asyncio
import json
import os
import subprocess
import time

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster, wait

from pytest_lapwing import trace_dask
from pytest_lapwing.record_file import Unusable

EVENTS = ["planned", "enqueued", "started", "loaded", "computed", "completed"]


def load(n):
    time.sleep(0.1)
    return bytes(20_000 + n)


def combine(*parts):
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    return b"".join(parts)


def fail_first(path):
    with open(path, "a+") as file:
        file.write("tried\n")
        file.seek(0)
        if len(file.readlines()) == 1:
            raise ValueError("too early")
    return 1


@pytest.fixture(scope="module")
def cluster():
    """Two workers with two threads each."""
    arguments = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": None}
    with LocalCluster(**arguments) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def file(tmp_path):
    return tmp_path / "trace.jsonl"


def spans_of(file, category="task"):
    return [it for it in records(file) if it["kind"] == "span" and it["category"] == category]


def records(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def compute_total(client):
    loads = [client.submit(load, n, key=f"load-{n}", pure=False) for n in range(4)]
    pairs = [client.submit(combine, *loads[n : n + 2], key=("combine", n), pure=False) for n in (0, 2)]
    total = client.submit(combine, *pairs, key="total", pure=False)
    assert len(total.result()) == 80_006


def test_a_trace_has_the_graph_and_the_events_of_its_tasks(client, file):
    before = time.time_ns()
    with trace_dask(client, file):
        compute_total(client)
    after = time.time_ns()
    tasks = {it["name"]: it for it in spans_of(file)}
    inputs = {name: it["inputs"] for name, it in tasks.items()}
    assert inputs == {
        **{f"load-{n}": [] for n in range(4)},
        "('combine', 0)": ["load-0", "load-1"],
        "('combine', 2)": ["load-2", "load-3"],
        "total": ["('combine', 0)", "('combine', 2)"],
    }
    classes = [tasks[name]["attributes"]["class"] for name in ("load-3", "('combine', 2)", "total")]
    assert classes == ["load", "combine", "total"]
    workers = {worker.partition("://")[2] for worker in client.scheduler_info()["workers"]}
    for it in tasks.values():
        assert list(it["events"]) == EVENTS and it["clock"] == "wall"
        moments = list(it["events"].values())
        # Dask's times are floating-point seconds.
        assert all(later - earlier > -1000 for earlier, later in zip(moments, moments[1:]))
        assert before <= moments[0] and moments[-1] <= after
        assert it["lane"].partition("/")[0] in workers
        assert it["attributes"]["bytes"] >= 20_000
        assert "status" not in it["attributes"]
    for before, then in (("load-0", "('combine', 0)"), ("('combine', 0)", "total")):
        assert tasks[before]["events"]["completed"] <= tasks[then]["events"]["planned"]


def test_cpu_time_tells_who_computes_and_who_waits(client, file):
    with trace_dask(client, file):
        compute_total(client)
    for it in spans_of(file):
        wall = it["events"]["computed"] - it["events"]["loaded"]
        cpu = it["attributes"]["cpu"]
        if it["attributes"]["class"] == "load":
            assert wall >= 100e6 and cpu < 50e6
        else:
            assert 50e6 <= cpu <= wall + 1e6


def test_tasks_that_share_a_core_wait_for_it_and_sleepers_do_not(client, file):
    def pin(cores):
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), cores)

    def spin(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    usual = os.sched_getaffinity(0)
    client.run(pin, {min(usual)})
    try:
        with trace_dask(client, file):
            workers = sorted(client.scheduler_info()["workers"])
            tasks = [client.submit(spin, 0.3, key=f"spin-{n}", workers=[it]) for n, it in enumerate(workers)]
            wait(tasks)
            client.submit(time.sleep, 0.3, key="sleep-0").result()
    finally:
        client.run(pin, usual)
    delays = {it["name"]: it["attributes"]["run_delay"] for it in spans_of(file)}
    assert max(delays["spin-0"], delays["spin-1"]) > 200e6, delays
    assert delays["sleep-0"] < 100e6, delays


def test_fetched_inputs_are_transfers(client, file):
    workers = sorted(client.scheduler_info()["workers"])
    with trace_dask(client, file):
        data = client.submit(load, 7, key="there", workers=workers[:1])
        client.submit(len, data, key="here", workers=workers[1:]).result()
    (transfer,) = spans_of(file, "transfer")
    source, target = (it.partition("://")[2] for it in workers)
    assert (transfer["name"], transfer["lane"]) == ("there", target)
    assert transfer["attributes"] == {"source": source, "mode": "remote", "task": "here", "bytes": 20_007}
    tasks = {it["name"]: it for it in spans_of(file)}
    begin, end = transfer["events"]["started"], transfer["events"]["completed"]
    assert tasks["here"]["events"]["enqueued"] <= begin <= end <= tasks["here"]["events"]["started"]


def test_a_failed_task_has_its_error_and_its_time(client, file):
    def fail():
        time.sleep(0.05)
        raise ValueError("too short")

    with trace_dask(client, file):
        failed = client.submit(fail, key="fail-1")
        after = client.submit(len, failed, key="after")
        wait([failed, after])
    # What depends on it was never planned.
    (task,) = spans_of(file)
    assert list(task["events"]) == EVENTS
    assert task["events"]["computed"] - task["events"]["loaded"] >= 50e6
    assert task["attributes"]["status"] == "error"
    assert task["attributes"]["error"] == "ValueError('too short')"


def test_each_attempt_is_a_span(client, file, tmp_path):
    with trace_dask(client, file):
        client.submit(fail_first, str(tmp_path / "tries"), key="flaky-1", retries=2).result()
    first, second = spans_of(file)
    assert first["name"] == second["name"] == "flaky-1"
    assert (first["attributes"]["status"], first["attributes"]["error"]) == ("error", "ValueError('too early')")
    assert "status" not in second["attributes"]
    assert first["events"]["computed"] <= second["events"]["planned"]


def test_what_was_computed_before_the_block_failed_is_kept(client, file):
    with pytest.raises(KeyError), trace_dask(client, file):
        client.submit(load, 1, key="load-1", pure=False).result()
        raise KeyError("unexpected")
    assert [it["name"] for it in spans_of(file)] == ["load-1"]
    by_kind = {it["kind"]: it for it in records(file)}
    assert by_kind["instance_end"]["outcome"] == "failed"
    assert by_kind["iteration"]["message"] == "KeyError: 'unexpected'"
    assert by_kind["iteration"]["metrics"] == {}


def test_nothing_stays_on_the_cluster(client, file, tmp_path):
    def on_worker(dask_worker):
        return [it for it in dask_worker.plugins if "lapwing" in it], "execute" in vars(dask_worker)

    def on_scheduler(dask_scheduler):
        return [it for it in dask_scheduler.plugins if "lapwing" in it]

    # The outer trace ends first.
    outer, inner = trace_dask(client, file), trace_dask(client, tmp_path / "inner.jsonl")
    outer.__enter__()
    inner.__enter__()
    client.submit(load, 1, key="both-1").result()
    assert [len(names) for names, _ in client.run(on_worker).values()] == [2, 2]
    outer.__exit__(None, None, None)
    client.submit(load, 1, key="inner-1").result()
    inner.__exit__(None, None, None)
    assert [it["name"] for it in spans_of(file)] == ["both-1"]
    assert [it["name"] for it in spans_of(tmp_path / "inner.jsonl")] == ["both-1", "inner-1"]
    assert all(not names for names, _ in client.run(on_worker).values())
    assert client.run_on_scheduler(on_scheduler) == []
    with trace_dask(client, file):
        client.submit(load, 1, key="again-1").result()
    assert [it["name"] for it in spans_of(file)] == ["again-1"]


def test_an_older_trace_is_replaced_and_anything_else_is_not(client, file, tmp_path):
    for name in ("first-1", "second-1"):
        with trace_dask(client, file):
            client.submit(load, 1, key=name).result()
    assert [it["name"] for it in spans_of(file)] == ["second-1"]
    other = tmp_path / "notes.txt"
    other.write_text("notes\n")
    with pytest.raises(Unusable, match="is not a record file"):
        trace_dask(client, other)


def test_an_asynchronous_client(file):
    async def compute():
        arguments = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        async with LocalCluster(**arguments, asynchronous=True) as cluster:
            async with Client(cluster, asynchronous=True) as client:
                async with trace_dask(client, file):
                    await client.submit(load, 1, key="load-1")
                    await client.submit(asyncio.sleep, 0.05, key="coroutine-1")
                with pytest.raises(TypeError), trace_dask(client, file):
                    pass

    asyncio.run(compute())
    tasks = {it["name"]: it for it in spans_of(file)}
    assert [list(it["events"]) for it in tasks.values()] == [EVENTS, EVENTS]
    # A coroutine shares its thread with the worker: its CPU time is not known.
    assert {name: "cpu" in it["attributes"] for name, it in tasks.items()} == {"load-1": True, "coroutine-1": False}


def test_the_fixture_records_spans_of_each_iteration(suite):
    suite.write("""
    import pytest
    from distributed import Client, LocalCluster

    @pytest.fixture(scope="module")
    def client():
        arguments = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
        with LocalCluster(**arguments) as cluster, Client(cluster) as client:
            yield client

    @pytest.mark.lapwing(burn_in=1, iterations=1)
    def test_it(client, trace_dask):
        with trace_dask(client), trace_dask(client):
            client.submit(len, "abc", key="a-1", pure=False).result()
            client.submit(len, "abcd", key="b-1", pure=False).result()

    def test_failing(client, trace_dask):
        with trace_dask(client):
            client.submit(len, "abc", key="c-1", pure=False).result()
            assert False
    """)
    found = suite.passes(passed=1, failed=1)
    tasks = [it for it in found.of("span") if it["category"] == "task"]
    id, failing = found.instance("test_it")["id"], found.instance("test_failing")["id"]
    places = [(it["instance"], it["iteration"], it["name"]) for it in tasks]
    assert places == [(id, 0, "a-1"), (id, 0, "b-1"), (id, 1, "a-1"), (id, 1, "b-1"), (failing, 0, "c-1")]
    indices = [it["index"] for it in found.of("span") if it["instance"] == id]
    assert indices == list(range(len(indices)))
    assert found.outcomes("test_failing") == ["failed"]


def test_without_recording_the_cluster_is_asked_nothing(suite):
    suite.write("""
    class Untouchable:
        asynchronous = False

    def test_it(trace_dask):
        with trace_dask(Untouchable()):
            pass
    """)
    suite.pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_program_reads_a_trace(client, file, lapwing):
    with trace_dask(client, file, benchmark="totals"):
        compute_total(client)

    def run(*arguments):
        return subprocess.run([lapwing, *arguments], cwd=file.parent, capture_output=True, text=True, check=True).stdout

    assert "no defects" in run("trace", "lint", file.name)
    assert "7 tasks" in run("trace", "findings", file.name)
    run("import", file.name)
    assert "totals" in run("list")
