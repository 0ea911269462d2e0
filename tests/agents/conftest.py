"""What agents meet: the skill's commands, the server, and a trial."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing")).absolute()


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


def variables(home):
    """Returns the environment of an agent, in which `lapwing` is on the path."""
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}


def git(folder, *words):
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    return subprocess.check_output(["git", *person, *words], cwd=folder, text=True).strip()


@pytest.fixture
def repository(tmp_path):
    """A repository without benchmarks, and with something to measure."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "T")
    git(folder, "config", "user.email", "t@example.org")
    (folder / "work.py").write_text((ROOT / "examples/agent/work.py").read_text())
    (folder / ".gitignore").write_text(".lapwing\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder
