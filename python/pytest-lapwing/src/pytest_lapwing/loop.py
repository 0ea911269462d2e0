"""Executes a benchmark several times within one pytest item, and records each time.

An item is one instance. Each iteration is a full set-up, call and teardown of what has function scope; what has a
wider scope stays until the last iteration, whose teardown is told the true next item. pytest gets one
report for each phase of an item, as it does of a test that is executed once.
"""

from __future__ import annotations

from typing import Any

import pytest

from .recorder import Recorder
from .visit import PLAN, VISIT, NextIteration, Visit


class Loop:
    """The hooks. Registered last, so that it goes before other plugins that execute items."""

    def __init__(self, recorder: Recorder, *, keep_gc: bool) -> None:
        self._recorder = recorder
        self._keep_gc = keep_gc

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        plan = item.stash.get(PLAN, None)
        if plan is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        visit = item.stash[VISIT] = Visit(item, nextitem, plan, self._recorder, keep_gc=self._keep_gc)
        try:
            visit.run()
        finally:
            visit.leave()
            del item.stash[VISIT]
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Any:
        visit = item.stash.get(VISIT, None)
        if visit is None:
            return (yield)
        with visit.limited():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        visit = item.stash.get(VISIT, None)
        if visit is not None:
            visit.before_call()

    @pytest.hookimpl(wrapper=True, specname="pytest_runtest_call")
    def pytest_runtest_call_over(self, item: pytest.Item) -> Any:
        result = yield
        visit = item.stash.get(VISIT, None)
        if visit is not None:
            visit.after_call()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        visit = item.stash.get(VISIT, None)
        if visit is not None and call.excinfo is not None:
            visit.raised[call.when] = call.excinfo.value
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        visit = item.stash.get(VISIT, None)
        if visit is None:
            return
        if isinstance(nextitem, NextIteration):
            # Nothing is left to pytest itself.
            visit.tear_down(nextitem)
            return
        if visit.began_late:
            visit.judge_call()
        # The last iteration: it is over, and recorded, before what has a wider scope is torn down.
        try:
            visit.tear_down(NextIteration(item))
        except BaseException as error:
            visit.finish_iteration(error, last=True)
            visit.tear_down(nextitem)
            raise
        visit.finish_iteration(None, last=True)
        visit.tear_down(nextitem)
