"""Data shared by several processes: several invocations of pytest as one session, several workers as one run.

The same session told of twice must be told of in the same words, so what its first call said of it is kept beside the
records: `.session-….json` in the inbox, or `.FILE.session-….json` beside an output file.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import ids
from .metrics import Metric, declare
from .record_file import Record, create_own, fcntl, make_folder


def agree(path: Path, name: str, description: Metric | None) -> Metric:
    """Returns what a metric is that nobody declared beforehand: what the first one said who recorded it for this run.

    Raises ValueError when that is something else; the program would refuse all records of the run.
    """
    with _kept(path) as kept:
        if description is not None or name not in kept:
            declare(kept, name, description or {"unit": "1"})
        return kept[name]


def place(suite: str, name: str, *, inbox: Path | None, output: Path | None) -> Path:
    """Returns where a session is kept that is shared."""
    key = f"session-{ids.derived_id(suite, name)}.json"
    if output is not None:
        return output.parent / f".{output.name}.{key}"
    assert inbox is not None
    return inbox / f".{key}"


def join(path: Path, session: Record, run: Record) -> tuple[Record, Record, int]:
    """Returns session and run as earlier calls told of them, and how many calls had this run before.

    A run is the same when all but its id and its metrics is, and its metrics do not contradict.
    """
    with _kept(path) as kept:
        joined = kept.setdefault("session", session)
        runs = kept.setdefault("runs", [])
        for entry in runs:
            same = _joined(entry["run"], {**run, "session": joined["id"]})
            if same is not None:
                entry["run"], calls = same, entry["calls"]
                entry["calls"] += 1
                return joined, same, calls
        run = {**run, "session": joined["id"]}
        runs.append({"run": run, "calls": 1})
        return joined, run, 0


def _joined(earlier: Record, run: Record) -> Record | None:
    if any(earlier.get(key) != run.get(key) for key in {*earlier, *run} - {"id", "metrics"}):
        return None
    metrics = dict(earlier["metrics"])
    try:
        for name, description in run["metrics"].items():
            declare(metrics, name, description)
    except ValueError:
        return None
    return {**earlier, "metrics": metrics}


@contextlib.contextmanager
def _kept(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the stored data for changing, under a lock."""
    if not path.parent.exists():
        make_folder(path.parent)
    with os.fdopen(create_own(path, os.O_RDWR), "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            kept = json.loads(file.read())
        except ValueError:
            kept = {}
        before = json.dumps(kept)
        yield kept
        if json.dumps(kept) == before:
            return
        text = json.dumps(kept, ensure_ascii=False)
        file.seek(0)
        file.write(text)
        file.truncate()
