"""What a trace of Dask has the scheduler and the workers record.

Everything is sent by value, so that neither the scheduler nor the workers need this package.
"""

from __future__ import annotations

import uuid
from typing import Any, Callable, NamedTuple

Rows = list[dict[str, Any]]

PRESSURE_INTERVAL = 0.5
"""Seconds between two looks at what the host's processes wait for."""


class Plugins(NamedTuple):
    """What goes to the scheduler and the workers."""

    name: str
    worker: Any
    start: Callable[..., None]
    stop: Callable[..., Rows]
    collect: Callable[..., dict[str, Rows]]


def plugins() -> Plugins:
    """Returns the plugins of one trace; several traces may be under way at once."""
    name = f"lapwing-trace-{uuid.uuid4().hex}"
    start, stop = _on_scheduler(name)
    worker, collect = _on_workers(name, PRESSURE_INTERVAL)
    return Plugins(name, worker, start, stop, collect)


def _on_scheduler(name: str) -> tuple[Callable[..., None], Callable[..., Rows]]:
    """Returns what begins and what ends the recording of how tasks are planned and completed."""

    def start(dask_scheduler: Any) -> None:
        import time

        from dask.utils import key_split
        from distributed.diagnostics.plugin import SchedulerPlugin

        class Planned(SchedulerPlugin):
            def __init__(self) -> None:
                self.under_way: dict[Any, dict[str, Any]] = {}
                self.tasks: list[dict[str, Any]] = []

            def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
                if finish == "processing":
                    self.under_way[key] = self.planned(key)
                elif start == "processing":
                    task = self.under_way.pop(key, None) or {**self.planned(key), "planned": None}
                    self.left(task, key, finish, kwargs)

            def planned(self, key: Any) -> dict[str, Any]:
                task = dask_scheduler.tasks[key]
                return {
                    "key": key,
                    "planned": time.time_ns(),
                    "inputs": [it.key for it in task.dependencies],
                    "run": getattr(task, "run_id", None),
                    "worker": task.processing_on and task.processing_on.address,
                }

            def left(self, task: dict[str, Any], key: Any, finish: str, message: dict[str, Any]) -> None:
                task["finish"] = finish
                if finish in ("memory", "erred"):
                    task["completed"] = time.time_ns()
                # Another worker may have stolen it.
                task["run"] = getattr(dask_scheduler.tasks[key], "run_id", None)
                for name, field in (("worker", "worker"), ("thread", "thread"), ("bytes", "nbytes")):
                    if message.get(field) is not None:
                        task[name] = message[field]
                task["error"] = message.get("exception_text")
                for it in message.get("startstops") or ():
                    if it["action"] == "compute":
                        task["loaded"], task["computed"] = round(it["start"] * 1e9), round(it["stop"] * 1e9)
                self.tasks.append(task)

            def result(self) -> list[dict[str, Any]]:
                found = [*self.tasks, *self.under_way.values()]
                texts = [{"inputs": sorted(str(it) for it in task["inputs"])} for task in found]
                names = [{"key": str(task["key"]), "class": key_split(task["key"])} for task in found]
                return [{**task, **text, **name} for task, text, name in zip(found, texts, names)]

        dask_scheduler.add_plugin(Planned(), name=name)

    def stop(dask_scheduler: Any) -> Rows:
        plugin = dask_scheduler.plugins[name]
        dask_scheduler.remove_plugin(name=name)
        return plugin.result()

    return start, stop


