"""Measurements that a Python program makes itself, as records (`docs/record-format.md`)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

SECONDS = {"wall_time", "user_time", "system_time", "process_time"}
"""Metrics in seconds, less of which is better."""


class Session:
    """A session that is being recorded: see `record`."""

    def __init__(
        self,
        suite: str,
        *,
        name: str | None = None,
        store: str | Path = ".lapwing/lapwing.db",
        variant: str = "default",
        version: str | Mapping[str, Any] | None = None,
        factors: Mapping[str, Any] | None = None,
        metrics: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.name = name or f"{datetime.now():python-%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"
        self._metrics = {metric: _declared(metric, it) for metric, it in (metrics or {}).items()}
        self._known: set[str] = set()
        self._file = _inbox_file(Path(store), self.name)
        session = _id()
        self._write(kind="session", id=session, suite=suite, started=_now(), tool="lapwing-python", name=self.name)
        version = {"name": version} if isinstance(version, str) else version
        self._run = {"kind": "run", "id": _id(), "session": session, "variant": variant}
        self._run |= {key: dict(it) for key, it in [("version", version), ("factors", factors)] if it}
        self._write(**self._run)
        self._instances = 0

    @contextlib.contextmanager
    def instance(self, benchmark: str, **params: Any) -> Iterator[Instance]:
        """Records an instance of a benchmark, the unit of replication: what is inside is not independent.

        Parameters make benchmarks of their own: `epoch[batch=64]`.
        """
        name = ",".join(f"{key}={value}" for key, value in params.items())
        identity = {"id": f"{benchmark}[{name}]", "params": params} if params else {"id": benchmark}
        instance = Instance(self, _id())
        self._write(
            kind="instance", id=instance.id, run=self._run["id"], benchmark=identity, position=self._instances, started=_now()
        )
        self._instances += 1
        outcome = "ok"
        try:
            yield instance
        except BaseException:
            outcome = "failed"
            raise
        finally:
            self._write(kind="instance_end", instance=instance.id, ended=_now(), outcome=outcome)

    def close(self) -> None:
        """Ends the session: the next command of `lapwing` adds it to the store."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _declare(self, names: set[str]) -> None:
        new = names - self._known
        if new:
            self._known |= new
            time = {"unit": "s", "better": "lower"}
            metrics = {name: self._metrics.get(name, time if name in SECONDS else {"unit": "1"}) for name in sorted(new)}
            self._write(**self._run, metrics=metrics)

    def _write(self, **record: Any) -> None:
        line = json.dumps({"v": 1, **record}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = (line + "\n").encode()
        while data:
            data = data[os.write(self._file, data) :]


class Instance:
    """An instance that is being recorded."""

    def __init__(self, session: Session, id: str) -> None:
        self.id = id
        self._session = session
        self._begin = time.perf_counter()
        self._iterations = 0

    def add(self, *, burn_in: bool = False, **metrics: float) -> None:
        """Records an iteration with these values, in base units: `add(wall_time=0.12, rows=1000)`."""
        self._end(metrics, burn_in, time.perf_counter() - self._begin)

    @contextlib.contextmanager
    def iteration(self, *, burn_in: bool = False) -> Iterator[dict[str, float]]:
        """Times what is inside as `wall_time`; other metrics are entries of what this yields."""
        metrics: dict[str, float] = {}
        begin = time.perf_counter()
        try:
            yield metrics
        except Exception as error:
            self._end({}, burn_in, begin - self._begin, outcome="failed", message=f"{type(error).__name__}: {error}")
            raise
        metrics.setdefault("wall_time", time.perf_counter() - begin)
        self._end(metrics, burn_in, begin - self._begin)

    def _end(self, metrics: dict[str, float], burn_in: bool, offset: float, **more: Any) -> None:
        metrics = {name: _number(name, value) for name, value in metrics.items()}
        self._session._declare(set(metrics))
        self._session._write(
            kind="iteration", instance=self.id, index=self._iterations, burn_in=burn_in, offset=offset, metrics=metrics, **more
        )
        self._iterations += 1


def record(suite: str, **options: Any) -> Session:
    """Records measurements of this program; each line is written as it is made, so that a kill loses none.

    ```python
    with lapwing.record("training", metrics={"loss": {"unit": "1", "better": "lower"}}) as session:
        for _ in range(5):
            with session.instance("epoch", batch=64) as instance:
                for _ in range(3):
                    with instance.iteration() as values:
                        values["loss"] = train()
    lapwing.show(session.name)
    ```

    Options: `name`, `store`, `variant`, `version` (a name, or `name`, `commit`, `branch`, `date`), `factors`, and of `metrics` the
    units and directions.
    """
    return Session(suite, **options)


def _declared(metric: str, given: Mapping[str, str]) -> dict[str, str]:
    if unknown := set(given) - {"unit", "better"} or "unit" not in given:
        raise ValueError(f"metric {metric!r}: {unknown or given}: write {{'unit': 's', 'better': 'lower'}}, where `better` may be absent")
    return dict(given)


def _number(metric: str, value: Any) -> float:
    number = float(value) if isinstance(value, (int, float)) or hasattr(value, "__float__") else math.nan
    if not math.isfinite(number):
        raise ValueError(f"metric {metric!r}: {value!r} is not a finite number")
    return number


def _inbox_file(store: Path, name: str) -> int:
    """Opens a new file in the inbox of a store, locked as long as this process writes it."""
    folder = store.parent / ("inbox" if store.name == "lapwing.db" else f"{store.name}.inbox")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"{name}-{uuid.uuid4().hex[:8]}".replace("/", "-")
    unborn = folder / f".{stem}.jsonl.new"
    file = os.open(unborn, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        # Locked before it gets its name: no command may take it before it ends.
        fcntl.flock(file, fcntl.LOCK_EX)
        os.link(unborn, folder / f"{stem}.jsonl")
    finally:
        os.unlink(unborn)
    return file


def _id() -> str:
    """Returns a UUIDv7, ordered by time."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    number &= ~(0xF << 76) & ~(0x3 << 62)
    return str(uuid.UUID(int=number | 7 << 76 | 0x2 << 62))


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
