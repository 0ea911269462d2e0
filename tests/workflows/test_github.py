"""The workflow templates for GitHub, on a repository with a history."""

import json
import os
import random
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import yaml
from conftest import PROGRAM, ROOT, TEMPLATES, git, lapwing


def nights(number, first_slow):
    """Yields records of so many nights; `join` is slower from one on."""
    chance = random.Random(3)
    identity = lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_OID, repr(parts)))
    for night in range(number):
        at = f"2026-01-{1 + night:02}T02:00:00Z"
        session, run = identity("s", night), identity("r", night)
        yield {"kind": "session", "id": session, "suite": "words", "started": at, "tool": "test"}
        version = {"commit": f"{night:02}" * 20, "date": at}
        metrics = {"wall_time": {"unit": "s", "better": "lower"}}
        about = {"session": session, "variant": "default", "version": version, "metrics": metrics}
        yield {"kind": "run", "id": run, **about}
        for name, value in {"join": 1.0 if night < first_slow else 1.2, "sort": 0.5}.items():
            instance = identity("i", night, name)
            yield {"kind": "instance", "id": instance, "run": run, "benchmark": {"id": name}}
            value *= chance.gauss(1, 0.002)
            yield {"kind": "iteration", "instance": instance, "index": 0, "metrics": {"wall_time": value}}
            yield {"kind": "instance_end", "instance": instance}


class History:
    """A maintainer's clone of the branch with the history, and a store."""

    def __init__(self, folder, origin):
        self.folder = folder
        git(origin.parent, "clone", "--quiet", "--branch", "lapwing-history", origin, folder)

    def segments(self):
        git(self.folder, "pull", "--quiet")
        return [path for path in self.folder.rglob("*") if path.is_file() and ".git" not in path.parts]

    def push(self):
        lapwing(self.folder, "--store", "../mine.db", "db", "push", ".")
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "-m", "more")
        git(self.folder, "push", "--quiet", "origin", "HEAD")

    def add(self, records):
        text = "".join(json.dumps({"v": 1, **record}) + "\n" for record in records)
        (self.folder.parent / "nights.jsonl").write_text(text)
        lapwing(self.folder, "--store", "../mine.db", "import", "../nights.jsonl")
        self.push()


def test_a_change_has_one_issue_which_is_closed_when_it_is_explained(tmp_path, origin, github, runner):
    # The first night creates the history.
    results, printed, work = runner.run("nightly.yml")
    assert results == dict.fromkeys(["measure", "judge", "publish", "pages"], True), printed
    judged = work.parents[1] / "run-1-judge/checkout"
    assert (judged / "site/badge.svg").is_file() and (judged / "site/report/index.html").is_file()
    assert github.issues == []
    history = History(tmp_path / "mine", origin)
    assert len(history.segments()) > 1
    history.add(nights(30, 20))

    # An issue that cannot be opened costs no measurement, and is opened later.
    github.is_down = True
    before = len(history.segments())
    results, printed, _ = runner.run("nightly.yml")
    assert results == {"measure": True, "judge": True, "publish": False, "pages": True}, printed
    assert len(history.segments()) > before
    github.is_down = False
    results, printed, work = runner.run("nightly.yml")
    assert all(results.values()), printed
    judged = work.parents[1] / "run-3-judge"
    summary = (judged / "summary.md").read_text()
    assert summary.startswith("1 new regression   ("), summary
    [issue] = github.issues
    assert issue["labels"] == ["performance"] and issue["state"] == "open"
    assert re.match(r"join: regression 1\.(19|20)", issue["title"]), issue
    suspects = next(line for line in issue["body"].splitlines() if line.startswith("Suspects: "))
    assert re.search(r"\(https://github\.example/owner/words/compare/(1[5-9])\1{19}\.\.\.", suspects), suspects
    assert 'failure type="regression"' in (judged / "checkout/junit.xml").read_text()

    # The next night has nothing new.
    results, printed, _ = runner.run("nightly.yml")
    assert all(results.values()), printed
    assert len(github.issues) == 1 and github.issues[0]["state"] == "open"

    # A maintainer explains it.
    lapwing(history.folder, "--store", "../mine.db", "db", "pull", ".")
    history.segments()
    found = json.loads(lapwing(history.folder, "--store", "../mine.db", "detect", "--format", "json"))
    lapwing(history.folder, "--store", "../mine.db", "triage", "explain", found["changes"][0]["findings"][0]["id"])
    history.push()
    results, printed, _ = runner.run("nightly.yml")
    assert all(results.values()), printed
    assert len(github.issues) == 1 and github.issues[0]["state"] == "closed"
    assert "| explained |" in github.issues[0]["body"]


def pull_request(origin, github, owner="stranger", sort="0.75\n", has_moved=True):
    """Makes a pull request that changes `sort`, on a main branch that may have moved on; returns the event of its run."""
    git(origin, "checkout", "--quiet", "-b", "slower")
    (origin / "sort.txt").write_text(sort)
    if not sort:
        (origin / "bench.sh").write_text("exit 3\n")
    (origin / "README").write_text("changed\n")
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "--all", "-m", "slower")
    head = git(origin, "rev-parse", "HEAD")
    git(origin, "checkout", "--quiet", "main")
    if has_moved:
        (origin / "NEWS").write_text("news\n")
        git(origin, "add", ".")
        git(origin, "commit", "--quiet", "-m", "news")
    git(origin, "checkout", "--quiet", "--detach")
    git(origin, "merge", "--quiet", "--no-edit", "--no-ff", "slower")
    git(origin, "update-ref", "refs/pull/7/merge", "HEAD")
    git(origin, "checkout", "--quiet", "main")
    git(origin, "update-ref", "refs/pull/7/head", head)
    github.pulls.append({"number": 7, "head": {"label": f"{owner}:slower", "sha": head}})
    repository = {"owner": {"login": owner}}
    return {"workflow_run": {"head_sha": head, "head_branch": "slower", "head_repository": repository}}


def test_a_pull_request_is_judged_twice_and_has_one_comment(origin, github, runner):
    event = pull_request(origin, github)
    results, printed, _ = runner.run("pull-request.yml", "refs/pull/7/merge")
    assert results == {"measure": True}, printed
    assert [path.name for path in runner.artifacts.rglob("*") if path.is_file()] == ["records.jsonl"]
    results, printed, _ = runner.run("pull-request-comment.yml", event=event)
    assert all(results.values()), printed
    [comment] = github.comments
    assert comment["issue"] == "7"
    assert comment["body"].count("**✗ regression**") == 2, comment["body"]
    assert "### Merged, compared with the main branch" in comment["body"]
    head = event["workflow_run"]["head_sha"]
    said = {"context": "lapwing", "state": "failure", "description": "a regression, or a benchmark that fails"}
    assert github.statuses == [{"commit": head, **said}]

    # The second time the comment is replaced.
    results, printed, _ = runner.run("pull-request-comment.yml", event=event)
    assert all(results.values()) and len(github.comments) == 1, printed

    # A commit that is no longer the head of a pull request gets none.
    event["workflow_run"]["head_sha"] = "0" * 40
    results, printed, _ = runner.run("pull-request-comment.yml", event=event)
    assert all(results.values()) and "no open pull request" in printed
    assert len(github.statuses) == 2


@pytest.mark.parametrize(
    ("sort", "state", "sentence"),
    [
        ("0.75\n", "failure", "**✗ regression**"),
        ("0.5\n", "success", "no change"),
        ("0.3\n", "success", "✓ improvement |"),
        ("", "failure", "fail"),
    ],
)
def test_four_pull_requests(origin, github, runner, sort, state, sentence):
    event = pull_request(origin, github, sort=sort)
    results, printed, _ = runner.run("pull-request.yml", "refs/pull/7/merge")
    assert all(results.values()), printed
    results, printed, _ = runner.run("pull-request-comment.yml", event=event)
    assert all(results.values()), printed
    [comment] = github.comments
    assert sentence in comment["body"], comment["body"]
    assert [it["state"] for it in github.statuses] == [state], github.statuses


def test_the_action_keeps_a_history_and_searches_it(origin, github, runner, tmp_path):
    workflow = {"jobs": {"history": {"steps": [
        {"uses": "actions/checkout@x", "with": {"persist-credentials": False}},
        {"uses": "your/lapwing@x", "with": {"step": "history"}},
    ]}}}
    for night in range(12):
        git(origin, "commit", "--quiet", "--allow-empty", "-m", f"night {night}")
        results, printed, work = runner.run(workflow)
        assert results == {"history": True}, printed
    assert "12 runs" in (work.parent / "summary.md").read_text()
    (origin / "sort.txt").write_text("0.75\n")
    git(origin, "commit", "--quiet", "--all", "-m", "slower")
    for night in range(5):
        git(origin, "commit", "--quiet", "--allow-empty", "-m", f"later {night}")
        results, printed, work = runner.run(workflow)
    assert results == {"history": False}, printed
    assert "sort" in (work.parent / "summary.md").read_text()


def test_the_action_installs_a_release(tmp_path):
    [install] = [it for it in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if it.get("name") == "Install Lapwing"]
    release = tmp_path / "your/lapwing/releases/download/v1"
    release.mkdir(parents=True)
    (tmp_path / "lapwing").write_text("#!/bin/sh\necho installed\n")
    (tmp_path / "lapwing").chmod(0o755)
    archive = release / f"lapwing-{os.uname().machine}-linux.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", tmp_path, "lapwing"], check=True)
    variables = {"HOME": tmp_path, "VERSION": "v1", "GITHUB_SERVER_URL": f"file://{tmp_path}", "ACTION_REPOSITORY": "your/lapwing"}
    variables |= {"PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-e", "-c", install["run"]], env={name: str(it) for name, it in variables.items()}, check=True)
    assert subprocess.check_output([tmp_path / ".cache/lapwing-action/lapwing"], text=True) == "installed\n"


