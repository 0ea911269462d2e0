"""The fixture `benchmark` of pytest-benchmark, provided while recording, or if that plugin is absent or disabled.

Each round is an iteration whose value is the mean of the calls in it (`loops`).
"""

from __future__ import annotations

import cProfile
import itertools
import math
import pstats
import statistics
import time
from collections.abc import Iterator
from typing import Any, Callable

import pytest

from . import benchmark_fixture, foreign_timeout, stand_in_options
from .options import Settings
from .outcomes import one_line
from .stand_in_stats import Metadata, Stats
from .timing import Stopwatch, clock
from .visit import VISIT, Visit

MOST_ROUNDS = 100
"""A round of a quick function has many calls, so that the time for a test is spent on no more rounds than these."""


class FixtureAlreadyUsed(Exception):
    """The fixture was used twice in one test."""


class Benchmark:
    """Calls a function in rounds, and records each."""

    def __init__(self, item: pytest.Item, visit: Visit | None) -> None:
        callspec = getattr(item, "callspec", None)
        marker = item.get_closest_marker("benchmark")
        self.name = item.name
        self.fullname = item.nodeid
        self.param = callspec.id if callspec else None
        self.params = callspec.params if callspec else None
        self.extra_info: dict[str, Any] = {}
        self.stats: Metadata | None = None
        self.cprofile_stats: pstats.Stats | None = None
        self.has_error = False
        self.skipped = False
        self._marker = dict(marker.kwargs) if marker else {}
        self.group = self._marker.get("group")
        self._config = item.config
        self.timer = stand_in_options.timer(item.config, self._marker)
        self._visit = visit
        self._mode: str | None = None
        self._cleanup: list[Callable[[], Any]] = []

    @property
    def enabled(self) -> bool:
        """Whether there is more than one plain call."""
        return self._visit is not None

    @property
    def disabled(self) -> bool:
        """Whether the function is just called."""
        return self._visit is None

    def __call__(self, function_to_benchmark: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function repeatedly, and returns the result of its last call."""
        self._use("benchmark(...)")
        if self._visit is None:
            return self._call_once(function_to_benchmark, args, kwargs)
        try:
            rounds = _Rounds(self, self._visit, function_to_benchmark)
            loops, seconds = rounds.calibrated(args, kwargs, self._target())
            settings = self._visit.plan.settings
            planned = self._planned(seconds, settings)
            warm_up = settings.burn_in if settings.burn_in_given else int(self._warms_up())
            for number in range(warm_up + planned):
                result = rounds.measure(args, kwargs, loops, burn_in=number < warm_up)
                if not settings.iterations_given and self._is_precise(rounds.data):
                    break
            self._profile(function_to_benchmark, args, kwargs, loops)
            return result
        except BaseException:
            self.has_error = True
            raise

    def pedantic(
        self,
        target: Callable[..., Any],
        args: Any = (),
        kwargs: dict[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Calls a function in so many rounds of so many calls, with a set-up and a teardown around each round."""
        self._use("benchmark.pedantic(...)")
        for name, value, least in (
            ("iterations", iterations, 1), ("rounds", rounds, 1), ("warmup_rounds", warmup_rounds, 0)
        ):  # fmt: skip
            if not isinstance(value, int) or value < least:
                raise ValueError(f"`{name}` must be a whole number from {least}, not {value!r}")
        if setup and iterations > 1:
            raise ValueError("with a `setup` there is one call per round: `iterations` must be 1")
        given = bool(args or kwargs)

        def arguments() -> tuple[Any, dict[str, Any]]:
            made = setup() if setup else None
            if not made:
                return args, kwargs or {}
            if given:
                raise TypeError("`setup` returns arguments, so `args` and `kwargs` cannot be given")
            return made

        def once(call: Callable[[Any, dict[str, Any]], Any]) -> Any:
            made = arguments()
            result = call(*made)
            if teardown is not None:
                teardown(*made[0], **made[1])
            return result

        if self._visit is None:
            return once(lambda args, kwargs: self._call_once(target, args, kwargs))
        settings = self._visit.plan.settings
        warm_up = settings.burn_in if settings.burn_in_given else warmup_rounds
        planned = settings.iterations if settings.iterations_given else rounds
        try:
            measured = _Rounds(self, self._visit, target)
            for number in range(warm_up + planned):
                is_burn_in = number < warm_up
                result = once(
                    lambda args, kwargs, it=is_burn_in: measured.measure(args, kwargs, iterations, burn_in=it)
                )
            if iterations > 1:
                # As pytest-benchmark does it: the result is that of a call of its own.
                result = once(lambda args, kwargs: target(*args, **kwargs))
            calls = self._profiled_calls(iterations)
            if calls:
                made = arguments()
                self._profile(target, *made, iterations, after=lambda: teardown and teardown(*made[0], **made[1]))
            return result
        except BaseException:
            self.has_error = True
            raise

    def weave(self, target: Any, **kwargs: Any) -> None:
        """Measures calls of a function wherever they are made; needs aspectlib."""
        import aspectlib

        def aspect(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                return self(function, *args, **kwargs)

            return call

        self._cleanup.append(aspectlib.weave(target, aspect, **kwargs).rollback)

    patch = weave

    def _profiled_calls(self, loops: int) -> int:
        return stand_in_options.profiled_calls(self._config, self._marker, loops)

    def _profile(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: dict[str, Any],
        loops: int,
        after: Callable[[], Any] = lambda: None,
    ) -> None:
        """Profiles further calls of a function, outside of all rounds, if the marker asks for it."""
        calls = self._profiled_calls(loops)
        if not calls:
            return
        profile = cProfile.Profile()
        for _ in range(calls):
            profile.runcall(function, *args, **kwargs)
            after()
        self.cprofile_stats = pstats.Stats(profile)
        if self.stats is not None:
            self.stats.cprofile_stats = self.cprofile_stats

    def _is_precise(self, data: list[float]) -> bool:
        """Returns whether the mean of the rounds is as precise as `precision` asks for.

        Its margin of error is z·s/√n, as in pytest-benchmark.
        """
        precision = self._number("precision")
        if precision is None or len(data) < max(2, self._fewest()):
            return False
        quantile = statistics.NormalDist().inv_cdf(0.5 + self._number("confidence") / 2)
        return quantile * statistics.stdev(data) <= precision * statistics.fmean(data) * len(data) ** 0.5

    def close(self) -> None:
        """Undoes what was woven, and keeps what became known late."""
        while self._cleanup:
            self._cleanup.pop()()
        if self._visit is not None and self.extra_info:
            from .collectors import plain

            self._visit.observed["extra_info"] = plain(self.extra_info)

    def _call_once(self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        """Calls a function without recording. `stats` are those of this call."""
        begin = clock()
        result = function(*args, **kwargs)
        end = clock()
        # pytest-benchmark has none either where it is disabled.
        if not stand_in_options.flag(self._config, "disable"):
            self.keep_stats([(end - begin) / 1e9], 1)
        return result

    def keep_stats(self, data: list[float], loops: int) -> None:
        """Has `stats` be those of rounds of so many calls."""
        options = {
            **{name.replace("-", "_"): self._number(name) for name in stand_in_options.NUMBERS},
            "disable_gc": self._visit is not None and not self._visit.keep_gc,
            "timer": self.timer or time.perf_counter,
            "warmup": self._warms_up(),
        }
        options["min_rounds"] = self._fewest()
        if options["precision"] is None:
            options["confidence"] = None
        self.stats = Metadata(self, Stats(data), loops, options)

    def _use(self, mode: str) -> None:
        if self._mode:
            self.has_error = True
            raise FixtureAlreadyUsed(f"`benchmark` can only be used once in a test, and was used as {self._mode}")
        self._mode = mode

    def _target(self) -> float:
        """The seconds that a round should take: long against the clock, short against the time for the test.

        And half the time limit at most, which is a round's.
        """
        wanted = max(self._number("min-time"), self._max_time() / MOST_ROUNDS, 100 * _resolution())
        limit = self._visit.plan.settings.time_limit if self._visit else None
        return wanted if limit is None else min(wanted, limit / 2)

    def _planned(self, seconds: float, settings: Settings) -> int:
        if settings.iterations_given:
            return settings.iterations
        fitting = math.ceil(self._max_time() / max(seconds, 1e-9))
        return max(1, self._fewest(), min(fitting, MOST_ROUNDS))

    def _number(self, name: str) -> Any:
        return stand_in_options.number(self._config, self._marker, name)

    def _fewest(self) -> int:
        return int(self._number("min-rounds"))

    def _max_time(self) -> float:
        return self._number("max-time")

    def _warms_up(self) -> bool:
        return stand_in_options.warms_up(self._config, self._marker)


class _Rounds:
    """Rounds of one function, each recorded."""

    def __init__(self, benchmark: Benchmark, visit: Visit, function: Callable[..., Any]) -> None:
        self._benchmark = benchmark
        self._visit = visit
        self._function = function
        self.data: list[float] = []
        # The length of the latest round by another timer, if the test has one.
        self._by_timer: float | None = None
        self._stopwatch = visit.stopwatch = visit.new_stopwatch()

    def calibrated(self, args: Any, kwargs: dict[str, Any], target: float) -> tuple[int, float]:
        """Returns how many calls make a round long enough, and about how long that takes; records a failure only."""
        loops = 1
        while True:
            seconds, _ = self._attempt(args, kwargs, loops, burn_in=False)
            if seconds >= 0.9 * target:
                return loops, seconds
            wanted = math.ceil(loops * target / max(seconds, 1e-9))
            loops = min(max(wanted, loops + 1), loops * 10)

    def measure(self, args: Any, kwargs: dict[str, Any], loops: int, *, burn_in: bool) -> Any:
        """Makes one round, records it, and returns what its last call returned."""
        offset = self._visit.since_start()
        seconds, result = self._attempt(args, kwargs, loops, burn_in=burn_in)
        value = seconds / loops
        self._visit.instance.iteration({"wall_time": value}, offset=offset, burn_in=burn_in, loops=loops)
        if not burn_in:
            # The record has the wall time, whatever the test's own statistics are about.
            self.data.append(value if self._by_timer is None else self._by_timer / loops)
            self._benchmark.keep_stats(self.data, loops)
        return result

    def _attempt(self, args: Any, kwargs: dict[str, Any], loops: int, *, burn_in: bool) -> tuple[float, Any]:
        offset = self._visit.since_start()
        self._describe()
        foreign_timeout.begin_round(self._visit.item)
        timer = self._benchmark.timer
        try:
            begin = timer() if timer else 0.0
            timed = _timed(self._stopwatch, self._function, args, kwargs, loops)
            self._by_timer = timer() - begin if timer else None
            if self._stopwatch.alarm.rang:
                raise self._stopwatch.alarm.error()
            return timed
        except (Exception, pytest.fail.Exception) as error:
            outcome, limit = "failed", None
            if self._stopwatch.alarm.rang:
                outcome, limit = "timed_out", self._stopwatch.alarm.limit
            elif foreign_timeout.has_raised(error):
                outcome, limit = "timed_out", foreign_timeout.limit(self._visit.item)
            # The value is that of one call, as it is of other rounds.
            metrics = {} if limit is None else {"wall_time": limit / loops}
            self._visit.instance.iteration(
                metrics, offset=offset, burn_in=burn_in, loops=loops, outcome=outcome, message=one_line(error)
            )
            raise

    def _describe(self) -> None:
        """Adds to the instance, while it is not written, what only the test knows."""
        from .collectors import plain

        benchmark, attributes = self._benchmark, self._visit.instance.attributes
        for name, value in (("group", benchmark.group), ("extra_info", benchmark.extra_info)):
            if value and name not in attributes:
                attributes[name] = plain(value)


def _timed(
    stopwatch: Stopwatch, function: Callable[..., Any], args: Any, kwargs: dict[str, Any], loops: int
) -> tuple[float, Any]:
    with stopwatch.quiet():
        if loops == 1:
            begin = clock()
            result = function(*args, **kwargs)
            end = clock()
        else:
            turns = itertools.repeat(None, loops)
            begin = clock()
            for _ in turns:
                result = function(*args, **kwargs)
            end = clock()
    return (end - begin) / 1e9, result


def _resolution() -> float:
    """Returns the smallest step of the clock that is seen, in seconds."""
    steps = []
    for _ in range(20):
        begin = end = time.perf_counter()
        while end == begin:
            end = time.perf_counter()
        steps.append(end - begin)
    return min(steps)


@pytest.fixture
def benchmark(request: pytest.FixtureRequest) -> Iterator[Benchmark]:
    """Measure a function: `benchmark(function, *args, **kwargs)`, as pytest-benchmark does."""
    if stand_in_options.are_skipped(request.config):
        pytest.skip("--benchmark-skip")
    stand_in_options.check_marker(request.node)
    visit = None if stand_in_options.is_off(request.config) else request.node.stash.get(VISIT, None)
    fixture = Benchmark(request.node, visit)
    yield fixture
    fixture.close()


@pytest.fixture
def benchmark_weave(benchmark: Benchmark) -> Callable[..., None]:
    """Measure a function wherever it is called; needs aspectlib."""
    return benchmark.weave


def fewest_rounds(item: pytest.Item) -> int:
    """Returns how many rounds a test has at least, unless it says so itself with `pedantic`."""
    marker = item.get_closest_marker("benchmark")
    return int(stand_in_options.number(item.config, marker.kwargs if marker else {}, "min-rounds"))


def is_used_by(item: pytest.Item) -> bool:
    """Returns whether a test asks for this module's `benchmark`, directly or through fixtures."""
    return benchmark_fixture.leads_to(item, __name__)
