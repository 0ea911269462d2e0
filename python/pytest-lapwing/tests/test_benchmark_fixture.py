"""Whichever way a test comes to `benchmark`: rounds are its iterations, and one metric is one quantity."""

import pytest

ABSENT = ["-p", "no:benchmark"]
QUICK = ["--benchmark-max-time=0.02"]
OVERRIDE = """
import pytest

@pytest.fixture
def benchmark(benchmark):
    benchmark.extra_info["where"] = "here"
    return benchmark
"""
ASKED_LATE = """
    import pytest

    def test_unmarked(request):
        calls = []
        request.getfixturevalue("benchmark").pedantic(calls.append, args=(1,), rounds=4, iterations=2)
        assert len(calls) == 9

    @pytest.mark.lapwing(burn_in=1, iterations=3)
    def test_marked(request):
        request.getfixturevalue("benchmark").pedantic(len, args=("",), rounds=9, iterations=2)

    def test_plain(request):
        pass
"""
WAYS = {
    "override": """
    import pytest

    def test_unmarked(benchmark):
        benchmark.pedantic(len, args=("",), rounds=4, iterations=2)

    @pytest.mark.lapwing(burn_in=1, iterations=3)
    def test_marked(benchmark):
        benchmark.pedantic(len, args=("",), rounds=9, iterations=2)

    def test_plain():
        pass
    """,
    "getfixturevalue": ASKED_LATE,
    "override that asks late": ASKED_LATE,
    "own fixture that asks late": """
    import pytest

    @pytest.fixture
    def measure(request):
        return request.getfixturevalue("benchmark")

    def test_unmarked(measure):
        measure.pedantic(len, args=("",), rounds=4, iterations=2)

    @pytest.mark.lapwing(burn_in=1, iterations=3)
    def test_marked(measure):
        measure.pedantic(len, args=("",), rounds=9, iterations=2)

    def test_plain():
        pass
    """,
}


@pytest.fixture(params=WAYS)
def way(suite, request):
    if request.param == "override":
        (suite.path / "conftest.py").write_text(OVERRIDE)
    if request.param == "override that asks late":
        text = OVERRIDE.replace("(benchmark)", "(request)").replace(
            "benchmark.extra_info", "benchmark = request.getfixturevalue('benchmark'); benchmark.extra_info"
        )
        (suite.path / "conftest.py").write_text(text)
    return suite.write(WAYS[request.param])


@pytest.mark.parametrize("options", [ABSENT, []], ids=["absent", "installed"])
def test_rounds_are_the_iterations_whichever_way_a_test_comes_to_the_fixture(way, options):
    records = way.passes(*options, passed=3)
    assert len(records.of("instance")) == 2
    assert [it["burn_in"] for it in records.iterations("test_unmarked")] == [False] * 4
    # Its marker says how many rounds, as it does of a test that asks for the fixture directly.
    assert [it["burn_in"] for it in records.iterations("test_marked")] == [True] + [False] * 3
    for name in ("test_unmarked", "test_marked"):
        assert all(it["loops"] == 2 and list(it["metrics"]) == ["wall_time"] for it in records.iterations(name))
        assert records.end(name)["outcome"] == "ok"


def test_the_time_limit_is_a_round_s_also_where_the_fixture_is_asked_for_late(suite):
    suite.write("""
    import time, pytest

    @pytest.mark.lapwing(time_limit=1)
    def test_fits(request):
        request.getfixturevalue("benchmark").pedantic(time.sleep, args=(0.3,), rounds=5)

    @pytest.mark.lapwing(time_limit=0.1)
    def test_takes_longer(request):
        request.getfixturevalue("benchmark").pedantic(time.sleep, args=(10,), rounds=5)
    """)
    records = suite.passes(*ABSENT, passed=1, failed=1)
    assert records.outcomes("test_fits") == ["ok"] * 5
    (iteration,) = records.iterations("test_takes_longer")
    assert (iteration["outcome"], iteration["metrics"]) == ("timed_out", {"wall_time": 0.1})


