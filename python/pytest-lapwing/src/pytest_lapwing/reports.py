"""Reports of a benchmark to pytest: one per phase, as for a test that is executed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

PASSED_AGAINST_EXPECTATION = "[XPASS(strict)]"


@dataclass
class Reports:
    """The reports of one iteration."""

    burn_in: bool
    setup: pytest.TestReport
    call: pytest.TestReport | None = None
    teardown: pytest.TestReport | None = None

    @property
    def failed(self) -> bool:
        """Whether set-up or call failed."""
        return self.setup.failed or (self.call is not None and self.call.failed)

    @property
    def passed(self) -> bool:
        """Whether set-up and call passed."""
        return self.setup.passed and self.call is not None and self.call.passed

    @property
    def xfail(self) -> str | None:
        """Why it was expected to fail, if it was."""
        for report in (self.call, self.setup):
            if report is not None and hasattr(report, "wasxfail"):
                return report.wasxfail or "xfail"
        # One that passes although it must not is told as a failure, whose text is all that says why.
        text = self.call.longrepr if self.call is not None else None
        if isinstance(text, str) and text.startswith(PASSED_AGAINST_EXPECTATION):
            return text[len(PASSED_AGAINST_EXPECTATION) :].strip() or "xfail"
        return None


@dataclass
class AllReports:
    """The reports of all iterations of an item."""

    item: pytest.Item
    iterations: list[Reports] = field(default_factory=list)

    def log_setup_and_call(self, *, several: bool) -> None:
        """Reports the iteration that tells most: the first measured one that did not pass, else the last."""
        shown = self._shown()
        for when in ("setup", "call"):
            report = getattr(shown, when)
            if report is None:
                continue
            _add_up(report, [getattr(it, when) for it in self.iterations])
            if report.failed and several:
                number, failed = self.iterations.index(shown) + 1, sum(it.failed for it in self.iterations)
                text = f"iteration {number} of {len(self.iterations)}, {failed} failed"
                report.sections.append(("lapwing", text))
            self.item.ihook.pytest_runtest_logreport(report=report)

    def log_teardown(self) -> None:
        """Reports the first teardown that failed, else the last."""
        reports = [it.teardown for it in self.iterations if it.teardown is not None]
        shown = next((it for it in reports if it.failed), reports[-1])
        _add_up(shown, reports)
        self.item.ihook.pytest_runtest_logreport(report=shown)

    def _shown(self) -> Reports:
        counted = [it for it in self.iterations if not it.burn_in] or self.iterations
        failed = [it for it in counted if it.failed]
        other = [it for it in counted if not it.passed]
        return (failed or other or counted[-1:])[0]


def _add_up(shown: pytest.TestReport, reports: Sequence[pytest.TestReport | None]) -> None:
    """Gives a report the total time of all iterations."""
    there = [it for it in reports if it is not None]
    duration = sum(it.duration for it in there)
    start, stop = min(it.start for it in there), max(it.stop for it in there)
    shown.duration, shown.start, shown.stop = duration, start, stop
