"""The statistics of `benchmark`, beside those of pytest-benchmark itself."""

import random

import pytest

from pytest_lapwing.stand_in_stats import Stats

real = pytest.importorskip("pytest_benchmark.stats")


def both(data):
    theirs = real.Stats()
    for value in data:
        theirs.update(value)
    return Stats(list(data)), theirs


@pytest.mark.parametrize("many", range(1, 42))
def test_all_are_the_same_as_pytest_benchmark_s(many):
    chance = random.Random(many)
    for data in (
        [chance.lognormvariate(0, 1) for _ in range(many)],
        [float(chance.randrange(3)) for _ in range(many)],
        [1.0] * (many - 1) + [100.0],
        [0.0] * many,
    ):
        ours, theirs = both(data)
        assert ours.as_dict() == theirs.as_dict()
        assert ours.sorted_data == theirs.sorted_data and ours.data == theirs.data
    assert ours.fields == theirs.fields


def test_without_data_they_are_false():
    ours, theirs = both([])
    assert bool(ours) is bool(theirs) is False


USED = """
    import time
    import pytest

    @pytest.mark.benchmark(group="g", min_rounds=7, max_time=0.01)
    @pytest.mark.parametrize("n", [5])
    def test_it(benchmark, n):
        benchmark.extra_info["size"] = 1
        benchmark.pedantic(lambda: n, rounds=7, iterations=2)
        stats = benchmark.stats
        assert stats and not stats.has_error and stats.fixture is benchmark and stats.iterations == 2
        for name in stats.stats.fields:
            assert stats[name] == stats.get(name) == getattr(stats.stats, name)
        assert stats["iqr"] == stats.stats.q3 - stats.stats.q1
        assert (stats["name"], stats["group"], stats.get("nothing", 3)) == ("test_it[5]", "g", 3)
        assert benchmark.cprofile_stats is None and stats.cprofile_stats is None
        assert (stats.options["min_rounds"], stats.options["max_time"]) == (7, 0.01)
        with pytest.raises(AttributeError):
            stats["nothing"]
        nested, flat = stats.as_dict(), stats.as_dict(include_data=False, flat=True)
        assert nested["stats"] == {**stats.stats.as_dict(), "data": stats.stats.data, "iterations": 2}
        assert sorted(nested) == KEYS and sorted(flat) == sorted({*KEYS, *nested["stats"]} - {"data", "stats"})
        assert sorted(nested["options"]) == OPTIONS and nested["params"] == {"n": 5}
        assert stats.as_dict(stats=False) == {key: it for key, it in nested.items() if key != "stats"}

    KEYS = ["extra_info", "fullname", "group", "name", "options", "param", "params", "stats"]
    OPTIONS = sorted("disable_gc timer min_rounds max_time min_time precision confidence warmup".split())
"""


@pytest.mark.parametrize("options", [[], ["-p", "no:benchmark"]])
def test_a_test_uses_them_the_same_way_with_both(suite, options):
    suite.write(USED).run(*options)
    suite.result.assert_outcomes(passed=1)
