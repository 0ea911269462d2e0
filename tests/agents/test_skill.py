"""Every command of the texts for agents runs."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, variables

TEXTS = ["skills/lapwing/SKILL.md", "docs/llms.txt"]
CODES = {"judge": {0, 1, 125}}


def commands(text):
    """Returns the commands of a text, from its blocks and its tables, without repetitions."""
    found = re.findall(r"^\$ (lapwing .*)$", text, re.MULTILINE)
    found += re.findall(r"^\|[^|]*\| `(lapwing [^`]*)` \|", text, re.MULTILINE)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_short(name):
    assert len((ROOT / name).read_text().splitlines()) < 150


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name):
    path = ROOT / name
    for link in re.findall(r"\]\(([^)#:]+)", path.read_text()):
        assert (path.parent / link).exists(), link


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_runs(name, repository, tmp_path):
    text = (ROOT / name).read_text()
    # What stands for something of the reader's own.
    values = {
        "CMD": "true",
        "'python3 work.py 20'": "true",
        "-c A -c B": "-c 'true' -c 'true 2'",
        "GOOD BAD": "HEAD~1 HEAD",
        "BASE CANDIDATE": "session:first session:second",
        "FILE": "trace.json",
        "10m": "20s",
    }
    (repository / "trace.json").write_text((ROOT / "tests/agents/trace.json").read_text())
    (repository / "results.json").write_text(json.dumps({"results": [{"command": "x", "times": [1.0, 1.1, 1.2], "mean": 1.1, "stddev": 0.1, "median": 1.1, "min": 1.0, "max": 1.2, "user": 1.0, "system": 0.1, "exit_codes": [0, 0, 0]}]}))
    run = lambda *words: subprocess.run(words, cwd=repository, env=variables(tmp_path), capture_output=True, text=True)
    assert run("git", "commit", "--quiet", "--allow-empty", "-m", "second").returncode == 0
    assert run("lapwing", "run", "--name", "second", "-n", "3", "-c", "python3 work.py 20").returncode == 0
    found = commands(text)
    assert len(found) >= 4
    for command in found:
        for name_, value in values.items():
            command = command.replace(name_, value)
        words = shlex.split(command)
        if words[1] in ("judge", "bisect"):
            # What takes minutes takes seconds.
            words[2:2] = ["-n", "5", "-i", "1"]
        done = run(*words)
        allowed = CODES.get(words[1], {0})
        if words[1] in ("run", "plan", "detect", "compare", "bisect"):
            allowed = {0, 1, 3}
        assert done.returncode in allowed, (command, done)


def test_the_suite_file_of_the_skill_is_one(repository, tmp_path):
    text = (ROOT / "skills/lapwing/SKILL.md").read_text()
    [suite] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (Path(repository) / "lapwing.toml").write_text(suite)
    words = ["lapwing", "run", "-n", "3", "-i", "1"]
    done = subprocess.run(words, cwd=repository, env=variables(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done
