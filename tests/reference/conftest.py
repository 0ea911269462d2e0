"""A fresh store for each test."""

import pytest
from store import PROGRAM, Store

pytest.register_assert_rewrite("compare")


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} not found: build it first, or name it in LAPWING", returncode=2)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lapwing.db")
