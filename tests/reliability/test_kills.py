"""`kill -9` at any moment: what was measured or committed stays, and the same command goes on."""

import random
import shutil

import pytest
from conftest import FULL, Lapwing

SUITE = """
suite = "killed"
[defaults]
instances = 3
burn_in = 1
iterations = 3
[benchmark.a]
command = "echo a >> executed"
[benchmark.b]
command = "echo b >> executed"
"""
INSTANCES = 6
ITERATIONS = INSTANCES * 4


def test_a_killed_run_loses_the_iteration_under_way_and_resume_measures_the_rest(tmp_path, record_property):
    chance = random.Random(1)
    (tmp_path / "lapwing.toml").write_text(SUITE)
    executed = tmp_path / "executed"
    program = Lapwing(tmp_path / ".lapwing/lapwing.db", cwd=tmp_path)
    duration = program.seconds("run", "--name", "whole")
    kills, at_work, lost, resumed = 200 if FULL else 12, 0, 0, 0
    stored = "SELECT count(*) FROM iterations WHERE session = ?"
    for number in range(kills):
        name = f"kill-{number}"
        executed.write_text("")
        at_work += program.kill("run", "--name", name, after=chance.uniform(0, 1.1 * duration))
        # The next command recovers what is in the inbox.
        program.run("list", "sessions")
        missing = executed.read_text().count("\n") - program.query(stored, name)
        assert missing <= 1, f"{missing} iterations lost"
        lost += missing
        # A run that was killed before it had a session has nothing to resume.
        if program.query("SELECT count(*) FROM session WHERE name = ?", name) == 1:
            said = program.run("run", "--resume", name, codes=(0, 2))
            if "before anything was measured" in said:
                assert program.query(stored, name) == 0
                continue
            resumed += 1
            whole = "SELECT count(*) FROM instances WHERE session = ? AND outcome = 'ok' AND iterations = 4"
            assert program.query(whole, name) == INSTANCES
    program.run("db", "check")
    assert program.query(stored, "whole") == ITERATIONS
    record_property(
        "run", f"{kills} kills, {at_work} of them at work: {lost} iterations lost, at most 1 each; {resumed} resumed"
    )


@pytest.mark.parametrize("what", ["import", "merge", "push", "pull"])
def test_what_was_killed_is_done_when_it_is_done_again(what, source, tmp_path, record_property):
    chance = random.Random(2)
    expected = source.lines()
    iterations = "SELECT count(*) FROM iterations"
    everything = source.query(iterations)
    shared = tmp_path / "shared"
    if what == "pull":
        shared.mkdir()
        shutil.copy(source.store, tmp_path / "pushed.db")
        Lapwing(tmp_path / "pushed.db").run("db", "push", shared)
    duration = None
    kills, at_work, partial = 100 if FULL else 6, 0, 0
    for number in range(-1, kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = Lapwing(folder / "lapwing.db")
        location = folder / "shared" if what == "push" else shared
        command = {
            "import": ["import", source.records],
            "merge": ["db", "merge", source.store],
            "push": ["db", "push", location],
            "pull": ["db", "pull", location],
        }[what]
        if what == "push":
            location.mkdir()
            shutil.copy(source.store, program.store)
        if duration is None:
            duration = program.seconds(*command)
        else:
            at_work += program.kill(*command, after=chance.uniform(0, 1.1 * duration))
        if program.store.is_file() and what != "push":
            # A store may lack its tables, if it was killed while it was made: the next command makes them.
            program.run("list", "sessions")
            there = program.query(iterations)
            assert there in (0, everything), f"{there} of {everything} iterations"
            partial += there == 0
        program.run(*command)
        program.run("db", "check")
        assert program.lines() == expected
        if what == "push":
            reader = Lapwing(folder / "reader.db")
            reader.run("db", "pull", location)
            assert reader.lines() == expected
        shutil.rmtree(folder)
    undone = "" if what == "push" else f", {partial} undone"
    record_property(what, f"{kills} kills, {at_work} of them at work{undone}: complete when done again")
