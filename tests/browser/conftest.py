"""Reports under test, and a browser.

Environment variables:
  LAPWING                  the program; its own report of real commands is tested too
  LAPWING_REPORT_FIXTURE   the program that writes the report of synthetic measurements;
                           without it, cargo runs the example `report_fixture`
  CHROMIUM                 the browser (default: /usr/bin/chromium)
"""

import base64
import itertools
import json
import os
import pathlib
import re
import subprocess
import zlib

import needs
import pytest
from playwright.sync_api import sync_playwright

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The directory of a report of synthetic measurements."""
    directory = tmp_path_factory.mktemp("made-up") / "report"
    built = os.environ.get("LAPWING_REPORT_FIXTURE")
    program = [built] if built else ["cargo", "run", "--quiet", "-p", "lapwing-show", "--example", "report_fixture", "--"]
    subprocess.run([*program, directory], cwd=REPOSITORY, check=True)
    return directory


@pytest.fixture(scope="session")
def program():
    """The path of the program."""
    return os.environ.get("LAPWING") or needs.skip_or_fail("no program", "name it in LAPWING")


@pytest.fixture(scope="session")
def measured_report(program, tmp_path_factory):
    """The directory of a report of commands that the program has just measured."""
    work = tmp_path_factory.mktemp("measured")
    store = ["--store", str(work / "store.db")]
    measure = ["run", "--instances", "3", "--iterations", "3", "--burn-in", "1", "--command", "true", "--command", "exit 3"]
    subprocess.run([program, *store, *measure], cwd=work, check=False, capture_output=True)
    subprocess.run([program, *store, "report", "-o", str(work / "report")], cwd=work, check=True, capture_output=True)
    return work / "report"


def data_of(file):
    """Returns the entries of a data file of a report."""
    (content,) = re.fullmatch(r'lapwing\.register\("[^"]+","([^"]+)"\);\n', file.read_text()).groups()
    return json.loads(zlib.decompress(base64.b64decode(content)))


class Records:
    """Records of version 1, and a report of them."""

    def __init__(self, program, work):
        self._program = program
        self._work = work
        self._lines = []
        self._number = itertools.count()

    def _write(self, kind, **fields):
        self._lines.append(json.dumps({"v": 1, "kind": kind, **fields}))

    def record(self, kind, **fields):
        """Writes a record and returns its id."""
        id_ = f"01930000-0000-7000-8000-{next(self._number):012d}"
        self._write(kind, id=id_, **fields)
        return id_

    def instance(self, run, benchmark, values):
        """Writes an instance of one iteration."""
        instance = self.record("instance", run=run, benchmark=benchmark)
        self._write("iteration", instance=instance, index=0, metrics=values)
        self._write("instance_end", instance=instance)

    def report(self):
        """Returns the directory of the report."""
        (self._work / "all.jsonl").write_text("\n".join(self._lines) + "\n")
        for arguments in [["import", "all.jsonl"], ["report", "-o", "report"]]:
            subprocess.run([self._program, "--store", "s.db", *arguments], cwd=self._work, check=True, capture_output=True)
        return self._work / "report"


@pytest.fixture(scope="session")
def new_records(program, tmp_path_factory):
    """Creates empty records."""
    return lambda: Records(program, tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


class Visit:
    """An open page, its warnings and errors, and its requests."""

    def __init__(self, context):
        self.page = context.new_page()
        self.complaints = []
        self.requests = []
        self.page.on("console", lambda it: it.type in ("error", "warning") and self.complaints.append(it.text))
        self.page.on("pageerror", lambda it: self.complaints.append(str(it)))
        self.page.on("dialog", lambda it: (self.complaints.append(f"dialog {it.message}"), it.dismiss()))
        self.page.on("request", lambda it: self.requests.append(it.url))


@pytest.fixture
def visit(chromium):
    """Opens a file in a new browser context; checks afterwards that it had no errors and sent no request."""
    visits = []

    def open_file(path, fragment="", width=1280, height=900, dark=False, script=True):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            accept_downloads=True,
        )
        visited = Visit(context)
        visits.append((context, visited))
        visited.page.goto(path.as_uri() + fragment)
        return visited.page

    yield open_file
    for context, visited in visits:
        assert visited.complaints == []
        outside = [url for url in visited.requests if not url.startswith(("file://", "data:", "blob:"))]
        assert outside == []
        context.close()


@pytest.fixture
def page_of(report):
    """Finds the page of a benchmark by the start of its file name."""

    def find(beginning):
        found = sorted((report / "benchmark").glob(f"{beginning}*.html"))
        assert len(found) == 1, found
        return found[0]

    return find
