"""Times one call of a function: only the call, with the garbage collector off, within a time limit."""

from __future__ import annotations

import functools
import gc
import inspect
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any, Callable

try:
    import resource
except ImportError:  # Not on Windows.
    resource = None  # type: ignore[assignment]

clock = time.perf_counter_ns


def processor_time() -> float:
    """Returns the seconds of processor time of this process, and of the children that it has waited for."""
    children = 0.0
    if resource is not None:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        children = usage.ru_utime + usage.ru_stime
    return time.process_time() + children


class TimeLimitExceeded(TimeoutError):
    """A benchmark took longer than its time limit."""


class Alarm:
    """Ends code that runs longer than a limit, by SIGALRM. It only works in the main thread."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.rang = False
        # Called instead of raising, where an event loop waits and must not be torn apart.
        self.interrupt: Callable[[FrameType | None], bool] | None = None
        self._armed = False
        # What was set before: handler, seconds left, interval, and when that was.
        self._others: tuple[Any, float, float, float] = (None, 0.0, 0.0, 0.0)

    @property
    def can_hold(self) -> bool:
        """Whether the limit, if there is one, can be enforced here."""
        main = threading.current_thread() is threading.main_thread()
        return self.limit is None or (main and hasattr(signal, "setitimer"))

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Raises TimeLimitExceeded in the body if it takes too long.

        An alarm that somebody else has set is put off, or left alone if it rings sooner.
        """
        if self.limit is None or not self.can_hold:
            yield
            return
        remaining, interval = signal.getitimer(signal.ITIMER_REAL)
        if 0 < remaining <= self.limit:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        self._others = (signal.SIG_DFL if before is None else before, remaining, interval, time.monotonic())
        try:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self.limit)
            yield
        finally:
            # It may ring at this very moment still.
            try:
                self._armed = False
            finally:
                self._put_back()

    def disarm(self) -> None:
        """Removes the limit from the running body."""
        if self._armed:
            self._armed = False
            self._put_back()

    def _put_back(self) -> None:
        """Gives the signal back, unless a fixture has set an alarm of its own, for later."""
        if signal.getsignal(signal.SIGALRM) != self._ring:
            return
        handler, remaining, interval, begun = self._others
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining > 0:
            signal.setitimer(signal.ITIMER_REAL, max(remaining - (time.monotonic() - begun), 1e-6), interval)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        self.rang = True
        if self.interrupt is None or not self.interrupt(frame):
            raise self.error()

    def error(self) -> TimeLimitExceeded:
        """Returns what is raised."""
        return TimeLimitExceeded(f"took longer than {self.limit:g} s")


class Stopwatch:
    """Times one function, each call anew."""

    def __init__(self, *, limit: float | None = None, keep_gc: bool = False) -> None:
        self.alarm = Alarm(limit)
        self.elapsed: int | None = None
        """Nanoseconds of the last call that came to its end."""
        self.computed: float | None = None
        """Seconds of processor time of the same call."""
        self._keep_gc = keep_gc

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Has the garbage collector off, and the alarm on."""
        collects = gc.isenabled() and not self._keep_gc
        if collects:
            gc.disable()
        try:
            with self.alarm.armed():
                yield
        finally:
            if collects:
                gc.enable()

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that does the same and is timed; a coroutine function for a coroutine function."""
        if inspect.iscoroutinefunction(function):
            return self._timed_coroutine(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.quiet():
                computed = processor_time()
                begin = clock()
                result = function(*args, **kwargs)
                end = clock()
                self.computed = processor_time() - computed
            self.elapsed = end - begin
            return result

        return call

    def _timed_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            own = sys._getframe()
            scope, cancel = _cancellation()

            def interrupt(frame: FrameType | None) -> bool:
                # While the coroutine itself computes, raising in it is right. Otherwise its event loop
                # waits, or does something else, and must not be torn apart.
                while frame is not None:
                    if frame is own:
                        return False
                    frame = frame.f_back
                return cancel()

            self.alarm.interrupt = interrupt
            with self.quiet():
                try:
                    with scope:
                        computed = processor_time()
                        begin = clock()
                        result = await function(*args, **kwargs)
                        end = clock()
                        self.computed = processor_time() - computed
                        self.elapsed = end - begin
                        return result
                except BaseException as error:
                    if self.alarm.rang and not isinstance(error, TimeLimitExceeded):
                        raise self.alarm.error() from error
                    raise
                finally:
                    self.alarm.interrupt = None
            # Only a cancelled scope of trio gets here.
            raise self.alarm.error()

        return call


def _cancellation() -> tuple[AbstractContextManager[Any], Callable[[], bool]]:
    """Returns a scope for the running coroutine, and what cancels it from a signal handler."""
    asyncio, trio = sys.modules.get("asyncio"), sys.modules.get("trio")
    if asyncio is not None:
        with suppress(RuntimeError):
            task, loop = asyncio.current_task(), asyncio.get_running_loop()
            if task is not None:

                def cancel_task() -> bool:
                    loop.call_soon_threadsafe(task.cancel)
                    return True

                return nullcontext(), cancel_task
    if trio is not None:
        with suppress(RuntimeError):
            token, scope = trio.lowlevel.current_trio_token(), trio.CancelScope()

            def cancel_scope() -> bool:
                token.run_sync_soon(scope.cancel)
                return True

            return scope, cancel_scope
    return nullcontext(), lambda: False


def loop_cost(calls: int = 2000) -> float:
    """Returns the seconds that timing an empty function gives: the median of many calls."""

    def empty() -> None:
        pass

    watch = Stopwatch()
    call = watch.timed(empty)
    taken = []
    for _ in range(calls):
        call()
        taken.append(watch.elapsed or 0)
    taken.sort()
    return taken[calls // 2] / 1e9
