"""Several calls of pytest that are one session."""

import json
import subprocess

import pytest
from conftest import Records

ONE = """
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=3)
    def test_it():
        pass
"""


def call(suite, *options, session="nightly"):
    given = [f"--lapwing-session={session}"] if session else []
    result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider", *given, *options)
    result.assert_outcomes(passed=1)
    return result


def inbox(suite):
    return Records(*sorted((suite.path / ".lapwing" / "inbox").glob("[!.]*")))


def distinct(lines):
    return [json.loads(it) for it in sorted({json.dumps(it, sort_keys=True) for it in lines})]


def test_several_calls_are_one_session_with_one_run_for_each_setting(suite, lapwing_or_none):
    suite.write(ONE)
    for _ in range(3):
        for variant in ("tasks", "p2p"):
            result = call(suite, f"--lapwing-variant={variant}", f"--lapwing-factor=shuffle={variant}")
    result.stdout.fnmatch_lines(["lapwing: recording suite *, session nightly, variant p2p, to .lapwing/inbox"])
    records = inbox(suite)
    (session,) = distinct(records.of("session"))
    runs = distinct(records.of("run"))
    assert session["name"] == "nightly"
    assert sorted(it["variant"] for it in runs) == ["p2p", "tasks"]
    for run in runs:
        assert sorted(it["block"] for it in records.of("instance") if it["run"] == run["id"]) == [0, 1, 2]
    if lapwing_or_none:
        (listed,) = say(lapwing_or_none, suite, "list", "sessions")["sessions"]
        assert (listed["id"], listed["runs"], listed["instances"]) == (session["id"], 2, 6)
        (compared,) = say(lapwing_or_none, suite, "compare", "variant:tasks", "variant:p2p")["comparisons"]
        assert (compared["baseline_instances"], compared["candidate_instances"]) == (3, 3)
        # Once more, when the store has the session already.
        call(suite, "--lapwing-variant=p2p", "--lapwing-factor=shuffle=p2p")
        (listed,) = say(lapwing_or_none, suite, "list", "sessions")["sessions"]
        assert (listed["runs"], listed["instances"]) == (2, 7)


def test_levels_without_a_variant_are_settings_of_their_own(suite, lapwing):
    suite.write(ONE)
    for version in ("old", "new"):
        for _ in range(3):
            for threads in (1, 4):
                call(suite, f"--lapwing-factor=threads={threads}", session=version)
    rows = say(lapwing, suite, "compare", "session:old", "session:new")["comparisons"]
    counts = [(it["setting"], it["baseline_instances"], it["candidate_instances"]) for it in rows]
    assert sorted(counts) == [("threads=1", 3, 3), ("threads=4", 3, 3)]
    (row,) = say(lapwing, suite, "compare", "threads=1", "threads=4", "--where", "session=new")["comparisons"]
    assert (row["setting"], row["baseline_instances"], row["candidate_instances"]) == (None, 3, 3)


def say(lapwing, suite, *arguments):
    """Returns what the program says of the suite's store."""
    command = [lapwing, *arguments, "--format", "json"]
    done = subprocess.run(command, cwd=suite.path, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_the_environment_names_the_session_and_the_command_line_wins(suite, monkeypatch):
    suite.ini("lapwing_session = from-file").write(ONE)
    call(suite, session=None)
    monkeypatch.setenv("LAPWING_SESSION", "from-environment")
    call(suite, session=None)
    call(suite)
    names = sorted(it["name"] for it in inbox(suite).of("session"))
    assert names == ["from-environment", "from-file", "nightly"]


def test_other_names_suites_and_settings_are_apart(suite):
    suite.write(ONE)
    call(suite)
    call(suite, "--lapwing-factor=n=1")
    call(suite, "--lapwing-suite=other")
    call(suite, session="weekly")
    records = inbox(suite)
    assert len(distinct(records.of("session"))) == 3 and len(distinct(records.of("run"))) == 4
    assert [it["block"] for it in records.of("instance")] == [0] * 4


def test_a_run_knows_the_metrics_of_all_calls_unless_they_contradict(suite):
    suite.write(ONE)
    for lines in (["a B lower"], ["b 1"], ["a s"]):
        suite.ini("lapwing_metrics =", *(f"    {it}" for it in lines))
        call(suite)
    runs = distinct(inbox(suite).of("run"))
    assert len({it["id"] for it in runs}) == 2
    assert sorted(sorted({"a", "b"} & set(it["metrics"])) for it in runs) == [["a"], ["a"], ["a", "b"]]


def test_calls_agree_on_metrics_of_markers(suite):
    test = """
    import pytest

    @pytest.mark.lapwing(metrics={"rows": "%s"})
    def test_it():
        pass
    """
    suite.write(test % "1")
    call(suite)
    suite.write(test % "B")
    result = suite.pytester.runpytest_subprocess("--lapwing", "-p", "no:cacheprovider", "--lapwing-session=nightly")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *::test_it: marker lapwing: metric rows is declared as 1 (no direction) and as B (no direction)"]
    )


