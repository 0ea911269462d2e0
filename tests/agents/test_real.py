"""What was promised of campaigns, with times that are measured here and now: an hour on a machine with two cores."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import combinations

import pytest
from conftest import ROOT, variables

pytestmark = pytest.mark.skipif(os.environ.get("LAPWING_NIGHTLY") != "1", reason="LAPWING_NIGHTLY=1 measures for an hour")
EXAMPLE = ROOT / "examples/agent"
# Computes and rests by turns, up to two seconds each.
LOAD = """import random, time
while True:
    end = time.monotonic() + random.uniform(0, 2)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0, 2))
"""


@pytest.fixture
def load():
    """Two programs that compute half of the time."""
    programs = [subprocess.Popen([sys.executable, "-c", LOAD]) for _ in range(2)]
    yield
    for it in programs:
        it.kill()
        it.wait()


def judge(repository, home, command):
    words = ["lapwing", "judge", "--campaign", "speed", "--baseline", "HEAD", "--format", "json", "-c", command]
    done = subprocess.run(words, cwd=repository, env=variables(home), capture_output=True, text=True)
    assert done.returncode in (0, 1, 125), done
    return json.loads(done.stdout)


def test_of_sixty_edits_that_do_nothing_at_most_one_is_accepted(repository, tmp_path, load):
    sys.path.insert(0, str(EXAMPLE))
    import agent

    decoys = [name for name in agent.CHANGES if name not in agent.REAL]
    edits = [names for size in range(1, len(decoys) + 1) for names in combinations(decoys, size)]
    source, verdicts = (repository / "work.py").read_text(), Counter()
    for names in random.Random(1).sample(edits, 60):
        text = source
        for name in names:
            text = agent.changed(text, name)
        (repository / "work.py").write_text(text)
        answer = judge(repository, tmp_path, f"{sys.executable} work.py 300")
        verdicts[answer["verdict"]] += 1
        print(verdicts.total(), answer["headline"], flush=True)
    print(verdicts, flush=True)
    assert verdicts["accepted"] <= 1, verdicts


def test_an_agent_accepts_the_real_changes(repository, tmp_path):
    words = [sys.executable, EXAMPLE / "agent.py", repository, "--seed", "1", "-c", f"{sys.executable} work.py 1000"]
    done = subprocess.run(words, env=variables(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done
    print(done.stderr, done.stdout, flush=True)
    played = json.loads(done.stdout)
    assert not played["missed"] and not played["wrong"], done
