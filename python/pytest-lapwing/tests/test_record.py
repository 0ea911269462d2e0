"""Record files: inbox, lock, what a kill leaves."""

import fcntl
import fnmatch
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import uuid

import pytest

from pytest_lapwing import ids
from pytest_lapwing.observe import Snapshot, observed
from pytest_lapwing.record_file import Unusable
from pytest_lapwing.recorder import RecordFile

ONE = """
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=2)
    def test_it():
        pass
"""
SLOW = """
    import pathlib, time, pytest

    @pytest.fixture(scope="module")
    def module():
        yield
        pathlib.Path("torn-down").write_text("")

    @pytest.mark.lapwing(burn_in=0, iterations=1000)
    def test_it(module):
        time.sleep(0.05)
"""


def run(suite, *options):
    result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=1)
    return result


def files(folder):
    return sorted(it.relative_to(folder).as_posix() for it in folder.rglob("*.jsonl*"))


def test_records_go_to_the_inbox_of_the_store_under_the_session_s_id(suite):
    suite.write(ONE)
    result = run(suite)
    (path,) = (suite.path / ".lapwing" / "inbox").iterdir()
    session = json.loads(path.read_text().splitlines()[0])
    assert path.name == session["id"] + ".jsonl"
    assert uuid.UUID(session["id"]).version == 7
    result.stdout.fnmatch_lines(["1 benchmark, 2 iterations, in .lapwing/inbox"])


def test_another_store_has_its_inbox_beside_it(suite):
    suite.write(ONE)
    run(suite, "--lapwing-store", "there/x.db")
    run(suite, "--lapwing-store", "there/lapwing.db")
    names = files(suite.path)
    assert [re.sub("[0-9a-f-]{36}", "ID", it) for it in names] == ["there/inbox/ID.jsonl", "there/x.db.inbox/ID.jsonl"]


def test_from_a_folder_below_records_go_to_the_root_s_store(suite, monkeypatch):
    below = suite.path / "below"
    below.mkdir()
    (below / "test_it.py").write_text("import pytest\n@pytest.mark.lapwing\ndef test_it(): pass\n")
    monkeypatch.chdir(below)
    result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert len(files(suite.path / ".lapwing" / "inbox")) == 1


def test_lines_are_json_on_their_own_and_parents_come_first(suite):
    records = suite.write(ONE).passes()
    assert [it["kind"] for it in records.lines] == ["session", "run", "instance", *["iteration"] * 2, "instance_end"]


def test_a_file_is_added_to_and_a_cut_off_line_dropped(suite):
    suite.write(ONE)
    suite.output.write_text('{"v":1,"kind":"x"}\n{"v":1,"ki')
    run(suite, "--lapwing-output", suite.output.name)
    lines = suite.output.read_text().splitlines()
    assert lines[0] == '{"v":1,"kind":"x"}' and all(json.loads(line)["v"] == 1 for line in lines)
    assert len(lines) == 7


def test_a_last_line_that_only_lacks_its_end_is_kept(suite):
    suite.write(ONE)
    suite.output.write_text('{"v":1,"kind":"x"}')
    run(suite, "--lapwing-output", suite.output.name)
    assert kinds(suite.output)[:2] == ["x", "session"]


def test_a_first_line_that_was_cut_off_is_dropped(suite):
    suite.write(ONE)
    suite.output.write_text('{"v":1,"kind":"sess')
    run(suite, "--lapwing-output", suite.output.name)
    assert kinds(suite.output)[0] == "session"


@pytest.mark.parametrize("text", ["my thesis", "my thesis\n", '{"dependencies": {}}\n', '\n[1]\n{"v":1,"kind":"x"}'])
def test_a_file_of_something_else_is_refused_and_left_alone(suite, text):
    suite.write(ONE)
    suite.output.write_text(text)
    said = refused(suite, "--lapwing-output", suite.output.name)
    assert said.endswith("records.jsonl is not a record file: its first line is not a record")
    assert suite.output.read_text() == text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--lapwing-output=."], "--lapwing-output: * is not a file"),
        (["--lapwing-output=/dev/full"], "--lapwing-output: /dev/full is not a file"),
        (["--lapwing-output=no/x.jsonl"], "--lapwing-output: folder */no does not exist"),
        (["--lapwing-output=test_it.py/x"], "--lapwing-output: */test_it.py is not a folder"),
        (["--lapwing-store=test_it.py/x.db"], "--lapwing-store: */test_it.py is not a folder"),
    ],
)
def test_what_cannot_take_records_is_refused_at_the_start(suite, options, why):
    suite.write(ONE)
    assert fnmatch.fnmatch(refused(suite, *options), f"ERROR: {why}")


