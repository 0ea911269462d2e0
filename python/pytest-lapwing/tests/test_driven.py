"""What `lapwing run` relies on: the list of benchmarks, and exit codes."""

import json

import pytest

TESTS = """
    import pytest

    @pytest.mark.shuffle
    @pytest.mark.lapwing(iterations=5, time_limit=2.5, metrics={"rows": "1"})
    @pytest.mark.parametrize("n", [1, 2])
    def test_it(n):
        raise AssertionError("not executed when collecting")

    def test_fixture(benchmark_time):
        pass

    def test_plain():
        pass
"""


def test_benchmarks_are_listed_without_being_executed(suite):
    suite.ini("markers = shuffle: ").write(TESTS)
    result = suite.pytester.runpytest_inprocess(
        "--collect-only", "-q", "--lapwing-collect", "list.jsonl", "--lapwing-burn-in", "0", "-p", "no:benchmark"
    )
    assert result.ret == 0
    first, second, third = map(json.loads, (suite.path / "list.jsonl").read_text().splitlines())
    source = first.pop("source")
    assert (source["path"], source["line"]) == ("test_it.py", 3) and "def test_it(n):" in source["text"]
    assert first.pop("fingerprint").startswith("sha256:")
    metrics = first.pop("metrics")
    assert metrics["wall_time"] == {"unit": "s", "better": "lower"} and metrics["rows"] == {"unit": "1"}
    assert "rows" not in third["metrics"]
    assert first.pop("root") == str(suite.path)
    assert first == {
        "id": "test_it.py::test_it[1]",
        "params": {"n": 1},
        "tags": ["shuffle"],
        "burn_in": 0,
        "iterations": 5,
        "time_limit": 2.5,
        "max_failures": 3,
    }
    assert second["id"] == "test_it.py::test_it[2]"
    assert (third["id"], third["iterations"], third["time_limit"]) == ("test_it.py::test_fixture", 1, None)
    assert third["params"] == {} and third["tags"] == []
    assert not (suite.path / ".lapwing").exists()


def test_only_what_is_selected_is_listed(suite):
    suite.ini("markers = shuffle: ").write(TESTS)
    arguments = ["--collect-only", "--lapwing", "--lapwing-collect", "list.jsonl", "test_it.py::test_it"]
    suite.pytester.runpytest_inprocess(*arguments, "-k", "2")
    (line,) = (suite.path / "list.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == "test_it.py::test_it[2]"


def test_a_failed_benchmark_is_data_to_who_drives_pytest(suite):
    suite.ini("markers = shuffle: ").write(TESTS)
    records = suite.run("--lapwing-driven", "test_it.py::test_it[1]")
    assert suite.result.ret == 0
    assert records.outcomes("test_it[1]") == ["failed"] * 3
    suite.run("test_it.py::test_it[1]")
    assert suite.result.ret == pytest.ExitCode.TESTS_FAILED


def test_what_cannot_be_collected_or_found_is_an_error_all_the_same(suite):
    suite.write("import no_such_module\n")
    suite.run("--lapwing-driven")
    assert suite.result.ret == pytest.ExitCode.INTERRUPTED
    suite.run("--lapwing-driven", "--continue-on-collection-errors")
    assert suite.result.ret == pytest.ExitCode.TESTS_FAILED
    suite.run("--lapwing-driven", "test_it.py::test_nothing")
    assert suite.result.ret not in (0, pytest.ExitCode.TESTS_FAILED)
    suite.run("--lapwing-driven", "nowhere.py::test_nothing")
    assert suite.result.ret == pytest.ExitCode.USAGE_ERROR


def test_who_drives_pytest_gets_one_process_whatever_the_configuration_says(suite):
    suite.ini("markers = shuffle: ", "addopts = -n 2").write(TESTS)
    records = suite.run("--lapwing-driven", "test_it.py::test_fixture")
    assert suite.result.ret == 0
    assert "worker" not in records.instance("test_fixture")["attributes"]
