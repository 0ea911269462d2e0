"""Runs the shell steps of GitHub workflows here, with GitHub's interface on this machine only."""

import json
import os
import re
import shutil
import subprocess
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "ci-templates/github"
PROGRAM = Path(os.environ.get("LAPWING", ROOT / "target/debug/lapwing")).absolute()
TOKEN = "a token"


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


class GitHub:
    """The part of GitHub's interface that the templates use, in memory."""

    def __init__(self):
        self.issues, self.pulls, self.comments, self.statuses, self.is_down = [], [], [], [], False
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def handler(github):
        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                content = json.loads(self.rfile.read(length) or "null")
                address = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(address.query))
                code, found = 500, {}
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    code = 401
                elif not github.is_down:
                    path = address.path.removeprefix("/repos/owner/words/")
                    code, found = github.answer(self.command, path.split("/"), query, content)
                self.send_response(code)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_arguments):
                pass

        return Handler

    def answer(self, method, path, query, content):
        match method, path:
            case "GET", ["issues"]:
                assert query["state"] == "all"
                found = [it for it in self.issues if query["labels"] in it["labels"]]
                return 200, page(found, query)
            case "POST", ["issues"]:
                self.issues.append({"number": len(self.issues) + 1, "state": "open", **content})
                return 201, self.issues[-1]
            case "PATCH", ["issues", "comments", number]:
                self.comments[int(number)].update(content)
                return 200, self.comments[int(number)]
            case "PATCH", ["issues", number]:
                self.issues[int(number) - 1].update(content)
                return 200, self.issues[int(number) - 1]
            case "GET", ["issues", number, "comments"]:
                return 200, page([it for it in self.comments if it["issue"] == number], query)
            case "POST", ["issues", number, "comments"]:
                identity = {"id": len(self.comments), "issue": number, "user": {"type": "Bot"}}
                self.comments.append({**identity, **content})
                return 201, self.comments[-1]
            case "POST", ["statuses", commit]:
                self.statuses.append({"commit": commit, **content})
                return 201, {}
            case "GET", ["pulls"]:
                found = [it for it in self.pulls if it["head"]["label"] == query["head"]]
                return 200, page(found, query)
        return 404, {}


def page(found, query):
    size, number = int(query["per_page"]), int(query["page"])
    return found[size * (number - 1) : size * number]


class Runner:
    """Runs workflows of the templates on clones of a repository."""

    def __init__(self, folder, origin, github):
        self.folder, self.origin, self.github = folder, origin, github
        self.artifacts, self.runs = folder / "artifacts", 0

    def run(self, workflow, reference="main", event=None):
        """Returns the result of each job, what its steps printed, and the folder of the last one."""
        self.runs += 1
        if isinstance(workflow, str):
            workflow = yaml.safe_load((TEMPLATES / workflow).read_text())
        results, printed, work = {}, "", None
        for name, job in workflow["jobs"].items():
            work = self.folder / f"run-{self.runs}-{name}"
            work.mkdir()
            steps = Steps(self, work, reference, event or {}, {**workflow.get("env", {}), **job.get("env", {})}, name)
            needed = results.get(job.get("needs"), True) or "!cancelled()" in job.get("if", "")
            results[name] = needed and steps.run(job["steps"])
            printed += steps.printed
        return results, printed, work / "checkout"


