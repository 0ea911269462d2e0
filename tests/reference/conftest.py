"""A fresh store for each test."""

import pytest
from store import PROGRAM, Store

pytest.register_assert_rewrite("compare")


def pytest_configure():
    if not PROGRAM.is_file():
        pytest.exit(f"{PROGRAM} is not there: build it first, or say in LAPWING where it is", returncode=2)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lapwing.db")
