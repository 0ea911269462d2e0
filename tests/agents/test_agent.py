"""An agent that follows the skill accepts the three real changes of ten, and none of those that do nothing."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from conftest import ROOT, git, variables

EXAMPLE = ROOT / "examples/agent"
# All twenty take seven minutes.
SEEDS = 20 if os.environ.get("LAPWING_NIGHTLY") else 3


def play(repository, home, seed):
    counter = home / "counter"
    command = f"sh {EXAMPLE}/recorded.sh {EXAMPLE}/times.txt {counter} {seed}"
    options = ["--metrics", "json", "--metric", "seconds", "-i", "1", "--burn-in", "0", "-n", "60", "--command", command]
    words = [sys.executable, EXAMPLE / "agent.py", repository, "--seed", str(seed), *options]
    done = subprocess.run(words, env=variables(home), capture_output=True, text=True)
    assert done.returncode == 0, done
    return json.loads(done.stdout), done.stderr


# One test, so that one in twenty may fail.
def test_in_nineteen_of_twenty_trials_the_real_changes_are_accepted(tmp_path):
    def trial(seed):
        folder = tmp_path / f"trial-{seed}"
        (folder / "repository").mkdir(parents=True)
        repository = folder / "repository"
        git(repository, "init", "--quiet", "--initial-branch=main")
        git(repository, "config", "user.name", "T")
        git(repository, "config", "user.email", "t@example.org")
        (repository / "work.py").write_text((EXAMPLE / "work.py").read_text())
        (repository / ".gitignore").write_text(".lapwing\n__pycache__\n")
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", "first")
        return play(repository, folder, seed)

    with ThreadPoolExecutor(2) as pool:
        played = list(pool.map(trial, range(SEEDS)))
    failed = [it for it in played if it[0]["missed"] or it[0]["wrong"]]
    assert len(failed) <= 1, failed
    assert sum(bool(it[0]["wrong"]) for it in played) <= 1, failed
