"""Suites that were written for pytest-benchmark, where that plugin is installed, and where it is disabled."""

import subprocess
import sys

import pytest

# Written for pytest-benchmark, with what its documentation shows.
REAL = """
    import time
    import pytest

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def test_call(benchmark):
        assert benchmark(fibonacci, 5) == 5

    def test_keywords(benchmark):
        benchmark.extra_info["size"] = 3
        assert benchmark(fibonacci, n=3) == 2
        benchmark.extra_info["late"] = True

    def test_decorator(benchmark):
        @benchmark
        def result():
            return fibonacci(4)

        assert result == 3

    @pytest.mark.benchmark(group="slow", min_rounds=3, max_time=0.01, min_time=0.001, warmup=False, timer=time.time)
    def test_marked(benchmark):
        benchmark(time.sleep, 0.02)
        assert benchmark.group == "slow"

    @pytest.mark.parametrize("n", [1, 6])
    def test_parameters(benchmark, n):
        benchmark(fibonacci, n)
        assert benchmark.params == {"n": n}

    def test_pedantic(benchmark):
        made, undone = [], []

        def setup():
            made.append(1)
            return (len(made),), {"n": 1}

        def target(number, n):
            return number + n

        def teardown(number, n):
            undone.append(number)

        assert benchmark.pedantic(target, setup=setup, teardown=teardown, rounds=4, warmup_rounds=2) == 7
        assert undone == [1, 2, 3, 4, 5, 6]

    def test_pedantic_loops(benchmark):
        calls = []
        benchmark.pedantic(calls.append, args=(1,), iterations=10, rounds=3)
        # The result is that of one more call.
        assert len(calls) == 31

    def test_statistics(benchmark):
        benchmark(fibonacci, 3)
        stats = benchmark.stats.stats
        assert 0 < stats.min <= stats.median <= stats.max and benchmark.stats["mean"] == stats.mean
        assert stats.rounds >= 5

    def test_fails(benchmark):
        @benchmark
        def result():
            raise ValueError("no")

    def test_other():
        pass
"""
CONFTEST = """
def pytest_benchmark_update_json(config, benchmarks, output_json): pass
def pytest_benchmark_update_machine_info(config, machine_info): pass
def pytest_benchmark_scale_unit(config, unit, benchmarks, best, worst, sort): pass
"""
ABSENT = ["-p", "no:benchmark"]
QUICK = ["--benchmark-max-time=0.02"]


@pytest.fixture
def real(suite):
    (suite.path / "conftest.py").write_text(CONFTEST)
    return suite.write(REAL)


@pytest.mark.parametrize("which", [ABSENT, []], ids=["absent", "installed"])
def test_a_real_suite_runs_unchanged_and_each_round_is_an_iteration(real, which):
    records = real.passes(*which, *QUICK, passed=10, failed=1)
    call = records.iterations("test_call")
    assert 5 <= len(call) <= 100
    assert all(it["metrics"]["wall_time"] > 0 for it in call)
    marked = records.iterations("test_marked")
    assert len(marked) == 3 and all("loops" not in it and it["metrics"]["wall_time"] >= 0.02 for it in marked)
    assert records.instance("test_marked")["attributes"]["group"] == "slow"
    assert records.instance("test_keywords")["attributes"]["extra_info"] == {"size": 3}
    assert records.end("test_keywords")["observed"]["extra_info"] == {"size": 3, "late": True}
    assert [it["burn_in"] for it in records.iterations("test_pedantic")] == [True] * 2 + [False] * 4
    assert [it["loops"] for it in records.iterations("test_pedantic_loops")] == [10] * 3
    assert records.instance("test_parameters[6]")["benchmark"]["params"] == {"n": 6}
    (failed,) = records.iterations("test_fails")
    assert (failed["outcome"], failed["message"]) == ("failed", "ValueError: no")
    assert records.end("test_fails")["outcome"] == "failed"
    assert len(records.of("instance")) == 10


def test_without_recording_functions_are_called_once(real):
    real.write("""
    calls = []

    def test_call(benchmark):
        benchmark(calls.append, 1)
        assert calls == [1] and benchmark.disabled

    def test_pedantic(benchmark):
        assert benchmark.pedantic(lambda x: x, setup=lambda: ((3,), {}), rounds=5, warmup_rounds=1) == 3
    """)
    result = real.pytester.runpytest_inprocess(*ABSENT, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)


