"""Runs made-up suites with the plugin and reads what it recorded."""

import json
import os
import pathlib

import pytest

pytest_plugins = ["pytester"]


class Records:
    """What a record file holds."""

    def __init__(self, *paths):
        self.lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
        assert all(line["v"] == 1 for line in self.lines)

    def of(self, kind):
        return [line for line in self.lines if line["kind"] == kind]

    def instance(self, name):
        """The instance of the benchmark whose id ends so."""
        (found,) = [it for it in self.of("instance") if it["benchmark"]["id"].endswith(name)]
        return found

    def iterations(self, name):
        id = self.instance(name)["id"]
        return [it for it in self.of("iteration") if it["instance"] == id]

    def end(self, name):
        id = self.instance(name)["id"]
        (found,) = [it for it in self.of("instance_end") if it["instance"] == id]
        return found

    def outcomes(self, name):
        return [it["outcome"] for it in self.iterations(name)]


class Suite:
    """A made-up suite."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path
        self.output = pytester.path / "records.jsonl"
        self.result = None

    def write(self, text, name="test_it"):
        self.pytester.makepyfile(**{name: text})
        return self

    def ini(self, *lines):
        text = "\n".join(["[pytest]", "asyncio_default_fixture_loop_scope = function", *lines])
        (self.path / "pytest.ini").write_text(text + "\n")
        return self

    def run(self, *options):
        """Runs it with recording, and returns the records."""
        self.output.unlink(missing_ok=True)
        arguments = ["--lapwing", "--lapwing-output", self.output.name, "-p", "no:cacheprovider", *options]
        self.result = self.pytester.runpytest_inprocess(*arguments)
        return Records(self.output) if self.output.exists() else None

    def passes(self, *options, **counts):
        """Runs it with recording, checks what pytest says, and returns the records."""
        records = self.run(*options)
        self.result.assert_outcomes(**(counts or {"passed": 1}))
        return records


@pytest.fixture
def suite(pytester, monkeypatch):
    # How many iterations there are must not depend on how fast the machine is.
    monkeypatch.setattr("pytest_lapwing.options.MORE_TIME", 0.0)
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "PYTEST_XDIST", "LAPWING_SESSION")):
            monkeypatch.delenv(name)
    return Suite(pytester).ini()


@pytest.fixture
def lapwing():
    """The program, which reads what the plugin writes."""
    program = os.environ.get("LAPWING")
    if not program:
        pytest.skip("LAPWING does not name the program: imports are not checked")
    assert pathlib.Path(program).is_file(), f"LAPWING names no program: {program}"
    return program


@pytest.fixture
def lapwing_or_none():
    """The program, for tests that check something without it too."""
    return os.environ.get("LAPWING")


class Clock:
    """A clock that stands still until it is moved: `timing.clock.sleep(seconds)` in a made-up suite."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += round(seconds * 1e9)


@pytest.fixture
def clock(monkeypatch):
    """Has what measures look at a clock that tests move."""
    monkeypatch.setattr("pytest_lapwing.timing.clock", Clock())
