"""One item is one instance: iterations, fixtures, reports."""


def order(suite):
    """What the suite wrote down with `note`."""
    return (suite.path / "notes").read_text().split()


NOTES = """
    import pathlib, pytest

    def note(text):
        with open(pathlib.Path(__file__).parent / "notes", "a") as file:
            file.write(text + "\\n")

    @pytest.fixture(scope="session")
    def wide():
        note("session-up"); yield; note("session-down")

    @pytest.fixture(scope="module")
    def module(wide):
        note("module-up"); yield; note("module-down")

    @pytest.fixture
    def narrow(module):
        note("up"); yield; note("down")
"""


def test_function_fixtures_are_torn_down_between_iterations_and_wider_ones_kept(suite):
    suite.write(
        NOTES
        + """
    @pytest.mark.lapwing(burn_in=1, iterations=2)
    def test_first(narrow):
        note("first")

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_second(narrow):
        note("second")
    """
    )
    suite.passes(passed=2)
    first, second = ["up", "first", "down"], ["up", "second", "down"]
    assert order(suite) == ["session-up", "module-up", *first * 3, *second * 2, "module-down", "session-down"]


def test_each_iteration_has_a_fresh_tmp_path_and_a_fresh_object(suite):
    suite.write("""
    import pytest

    @pytest.mark.lapwing
    class TestIt:
        def test_it(self, tmp_path):
            assert not hasattr(self, "seen") and list(tmp_path.iterdir()) == []
            self.seen = True
            (tmp_path / "file").write_text("")
    """)
    assert suite.passes().outcomes("TestIt::test_it") == ["ok"] * 4


def test_a_benchmark_that_is_given_up_is_torn_down_with_the_true_next_item(suite):
    suite.write(
        NOTES
        + """
    @pytest.mark.lapwing(burn_in=1, iterations=5, max_failures=2)
    def test_fails(narrow):
        note("fails")
        raise ValueError("no")

    def test_after(narrow):
        note("after")
    """
    )
    records = suite.passes(passed=1, failed=1)
    fails = ["up", "fails", "down"]
    assert order(suite) == ["session-up", "module-up", *fails * 2, "up", "after", "down", "module-down", "session-down"]
    assert records.outcomes("test_fails") == ["failed", "failed"]
    assert [it["burn_in"] for it in records.iterations("test_fails")] == [True, False]
    end = records.end("test_fails")
    assert (end["outcome"], end["message"]) == ("failed", "2 iterations failed in a row")


def test_a_success_zeroes_the_failures_in_a_row_and_burn_in_counts(suite):
    suite.write("""
    import itertools, pytest
    turn = itertools.count()

    @pytest.mark.lapwing(burn_in=2, iterations=8, max_failures=3)
    def test_it():
        assert next(turn) in (2, 5)
    """)
    records = suite.passes(failed=1)
    expected = ["failed", "failed", "ok", "failed", "failed", "ok", "failed", "failed", "failed"]
    assert records.outcomes("test_it") == expected


def test_nobody_is_given_up_with_max_failures_0(suite):
    suite.write("""
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=5, max_failures=0)
    def test_it():
        raise ValueError("a\\nb")
    """)
    records = suite.passes(failed=1)
    assert records.outcomes("test_it") == ["failed"] * 5
    assert records.end("test_it")["outcome"] == "ok"
    first = records.iterations("test_it")[0]
    assert first["message"] == "ValueError: a"
    assert first["metrics"] == {}
    assert first["attributes"]["traceback"].endswith("ValueError: a\nb\n")
    assert "pluggy" not in first["attributes"]["traceback"]


def test_an_error_of_a_fixture_is_a_failed_iteration_and_counts(suite):
    suite.write("""
    import pytest

    @pytest.fixture
    def broken():
        raise RuntimeError("no disk")

    @pytest.mark.lapwing(iterations=5, max_failures=2)
    def test_it(broken):
        pass
    """)
    records = suite.passes(errors=1)
    assert records.outcomes("test_it") == ["failed", "failed"]
    assert records.iterations("test_it")[0]["message"] == "setup: RuntimeError: no disk"


def test_an_error_of_a_module_fixture_is_told_for_each_benchmark(suite):
    suite.write("""
    import pytest

    def setup_module():
        raise RuntimeError("no network")

    @pytest.mark.lapwing(max_failures=1)
    def test_a():
        pass

    @pytest.mark.lapwing(max_failures=1)
    def test_b():
        pass
    """)
    records = suite.passes(errors=2)
    for name in ("test_a", "test_b"):
        assert records.iterations(name)[0]["message"] == "setup: RuntimeError: no network"


