"""Options, ini keys and markers, and which of them wins."""

import contextlib
import sqlite3
import subprocess

import pytest

COUNTED = """
    import pytest

    @pytest.mark.lapwing(burn_in=2, iterations=4)
    def test_marked():
        pass

    @pytest.mark.lapwing
    def test_plain():
        pass

    def test_fixture(benchmark_time):
        with benchmark_time:
            pass
"""


def counts(records, name):
    flags = [it["burn_in"] for it in records.iterations(name)]
    return flags.count(True), flags.count(False)


def test_by_default_marked_tests_run_1_and_3_times_and_tests_with_fixtures_once(suite):
    records = suite.write(COUNTED).passes(passed=3)
    assert [counts(records, it) for it in ("test_marked", "test_plain", "test_fixture")] == [(2, 4), (1, 3), (0, 1)]


def test_ini_wins_over_the_defaults(suite):
    suite.ini("lapwing_burn_in = 0", "lapwing_iterations = 2")
    records = suite.write(COUNTED).passes(passed=3)
    assert [counts(records, it) for it in ("test_marked", "test_plain", "test_fixture")] == [(2, 4), (0, 2), (0, 2)]


def test_the_command_line_wins_over_all(suite):
    suite.ini("lapwing_burn_in = 0", "lapwing_iterations = 2")
    records = suite.write(COUNTED).passes("--lapwing-burn-in", "0", "--lapwing-iterations=1", passed=3)
    assert [counts(records, it) for it in ("test_marked", "test_plain", "test_fixture")] == [(0, 1)] * 3


def test_the_nearest_marker_wins_key_by_key(suite):
    suite.write("""
    import pytest
    pytestmark = pytest.mark.lapwing(burn_in=0, iterations=5)

    @pytest.mark.lapwing(iterations=2)
    class TestIt:
        @pytest.mark.lapwing(burn_in=1)
        def test_it(self):
            pass
    """)
    assert counts(suite.passes(), "test_it") == (1, 2)


def test_time_limit_and_max_failures_have_the_same_order(suite):
    suite.ini("lapwing_time_limit = 5", "lapwing_max_failures = 1")
    suite.write("""
    import time, pytest

    @pytest.mark.lapwing
    def test_ini():
        raise ValueError

    @pytest.mark.lapwing(time_limit=0.05, max_failures=2)
    def test_marked():
        time.sleep(1)
    """)
    records = suite.passes(failed=2)
    assert records.outcomes("test_ini") == ["failed"]
    assert records.outcomes("test_marked") == ["timed_out"] * 2
    records = suite.passes("--lapwing-max-failures", "3", "--lapwing-time-limit", "0.02", failed=2)
    assert [it["metrics"] for it in records.iterations("test_marked")] == [{"wall_time": 0.02}] * 3