@pytest.mark.parametrize(("sort", "code", "failures"), [("0.75\n", 1, 2), ("0.5\n", 0, 0)])
def test_a_merge_request_of_gitlab(origin, github, tmp_path, sort, code, failures):
    pull_request(origin, github, sort=sort)
    template = yaml.safe_load((ROOT / "ci-templates/gitlab/lapwing.yml").read_text())
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", origin, folder)
    git(folder, "fetch", "--quiet", "origin", "refs/pull/7/head")
    git(folder, "checkout", "--quiet", "FETCH_HEAD")
    variables = {**template["variables"], "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    variables |= {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_SHA": git(folder, "rev-parse", "HEAD")}
    script = "\n".join(template["lapwing"]["script"])
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == code, done
    reports = [it.read_text() for it in sorted(folder.glob("lapwing-*.xml"))]
    assert len(reports) == 2 and sum(it.count("<failure") for it in reports) == failures, reports
    assert (folder / "lapwing.md").read_text().count("###") == 2
    assert (folder / "lapwing-report/index.html").is_file()


def forge_commit(records):
    for it in records:
        if it["kind"] == "run":
            it["version"]["commit"] = "ab" * 20
    return records


def forge_host(records):
    first = next(it for it in records if it["kind"] == "instance")
    first["host"] = "elsewhere"
    return records


def forge_count(records):
    left_out = next(it["id"] for it in records if it["kind"] == "instance")
    return [it for it in records if left_out not in (it.get("id"), it.get("instance"))]


def forge_annotation(records):
    muted = {"kind": "annotation", "id": str(uuid.uuid4()), "at": "2026-01-01T00:00:00Z", "by": "a", "action": "mute"}
    return [*records, {"v": 1, **muted, "target": {}}]


def forge_type(records):
    return [records[0], [], *records[1:]]


FORGED = {
    forge_commit: "the commit " + "ab" * 20 + ", which was not to be measured",
    forge_host: "of 2 machines, not of one",
    forge_count: "have 9 instances of",
    forge_annotation: "have annotations",
    forge_type: "list indices",
}


def test_records_that_do_not_fit_are_rejected(origin, github, runner):
    event = pull_request(origin, github)
    results, printed, _ = runner.run("pull-request.yml", "refs/pull/7/merge")
    assert results == {"measure": True}, printed
    path = runner.artifacts / "records/records.jsonl"
    measured = path.read_text()
    for forge, reason in FORGED.items():
        records = forge([json.loads(line) for line in measured.splitlines()])
        path.write_text("".join(json.dumps(it) + "\n" for it in records))
        results, printed, _ = runner.run("pull-request-comment.yml", event=event)
        assert all(results.values()), printed
        [comment] = github.comments
        assert "records of this pull request were rejected: " in comment["body"] and reason in comment["body"], comment
        assert github.statuses[-1]["state"] == "error" and reason in github.statuses[-1]["description"]


ATTACK = "x`@team`|[y](javascript:z)<img src=x>\x1b[2J\u202e --> https://evil.invalid\n@all"


def test_texts_of_strangers_do_nothing_in_an_issue():
    sys.path.insert(0, str(TEMPLATES))
    import lapwing_github

    place = {"commit": None, "text": ATTACK}
    finding = {"id": "0a", "benchmark": ATTACK, "metric": ATTACK, "direction": "regression", "ratio": 2.0, "unit": "s"}
    finding |= {"went_away": {"text": ATTACK}, "since": place, "state": ATTACK, "environment": [{"text": ATTACK}]}
    change = {"text": ATTACK, "findings": [finding], "good": place, "last": place, "suspects": ATTACK, "shared": False}
    text = lapwing_github.issue_text(change)
    # Within code nothing is a mark.
    outside = re.sub(r"(?<!\\)`[^`\n]*`", "CODE", text.replace("<!-- lapwing: 0a -->", "", 1))
    assert not re.search(r"@\w|<|https:/|[\x00-\x09\x0b-\x1f\u202e]|(?<!\\)\]\(", outside), outside
    assert all(row.count("|") - row.count("\\|") == 7 for row in text.splitlines() if row.startswith("| ")), text


def test_no_workflow_has_a_high_finding():
    zizmor = Path(sys.executable).parent / "zizmor"
    words = [zizmor, "--offline", "--no-progress", "--min-severity=medium", *sorted(TEMPLATES.glob("*.yml")), ROOT / "action.yml"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