def test_an_error_of_a_teardown_is_told_with_the_value_that_was_measured(suite):
    suite.write(
        NOTES
        + """
    @pytest.fixture
    def broken(module):
        yield
        raise RuntimeError("still open")

    @pytest.mark.lapwing(burn_in=0, iterations=3, max_failures=2)
    def test_it(broken):
        pass

    def test_after(module):
        note("after")
    """
    )
    records = suite.passes(passed=2, errors=1)
    iterations = records.iterations("test_it")
    assert [it["message"] for it in iterations] == ["teardown: RuntimeError: still open"] * 2
    assert all(it["outcome"] == "failed" and it["metrics"]["wall_time"] > 0 for it in iterations)
    assert order(suite) == ["session-up", "module-up", "after", "module-down", "session-down"]


def test_the_last_teardown_may_fail_and_wider_fixtures_are_torn_down_all_the_same(suite):
    suite.write(
        NOTES
        + """
    @pytest.fixture
    def broken(module):
        yield
        raise RuntimeError("still open")

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_it(broken):
        pass
    """
    )
    records = suite.passes(passed=1, errors=1)
    assert records.outcomes("test_it") == ["failed"]
    assert order(suite)[-2:] == ["module-down", "session-down"]


def test_a_module_teardown_that_fails_is_no_failure_of_the_iteration(suite):
    suite.write("""
    import pytest

    @pytest.fixture(scope="module")
    def broken():
        yield
        raise RuntimeError("still open")

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it(broken):
        pass
    """)
    records = suite.passes(passed=1, errors=1)
    assert records.outcomes("test_it") == ["ok", "ok"]
    assert records.end("test_it")["outcome"] == "ok"


