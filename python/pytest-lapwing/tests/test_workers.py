"""Several workers of xdist, and other plugins that execute tests."""

import pytest
from conftest import Records

SEVERAL = """
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=2, metrics={"rows": ("1", "higher")})
    @pytest.mark.parametrize("n", range(6))
    def test_it(n, benchmark_record):
        benchmark_record.record("rows", n)
        benchmark_record.record("undeclared", n, unit="B", better="lower")
"""


def run(suite, *options):
    result = suite.pytester.runpytest_subprocess("--lapwing", "-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=6)
    paths = sorted((suite.path / ".lapwing" / "inbox").iterdir())
    return result, paths


def test_each_worker_has_a_file_and_all_have_one_session_and_setting(suite):
    suite.write(SEVERAL)
    result, paths = run(suite, "-n", "2", "--dist", "load")
    result.stdout.fnmatch_lines(["6 benchmarks, 12 iterations, in .lapwing/inbox"])
    assert len(paths) == 2
    records = Records(*paths)
    sessions, runs = records.of("session"), records.of("run")
    assert len(sessions) == 2 and sessions[0] == sessions[1]
    assert [it.name for it in paths] == [f"{sessions[0]['id']}-gw{n}.jsonl" for n in (0, 1)]
    # The metric that nobody declared is found by both, and told by both before its first value.
    assert len({it["id"] for it in runs}) == 1 and all(it == runs[0] for it in runs)
    assert runs[0]["metrics"]["rows"] == {"unit": "1", "better": "higher"}
    assert runs[0]["metrics"]["undeclared"] == {"unit": "B", "better": "lower"}
    assert len(records.of("instance")) == 6
    for worker in ("gw0", "gw1"):
        own = [it for it in records.of("instance") if it["attributes"]["worker"] == worker]
        assert [it["position"] for it in own] == list(range(len(own)))


def test_workers_may_share_one_output_file(suite):
    suite.write(SEVERAL)
    result = suite.pytester.runpytest_subprocess(
        "--lapwing", "-p", "no:cacheprovider", "-n2", "--dist=loadscope", "--lapwing-output", suite.output.name
    )
    result.assert_outcomes(passed=6)
    assert len(Records(suite.output).of("iteration")) == 12


@pytest.mark.parametrize("output", [[], ["--lapwing-output=records.jsonl"]])
def test_what_a_worker_did_that_died_is_counted(suite, output):
    suite.write("""
    import os, pytest

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    @pytest.mark.parametrize("n", range(6))
    def test_it(n):
        if n == 3:
            os._exit(1)
    """)
    suite.output.write_text('{"v":1,"kind":"instance","id":"old","run":"other"}\n')
    result = suite.pytester.runpytest_subprocess("--lapwing", "-p", "no:cacheprovider", "-n1", *output)
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["6 benchmarks, 10 iterations, in *"])


def test_workers_agree_on_metrics_that_nobody_declared(suite):
    suite.write("""
    import pytest

    @pytest.mark.parametrize("n", range(6))
    def test_it(n, benchmark_record):
        benchmark_record.record("rows", n, unit="B" if n % 2 else "s")
        benchmark_record.record("rows", n)
    """)
    result = suite.pytester.runpytest_subprocess("--lapwing", "-p", "no:cacheprovider", "-n2")
    result.assert_outcomes(passed=3, failed=3)
    records = Records(*[it for it in suite.path.rglob("*.jsonl") if not it.name.startswith(".")])
    assert len({str(it["metrics"]["rows"]) for it in records.of("run") if "rows" in it["metrics"]}) == 1
    messages = {it["message"].partition(" is ")[0] for it in records.of("iteration") if it["outcome"] == "failed"}
    assert messages == {"ValueError: metric rows"}
    assert [it for it in suite.path.rglob(".*run-*")] == []


def test_no_workers_are_as_no_xdist(suite):
    suite.write(SEVERAL)
    _, paths = run(suite, "-n0")
    assert len(paths) == 1
    assert "worker" not in Records(*paths).of("instance")[0]["attributes"]


def test_a_benchmark_is_not_executed_again_because_it_failed(suite):
    suite.write("""
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_benchmark():
        raise ValueError

    turns = []

    def test_other():
        turns.append(1)
        assert len(turns) == 2
    """)
    records = suite.run("--reruns", "2")
    outcomes = suite.result.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"], outcomes["rerun"]) == (1, 1, 1)
    assert records.outcomes("test_benchmark") == ["failed"] * 2


def test_a_benchmark_is_not_forked(suite):
    suite.write("""
    import os, pytest
    here = os.getpid()

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_benchmark():
        assert os.getpid() == here
    """)
    assert suite.passes("--forked").outcomes("test_benchmark") == ["ok"] * 2
