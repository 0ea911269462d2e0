"""Suites that use pytest-timeout, too."""

import pytest

pytest.importorskip("pytest_timeout")


def test_its_limit_is_that_of_each_iteration(suite):
    suite.write("""
    import itertools, time, pytest
    turn = itertools.count()

    @pytest.mark.timeout(1)
    @pytest.mark.lapwing(burn_in=1, iterations=4)
    def test_fits():
        time.sleep(0.4)

    @pytest.mark.timeout(0.6)
    @pytest.mark.lapwing(burn_in=0, iterations=4)
    def test_now_and_then():
        time.sleep(10 if next(turn) in (1, 3) else 0)
    """)
    records = suite.passes(passed=1, failed=1)
    assert records.outcomes("test_fits") == ["ok"] * 5
    assert records.outcomes("test_now_and_then") == ["ok", "timed_out", "ok", "timed_out"]
    iteration = records.iterations("test_now_and_then")[1]
    # It holds for fixtures too, so that nobody knows how much of it the function had.
    assert iteration["metrics"] == {}
    assert iteration["message"] == "Timeout (>0.6s) from pytest-timeout."
    suite.result.stdout.fnmatch_lines(["*Timeout (>0.6s) from pytest-timeout.*"])


def test_a_limit_of_the_function_alone_is_the_value(suite):
    suite.write("""
    import time, pytest

    @pytest.fixture
    def slow():
        time.sleep(0.3)

    @pytest.mark.timeout(0.2, func_only=True)
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it(slow):
        time.sleep(10)
    """)
    iterations = suite.passes(failed=1).iterations("test_it")
    assert [(it["outcome"], it["metrics"]) for it in iterations] == [("timed_out", {"wall_time": 0.2})] * 2


def test_its_limit_holds_for_set_up_and_teardown(suite):
    suite.write("""
    import time, pytest

    @pytest.fixture
    def slow():
        time.sleep(10)

    @pytest.fixture
    def slow_end():
        yield
        time.sleep(10)

    pytestmark = [pytest.mark.timeout(0.2), pytest.mark.lapwing(burn_in=0, iterations=2)]

    def test_start(slow):
        pass

    def test_end(slow_end):
        pass
    """)
    records = suite.passes(passed=1, errors=2)
    start, end = records.iterations("test_start"), records.iterations("test_end")
    said = "Timeout (>0.2s) from pytest-timeout."
    assert [(it["outcome"], it["message"], it["metrics"]) for it in start] == [("timed_out", f"setup: {said}", {})] * 2
    assert [(it["outcome"], it["message"]) for it in end] == [("failed", f"teardown: Failed: {said}")] * 2


def test_the_nearer_of_both_limits_holds(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.timeout(0.2)
    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=5)
    def test_its():
        time.sleep(10)

    @pytest.mark.timeout(5)
    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=0.2)
    def test_own():
        time.sleep(10)
    """)
    records = suite.passes(failed=2)
    assert [it["metrics"] for it in records.iterations("test_its")] == [{}] * 2
    assert [it["metrics"] for it in records.iterations("test_own")] == [{"wall_time": 0.2}] * 2
    assert records.outcomes("test_its") == records.outcomes("test_own") == ["timed_out"] * 2


def test_its_limit_is_that_of_each_round(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.timeout(1)
    def test_fits(benchmark):
        benchmark.pedantic(time.sleep, args=(0.3,), rounds=5)

    @pytest.mark.timeout(0.2)
    def test_takes_longer(benchmark):
        benchmark.pedantic(time.sleep, args=(10,), rounds=4)

    def test_fails(benchmark):
        benchmark.pedantic(pytest.fail, args=("by hand",))
    """)
    records = suite.passes("-p", "no:benchmark", passed=1, failed=2)
    assert records.outcomes("test_fits") == ["ok"] * 5
    (iteration,) = records.iterations("test_takes_longer")
    assert (iteration["outcome"], iteration["metrics"]) == ("timed_out", {"wall_time": 0.2})
    assert records.end("test_takes_longer")["outcome"] == "timed_out"
    (failed,) = records.iterations("test_fails")
    assert (failed["outcome"], failed["message"]) == ("failed", "Failed: by hand")


def test_it_ends_with_the_benchmark(suite):
    suite.write("""
    import signal, pytest

    @pytest.mark.timeout(5)
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it():
        pass

    def test_after():
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    """)
    suite.passes(passed=2)