def test_pytest_gets_one_report_a_phase_with_the_time_of_all_iterations(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.lapwing(burn_in=1, iterations=3)
    def test_it():
        time.sleep(0.02)
        print("said once")
    """)
    suite.run("-rA", "--durations=0", "-vv")
    suite.result.assert_outcomes(passed=1)
    text = suite.result.stdout.str()
    assert text.count("said once") == 1
    assert float(text.split("s call")[0].split()[-1]) >= 0.08


def test_a_failing_test_shows_which_iteration_failed(suite):
    suite.write("""
    import itertools, pytest
    turn = itertools.count()

    @pytest.mark.lapwing(burn_in=1, iterations=3)
    def test_it():
        turns = next(turn)
        print("turn", turns)
        assert turns != 2
    """)
    suite.passes(failed=1)
    suite.result.stdout.fnmatch_lines(["*assert 2 != 2*", "turn 2", "iteration 3 of 4, 1 failed"])
    assert "turn 1" not in suite.result.stdout.str()


def test_a_burn_in_iteration_that_fails_does_not_fail_the_test(suite):
    suite.write("""
    import itertools, pytest
    turn = itertools.count()

    @pytest.mark.lapwing(burn_in=1, iterations=2)
    def test_it():
        assert next(turn) > 0
    """)
    assert suite.passes().outcomes("test_it") == ["failed", "ok", "ok"]


def test_exitfirst_stops_after_the_benchmark_and_tears_everything_down(suite):
    suite.write(
        NOTES
        + """
    @pytest.mark.lapwing(max_failures=1)
    def test_fails(narrow):
        raise ValueError

    def test_never(narrow):
        note("never")
    """
    )
    suite.passes("-x", failed=1)
    assert order(suite) == ["session-up", "module-up", "up", "down", "module-down", "session-down"]


def test_without_the_option_tests_run_once_and_nothing_is_written(suite):
    suite.write("""
    import pytest

    times = []

    @pytest.mark.lapwing
    def test_marked(benchmark_record):
        benchmark_record.record("rows", 1)
        assert not benchmark_record.enabled
        times.append(1)

    def test_fixtures(benchmark_time, benchmark_memory):
        with benchmark_time, benchmark_memory():
            pass
        assert times == [1]
    """)
    before = sorted(suite.path.iterdir())
    result = suite.pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:benchmark")
    result.assert_outcomes(passed=2)
    assert [it for it in sorted(suite.path.iterdir()) if it.name != "__pycache__"] == before


def test_recording_without_a_benchmark_writes_nothing_and_says_so(suite):
    suite.write("def test_it(): pass")
    assert suite.run() is None
    suite.result.stdout.fnmatch_lines(["nothing was recorded*"])


def test_methods_of_unittest_are_measured_without_their_set_up(suite, clock):
    suite.write("""
    import unittest, pytest
    from pytest_lapwing import timing

    @pytest.mark.lapwing(burn_in=0, iterations=3)
    class TestIt(unittest.TestCase):
        def setUp(self):
            timing.clock.sleep(2)

        def test_good(self):
            timing.clock.sleep(0.5)

        def test_bad(self):
            self.assertEqual(1, 2)

        def test_skipped(self):
            self.skipTest("not here")
    """)
    records = suite.passes(passed=1, failed=1, skipped=1)
    assert [it["metrics"]["wall_time"] for it in records.iterations("test_good")] == [0.5] * 3
    assert records.outcomes("test_bad") == ["failed"] * 3
    assert records.iterations("test_bad")[0]["message"] == "AssertionError: 1 != 2"
    assert records.end("test_skipped")["outcome"] == "skipped"


def test_coroutines_of_unittest_are_measured(suite, clock):
    suite.write("""
    import asyncio, unittest, pytest
    from pytest_lapwing import timing

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    class TestIt(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            timing.clock.sleep(2)

        async def test_it(self):
            await asyncio.sleep(0)
            timing.clock.sleep(0.5)
    """)
    assert [it["metrics"]["wall_time"] for it in suite.passes().iterations("test_it")] == [0.5] * 2


def test_a_test_that_another_plugin_executes_has_the_time_of_its_call_phase(suite):
    (suite.path / "conftest.py").write_text("""if True:
    import time, pytest

    class Own(pytest.Function):
        def runtest(self):
            time.sleep(0.02)

    def pytest_pycollect_makeitem(collector, name, obj):
        if name.startswith("own_"):
            return Own.from_parent(collector, name=name)
    """)
    suite.write("import pytest\n@pytest.mark.lapwing(burn_in=0, iterations=1)\ndef own_test(): pass")
    (iteration,) = suite.passes().iterations("own_test")
    assert iteration["metrics"]["wall_time"] >= 0.02
    assert iteration["attributes"] == {"timed": "the whole call phase"}


def test_doctests_are_no_benchmarks(suite):
    suite.write('''
    def add(a, b):
        """
        >>> add(1, 2)
        3
        """
        return a + b
    ''')
    assert suite.run("--doctest-modules", "--lapwing-all", ".") is None
    suite.result.assert_outcomes(passed=1)


def test_only_the_body_is_timed(suite, clock):
    suite.write("""
    import pytest
    from pytest_lapwing import timing

    @pytest.fixture
    def slow():
        timing.clock.sleep(2)
        yield
        timing.clock.sleep(2)

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    def test_it(slow):
        timing.clock.sleep(0.5)
    """)
    (iteration,) = suite.passes().iterations("test_it")
    assert iteration["metrics"].keys() == {"wall_time", "process_time"} and iteration["metrics"]["wall_time"] == 0.5


def test_the_garbage_collector_is_off_while_measuring_unless_told_otherwise(suite):
    suite.write("""
    import gc, os, pytest

    @pytest.fixture
    def on():
        assert gc.isenabled()
        yield
        assert gc.isenabled()

    @pytest.mark.lapwing
    def test_it(on):
        assert gc.isenabled() == ("KEEP" in os.environ)
    """)
    suite.passes()
    suite.pytester._monkeypatch.setenv("KEEP", "1")
    suite.passes("--lapwing-gc")


def test_without_a_number_a_quick_test_has_more_iterations_and_a_slow_one_has_not(suite, monkeypatch):
    monkeypatch.setattr("pytest_lapwing.options.MORE_TIME", 0.2)
    suite.write("""
    import time
    import pytest

    @pytest.mark.lapwing
    def test_quick():
        time.sleep(0.001)

    @pytest.mark.lapwing
    def test_slow():
        time.sleep(0.1)

    @pytest.fixture
    def slow():
        time.sleep(0.1)

    @pytest.mark.lapwing
    def test_set_up_slowly(slow):
        pass

    @pytest.mark.lapwing(iterations=2)
    def test_marked():
        pass

    @pytest.mark.lapwing(burn_in=0, max_failures=0)
    def test_fails():
        assert False

    def test_block(benchmark_time):
        with benchmark_time:
            pass
    """)
    names = ["test_slow", "test_set_up_slowly", "test_marked", "test_fails", "test_block"]
    records = suite.passes(passed=5, failed=1)
    assert [len(records.iterations(name)) for name in names] == [4, 4, 3, 3, 1]
    assert 4 < len(records.iterations("test_quick")) <= 101
    assert [it["burn_in"] for it in records.iterations("test_quick")][:2] == [True, False]
    # The driving program makes more instances.
    records = suite.run("--lapwing-driven")
    assert len(records.iterations("test_quick")) == 4
    suite.ini("lapwing_iterations = 5")
    assert len(suite.passes(passed=5, failed=1).iterations("test_quick")) == 6


def test_a_very_quick_test_has_a_hundred_iterations(suite, monkeypatch):
    monkeypatch.setattr("pytest_lapwing.options.MORE_TIME", 60.0)
    suite.write("import pytest\n\n@pytest.mark.lapwing\ndef test_it(): pass")
    assert len(suite.passes().iterations("test_it")) == 101
