"""The fixtures without a Dask cluster, and what a benchmark records itself."""

import os
import subprocess
import sys

from pytest_lapwing import collectors


def test_the_block_s_time_is_the_wall_time_and_blocks_add_up(suite, clock):
    suite.write("""
    from pytest_lapwing import timing

    def test_it(benchmark_time):
        timing.clock.sleep(2)
        for _ in range(2):
            with benchmark_time:
                timing.clock.sleep(0.25)

    def test_called(benchmark_time):
        with benchmark_time():
            timing.clock.sleep(0.5)

    def test_never_entered(benchmark_time):
        timing.clock.sleep(1)
    """)
    records = suite.passes(passed=3)
    found = [records.iterations(it)[0]["metrics"] for it in ("test_it", "test_called", "test_never_entered")]
    assert found == [{"wall_time": 0.5}, {"wall_time": 0.5}, {}]


def test_a_fixture_may_measure_around_the_test(suite, clock):
    suite.write("""
    import pytest
    from pytest_lapwing import timing

    @pytest.fixture
    def client(benchmark_time):
        timing.clock.sleep(2)
        with benchmark_time:
            yield
        timing.clock.sleep(2)

    @pytest.mark.lapwing(burn_in=1, iterations=2)
    def test_it(client):
        timing.clock.sleep(0.5)
    """)
    assert [it["metrics"]["wall_time"] for it in suite.passes().iterations("test_it")] == [0.5] * 3


def test_a_block_that_fails_has_no_time(suite):
    suite.write("""
    def test_it(benchmark_time):
        with benchmark_time:
            raise ValueError
    """)
    (iteration,) = suite.passes(failed=1).iterations("test_it")
    assert (iteration["outcome"], iteration["metrics"]) == ("failed", {})


def test_the_memory_of_the_process_and_its_children_is_sampled(suite):
    suite.write("""
    import subprocess, sys, time

    CHILD = "x = bytearray(200_000_000); print('there', flush=True); import time; time.sleep(60)"

    def test_children(benchmark_memory):
        with benchmark_memory():
            child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE)
            child.stdout.readline()
            time.sleep(0.3)
            child.kill()
            child.communicate()

    def test_own(benchmark_memory):
        with benchmark_memory():
            pass
    """)
    records = suite.passes(passed=2)
    own, children = (records.iterations(it)[0]["metrics"] for it in ("test_own", "test_children"))
    assert children["peak_memory"] > own["peak_memory"] + 150e6
    assert own["average_memory"] < children["average_memory"] <= children["peak_memory"]
    assert own["wall_time"] > 0
    metrics = records.of("run")[0]["metrics"]
    assert metrics["peak_memory"] == metrics["average_memory"] == {"unit": "B", "better": "lower"}


def test_proc_says_about_the_same_memory_as_psutil(monkeypatch):
    child = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1)
    child.stdout.readline()
    try:
        assert child.pid in collectors._tree(os.getpid())
        by_psutil = collectors.resident_memory(os.getpid())
        monkeypatch.setitem(sys.modules, "psutil", None)
        assert abs(collectors.resident_memory(os.getpid()) / by_psutil - 1) < 0.2
    finally:
        child.communicate(b"\n")


def test_what_a_benchmark_records_itself(suite):
    suite.ini("lapwing_metrics =", "    hits 1 higher", "    delay: s, lower")
    (suite.path / "conftest.py").write_text(
        'def pytest_lapwing_metrics(): return {"rate": ("1/s", "higher"), "size": "B"}'
    )
    suite.write("""
    import pytest

    @pytest.fixture
    def benchmark_rows(benchmark_record):
        yield
        benchmark_record.record("rate", 2)

    @pytest.mark.lapwing(burn_in=1, iterations=1, metrics={"rows": ("1", "higher")})
    def test_it(benchmark_record, benchmark_rows):
        benchmark_record.record("hits", True)
        benchmark_record.record("rows", 7, unit="1", better="higher")
        benchmark_record.record("nothing", float("nan"), unit="s")
        benchmark_record.attribute("phase", {"burn_in": benchmark_record.burn_in, "set": {1}})
        benchmark_record.artifact("log", "a/b.log")

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_other_unit(benchmark_record):
        benchmark_record.record("hits", 1, unit="s")

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_no_number(benchmark_record):
        benchmark_record.record("hits", "many")
    """)
    records = suite.passes(passed=1, failed=2)
    burn_in, iteration = records.iterations("test_it")
    assert burn_in["attributes"]["phase"] == {"burn_in": True, "set": [1]}
    assert iteration["attributes"]["phase"]["burn_in"] is False
    assert iteration["artifacts"] == {"log": "a/b.log"}
    assert iteration["metrics"].keys() == {"hits", "rate", "rows", "wall_time"}
    (run,) = [it for it in records.of("run") if it["id"] == records.instance("test_it")["run"]]
    declared = run["metrics"]
    assert declared["hits"] == declared["rate"] | {"unit": "1"} == {"unit": "1", "better": "higher"}
    assert declared["delay"] == {"unit": "s", "better": "lower"} and declared["size"] == {"unit": "B"}
    message = records.iterations("test_other_unit")[0]["message"]
    assert message == "ValueError: metric hits is declared as 1 (higher) and as s (no direction)"
    assert records.outcomes("test_no_number") == ["failed"]


def test_a_metric_that_nobody_declared_opens_a_further_run_of_the_same_setting(suite):
    suite.write("""
    import itertools, pytest
    turn = itertools.count()

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_a():
        pass

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_b(benchmark_record):
        benchmark_record.record("rows", 1, better="higher")

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_c(benchmark_record):
        if next(turn) == 1:
            benchmark_record.record("late", 1, unit="s")

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_d():
        pass
    """)
    records = suite.passes(passed=4)
    runs = {it["id"]: it for it in records.of("run")}
    used = [runs[it["run"]] for it in records.of("instance")]
    assert [sorted(set(it["metrics"]) & {"rows", "late"}) for it in used] == [[], ["rows"], ["rows"], ["late", "rows"]]
    assert used[1]["metrics"]["rows"] == {"unit": "1", "better": "higher"}
    without = [{k: v for k, v in it.items() if k not in ("id", "metrics")} for it in runs.values()]
    assert all(it == without[0] for it in without)


def test_lines_that_declare_no_metric_are_usage_errors(suite):
    suite.ini("lapwing_metrics = rows 1 more").write("def test_it(): pass").run()
    suite.result.stderr.fnmatch_lines(["*lapwing_metrics: better is 'lower', 'higher' or None, not 'more'*"])


def test_nothing_is_sampled_where_nothing_is_recorded(monkeypatch):
    monkeypatch.setattr(collectors, "resident_memory", None)
    with collectors.process_memory(collectors.Record(None), 0.1):
        pass
