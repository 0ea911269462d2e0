"""The fixture `benchmark` as the documentation of pytest-benchmark 5.3 describes it, recorded by pytest-lapwing."""

import pytest

pytestmark = pytest.mark.parametrize("which", [["-p", "no:benchmark"], []], ids=["absent", "installed"])
QUICK = ["--benchmark-max-time=0.02"]


def test_the_result_is_returned_and_arguments_are_passed_on(suite, which):
    suite.write("""
    def product(a, b=1):
        return a * b

    def test_result(benchmark):
        assert benchmark(product, 3, b=4) == 12

    def test_decorator(benchmark):
        @benchmark
        def result():
            return product(5)

        assert result == 5
    """)
    records = suite.passes(*which, *QUICK, passed=2)
    assert len(records.iterations("test_result")) >= 5


def test_pedantic_calls_as_often_as_it_says(suite, which):
    suite.write("""
    def test_defaults(benchmark):
        calls = []
        benchmark.pedantic(calls.append, args=[1])
        assert calls == [1]

    def test_counts(benchmark):
        calls = []
        benchmark.pedantic(calls.append, args=(1,), rounds=4, warmup_rounds=3)
        assert len(calls) == 7

    def test_iterations(benchmark):
        order = []
        result = benchmark.pedantic(
            lambda: order.append("call") or len(order), teardown=lambda: order.append("down"),
            rounds=2, warmup_rounds=1, iterations=3,
        )
        # Once more for the result, with a teardown of its own.
        assert order == (["call"] * 3 + ["down"]) * 3 + ["call", "down"]
        assert result == 13

    def test_setup(benchmark):
        order = []

        def setup():
            order.append("up")
            return (len(order),), {"flag": True}

        def target(number, flag):
            assert flag
            order.append(number)

        benchmark.pedantic(target, setup=setup, rounds=3)
        assert order == ["up", 1, "up", 3, "up", 5]

    def test_setup_without_arguments(benchmark):
        calls = []
        benchmark.pedantic(calls.append, args=(7,), setup=lambda: None, rounds=2)
        assert calls == [7, 7]

    def test_teardown_gets_the_arguments(benchmark):
        seen = []
        benchmark.pedantic(len, args=("ab",), teardown=seen.append, rounds=2)
        assert seen == ["ab", "ab"]
    """)
    records = suite.passes(*which, passed=6)
    assert [it["burn_in"] for it in records.iterations("test_counts")] == [True] * 3 + [False] * 4
    assert [it["loops"] for it in records.iterations("test_iterations")] == [3] * 3


def test_the_marker_chooses_rounds_group_and_length(suite, which):
    suite.write("""
    import time, pytest

    @pytest.mark.benchmark(group="sleep", min_time=0.002, max_time=0.01, min_rounds=7, disable_gc=True, warmup=True)
    def test_it(benchmark):
        assert benchmark(time.sleep, 0.001) is None
        assert benchmark.group == "sleep" and benchmark.stats["rounds"] == 7
        assert benchmark.stats.stats.min >= 0.001
    """)
    records = suite.passes(*which)
    assert [it["burn_in"] for it in records.iterations("test_it")] == [True] + [False] * 7
    assert records.instance("test_it")["attributes"]["group"] == "sleep"


def test_a_timer_measures_the_statistics_and_the_record_has_the_wall_time(suite, which):
    suite.write("""
    import itertools, time, pytest

    count = itertools.count()

    @pytest.mark.benchmark(timer=lambda: float(next(count)), max_time=0.01)
    def test_marker(benchmark):
        benchmark.pedantic(time.sleep, args=(0.001,), rounds=3)
        assert benchmark.stats.stats.data == [1.0] * 3

    def test_option(benchmark):
        benchmark.pedantic(time.sleep, args=(0.05,), rounds=3)
        # Sleeping takes no time of the processor.
        assert benchmark.stats["max"] < 0.05
        assert benchmark.stats.as_dict()["options"]["timer"] == "process_time"
    """)
    records = suite.passes(*which, "--benchmark-timer=time.process_time", passed=2)
    for name, least in (("test_marker", 0.001), ("test_option", 0.05)):
        assert all(least <= it["metrics"]["wall_time"] < 1 for it in records.iterations(name))


