"""The table of results at the end of a run."""

import random
import statistics

import pytest

from pytest_lapwing import results_table


def test_quantiles_are_those_of_students_t():
    # scipy 1.16.3: scipy.stats.t.ppf(0.975, freedom)
    for freedom, expected in ((1, 12.7062047), (2, 4.3026527), (3, 3.1824463), (4, 2.7764451), (9, 2.2621572), (99, 1.984217)):
        assert results_table.t_quantile(freedom) == pytest.approx(expected, rel=2e-3)


def test_rows_have_rounded_numbers_with_the_slowest_first():
    table = list(results_table.lines({"a.py::test_fast": [1e-6, 3e-6, 2e-6], "a.py::test_slow": [2.0], "none": []}))
    assert [it.split("  ")[0] for it in table[1:3]] == ["a.py::test_slow", "a.py::test_fast"]
    assert table[1].split() == ["a.py::test_slow", "2.00", "s", "–", "2.00", "2.00", "–", "1"]
    # 2 × exp(±4.3027 × 1 / √3 / 2)
    assert table[2].split() == ["a.py::test_fast", "2.00", "µs", "0.58–6.93", "1.00", "3.00", "50.0", "%", "3"]
    assert list(results_table.lines({})) == []


def test_an_interval_is_that_of_the_mean_where_values_vary_little_and_none_where_it_bounds_nothing():
    values = [1.0, 1.02, 0.98, 1.01, 0.99]
    # scipy 1.17.1: stats.t.interval(0.95, 4, loc=1, scale=stats.sem(x)) is 0.98037 to 1.01963
    (row,) = list(results_table.lines({"test": values}))[1:2]
    assert "0.98–1.02" in row
    (row,) = list(results_table.lines({"test": [0.001, 0.001, 9.0]}))[1:2]
    assert row.split()[3] == "–"


def test_a_passing_run_shows_the_results_of_usable_iterations(suite):
    suite.write(
        """
        import pytest

        @pytest.mark.lapwing(burn_in=2, iterations=4)
        def test_it():
            pass

        @pytest.mark.lapwing(burn_in=0, iterations=2)
        def test_bad():
            raise ValueError
        """
    )
    suite.run("--lapwing")
    lines = suite.result.stdout.lines
    (row,) = [it for it in lines if it.startswith("test_it.py::test_it ")]
    assert row.split()[-1] == "4" and "%" in row
    assert not [it for it in lines if it.startswith("test_it.py::test_bad ")]
    suite.result.stdout.fnmatch_lines(["*mean*interval*spread*iterations"])


def test_workers_share_one_table(suite):
    pytest.importorskip("xdist")
    tests = (f"@pytest.mark.lapwing(iterations=3)\ndef test_{it}(): pass" for it in "abcd")
    suite.write("import pytest\n\n" + "\n\n".join(tests))
    suite.run("--lapwing", "-n2")
    rows = [it for it in suite.result.stdout.lines if it.startswith("test_it.py::test_")]
    assert sorted(it.split()[0][-1] for it in rows) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("cv", [0.02, 0.3])
@pytest.mark.parametrize("many", [3, 10, 100])
def test_intervals_cover_the_true_mean_as_often_as_they_say(cv, many):
    chance = random.Random(7)
    trials, covered = 1000, 0
    for _ in range(trials):
        values = [max(chance.gauss(1, cv), 1e-3) for _ in range(many)]
        mean = statistics.fmean(values)
        half = results_table.t_quantile(many - 1) * statistics.stdev(values) / many**0.5
        interval = results_table._interval(mean, half)
        # One that bounds nothing excludes nothing.
        covered += interval is None or interval[0] <= 1 <= interval[1]
        assert interval is None or interval[0] > 0
    assert 0.935 < covered / trials < 0.97
