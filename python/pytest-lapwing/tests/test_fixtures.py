"""The fixtures without a Dask cluster, and what a benchmark records itself."""

import json
import os
import subprocess
import sys

from pytest_lapwing import collectors


TIMES = {("wall_time", "s"), ("process_time", "s")}


def without_process_time(iteration):
    """Returns the metrics of an iteration, but for the processor time: that has no clock that tests move."""
    return {name: value for name, value in iteration["metrics"].items() if name != "process_time"}


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
    found = [without_process_time(records.iterations(it)[0]) for it in ("test_it", "test_called", "test_never_entered")]
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


def test_a_block_within_another_counts_once_and_one_behind_it_is_added(suite, clock):
    suite.write("""
    import pytest
    from pytest_lapwing import timing

    @pytest.fixture
    def client(benchmark_time):
        with benchmark_time:
            timing.clock.sleep(1)
            yield

    def test_it(client, benchmark_time):
        with benchmark_time:
            timing.clock.sleep(0.25)
            with pytest.raises(ValueError), benchmark_time:
                raise ValueError
        timing.clock.sleep(0.5)

    @pytest.fixture
    def after(benchmark_time):
        yield
        with benchmark_time:
            timing.clock.sleep(0.125)

    def test_behind(after, client):
        pass
    """)
    records = suite.passes(passed=2)
    found = [without_process_time(records.iterations(it)[0]) for it in ("test_it", "test_behind")]
    assert found == [{"wall_time": 1.75}, {"wall_time": 1.125}]


def test_memory_of_several_blocks_is_the_highest_peak_and_the_average_over_time(suite, clock):
    suite.write("""
    import pytest
    from pytest_lapwing import collectors, timing

    @pytest.fixture
    def memory(monkeypatch):
        now = [0]
        monkeypatch.setattr(collectors, "resident_memory", lambda _: now[0])
        def is_(value):
            now[0] = value
        return is_

    def test_it(memory, benchmark_memory):
        memory(800)
        with benchmark_memory():
            with benchmark_memory():
                timing.clock.sleep(1)
        memory(100)
        with benchmark_memory():
            timing.clock.sleep(3)

    def test_without_time(memory, benchmark_memory):
        for value in (100, 300):
            memory(value)
            with benchmark_memory():
                pass
    """)
    records = suite.passes(passed=2)
    found = [records.iterations(it)[0]["metrics"] for it in ("test_it", "test_without_time")]
    memory = [(it["average_memory"], it["peak_memory"]) for it in found]
    assert memory == [((800 + 3 * 100) / 4, 800), (200, 300)]


def test_a_value_that_is_no_number_is_an_error_of_the_iteration(suite):
    suite.write("""
    import pytest

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "many"])
    def test_it(benchmark_record, value):
        benchmark_record.record("rows", value)

    def test_artifact(benchmark_record):
        benchmark_record.artifact("p", b"a/b")
    """)
    records = suite.passes(failed=4)
    said = [records.iterations(f"test_it[{it}]")[0]["message"] for it in ("nan", "inf")]
    assert said == [f"ValueError: rows is {it}: omit values that could not be measured" for it in ("nan", "inf")]
    assert records.iterations("[many]")[0]["outcome"] == "failed"
    (artifact,) = records.iterations("test_artifact")
    assert artifact["message"] == "TypeError: the path of an artifact must be a text or a path, not b'a/b'"


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
    assert iteration["metrics"].keys() == {"hits", "rate", "rows", "wall_time", "process_time"}
    (run,) = [it for it in records.of("run") if it["id"] == records.instance("test_it")["run"]]
    declared = run["metrics"]
    assert declared["hits"] == declared["rate"] | {"unit": "1"} == {"unit": "1", "better": "higher"}
    assert declared["delay"] == {"unit": "s", "better": "lower"} and declared["size"] == {"unit": "B"}
    message = records.iterations("test_other_unit")[0]["message"]
    assert message == "ValueError: metric hits is declared as 1 (higher) and as s (no direction)"
    assert records.outcomes("test_no_number") == ["failed"]


