"""The time limit of pytest-timeout: it applies to a whole item, and is restarted for each iteration here.

Its hooks are used as its documentation has them; where the plugin is absent, nothing of this happens.
"""

from __future__ import annotations

from typing import Any

import pytest

SETTINGS = pytest.StashKey[Any]()
"""What an item's timer was set to."""


class Timers:
    """Records the timers that are set."""

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> None:
        """Keeps what an item's timer is set to."""
        item.stash[SETTINGS] = settings


def limit(item: pytest.Item) -> float | None:
    """Returns an item's limit in seconds; None if pytest-timeout before 2.0 did not provide it."""
    settings = item.stash.get(SETTINGS, None)
    return None if settings is None else float(settings.timeout)


def is_for_the_function_only(item: pytest.Item) -> bool:
    """Returns whether an item's limit excludes fixtures."""
    return bool(getattr(item.stash.get(SETTINGS, None), "func_only", False))


def begin_iteration(item: pytest.Item) -> None:
    """Restarts the time limit for an iteration."""
    # One of the function alone is set with each call anyway.
    if SETTINGS in item.stash and not is_for_the_function_only(item):
        _begin_anew(item)


def begin_round(item: pytest.Item) -> None:
    """Restarts the time limit for a round of `benchmark`."""
    if SETTINGS in item.stash:
        _begin_anew(item)


def _begin_anew(item: pytest.Item) -> None:
    item.ihook.pytest_timeout_cancel_timer(item=item)
    item.ihook.pytest_timeout_set_timer(item=item, settings=item.stash[SETTINGS])


def has_raised(error: BaseException | None) -> bool:
    """Returns whether an error is the end of a time limit of pytest-timeout."""
    trace = error.__traceback__ if isinstance(error, pytest.fail.Exception) else None
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == "pytest_timeout":
            return True
        trace = trace.tb_next
    return False
