"""How iterations and instances end."""


def test_an_iteration_that_takes_too_long_is_timed_out_and_the_session_goes_on(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.lapwing(burn_in=0, iterations=3, time_limit=0.1, max_failures=2)
    def test_slow():
        time.sleep(10)

    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=5)
    def test_quick():
        pass
    """)
    records = suite.passes(passed=1, failed=1)
    slow = records.iterations("test_slow")
    assert [it["outcome"] for it in slow] == ["timed_out"] * 2
    assert [it["metrics"] for it in slow] == [{"wall_time": 0.1}] * 2
    assert slow[0]["message"] == "took longer than the time limit of 0.1 s"
    assert records.outcomes("test_quick") == ["ok", "ok"]


def test_a_time_limit_that_the_test_swallows_is_timed_out_all_the_same(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.lapwing(burn_in=0, iterations=1, time_limit=0.1)
    def test_it():
        try:
            time.sleep(10)
        except Exception:
            pass
    """)
    assert suite.passes(failed=1).outcomes("test_it") == ["timed_out"]
    suite.result.stdout.fnmatch_lines(["*TimeLimitExceeded: took longer than 0.1 s"])


def test_a_coroutine_a_method_and_a_round_that_swallow_the_limit_fail_too(suite):
    suite.write("""
    import asyncio, time, unittest, pytest

    pytestmark = pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=0.1)

    @pytest.mark.asyncio
    async def test_coroutine():
        try:
            await asyncio.sleep(10)
        except BaseException:
            pass

    class TestIt(unittest.TestCase):
        def test_method(self):
            try:
                time.sleep(10)
            except TimeoutError:
                pass

    def swallow():
        try:
            time.sleep(10)
        except TimeoutError:
            pass

    def test_round(benchmark):
        benchmark.pedantic(swallow, rounds=2)

    def test_around_rounds(benchmark):
        try:
            benchmark.pedantic(time.sleep, args=(10,), rounds=2)
        except TimeoutError:
            pass

    @pytest.mark.xfail(raises=TimeoutError, strict=True)
    def test_expected():
        swallow()
    """)
    records = suite.passes("-p", "no:benchmark", failed=4, xfailed=1)
    for name in ("test_coroutine", "test_method", "test_expected"):
        assert records.outcomes(name) == ["timed_out"] * 2
    for name in ("test_round", "test_around_rounds"):
        (iteration,) = records.iterations(name)
        assert (iteration["outcome"], iteration["metrics"]) == ("timed_out", {"wall_time": 0.1})
        assert records.end(name)["outcome"] == "timed_out"


def test_the_limit_holds_for_set_up_and_teardown_too(suite, monkeypatch):
    monkeypatch.setattr("pytest_lapwing.visit.LEAST_AROUND", 0.2)
    suite.write("""
    import time, pytest

    @pytest.fixture(scope="module")
    def cluster():
        time.sleep(10)

    @pytest.fixture
    def slow_end():
        yield
        time.sleep(10)

    @pytest.fixture(scope="module")
    def slower_end():
        yield
        time.sleep(10)

    @pytest.mark.lapwing(burn_in=0, iterations=3, time_limit=0.1, max_failures=2)
    def test_start(cluster):
        pass

    @pytest.mark.lapwing(burn_in=0, iterations=3, time_limit=0.1, max_failures=2)
    def test_end(slow_end):
        pass

    @pytest.mark.lapwing(burn_in=0, iterations=3, time_limit=0.3)
    def test_last(slower_end):
        pass
    """)
    records = suite.passes(passed=2, errors=3)
    start = records.iterations("test_start")
    assert [(it["outcome"], it["message"], it["metrics"]) for it in start] == [
        ("timed_out", "setup: took longer than 0.2 s", {})
    ] * 2
    end = records.iterations("test_end")
    assert [(it["outcome"], it["message"], list(it["metrics"])) for it in end] == [
        ("failed", "teardown: TimeLimitExceeded: took longer than 0.2 s", ["wall_time", "process_time"])
    ] * 2
    assert records.outcomes("test_last") == ["ok"] * 3
    suite.result.stdout.fnmatch_lines(["*TimeLimitExceeded: took longer than 0.3 s"])