def test_a_failure_skip_or_interruption_of_a_test_that_asks_late_is_told(suite):
    suite.write("""
    import pytest

    @pytest.fixture
    def broken():
        yield
        raise RuntimeError("still open")

    def test_fails(request):
        request.getfixturevalue("benchmark")(lambda: 1 / 0)

    def test_skips(request):
        request.getfixturevalue("benchmark")
        pytest.skip("no data")

    def test_teardown(request, broken):
        request.getfixturevalue("benchmark").pedantic(len, args=("",))

    def test_interrupted(request):
        request.getfixturevalue("benchmark").pedantic(len, args=("",))
        pytest.exit("enough")
    """)
    records = suite.run(*ABSENT)
    suite.result.assert_outcomes(passed=1, failed=1, skipped=1, errors=1)
    assert records.iterations("test_fails")[0]["message"] == "ZeroDivisionError: division by zero"
    ends = {it: records.end(it) for it in ("test_fails", "test_skips", "test_teardown", "test_interrupted")}
    assert {it: end["outcome"] for it, end in ends.items()} == {
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_teardown": "failed",
        "test_interrupted": "lost",
    }
    assert ends["test_teardown"]["message"] == "teardown: RuntimeError: still open"


def test_the_fixture_cannot_be_asked_for_after_iterations_without_it(suite):
    suite.write("""
    import itertools, pytest
    turn = itertools.count()

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it(request):
        if next(turn):
            request.getfixturevalue("benchmark")(len, "")

    def test_other(benchmark):
        benchmark.pedantic(len, args=("",), rounds=3)
    """)
    records = suite.passes(*ABSENT, passed=1, failed=1)
    # Others are not concerned.
    assert [it["outcome"] for it in records.iterations("test_other")] == ["ok"] * 3
    first, second = records.iterations("test_it")
    assert (first["outcome"], second["outcome"]) == ("ok", "failed")
    assert second["message"].startswith(
        "AskedTooLate: `benchmark` must be requested in the first iteration of a test, too"
    )


@pytest.mark.parametrize("option, counts", [("skip", {"skipped": 2, "passed": 1}), ("disable", {"passed": 3})])
def test_skipped_and_disabled_it_records_nothing_when_asked_for_late(suite, option, counts):
    suite.write(ASKED_LATE.replace("len(calls) == 9", "len(calls) == 1"))
    assert suite.passes(*ABSENT, f"--benchmark-{option}", **counts) is None


def test_a_test_that_is_executed_once_more_is_another_instance(suite):
    suite.write("""
    import itertools
    turn = itertools.count()

    def test_it(request):
        request.getfixturevalue("benchmark").pedantic(len, args=("",), rounds=2)
        assert next(turn)
    """)
    records = suite.run(*ABSENT, "--reruns=1")
    assert suite.result.ret == 0
    assert [it["outcome"] for it in records.of("instance_end")] == ["failed", "ok"]


TIMED = """
    import pytest
    from pytest_lapwing import timing

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_time(benchmark, benchmark_time):
        with benchmark_time:
            timing.clock.sleep(7)
            benchmark.pedantic(len, args=("",), rounds=2)

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_late(request, benchmark_time):
        with benchmark_time:
            timing.clock.sleep(7)
        request.getfixturevalue("benchmark").pedantic(len, args=("",), rounds=2)
"""


def test_a_block_beside_rounds_is_another_metric(suite, clock):
    records = suite.write(TIMED).passes(*ABSENT, passed=2)
    for name in ("test_time", "test_late"):
        *rounds, block = records.iterations(name)
        assert [sorted(it["metrics"]) for it in rounds] == [["wall_time"]] * 2
        assert block["metrics"] == {"benchmark_time": 7.0}
        assert block["attributes"] == {"rounds": "all"}
    assert records.of("run")[0]["metrics"]["benchmark_time"] == {"unit": "s", "better": "lower"}


HELPER = """
    import pytest

    def helper(request):
        return request.getfixturevalue("benchmark")

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it(request):
        helper(request).pedantic(len, args=("",), rounds=9)
"""


def test_what_is_asked_for_where_nobody_looks_is_heeded_too(suite):
    records = suite.write(HELPER).passes(*ABSENT)
    assert records.outcomes("test_it") == ["ok"] * 2