def test_of_a_metric_that_nobody_declared_the_run_is_told_again_before_its_first_value(suite, lapwing_or_none):
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
    runs = records.of("run")
    assert [sorted(set(it["metrics"]) & {"rows", "late"}) for it in runs] == [[], ["rows"], ["late", "rows"]]
    assert runs[2]["metrics"]["rows"] == {"unit": "1", "better": "higher"}
    without = [{key: value for key, value in it.items() if key != "metrics"} for it in runs]
    assert without[0] == without[1] == without[2]
    places = {
        name: min(i for i, it in enumerate(records.lines) if name in it.get("metrics", ())) for name in KNOWN_LATE
    }
    assert all(records.lines[it]["kind"] == "run" for it in places.values())
    if lapwing_or_none:
        assert kinds_of_metrics(suite, lapwing_or_none) == {("late", "s"), ("rows", "1"), *TIMES}


def test_workers_that_find_different_metrics_have_one_run(suite, lapwing_or_none):
    suite.write("""
    import pytest

    @pytest.mark.parametrize("name", ["a", "b", "c", "d"])
    def test_it(benchmark_record, name):
        benchmark_record.record(name, 1, unit="B")
    """)
    records = suite.passes("-n", "2", passed=4)
    assert len({it["id"] for it in records.of("run")}) == 1
    if lapwing_or_none:
        assert kinds_of_metrics(suite, lapwing_or_none) == {*((it, "B") for it in "abcd"), *TIMES}


KNOWN_LATE = ("rows", "late")


def kinds_of_metrics(suite, lapwing):
    """Has the program read the records, and returns name and unit of every metric with a value."""
    store = ["--store", suite.path / "it.db"]
    subprocess.run([lapwing, "import", *store, suite.output], check=True, capture_output=True)
    said = subprocess.run([lapwing, "export", *store, "--to", "record"], check=True, capture_output=True, text=True)
    lines = [json.loads(it) for it in said.stdout.splitlines()]
    (run,) = [it for it in lines if it["kind"] == "run"]
    used = {name for it in lines if it["kind"] == "iteration" for name in it["metrics"]}
    return {(name, run["metrics"][name]["unit"]) for name in used}


def test_lines_that_declare_no_metric_are_usage_errors(suite):
    suite.ini("lapwing_metrics = rows 1 more").write("def test_it(): pass").run()
    suite.result.stderr.fnmatch_lines(["*lapwing_metrics: better must be 'lower', 'higher' or None, not 'more'*"])


def test_nothing_is_sampled_where_nothing_is_recorded(monkeypatch):
    monkeypatch.setattr(collectors, "resident_memory", None)
    with collectors.process_memory(collectors.Record(None), 0.1):
        pass


def test_the_processor_time_is_that_of_the_process_and_its_children(suite):
    suite.write("""
    import subprocess, sys, threading, time, pytest

    BUSY = "import time; all(time.process_time() < 0.25 for _ in iter(int, 1))"

    def compute():
        begin = time.thread_time()
        while time.thread_time() - begin < 0.2:
            pass

    def test_sleeps(benchmark_record):
        time.sleep(0.2)

    def test_computes(benchmark_record):
        compute()

    def test_thread(benchmark_record):
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()

    def test_child(benchmark_record):
        subprocess.run([sys.executable, "-S", "-c", BUSY], check=True)

    def test_block(benchmark_time):
        compute()
        with benchmark_time:
            time.sleep(0.1)
        compute()

    def test_fails(benchmark_record):
        assert not compute() is None
    """)
    records = suite.passes(passed=5, failed=1)
    found = {name: records.iterations(f"test_{name}")[0]["metrics"] for name in ("sleeps", "computes", "thread", "child")}
    assert found.pop("sleeps")["process_time"] < 0.1
    assert all(0.2 <= it["process_time"] < 1 for it in found.values()), found
    assert records.iterations("test_block")[0]["metrics"]["process_time"] < 0.1
    assert records.iterations("test_fails")[0]["metrics"] == {}