def test_an_expected_time_out_is_xfailed(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.xfail(raises=TimeoutError)
    @pytest.mark.lapwing(burn_in=0, iterations=2, time_limit=0.1)
    def test_it():
        time.sleep(10)
    """)
    assert suite.passes(xfailed=1).outcomes("test_it") == ["timed_out"] * 2


def test_an_alarm_of_somebody_else_still_rings(suite):
    suite.write("""
    import signal, time, pytest

    class Rung(Exception):
        pass

    def ring(*_):
        raise Rung

    @pytest.fixture
    def alarm():
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        yield
        with pytest.raises(Rung):
            time.sleep(10)
        signal.signal(signal.SIGALRM, before)

    @pytest.mark.lapwing(burn_in=0, iterations=1, time_limit=0.5)
    def test_it(alarm):
        pass
    """)
    assert suite.passes().outcomes("test_it") == ["ok"]


def test_a_limit_that_cannot_hold_is_told(suite):
    suite.write("""
    import threading, pytest
    from pytest_lapwing.timing import Alarm

    def test_it():
        seen = []
        thread = threading.Thread(target=lambda: seen.append(Alarm(1.0).can_hold))
        thread.start(); thread.join()
        assert seen == [False] and Alarm(1.0).can_hold
    """)
    suite.run()
    suite.result.assert_outcomes(passed=1)


def test_a_skipped_benchmark_is_an_instance_without_iterations(suite):
    suite.write("""
    import pytest

    @pytest.mark.skip(reason="needs a cluster")
    @pytest.mark.lapwing
    def test_marked():
        pass

    @pytest.mark.lapwing
    def test_body():
        pytest.skip("no data")
    """)
    records = suite.passes(skipped=2)
    for name, reason in (("test_marked", "needs a cluster"), ("test_body", "no data")):
        assert records.iterations(name) == []
        end = records.end(name)
        assert (end["outcome"], end["message"]) == ("skipped", reason)


def test_what_is_expected_to_fail_is_recorded_as_it_went(suite):
    suite.write("""
    import pytest

    @pytest.mark.xfail(reason="known")
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_fails():
        raise ValueError

    @pytest.mark.xfail(reason="known")
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_passes():
        pass

    @pytest.mark.xfail(reason="known", strict=True)
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_strict():
        pass

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_imperative():
        pytest.xfail("not yet")

    @pytest.mark.xfail(run=False, reason="hangs")
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_not_run():
        pass
    """)
    records = suite.passes(xfailed=3, xpassed=1, failed=1)
    assert records.outcomes("test_fails") == ["failed"] * 2
    assert records.iterations("test_fails")[0]["attributes"]["xfail"] == "known"
    assert records.outcomes("test_passes") == ["ok"] * 2
    assert records.iterations("test_passes")[0]["attributes"]["xfail"] == "known"
    assert records.outcomes("test_strict") == ["ok"] * 2
    assert [it["attributes"]["xfail"] for it in records.iterations("test_strict")] == ["known"] * 2
    assert records.outcomes("test_imperative") == ["failed"] * 2
    assert records.end("test_not_run")["outcome"] == "skipped"


def test_fail_and_exit_of_a_program_are_failures(suite):
    suite.write("""
    import sys, pytest

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_fail():
        pytest.fail("by hand")

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_exit():
        sys.exit(3)
    """)
    records = suite.passes(failed=2)
    assert records.iterations("test_fail")[0]["message"] == "Failed: by hand"
    assert records.iterations("test_exit")[0]["message"] == "SystemExit: 3"


def test_an_error_that_cannot_say_what_it_is_ends_its_iteration_only(suite):
    suite.write("""
    import pytest

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    class Odd(Exception):
        def __str__(self):
            return 3

    class Rude(Exception):
        def __str__(self):
            pytest.fail("no words")

    @pytest.mark.parametrize("error", [Mute, Odd, Rude])
    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it(error):
        raise error

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_after():
        pass
    """)
    records = suite.passes(failed=3, passed=1)
    said = [records.iterations(f"test_it[{name}]")[1]["message"] for name in ("Mute", "Odd", "Rude")]
    assert said == [
        "Mute: <str() of it raised RuntimeError>",
        "Odd: <str() of it raised TypeError>",
        "Rude: <str() of it raised Failed>",
    ]
    assert records.outcomes("test_after") == ["ok"] * 2
