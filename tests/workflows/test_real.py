"""Pull requests with times that are measured here and now."""

import os
import random

import pytest
from conftest import GitHub, Runner, make_origin
from test_github import pull_request

# Nothing but a loop, so that its length is its time.
BENCH = "exec awk -v n=\"$(cat $1.txt)\" 'BEGIN { for (i = 0; i < n; i++) s += i * i }'\n"
SUITE = """
suite = "words"
[benchmark.join]
command = "sh bench.sh join"
[benchmark.sort]
command = "sh bench.sh sort"
"""


@pytest.mark.skipif(os.environ.get("LAPWING_NIGHTLY") != "1", reason="LAPWING_NIGHTLY=1 measures for half an hour")
def test_of_twenty_slower_and_twenty_equal_pull_requests_one_may_be_wrong(tmp_path):
    slower = [True, False] * 20
    random.Random(1).shuffle(slower)
    wrong = []
    for number, is_slower in enumerate(slower):
        folder = tmp_path / str(number)
        folder.mkdir()
        github = GitHub()
        files = {"lapwing.toml": SUITE, "bench.sh": BENCH, "join.txt": "900000\n", "sort.txt": "1000000\n"}
        origin = make_origin(folder, files)
        runner = Runner(folder, origin, github)
        event = pull_request(origin, github, sort="1100000\n" if is_slower else "1000000\n")
        for workflow, words in [("pull-request.yml", ["refs/pull/7/merge"]), ("pull-request-comment.yml", ["main", event])]:
            results, printed, _ = runner.run(workflow, *words)
            assert all(results.values()), printed
        github.server.shutdown()
        [status] = github.statuses
        print(number, is_slower, status["state"], status["description"], flush=True)
        if status["state"] != ("failure" if is_slower else "success"):
            wrong.append(github.comments)
    assert len(wrong) <= 1, wrong