def test_calls_agree_on_metrics_that_nobody_declared(suite, monkeypatch):
    suite.write("""
    import os

    def test_it(benchmark_record):
        benchmark_record.record("rows", 1, unit=os.environ["UNIT"])
    """)
    for unit, counts in (("B", {"passed": 1}), ("s", {"failed": 1}), ("B", {"passed": 1})):
        monkeypatch.setenv("UNIT", unit)
        result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider", "--lapwing-session=a")
        result.assert_outcomes(**counts)
    declared = [it["metrics"].get("rows", {}).get("unit") for it in inbox(suite).of("run")]
    assert declared == ["B", None, "B"]


def test_a_file_of_records_has_its_sessions_too(suite):
    suite.write(ONE)
    for _ in range(2):
        call(suite, "--lapwing-output=r.jsonl")
    records = Records(suite.path / "r.jsonl")
    assert len(distinct(records.of("session"))) == len(distinct(records.of("run"))) == 1
    assert [it["block"] for it in records.of("instance")] == [0, 1]


def test_a_kept_session_that_cannot_be_read_begins_anew(suite):
    suite.write(ONE)
    call(suite)
    (kept,) = (suite.path / ".lapwing" / "inbox").glob(".session-*.json")
    kept.write_text('{"session":')
    call(suite)
    assert len(distinct(inbox(suite).of("session"))) == 2


def test_two_names_for_a_session_are_refused(suite):
    suite.write(ONE)
    result = suite.pytester.runpytest_inprocess("--lapwing", "--lapwing-session=a", "--lapwing-name=b")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --lapwing-session and --lapwing-name cannot be used together"])
    suite.ini("lapwing_session = a", "lapwing_name = b")
    result = suite.pytester.runpytest_inprocess("--lapwing")
    result.stderr.fnmatch_lines(["ERROR: lapwing_session and lapwing_name cannot be used together"])


@pytest.mark.parametrize(
    "lines, variable, options, name, shared",
    [
        (["lapwing_session = file"], None, ["--lapwing-name=line"], "line", False),
        (["lapwing_name = file"], None, ["--lapwing-session=line"], "line", True),
        (["lapwing_name = file"], "variable", [], "variable", True),
        ([], "variable", ["--lapwing-name=line"], "line", False),
        (["lapwing_session = file"], "variable", [], "variable", True),
    ],
)
def test_the_name_of_a_session_is_that_with_most_weight(suite, monkeypatch, lines, variable, options, name, shared):
    if variable:
        monkeypatch.setenv("LAPWING_SESSION", variable)
    suite.ini(*lines).write(ONE)
    for _ in range(2):
        call(suite, *options, session=None)
    sessions = distinct(inbox(suite).of("session"))
    assert {it["name"] for it in sessions} == {name}
    assert len(sessions) == (1 if shared else 2)


def test_the_default_suite_is_the_repository_as_lapwing_run_names_it(suite, lapwing_or_none):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=suite.path, check=True, capture_output=True)

    suite.write(ONE)
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    call(suite, session=None)
    (session,) = inbox(suite).of("session")
    assert session["suite"].startswith("repository-") and len(session["suite"]) == 21
    git("remote", "add", "upstream", "git@example.org:group/tool.git")
    if lapwing_or_none:
        (suite.path / "lapwing.toml").write_text('[benchmark.a]\ncommand = "true"\n')
        say(lapwing_or_none, suite, "run", "-n", "1", "-i", "1")
        names = {it["suite"] for it in say(lapwing_or_none, suite, "list")["benchmarks"]}
        assert names == {session["suite"], "tool"}
    call(suite, "--lapwing-suite=own", session=None)
