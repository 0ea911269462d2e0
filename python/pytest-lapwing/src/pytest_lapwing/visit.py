"""One visit to a benchmark: an instance, whose iterations are executed within one pytest item."""

from __future__ import annotations

import inspect
import time
import unittest
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from _pytest.runner import call_and_report

from . import describe, foreign_timeout, options
from .measurement import Measurement
from .observe import Snapshot, observed
from .options import Settings
from .outcomes import one_line, skip_reason, traceback_text
from .recorder import InstanceRecorder, Recorder
from .reports import AllReports, Reports
from .timing import Alarm, Stopwatch, TimeLimitExceeded


@dataclass
class Plan:
    """How an item is measured."""

    settings: Settings
    # `benchmark` of pytest-benchmark repeats by itself, within one execution of the test.
    repeats_itself: bool = False
    # An instance is written with its first iteration where that may bring metrics that nobody declared, or may show
    # that the test is none that can be recorded.
    may_surprise: bool = False

    @property
    def total(self) -> int:
        """Iterations in all."""
        return 1 if self.repeats_itself else self.settings.burn_in + self.settings.iterations


LEAST_AROUND = 60.0
"""Set-up and teardown have the benchmark's limit too, but no less than so many seconds.

A cluster takes a while to start, however short what is measured on it.
"""

PLAN = pytest.StashKey[Plan]()
VISIT = pytest.StashKey["Visit"]()
"""The current visit to an item."""


class AskedTooLate(Exception):
    """A test asked for the fixture `benchmark`, and executions of it had been recorded as its iterations."""


class NextIteration:
    """Stands for the next iteration as pytest's next item: another test with the same parents."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def __getattr__(self, name: str) -> Any:
        return getattr(self._item, name)

    def listchain(self) -> list[Any]:
        """Returns the item's parents and itself."""
        return [*self._item.listchain()[:-1], self]