@pytest.mark.parametrize(
    "options, complaint",
    [
        (["--lapwing-iterations", "0"], "--lapwing-iterations: '0' is not a whole number from 1"),
        (["--lapwing-burn-in", "-1"], "--lapwing-burn-in: '-1' is not a whole number from 0"),
        (["--lapwing-burn-in", "1.5"], "--lapwing-burn-in: '1.5' is not a whole number from 0"),
        (["--lapwing-time-limit", "0"], "--lapwing-time-limit: '0' is not a number of seconds above 0, at most 1e9"),
        (
            ["--lapwing-time-limit=1e300"],
            "--lapwing-time-limit: '1e300' is not a number of seconds above 0, at most 1e9",
        ),
        (["--lapwing-all", "nowhere"], "--lapwing-all: */nowhere does not exist"),
        (["--lapwing-factor", "x"], "--lapwing-factor: `x` must be K=V"),
        (["--lapwing-store", "a.db"], "--lapwing-store and --lapwing-output cannot be used together"),
        (["--lapwing-version-of", "no-such-thing"], "--lapwing-version-of: package no-such-thing is not installed"),
        (["--lapwing-repository", "nowhere"], "--lapwing-repository: * is not in a Git repository with a commit"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(suite, options, complaint):
    assert suite.write(COUNTED).run(*options) is None
    assert suite.result.ret == pytest.ExitCode.USAGE_ERROR
    suite.result.stderr.fnmatch_lines([f"*{complaint}*"])


def test_a_marker_that_makes_no_sense_is_a_usage_error(suite):
    suite.write("""
    import pytest

    @pytest.mark.lapwing(iteration=3)
    def test_it():
        pass
    """)
    assert suite.run() is None
    suite.result.stderr.fnmatch_lines(["*test_it.py::test_it: the marker lapwing does not accept 'iteration'*"])


def test_an_older_pytest_is_refused_only_where_it_would_record(suite, monkeypatch):
    monkeypatch.setattr(pytest, "version_tuple", (7, 4, 4))
    assert suite.write(COUNTED).run() is None
    suite.result.stderr.fnmatch_lines(["*--lapwing needs pytest 8 or later, and this is pytest *"])
    suite.pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_an_output_without_recording_is_a_usage_error(suite):
    result = suite.write(COUNTED).pytester.runpytest_inprocess("--lapwing-output", "x")
    result.stderr.fnmatch_lines(["*--lapwing-output requires --lapwing*"])


def test_all_tests_under_a_path_are_benchmarks(suite):
    for folder in ("unit", "performance"):
        (suite.path / folder).mkdir()
        (suite.path / folder / f"test_{folder}.py").write_text("def test_it(): pass")
    records = suite.passes("--lapwing-all", "performance", passed=2)
    assert [it["benchmark"]["id"] for it in records.of("instance")] == ["performance/test_performance.py::test_it"]
    assert counts(records, "test_it") == (1, 3)
    suite.ini("lapwing_all = unit")
    records = suite.passes(passed=2)
    assert [it["benchmark"]["id"] for it in records.of("instance")] == ["unit/test_unit.py::test_it"]


def test_session_and_run_say_what_they_are_told(suite):
    suite.write(COUNTED)
    records = suite.passes(
        *["--lapwing-suite", "s", "--lapwing-name", "n", "--lapwing-variant", "v", "--lapwing-version-of", "pytest"],
        *["--lapwing-factor", "threads=4", "--lapwing-factor", "on=true", "--lapwing-factor", "ratio=0.5"],
        *["--lapwing-factor", "method=p2p", "--lapwing-gc"],
        passed=3,
    )
    (session,), (run,) = records.of("session"), records.of("run")
    assert (session["suite"], session["name"]) == ("s", "n")
    assert session["tool"].startswith("pytest-lapwing ")
    assert run["session"] == session["id"]
    assert run["variant"] == "v"
    assert run["factors"] == {"threads": 4, "on": True, "ratio": 0.5, "method": "p2p"}
    assert run["version"] == {"name": pytest.__version__}
    assert run["environment"]["packages"]["pytest"] == pytest.__version__
    assert run["environment"]["python"].startswith("CPython 3.")


def test_the_version_is_that_of_a_repository(suite):
    def git(*arguments):
        identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=other, check=True, capture_output=True)

    other = suite.path / "other"
    other.mkdir()
    git("init", "--quiet", "--initial-branch=trunk")
    (other / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "-m", "first")
    suite.write(COUNTED)
    version = suite.passes("--lapwing-repository", "other", passed=3).of("run")[0]["version"]
    assert len(version.pop("commit")) == 40
    assert version.pop("date")
    assert version == {"branch": "trunk", "dirty": False}
    (other / "file").write_text("two")
    assert suite.passes("--lapwing-repository", "other", passed=3).of("run")[0]["version"]["dirty"] is True


def test_a_repository_in_which_nothing_is_gives_no_version(suite):
    assert suite.write(COUNTED).passes(passed=3).of("run")[0]["version"] == {}


def test_the_command_line_wins_over_what_it_excludes_in_the_file(suite):
    suite.ini("lapwing_store = there.db", "lapwing_version_of = pytest").write(COUNTED)
    assert len(suite.passes(passed=3).of("instance")) == 3
    assert not (suite.path / "there.db.inbox").exists()
    suite.ini("lapwing_output = there.jsonl")
    result = suite.pytester.runpytest_inprocess("--lapwing", "--lapwing-store=here.db", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3)
    assert not (suite.path / "there.jsonl").exists()
    assert len(list((suite.path / "here.db.inbox").glob("[!.]*"))) == 1


def test_either_way_to_say_the_version_wins_on_the_command_line(suite):
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "init", "-q", "--initial-branch=trunk", "other"], cwd=suite.path, check=True)
    subprocess.run([*git, "commit", "-qm", "m", "--allow-empty"], cwd=suite.path / "other", check=True)
    suite.ini("lapwing_version_of = pytest").write(COUNTED)
    assert suite.passes("--lapwing-repository=other", passed=3).of("run")[0]["version"]["branch"] == "trunk"
    suite.ini("lapwing_repository = other")
    version = suite.passes("--lapwing-version-of=pytest", passed=3).of("run")[0]["version"]
    assert version == {"name": pytest.__version__}