class Steps:
    """The steps of a job."""

    def __init__(self, runner, work, reference, event, environment, job):
        self.runner, self.work, self.reference, self.environment = runner, work, reference, environment
        self.checkout, self.printed = work / "checkout", ""
        (work / "event.json").write_text(json.dumps(event))
        run = event.get("workflow_run", {}).get("id", "")
        self.context = {"github.token": TOKEN, "github.job": job, "github.event.workflow_run.id": run}
        self.context |= {"github.ref_name": "main", "github.run_id": runner.runs, "github.action_path": ROOT}

    def run(self, steps):
        succeeded = True
        for step in steps:
            condition = step.get("if", "")
            if not succeeded and "!cancelled()" not in condition and "always()" not in condition:
                continue
            if step.get("name") == "Install Lapwing" or not self.holds(condition):
                continue
            if "uses" in step:
                succeeded = self.use(step["uses"].partition("@")[0], step.get("with", {})) and succeeded
            elif not self.shell(step):
                succeeded = False
        return succeeded

    def holds(self, condition):
        """Returns whether the comparisons of a condition with texts hold."""
        found = re.findall(r"([\w.]+) (==|!=) '(.*?)'", condition)
        return all((str(self.context[name]) == text) == (sign == "==") for name, sign, text in found if name in self.context)

    def use(self, action, options):
        if action == "your/lapwing":
            return self.composite(options)
        self.use_known(action, options)
        return True

    def composite(self, options):
        """Runs the steps of our own action."""
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        unknown = set(options) - set(action["inputs"])
        assert not unknown, unknown
        inputs = {name: str(options.get(name, it.get("default"))) for name, it in action["inputs"].items()}
        self.context |= {f"inputs.{name}": value for name, value in inputs.items()}
        self.checkout.mkdir(exist_ok=True)
        return self.run(action["runs"]["steps"])

    def use_known(self, action, options):
        path = self.checkout / options.get("path", "")
        match action:
            case "actions/checkout":
                assert options["persist-credentials"] is False
                git(self.work, "clone", "--quiet", self.runner.origin, "checkout")
                git(self.checkout, "fetch", "--quiet", "origin", self.reference)
                git(self.checkout, "checkout", "--quiet", "FETCH_HEAD")
            case "actions/upload-artifact":
                target = self.runner.artifacts / self.value(options["name"])
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(path, target) if path.is_dir() else copy(path, target / path.name)
            case "actions/download-artifact" if "pattern" in options:
                for artifact in self.runner.artifacts.glob(options["pattern"]):
                    shutil.copytree(artifact, path / artifact.name)
            case "actions/download-artifact":
                shutil.copytree(self.runner.artifacts / options["name"], path)
            case "actions/cache" | "actions/cache/restore" | "actions/cache/save":
                kept = self.runner.folder / "cache" / path.name
                source, target = (path, kept) if action.endswith("save") else (kept, path)
                if source.is_dir():
                    shutil.copytree(source, target, dirs_exist_ok=True)
            case "actions/upload-pages-artifact":
                assert path.is_dir()
            case "actions/deploy-pages":
                pass
            case _:
                raise ValueError(f"{action} is unknown here")

    def shell(self, step):
        environment = {**self.environment, **step.get("env", {})}
        environment = {name: self.value(value) for name, value in environment.items()}
        assert "${{" not in step["run"], "values go through the environment, not into the shell's text"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-c", step["run"]],
            cwd=self.checkout,
            env={
                "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
                "HOME": str(self.work),
                "GITHUB_API_URL": self.runner.github.url,
                "GITHUB_SERVER_URL": "https://github.example",
                "GITHUB_REPOSITORY": "owner/words",
                "GITHUB_RUN_ID": str(self.runner.runs),
                "GITHUB_SHA": "0123",
                "GITHUB_EVENT_PATH": str(self.work / "event.json"),
                "GITHUB_STEP_SUMMARY": str(self.work / "summary.md"),
                "RUNNER_TEMP": str(self.work),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        self.printed += f"{step['run']}\n{done.stdout}\nexit {done.returncode}\n"
        return done.returncode == 0

    def value(self, text):
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: str(self.context[found[1]]), str(text))


def copy(source, target):
    target.parent.mkdir(parents=True)
    shutil.copy(source, target)


def git(folder, *arguments):
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    return subprocess.check_output(["git", *person, *arguments], cwd=folder, text=True).strip()


def lapwing(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout


SUITE = """
suite = "words"
[defaults]
instances = 1
iterations = 1
burn_in = 0
[benchmark.join]
command = "sh bench.sh join"
metrics = "json"
[benchmark.sort]
command = "sh bench.sh sort"
metrics = "json"
"""
# A time that depends on the source alone, with a little noise from the number of the process.
BENCH = """awk -v time="$(cat $1.txt)" -v noise=$(($$ % 7)) \
'BEGIN { printf "{\\"wall_time\\": %.4f}\\n", time * (0.997 + noise / 1000) }'
"""


@pytest.fixture
def github():
    github = GitHub()
    yield github
    github.server.shutdown()


def make_origin(folder, files):
    """Makes a repository with a suite, in which the templates are installed."""
    folder = folder / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / ".gitignore").write_text(".lapwing\n")
    copy(TEMPLATES / "lapwing_github.py", folder / ".github/lapwing_github.py")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "config", "receive.denyCurrentBranch", "ignore")
    return folder


@pytest.fixture
def origin(tmp_path):
    return make_origin(tmp_path, {"lapwing.toml": SUITE, "bench.sh": BENCH, "join.txt": "1.2\n", "sort.txt": "0.5\n"})


@pytest.fixture
def runner(tmp_path, origin, github):
    return Runner(tmp_path, origin, github)
