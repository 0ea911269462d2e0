"""Where the reference data is, and a fresh store for whoever asks."""

import pytest
from catalogue import DATA, MISSING
from store import PROGRAM, Store

pytest.register_assert_rewrite("compare")


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} is not there: build it first, or say in LAPWING where it is", returncode=2)


def pytest_terminal_summary(terminalreporter):
    if not DATA.is_dir():
        terminalreporter.section("NOTHING WAS COMPARED WITH REAL FILES", red=True, bold=True)
        terminalreporter.line(MISSING)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lapwing.db")