def _on_workers(name: str, interval: float) -> tuple[Any, Callable[..., dict[str, Rows]]]:
    """Returns the plugin that records how workers fetch, start and compute, and what collects its findings."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class Computed(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import time

            from tornado.ioloop import PeriodicCallback

            self.now = time.time_ns
            self.worker = worker
            self.received: dict[Any, int] = {}
            self.flights: dict[Any, dict[str, Any]] = {}
            self.tasks: list[dict[str, Any]] = []
            self.transfers: list[dict[str, Any]] = []
            self.pressure: list[dict[str, Any]] = []
            self.stalled = self.stalls()
            self.sampler = PeriodicCallback(self.sample, interval * 1000)
            if len(self.stalled) > 1:
                self.sampler.start()
            # The hook of plugins is not called in the task's thread, and does not know the time of failures.
            self.execute = worker.execute
            self.was_replaced = "execute" in vars(worker)
            self.ended = False
            worker.execute = self.traced_execute

        def teardown(self, worker: Any) -> None:
            self.ended = True
            self.sampler.stop()
            # Another trace that began later may have replaced it in turn.
            if vars(worker).get("execute") == self.traced_execute:
                del worker.execute
                if self.was_replaced:
                    worker.execute = self.execute

        def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
            if start == "flight" and key in self.flights:
                transfer = self.flights.pop(key)
                if finish == "memory":
                    it = self.worker.state.tasks[key]
                    task = next(iter(it.dependents), None)
                    end = {"completed": self.now(), "bytes": it.nbytes, "task": task and str(task.key)}
                    self.transfers.append({**transfer, **end})
            if finish == "flight":
                source = self.worker.state.tasks[key].coming_from
                self.flights[key] = {"key": str(key), "source": source, "started": self.now()}
            elif finish == "waiting":
                self.received[key] = self.now()
            elif finish == "ready":
                self.received.setdefault(key, self.now())
            elif finish in ("released", "forgotten"):
                self.received.pop(key, None)

        async def traced_execute(self, key: Any, *, stimulus_id: str) -> Any:
            from distributed.metrics import context_meter

            if self.ended:
                return await self.execute(key, stimulus_id=stimulus_id)
            worker, cpu = self.worker, []
            state = worker.state.tasks[key]
            task = {
                "key": str(key),
                "run": getattr(state, "run_id", None),
                "enqueued": self.received.pop(key, None),
                "started": self.now(),
            }
            # Distributed adds its estimate of how far the clock of the scheduler is ahead.
            delay = worker.scheduler_delay

            def measured(label: Any, value: float, unit: str) -> None:
                if label == "thread-cpu":
                    cpu.append(value)

            spec, delays = state.run_spec, []
            executor = worker.executors.get((state.annotations or {}).get("executor", "default"))
            # Coroutines share the worker's thread, and older versions of Distributed have no callable tasks.
            if callable(spec) and not getattr(spec, "is_coro", False) and "ThreadPool" in str(type(executor)):
                state.run_spec = timed = self.delayed(spec, delays)
            else:
                timed = None
            try:
                with context_meter.add_callback(measured):
                    event = await self.execute(key, stimulus_id=stimulus_id)
            finally:
                if timed is not None and state.run_spec is timed:
                    state.run_spec = spec
            for field, at in (("loaded", "start"), ("computed", "stop")):
                if getattr(event, at, None) is not None:
                    task[field] = round((getattr(event, at) - delay) * 1e9)
            task["bytes"] = getattr(event, "nbytes", None)
            task["error"] = getattr(event, "exception_text", None)
            task["thread"] = worker.threads.get(key)
            task["cpu"] = round(sum(cpu) * 1e9) if cpu else None
            task["run_delay"] = sum(delays) if delays else None
            self.tasks.append(task)
            return event

        def delayed(self, spec: Any, delays: list[int]) -> Any:
            """Returns a task that adds how long its thread waits for a core while it computes, in ns, where Linux says so."""

            def delay() -> int | None:
                try:
                    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
                        return int(file.read().split()[1])
                except (OSError, ValueError, IndexError):
                    return None

            class Delayed:
                def __getattr__(self, name: str) -> Any:
                    return getattr(spec, name)

                def __repr__(self) -> str:
                    return repr(spec)

                def __call__(self, *args: Any, **kwargs: Any) -> Any:
                    before = delay()
                    try:
                        return spec(*args, **kwargs)
                    finally:
                        after = delay()
                        if before is not None and after is not None:
                            delays.append(after - before)

            return Delayed()

        def stalls(self) -> dict[str, int]:
            """Returns the running totals of the time in which some process waited, in ns."""
            found = {"at": self.now()}
            for resource in ("cpu", "io", "memory"):
                try:
                    with open(f"/proc/pressure/{resource}", encoding="ascii") as file:
                        found[resource] = int(file.readline().rpartition("total=")[2]) * 1000
                except (OSError, ValueError):
                    continue
            return found

        def sample(self) -> None:
            """Adds the share of the time in which some process waited since the last look."""
            before, after = self.stalled, self.stalls()
            self.stalled = after
            took = after["at"] - before["at"]
            if took > 0 and len(after) > 1:
                share = {it: (after[it] - before[it]) / took for it in after if it != "at" and it in before}
                share = {f"{it}_some": round(min(max(value, 0.0), 1.0), 4) for it, value in share.items()}
                self.pressure.append({"begin": before["at"], "end": after["at"], **share})

        def result(self) -> dict[str, Any]:
            self.sample()
            return {"tasks": self.tasks, "transfers": self.transfers, "pressure": self.pressure}

    def collect(dask_worker: Any) -> dict[str, Rows]:
        return dask_worker.plugins[name].result()

    plugin = Computed()
    plugin.name = name
    return plugin, collect
