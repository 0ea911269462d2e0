"""Ids and times in the record format."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from datetime import datetime, timezone


def measured_id() -> str:
    """Returns a new id for something measured: a UUIDv7, ordered by time."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    return _with_version(number, 7)


def derived_id(*parts: str) -> str:
    """Returns the id derived from these texts: a UUIDv8 of their SHA-256, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "replace")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return _with_version(int.from_bytes(digest.digest()[:16], "big"), 8)


def _with_version(number: int, version: int) -> str:
    number &= ~(0xF << 76) & ~(0x3 << 62)
    return str(uuid.UUID(int=number | version << 76 | 0x2 << 62))


def now() -> str:
    """Returns the time in UTC, as RFC 3339 has it."""
    return datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def session_name() -> str:
    """Returns the default name of a session."""
    return datetime.now().strftime("pytest-%Y%m%d-%H%M%S")