def test_precision_ends_the_rounds_early(suite, which):
    suite.write("""
    import pytest

    @pytest.mark.benchmark(precision=0.9, min_rounds=3, max_time=1)
    def test_coarse(benchmark):
        benchmark(sum, range(1000))
        assert 3 <= benchmark.stats.stats.rounds < 100

    def test_all_rounds(benchmark):
        benchmark(sum, range(1000))
    """)
    suite.passes(*which, "-k", "coarse", passed=1, deselected=1)
    records = suite.passes(*which, *QUICK, "--benchmark-precision=0.9", "-k", "all", passed=1, deselected=1)
    assert len(records.iterations("test_all_rounds")) < 100


def test_a_profile_is_made_of_further_calls(suite, which):
    suite.write("""
    import pytest

    pytestmark = pytest.mark.benchmark(cprofile=True)

    def test_pedantic(benchmark):
        order = []

        def target():
            order.append("call")

        benchmark.pedantic(target, teardown=lambda: order.append("down"), rounds=2)
        assert order == ["call", "down"] * 3
        assert [name for _, _, name in benchmark.stats.cprofile_stats.stats if name == "target"] == ["target"]

    def test_call(benchmark):
        benchmark(len, "")
        assert benchmark.cprofile_stats.total_calls >= 1
    """)
    records = suite.passes(*which, *QUICK, passed=2)
    assert len(records.iterations("test_pedantic")) == 2


def test_extra_info_is_recorded(suite, which):
    suite.write("""
    def test_it(benchmark):
        benchmark.extra_info["rows"] = 3
        benchmark.pedantic(len, args=("",))
        benchmark.extra_info["late"] = True
    """)
    records = suite.passes(*which)
    assert records.end("test_it")["observed"]["extra_info"] == {"rows": 3, "late": True}


def test_methods_are_woven_wherever_they_are_called(suite, which):
    pytest.importorskip("aspectlib")
    suite.write("""
    class Machine:
        def run(self):
            return self.step(2)

        def step(self, number):
            return number + 1

    def test_fixture(benchmark_weave):
        benchmark_weave(Machine.step, lazy=True)
        assert Machine().run() == 3

    def test_method(benchmark):
        benchmark.weave(Machine.step, lazy=True)
        assert Machine().run() == 3

    def test_patch(benchmark):
        benchmark.patch("time.sleep")
        import time
        time.sleep(0.0001)

    def test_restored():
        assert Machine.step.__code__.co_varnames == ("self", "number")
    """)
    records = suite.passes(*which, *QUICK, passed=4)
    assert len(records.of("instance")) == 3


def test_a_test_case_gets_the_fixture_by_another(suite, which):
    suite.write("""
    import unittest, pytest

    class TestIt(unittest.TestCase):
        @pytest.fixture(autouse=True)
        def prepare(self, benchmark):
            self.benchmark = benchmark

        def test_length(self):
            assert self.benchmark(len, "abc") == 3
    """)
    assert suite.passes(*which, *QUICK).iterations("test_length")


def test_enable_and_only_have_the_last_word(suite, which):
    suite.ini("addopts = --benchmark-disable")
    suite.write("""
    def test_it(benchmark):
        benchmark.pedantic(len, args=("",), rounds=3)

    def test_other():
        pass
    """)
    assert suite.passes(*which, passed=2) is None
    assert len(suite.passes(*which, "--benchmark-enable", passed=2).iterations("test_it")) == 3
    suite.ini("addopts = --benchmark-skip")
    records = suite.passes(*which, "--benchmark-only", passed=1, skipped=1)
    assert len(records.iterations("test_it")) == 3
