"""Hooks that a project may implement in its conftest.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


@pytest.hookspec
def pytest_lapwing_metrics(config: pytest.Config) -> Mapping[str, Any]:  # type: ignore[empty-body]
    """Return the metrics that benchmarks record: name to `(unit, better)`, such as `{"rows": ("1", "higher")}`."""