def test_plans_say_how_many_rounds(suite):
    suite.write("""
    def test_call(benchmark):
        benchmark(len, "")

    def test_pedantic(benchmark):
        benchmark.pedantic(len, args=("",), rounds=2, warmup_rounds=3, iterations=10)
    """)
    records = suite.passes(*ABSENT, *QUICK, "--lapwing-burn-in=1", "--lapwing-iterations=4", passed=2)
    for name in ("test_call", "test_pedantic"):
        assert [it["burn_in"] for it in records.iterations(name)] == [True] + [False] * 4
    assert records.iterations("test_pedantic")[0]["loops"] == 10


def test_a_round_that_takes_too_long_is_timed_out(suite):
    suite.write("""
    import time

    def test_it(benchmark):
        benchmark.pedantic(time.sleep, args=(10,), rounds=3)
    """)
    records = suite.passes(*ABSENT, "--lapwing-time-limit=0.1", failed=1)
    (iteration,) = records.iterations("test_it")
    assert (iteration["outcome"], iteration["metrics"]) == ("timed_out", {"wall_time": 0.1})
    assert records.end("test_it")["outcome"] == "timed_out"


def test_rounds_of_a_test_that_fails_afterwards_do_not_count(suite):
    suite.write("""
    import time
    import pytest

    @pytest.fixture
    def fragile():
        yield
        raise OSError("gone")

    def test_result(benchmark):
        assert benchmark.pedantic(lambda: 0, rounds=2) == 5

    def test_teardown(benchmark, fragile):
        benchmark.pedantic(lambda: 0, rounds=2)

    def test_round(benchmark):
        times = iter([1, 2])
        benchmark.pedantic(lambda: next(times), rounds=3)

    @pytest.fixture
    def missing():
        raise OSError("not there")

    def test_setup(benchmark, missing):
        pass

    def test_fine(benchmark):
        benchmark.pedantic(lambda: 0, rounds=2)

    @pytest.mark.timeout(0.3)
    def test_hangs(benchmark):
        benchmark.pedantic(lambda: 0, rounds=2)
        time.sleep(20)
    """)
    records = suite.passes(*ABSENT, passed=2, failed=3, errors=2)
    (setup,) = records.iterations("test_setup")
    assert (setup["outcome"], setup["message"]) == ("failed", "setup: OSError: not there")
    assert records.end("test_hangs")["outcome"] == "timed_out" and "void" in records.end("test_hangs")["observed"]
    names = ["test_result", "test_teardown", "test_round", "test_fine"]
    void = {name: records.end(name)["observed"].get("void") for name in names}
    assert void == {
        "test_result": "AssertionError: assert 0 == 5",
        "test_teardown": "teardown: OSError: gone",
        "test_round": None,
        "test_fine": None,
    }
    assert [it["outcome"] for it in records.iterations("test_result")] == ["ok"] * 2
    assert [it["outcome"] for it in records.iterations("test_round")] == ["ok"] * 2 + ["failed"]
    assert records.end("test_result")["outcome"] == records.end("test_teardown")["outcome"] == "failed"


def test_a_round_fits_into_the_time_limit(suite, clock):
    suite.write("""
    import pytest
    from pytest_lapwing import stand_in, timing

    @pytest.fixture(autouse=True)
    def same_clock(monkeypatch):
        monkeypatch.setattr(stand_in, "clock", timing.clock)
        monkeypatch.setattr(stand_in, "_resolution", lambda: 1e-9)

    @pytest.mark.lapwing(time_limit=5000)
    def test_long(benchmark):
        benchmark(timing.clock.sleep, 1)

    @pytest.mark.lapwing(time_limit=9)
    def test_short(benchmark):
        benchmark(timing.clock.sleep, 1)
    """)
    records = suite.passes(*ABSENT, "--benchmark-max-time=1000", passed=2)
    loops = [{it["loops"] for it in records.iterations(name)} for name in ("test_long", "test_short")]
    assert loops == [{10}, {5}]


def test_the_value_of_a_round_that_takes_too_long_is_that_of_one_call(suite):
    suite.write("""
    import time

    def test_it(benchmark):
        benchmark.pedantic(time.sleep, args=(10,), iterations=4)
    """)
    (iteration,) = suite.passes(*ABSENT, "--lapwing-time-limit=0.1", failed=1).iterations("test_it")
    assert (iteration["loops"], iteration["metrics"]) == (4, {"wall_time": 0.025})


