"""Tests that request `benchmark` only during execution, usually by `request.getfixturevalue`.

What pytest knows of a test beforehand says nothing of it then. So the rules hold from the moment in which the fixture
is made: its rounds are the iterations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from . import benchmark_fixture, options, stand_in, stand_in_options
from .recorder import Recorder
from .visit import VISIT, AskedTooLate, Plan, Visit


class Late:
    """The hooks."""

    def __init__(self, recorder: Recorder, *, keep_gc: bool) -> None:
        self._recorder = recorder
        self._keep_gc = keep_gc
        self._process = os.getpid()

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
        """Has the visit under way heed a `benchmark` that is about to be made."""
        item = request.node
        if not isinstance(item, pytest.Function):
            return
        visit = item.stash.get(VISIT, None)
        if benchmark_fixture.is_of(fixturedef, stand_in.__name__):
            if stand_in_options.is_off(item.config):
                if visit is not None:
                    visit.record_nothing("benchmarks are skipped or disabled by an option of pytest-benchmark")
            elif visit is not None:
                try:
                    visit.leave_it_to_rounds()
                except AskedTooLate as error:
                    # As pytest itself keeps what a fixture raised: without it, nothing would tear the fixture down.
                    fixturedef.cached_result = (None, fixturedef.cache_key(request), (error, error.__traceback__))
                    raise
            elif os.getpid() == self._process:
                self._begin(item)

    def _begin(self, item: pytest.Function) -> None:
        """Begins a visit to a test that was not known to be a benchmark."""
        settings = options.settings(item.config, item, only_by_fixture=True)
        plan = Plan(settings, repeats_itself=True, may_surprise=True)
        visit = item.stash[VISIT] = Visit(item, None, plan, self._recorder, keep_gc=self._keep_gc)
        visit.begin_late()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Forgets a visit that began late: whoever executes the test once more begins another."""
        try:
            return (yield)
        finally:
            visit = item.stash.get(VISIT, None)
            if visit is not None and visit.began_late:
                del item.stash[VISIT]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Ends a visit that began late and was interrupted."""
        try:
            return (yield)
        finally:
            visit = item.stash.get(VISIT, None)
            if visit is not None and visit.began_late:
                visit.leave()
                del item.stash[VISIT]