@pytest.mark.parametrize("pair", [("store", "output"), ("version-of", "repository")])
def test_two_that_exclude_each_other_in_one_place_are_refused(suite, pair):
    keys = [f"lapwing_{it.replace('-', '_')}" for it in pair]
    suite.ini(*(f"{it} = x" for it in keys)).write(COUNTED)
    result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {keys[0]} and {keys[1]} cannot be used together"])


@pytest.mark.parametrize("option", ["store", "repository", "output", "name"])
def test_a_value_that_moved_pytest_s_root_is_refused(suite, tmp_path_factory, option):
    (suite.path / "pytest.ini").unlink()
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "it"
    suite.write(COUNTED)
    said = {"store": "x.db", "repository": ".git", "output": "x.jsonl", "name": "x"}[option]
    elsewhere.mkdir()
    path = elsewhere / said
    if option == "repository":
        path = elsewhere
        subprocess.run(["git", "init", "-q", str(path)], check=True)
        name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *name, "commit", "-qm", "m", "--allow-empty"], cwd=path, check=True)
    else:
        path.touch()
    call = ["--lapwing", "-p", "no:cacheprovider", "--co", "-q"]
    flag = f"--lapwing-{option}"
    result = suite.pytester.runpytest_inprocess(*call, flag, path)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {flag} {path}: pytest took *; write {flag}={path}"])
    result = suite.pytester.runpytest_inprocess(*call, f"{flag}={path}")
    result.stdout.fnmatch_lines(["test_it.py::test_marked"])


@pytest.mark.parametrize("option", ["--lapwing-store", "lapwing_store"])
def test_a_store_that_is_something_else_is_refused(suite, option):
    suite.write(COUNTED)
    (suite.path / "folder").mkdir()
    for place, complaint in (
        ("test_it.py", "is not a store: it is not an SQLite database"),
        ("folder", "is a folder, *"),
    ):
        flag = f"{option}={place}" if option.startswith("-") else f"--override-ini={option}={place}"
        result = suite.pytester.runpytest_inprocess("--lapwing", flag, "-p", "no:cacheprovider")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: --lapwing-store: */{place} {complaint}"])
    assert not list(suite.path.glob("*.inbox"))


def test_a_store_that_is_none_where_it_stands_by_default_is_refused(suite):
    (suite.path / ".lapwing").mkdir()
    (suite.path / ".lapwing" / "lapwing.db").write_text("something else")
    result = suite.write(COUNTED).pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_database_and_an_empty_file_are_stores(suite):
    suite.write(COUNTED)
    (suite.path / "empty.db").touch()
    with contextlib.closing(sqlite3.connect(suite.path / "it.db")) as store:
        store.execute("CREATE TABLE it (n)")
    for name in ("empty.db", "it.db"):
        result = suite.pytester.runpytest_inprocess("--lapwing", f"--lapwing-store={name}", "-p", "no:cacheprovider")
        result.assert_outcomes(passed=3)
        assert len(list((suite.path / f"{name}.inbox").glob("[!.]*"))) == 1


@pytest.mark.skipif(pytest.version_tuple < (9, 2), reason="pytest refuses numbers of TOML before")
def test_numbers_of_toml_are_numbers(suite):
    (suite.path / "pytest.ini").unlink()
    suite.write(COUNTED)
    text = '[pytest]\nasyncio_default_fixture_loop_scope = "function"\n'
    text += "lapwing_iterations = {}\nlapwing_burn_in = 0\nlapwing_time_limit = {}\nlapwing_max_failures = 2\n"
    for iterations, limit in (("2", "2.5"), ('"2"', '"2.5s"')):
        (suite.path / "pytest.toml").write_text(text.format(iterations, limit))
        records = suite.passes(passed=3)
        assert [counts(records, it) for it in ("test_marked", "test_plain", "test_fixture")] == [(2, 4), (0, 2), (0, 2)]
    for iterations in ("0", "2.5", "true", "[2]"):
        (suite.path / "pytest.toml").write_text(text.format(iterations, 1))
        assert suite.run() is None
        assert suite.result.ret == pytest.ExitCode.USAGE_ERROR
        suite.result.stderr.fnmatch_lines(["*lapwing_iterations*"])


def test_a_separate_value_that_moves_nothing_is_accepted(suite):
    (suite.path / "there").touch()
    suite.write(COUNTED)
    result = suite.pytester.runpytest_inprocess("--lapwing", "--lapwing-store", "there", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3)