STATS = """
    def test_call(benchmark):
        benchmark(sum, range(1000))
        assert benchmark.disabled and 0 < benchmark.stats.stats.mean < 60

    def test_pedantic(benchmark):
        benchmark.pedantic(sum, args=(range(1000),), rounds=3)
        assert benchmark.stats["rounds"] == 1 and benchmark.stats.stats.max < 60
"""


def test_without_recording_there_are_statistics_of_the_one_call(suite):
    suite.write(STATS)
    suite.pytester.runpytest_inprocess(*ABSENT, "-p", "no:cacheprovider").assert_outcomes(passed=2)


@pytest.mark.parametrize("which", [ABSENT, ()])
def test_disabled_there_are_no_statistics_as_with_pytest_benchmark(suite, which):
    suite.write("""
    def test_it(benchmark):
        assert benchmark(len, "ab") == 2
        assert benchmark.stats is None
    """)
    result = suite.pytester.runpytest_inprocess(*which, "--benchmark-disable", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


def test_arguments_of_the_marker_without_meaning_are_noted(suite):
    suite.write("""
    import time, pytest

    pytestmark = pytest.mark.benchmark(
        timer=time.process_time, disable_gc=True, warmup_iterations=5, calibration_precision=9, max_time=0.01
    )

    def test_a(benchmark):
        benchmark(len, "")

    def test_b(benchmark):
        benchmark(len, "")
    """)
    of = "of the marker benchmark"
    notice = f"ignored by pytest-lapwing: calibration_precision {of}, warmup_iterations {of}"
    # Suites that turn warnings into errors run, too.
    for options in ([], ["-n1"], ["-W", "error::pytest.PytestWarning"]):
        suite.passes(*ABSENT, *options, passed=2)
        assert [it for it in suite.result.outlines if it.startswith("ignored")] == [notice]


@pytest.mark.parametrize("which", [ABSENT, []], ids=["absent", "installed"])
def test_skip_only_and_disable_do_what_they_say(real, which):
    skipped = real.passes(*which, "--benchmark-skip", passed=1, skipped=10)
    assert skipped is None
    real.passes(*which, *QUICK, "--benchmark-only", passed=9, failed=1, skipped=1)
    # These count rounds, of which there are none.
    assert real.run(*which, "--benchmark-disable", "-k", "not statistics and not pedantic") is None
    real.result.assert_outcomes(passed=7, failed=1, deselected=3)


def test_a_fixture_of_that_name_in_a_conftest_keeps_its_meaning(real):
    (real.path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef benchmark(): return 3\n")
    real.write("def test_it(benchmark): assert benchmark == 3")
    assert real.passes(*ABSENT) is None


def test_mistakes_are_told(suite):
    suite.write("""
    import pytest

    def test_twice(benchmark):
        benchmark(len, "")
        with pytest.raises(Exception, match="can only be used once"):
            benchmark(len, "")

    def test_setup_and_loops(benchmark):
        with pytest.raises(ValueError):
            benchmark.pedantic(len, setup=lambda: None, iterations=2)

    def test_arguments_twice(benchmark):
        with pytest.raises(TypeError):
            benchmark.pedantic(len, args=("",), setup=lambda: (("",), {}))

    def test_no_rounds(benchmark):
        with pytest.raises(ValueError):
            benchmark.pedantic(len, args=("",), rounds=0)

    def test_unused(benchmark):
        pass
    """)
    records = suite.passes(*ABSENT, *QUICK, passed=5)
    assert records.iterations("test_unused") == []


def test_it_stands_in_where_the_package_is_not_installed(real):
    blocked = "import sys; sys.modules['pytest_benchmark'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    options = ["-p", "pytest_lapwing.plugin", "--lapwing", "--lapwing-output=x", "--lapwing-iterations=1"]
    done = subprocess.run(
        [sys.executable, "-c", blocked, *options, "-k", "test_call"],
        cwd=real.path,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"loops"' in (real.path / "x").read_text()


def test_what_other_fixtures_measure_around_the_rounds_is_kept(suite):
    suite.write("""
    def test_it(benchmark, benchmark_memory, benchmark_record):
        with benchmark_memory():
            benchmark.pedantic(len, args=("",), rounds=2)
        benchmark_record.record("rows", 3, better="higher")
    """)
    records = suite.passes(*ABSENT)
    metrics = [sorted(it["metrics"]) for it in records.iterations("test_it")]
    assert metrics == [["wall_time"], ["wall_time"], ["average_memory", "peak_memory", "rows"]]