def refused(suite, *options):
    """Calls pytest, which refuses the options, and returns what it says."""
    result = suite.pytester.runpytest_inprocess("--lapwing", "-p", "no:cacheprovider", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return next(line for line in result.errlines if line.startswith("ERROR: "))


FILLS = """
    import pytest

    @pytest.mark.lapwing(burn_in=0, iterations=100)
    def test_it(benchmark_record):
        benchmark_record.attribute("text", "x" * 10_000)

    def test_never():
        raise AssertionError("the session goes on")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_disk_that_fills_ends_the_session_with_a_sentence_and_keeps_whole_records(suite, workers):
    suite.write(FILLS)
    limit = 200_000
    command = [sys.executable, "-m", "pytest", "--lapwing", "--lapwing-output=r.jsonl", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *workers],
        cwd=suite.path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "lapwing: cannot record any more: File too large" in said
    assert "Traceback" not in said and "INTERNALERROR" not in said
    text = (suite.path / "r.jsonl").read_text()
    assert text.endswith("\n") and kinds(suite.path / "r.jsonl")[-1] == "iteration"


def test_a_file_in_the_inbox_is_locked_while_its_writer_lives(tmp_path):
    file = RecordFile.in_inbox(tmp_path, "name")
    file.append({"v": 1, "text": "é\udc80"})
    assert [it.name for it in tmp_path.iterdir()] == ["name.jsonl"]
    with open(tmp_path / "name.jsonl") as reader:
        try:
            fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise AssertionError("it is not locked")
        except BlockingIOError:
            pass
        file.close()
        fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert reader.read() == '{"v":1,"text":"é?"}\n'


def test_a_child_that_lives_on_does_not_hold_the_lock(tmp_path):
    file = RecordFile.in_inbox(tmp_path, "name")
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    try:
        time.sleep(0.1)
        file.close()
        with open(tmp_path / "name.jsonl") as reader:
            fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def start(suite):
    """Starts a long benchmark in a process of its own, and waits until it has measured something."""
    suite.write(SLOW)
    command = [sys.executable, "-m", "pytest", "--lapwing", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        command,
        cwd=suite.path,
        stdout=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = list(suite.path.glob(".lapwing/inbox/*.jsonl"))
        if found and found[0].read_text().count('"iteration"') >= 3:
            return process, found[0]
        time.sleep(0.02)
    process.kill()
    raise AssertionError("nothing was measured")


def kinds(path):
    return [json.loads(line)["kind"] for line in path.read_text().splitlines()]


def test_a_killed_pytest_loses_the_iteration_under_way_and_no_more(suite, lapwing_or_none):
    process, path = start(suite)
    process.kill()
    process.communicate()
    measured = kinds(path)
    assert measured == ["session", "run", "instance", *["iteration"] * (len(measured) - 3)]
    if lapwing_or_none:
        listed = subprocess.run(
            [lapwing_or_none, "export", "--to", "json"], cwd=suite.path, check=True, capture_output=True, text=True
        )
        assert len(json.loads(listed.stdout)) == len(measured) - 3
        assert not path.exists()


def test_ctrl_c_leaves_a_sound_file_and_tears_down(suite):
    process, path = start(suite)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert (suite.path / "torn-down").exists()
    end = json.loads(path.read_text().splitlines()[-1])
    assert (end["kind"], end["outcome"], end["message"]) == ("instance_end", "lost", "interrupted")
    assert "1 benchmark, " in said


def test_ids_are_those_of_the_record_format():
    first = ids.measured_id()
    time.sleep(0.002)
    second = ids.measured_id()
    assert first < second and uuid.UUID(first).version == 7 and uuid.UUID(first).variant == uuid.RFC_4122
    assert ids.derived_id("a", "b") == ids.derived_id("a", "b") != ids.derived_id("ab", "")
    assert uuid.UUID(ids.derived_id("a")).version == 8


def test_the_machine_is_observed_around_an_instance(suite, tmp_path):
    end = suite.write(ONE).passes().end("test_it")
    assert end["observed"]["load_before"] >= 0 and end["observed"]["load_after"] >= 0

    def machine(ticks, stalled):
        (tmp_path / "pressure").mkdir(exist_ok=True)
        (tmp_path / "stat").write_text(f"cpu  {ticks}\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
        for name in ("cpu", "io"):
            text = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled}\nfull avg10=0.00 total=9\n"
            (tmp_path / "pressure" / name).write_text(text)
        return Snapshot(tmp_path)

    before, after = machine("10 0 10 80 0 0 0 0 0 0", 1_000_000), machine("20 0 10 140 0 0 0 30 0 0", 1_500_000)
    before.taken, after.taken, before.load, after.load = 0.0, 2.0, 0.5, None
    assert observed(before, after) == {"load_before": 0.5, "pressure_cpu": 0.25, "pressure_io": 0.25, "steal": 0.3}


@pytest.mark.parametrize(("around", "folder_mode", "file_mode"), [(0o755, 0o700, 0o600), (0o2770, 0o2770, 0o660)])
def test_records_are_for_their_user_alone_unless_the_folder_is_shared(tmp_path, around, folder_mode, file_mode):
    top = tmp_path / "top"
    top.mkdir()
    top.chmod(around)
    file = RecordFile.in_inbox(top / "inbox", "name")
    assert (top / "inbox").stat().st_mode & 0o7777 == folder_mode
    assert (top / "inbox" / "name.jsonl").stat().st_mode & 0o777 == file_mode
    file.close()


def test_no_record_is_written_through_a_link(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "inbox").symlink_to("other")
    with pytest.raises(Unusable):
        RecordFile.in_inbox(tmp_path / "inbox", "name")
    assert not list((tmp_path / "other").iterdir())
