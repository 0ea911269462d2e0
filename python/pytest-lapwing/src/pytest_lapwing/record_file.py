"""Files of record lines, as the record format wants them written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # No POSIX: pytest goes on, but nothing can be recorded.
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]

CAN_LOCK = fcntl is not None


class RecordFile:
    """A file of record lines. Each record is one write, line end included."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self.path = path
        self._descriptor = descriptor
        # A forked child that lives on must not hold the lock.
        os.register_at_fork(after_in_child=self.close)

    @classmethod
    def in_inbox(cls, folder: Path, name: str) -> RecordFile:
        """Makes the file `NAME.jsonl` of a store's inbox and holds its lock as long as this process lives."""
        folder.mkdir(parents=True, exist_ok=True)
        path, unborn = folder / f"{name}.jsonl", folder / f".{name}.jsonl.new"
        descriptor = os.open(unborn, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            # Locked before it gets its name: nobody may see it and not find it locked.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.link(unborn, path)
        finally:
            os.unlink(unborn)
        return cls(descriptor, path)

    @classmethod
    def plain(cls, path: Path) -> RecordFile:
        """Opens a file to add records to; a last line that was cut off by a kill is dropped."""
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            _drop_cut_off_line(descriptor)
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        return cls(descriptor, path)

    def append(self, record: Record) -> None:
        """Writes one record."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        data = line.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]

    def close(self) -> None:
        """Closes the file, which gives its lock back."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _drop_cut_off_line(descriptor: int) -> None:
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        block = os.pread(descriptor, min(end, 1 << 16), max(0, end - (1 << 16)))
        found = block.rfind(b"\n")
        if found >= 0:
            end = max(0, end - (1 << 16)) + found + 1
            break
        end = max(0, end - (1 << 16))
    if end < size:
        os.ftruncate(descriptor, end)