class Visit:
    """One visit to a benchmark: an instance."""

    def __init__(
        self,
        item: pytest.Function,
        nextitem: pytest.Item | None,
        plan: Plan,
        recorder: Recorder,
        *,
        keep_gc: bool,
    ) -> None:
        self.item = item
        self.plan = plan
        self.recorder = recorder
        self.keep_gc = keep_gc
        self.raised: dict[str, BaseException] = {}
        self.measurement = Measurement(recorder.metrics)
        self.stopwatch: Stopwatch | None = None
        self.observed: dict[str, Any] = {}
        # Whether the test uses `benchmark`, of whichever plugin: its wall time is that of rounds.
        self.uses_benchmark = plan.repeats_itself
        # Whether the test was under way already when it turned out to be a benchmark.
        self.began_late = False
        self._before = Snapshot()
        self.instance: InstanceRecorder = recorder.begin(
            describe.benchmark(item), self._attributes(), waits=plan.may_surprise
        )
        self._nextitem = nextitem
        self._function: Any = None
        self._failures = 0
        self._offset = 0.0
        self._over = False
        self._ended_by: tuple[str, str] | None = None
        self._reports = AllReports(item)
        self._own_sections = len(item._report_sections)
        self._outcome: tuple[str, str | None] = ("ok", None)
        # The limit that ended the function, and nothing else beside it.
        self._limit: float | None = None

    def _attributes(self) -> dict[str, Any]:
        source = describe.source(self.item)
        return {"source": source} if source else {}

    @property
    def burn_in(self) -> bool:
        """Whether the current iteration is burn-in."""
        return not self.plan.repeats_itself and len(self._reports.iterations) < self.plan.settings.burn_in

    def run(self) -> None:
        """Executes iterations until none is left, or the benchmark is abandoned."""
        while not self._over:
            self._iteration()
        self._reports.log_teardown()

    def _iteration(self) -> None:
        item = self.item
        self._begin_iteration()
        try:
            reports = Reports(self.burn_in, call_and_report(item, "setup", log=False))
            if reports.setup.passed:
                reports.call = call_and_report(item, "call", log=False)
            self._restore_function()
            self.judge_call()
            self._reports.iterations.append(reports)
            last = self._is_last()
            nextitem: Any = NextIteration(item)
            if last:
                self._reports.log_setup_and_call(several=self.plan.total > 1)
                # As pytest itself does it, so that nothing of a session that stops is left behind.
                stops = item.session.shouldfail or item.session.shouldstop
                nextitem = None if stops else self._nextitem
            reports.teardown = call_and_report(item, "teardown", log=False, nextitem=nextitem)
            if last:
                self._over = True
                return
            self.finish_iteration(self.raised.get("teardown"), last=False)
            if self._given_up():
                # What has function scope failed to be torn down once too often.
                self._over = True
                self._reports.log_setup_and_call(several=self.plan.total > 1)
                self._tear_down_the_rest()
        finally:
            self._restore_function()
            # As pytest itself does it after an item.
            item._request = False
            item.funcargs = None

    def tear_down(self, nextitem: Any) -> None:
        """Tears down what the next item does not need."""
        with self.limited():
            self.item.session._setupstate.teardown_exact(nextitem)

    def _tear_down_the_rest(self) -> None:
        """Tears down what has a wider scope and was kept for an iteration that does not come."""
        call = pytest.CallInfo.from_call(
            lambda: self.tear_down(self._nextitem), "teardown", reraise=(pytest.exit.Exception, KeyboardInterrupt)
        )
        if call.excinfo is not None:
            report = self.item.ihook.pytest_runtest_makereport(item=self.item, call=call)
            self._reports.iterations[-1].teardown = report

    def _begin_iteration(self) -> None:
        item = self.item
        if self._reports.iterations or not item._request:
            item._initrequest()
        if self._reports.iterations:
            foreign_timeout.begin_iteration(item)
            _forget_class_instance(item)
            del item._report_sections[self._own_sections :]
        self.raised.clear()
        self.measurement = Measurement(self.recorder.metrics)
        self.stopwatch = None
        self._offset = self.since_start()

    def begin_late(self) -> None:
        """Begins the only iteration of a test that is under way already."""
        self.began_late = True
        self._begin_iteration()

    def leave_it_to_rounds(self) -> None:
        """From now on the rounds of `benchmark` are the iterations, and what executes the test is none.

        Raises AskedTooLate where earlier executions were recorded as iterations.
        """
        if self.plan.repeats_itself:
            return
        if self._reports.iterations:
            raise AskedTooLate("`benchmark` must be requested in the first iteration of a test, too")
        self.uses_benchmark = True
        self.plan = replace(self.plan, repeats_itself=True, may_surprise=True)
        if self.stopwatch is not None:
            # The limit is that of a round now.
            self.stopwatch.alarm.disarm()
            self.stopwatch = None

    def record_nothing(self, reason: str) -> None:
        """Stops recording the current and all further iterations."""
        self._ended_by = ("skipped", reason)
        self.instance.drop()

    def since_start(self) -> float:
        """Returns the seconds since the instance began."""
        return time.perf_counter() - self.instance.begun

    def before_call(self) -> None:
        """Wraps the test's function for timing; the last step before pytest calls it."""
        self.stopwatch = self.new_stopwatch()
        if not self.stopwatch.alarm.can_hold:
            self.measurement.attributes["time_limit"] = "not held: not in the main thread"
            warnings.warn(
                pytest.PytestWarning(f"{self.item.nodeid}: the time limit only works in the main thread"),
                stacklevel=2,
            )
        if self.plan.repeats_itself:
            return
        self._function = self.item.obj
        self.item.obj = timed = self.stopwatch.timed(self._function)
        test_case = getattr(self.item, "instance", None)
        if isinstance(test_case, unittest.TestCase) and inspect.iscoroutinefunction(timed):
            # unittest itself looks up what it awaits, in an object that serves this iteration only.
            setattr(test_case, self.item.name, timed)

    def after_call(self) -> None:
        """Raises TimeLimitExceeded where the limit ended what ran, and the test went on as if nothing were."""
        if self.stopwatch is not None and self.stopwatch.alarm.rang:
            raise self.stopwatch.alarm.error()

    def new_stopwatch(self) -> Stopwatch:
        """Returns a stopwatch with the benchmark's limit."""
        return Stopwatch(limit=self.plan.settings.time_limit, keep_gc=self.keep_gc)

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Raises in set-up or teardown if it takes too long."""
        limit = self.plan.settings.time_limit
        with Alarm(None if limit is None else max(limit, LEAST_AROUND)).armed():
            yield

    def _restore_function(self) -> None:
        if self._function is not None:
            self.item.obj = self._function
            self._function = None

    def judge_call(self) -> None:
        """Determines the outcome of set-up and call."""
        limit = self.plan.settings.time_limit
        setup, call = self.raised.get("setup"), self.raised.get("call")
        skipped = skip_reason(setup) or skip_reason(call)
        self._limit = None
        if skipped is not None:
            self._ended_by = ("skipped", skipped)
        elif isinstance(setup, TimeLimitExceeded) or foreign_timeout.has_raised(setup):
            self._outcome = ("timed_out", f"setup: {setup}")
        elif setup is not None:
            self._outcome = ("failed", f"setup: {one_line(setup)}")
        elif self.stopwatch is not None and self.stopwatch.alarm.rang:
            self._outcome = ("timed_out", f"took longer than the time limit of {limit:g} s")
            self._limit = limit
        elif foreign_timeout.has_raised(call):
            self._outcome = ("timed_out", str(call))
            if foreign_timeout.is_for_the_function_only(self.item):
                self._limit = foreign_timeout.limit(self.item)
        elif call is not None:
            self._outcome = ("failed", one_line(call))
        else:
            self._outcome = ("ok", None)
        if setup is None and call is not None and skipped is None:
            self.measurement.attributes["traceback"] = traceback_text(call)
        if self._outcome[0] != "ok" and self._ended_by is None:
            self._failures += 1

    def _given_up(self) -> bool:
        limit = self.plan.settings.max_failures
        return 0 < limit <= self._failures

    def _is_last(self) -> bool:
        session = self.item.session
        stops = bool(session.shouldfail or session.shouldstop)
        many = len(self._reports.iterations)
        planned = many >= self.plan.total and not self._has_time_for_more(many)
        return planned or stops or self._ended_by is not None or self._given_up()

    def _has_time_for_more(self, many: int) -> bool:
        settings = self.plan.settings
        is_quick = self.since_start() < settings.max_time and many < settings.burn_in + options.MOST_ITERATIONS
        return is_quick and not self.plan.repeats_itself and self._failures == 0

    def finish_iteration(self, teardown: BaseException | None, *, last: bool) -> None:
        """Records the iteration, whose function-level fixtures are torn down, and the instance's end after the last."""
        if self._ended_by is None and self._outcome[0] == "ok":
            if teardown is None:
                self._failures = 0
            else:
                self._outcome = ("failed", f"teardown: {one_line(teardown)}")
                self._failures += 1
        if self._ended_by is None:
            if self.plan.repeats_itself:
                self._record_the_rest()
            else:
                self._record()
        if last or self._given_up():
            self._end()

    def _record(self) -> None:
        measured, (outcome, message) = self.measurement, self._outcome
        metrics: dict[str, float | None] = dict(measured.metrics)
        if outcome == "timed_out" and self._limit is not None:
            metrics["wall_time"] = self._limit
        elif outcome != "ok" and not (message or "").startswith("teardown: "):
            metrics.pop("wall_time", None)
            metrics.pop("process_time", None)
        elif not measured.times_itself and "wall_time" not in metrics:
            metrics["wall_time"] = self._wall_time()
            if self.stopwatch is not None and self.stopwatch.computed is not None:
                metrics["process_time"] = self.stopwatch.computed
        xfail = self._reports.iterations[-1].xfail
        if xfail is not None:
            measured.attributes["xfail"] = xfail
        self.instance.iteration(
            self._named(metrics),
            declared=measured.new,
            offset=self._offset,
            burn_in=self._reports.iterations[-1].burn_in,
            outcome=outcome,
            message=message,
            attributes=measured.attributes,
            artifacts=measured.artifacts,
            spans=measured.spans,
        )

    def _named(self, metrics: Mapping[str, float | None]) -> Mapping[str, float | None]:
        """Returns metrics with a name of its own for the time of blocks that is not that of rounds."""
        if not self.uses_benchmark:
            return metrics
        named = {"benchmark_time" if name == "wall_time" else name: value for name, value in metrics.items()}
        named.pop("process_time", None)
        return named

    def _wall_time(self) -> float | None:
        if self.stopwatch is not None and self.stopwatch.elapsed is not None:
            return self.stopwatch.elapsed / 1e9
        call = self._reports.iterations[-1].call
        if call is None:
            return None
        # Another plugin executes the test in its own way, and the function was never called by its item's name.
        self.measurement.attributes["timed"] = "the whole call phase"
        return call.duration

    def _record_the_rest(self) -> None:
        """Records what fixtures measured around all rounds, as one more iteration."""
        measured = self.measurement
        if measured.metrics or measured.artifacts or measured.spans:
            attributes = {**measured.attributes, "rounds": "all"}
            self.instance.iteration(
                self._named(measured.metrics),
                declared=measured.new,
                attributes=attributes,
                artifacts=measured.artifacts,
                spans=measured.spans,
            )

    def _end(self) -> None:
        if self._ended_by is not None:
            outcome, message = self._ended_by
        elif self._given_up():
            many = self._failures
            outcome, message = "failed", f"{many} iteration{'s' if many > 1 else ''} failed in a row"
        elif self.plan.repeats_itself:
            outcome, message = self._outcome[0], self._outcome[1] or ""
        else:
            outcome, message = "ok", ""
        observed = self._observed()
        if self.plan.repeats_itself and outcome in ("failed", "timed_out") and not self.instance.failures:
            why = self._outcome[1] or message
            if not self.instance.index:
                self.instance.iteration({}, outcome=outcome, message=why)
            # Rounds that went well are worth nothing where the test finds afterwards that they did the wrong thing.
            observed["void"] = why
        self.instance.end(outcome, message, observed)

    def leave(self) -> None:
        """Ends an interrupted instance."""
        self._restore_function()
        if not self.instance.ended:
            self.instance.end("lost", "interrupted", self._observed())

    def _observed(self) -> dict[str, Any]:
        return {**observed(self._before, Snapshot()), **self.observed}


def _forget_class_instance(item: pytest.Function) -> None:
    """Has the next iteration of a method get an object of its own, as another test would."""
    if getattr(item, "cls", None) is None or not hasattr(item.cls, getattr(item, "originalname", None) or ""):
        return
    item.__dict__.pop("_instance", None)
    item._obj = None  # type: ignore[attr-defined]
