"""Files of record lines."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # No POSIX: pytest goes on, but nothing can be recorded.
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]

CAN_LOCK = fcntl is not None

CUT_OFF = b'{"v":'
"""How a first line begins that was cut off by a kill."""

SQLITE = b"SQLite format 3\0"
"""How a database begins."""

LONGEST_LINE = 1 << 26
"""No record is longer, in bytes."""


class Unusable(Exception):
    """A path that records cannot be written to, with the reason."""


class RecordFile:
    """A file of record lines. Each record is one write, including the line end."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self.path = path
        self._descriptor = descriptor
        # A forked child that lives on must not hold the lock.
        os.register_at_fork(after_in_child=self.close)

    @classmethod
    def in_inbox(cls, folder: Path, name: str) -> RecordFile:
        """Creates the file `NAME.jsonl` in a store's inbox and holds its lock as long as this process lives."""
        make_folder(folder)
        path, unborn = folder / f"{name}.jsonl", folder / f".{name}.jsonl.new"
        descriptor = create_own(unborn, os.O_WRONLY | os.O_APPEND | os.O_EXCL)
        try:
            # Locked before it gets its name: nobody may see it and not find it locked.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.link(unborn, path)
        finally:
            os.unlink(unborn)
        return cls(descriptor, path)

    @classmethod
    def plain(cls, path: Path) -> RecordFile:
        """Opens a file to add records to; a last line that was cut off by a kill is dropped.

        Unusable when it holds something else than records.
        """
        check_file(path)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            _end_last_line(descriptor)
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        return cls(descriptor, path)

    def append(self, record: Record) -> None:
        """Writes one record; if that fails, no part of it stays."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        data = line.encode("utf-8", "replace")
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            self._take_back(written)
            raise

    def _take_back(self, count: int) -> None:
        """Removes the beginning of a record, unless another process has written behind it."""
        with contextlib.suppress(OSError):
            end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            if count and os.fstat(self._descriptor).st_size == end:
                os.ftruncate(self._descriptor, end - count)

    def close(self) -> None:
        """Closes the file, which gives its lock back."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Creates a folder for its user alone, unless the folder around it is shared with a group; no link is followed."""
    if folder.is_symlink():
        raise Unusable(f"{folder} is a link")
    if folder.exists():
        return
    if not folder.parent.exists():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.parent.stat().st_mode & 0o2000 and (group := _shared_bits(folder.parent)):
        folder.chmod(0o2700 | group)


def create_own(path: Path, flags: int) -> int:
    """Opens a file, created if it does not exist: for its user alone, unless its folder is shared with a group."""
    is_new = not path.exists()
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if is_new and (group := _shared_bits(path.parent)):
        os.fchmod(descriptor, 0o600 | group & 0o060)
    return descriptor


def _shared_bits(folder: Path) -> int:
    mode = folder.stat().st_mode
    return mode & 0o070 if mode & 0o2020 and not mode & 0o002 else 0


def check_file(path: Path) -> None:
    """Raises Unusable where records cannot be added to a file, or must not: it holds something else."""
    if not path.exists():
        check_folder(path.parent, made=False)
        return
    if not path.is_file():
        raise Unusable(f"{path} is not a file")
    try:
        with open(path, "rb+") as file:
            first = next((line for line in iter(lambda: file.readline(LONGEST_LINE), b"") if line.strip()), b"")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from error
    whole = first.endswith(b"\n")
    if first and not (_is_record(first) if whole else first.startswith(CUT_OFF[: len(first)])):
        raise Unusable(f"{path} is not a record file: its first line is not a record")


def check_store(path: Path) -> None:
    """Raises Unusable where there is something at a store's place that is no SQLite database."""
    if path.is_dir():
        raise Unusable(f"{path} is a folder, not a store")
    try:
        with open(path, "rb") as file:
            first = file.read(len(SQLITE))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from error
    # SQLite makes a database of an empty file.
    if first and first != SQLITE:
        raise Unusable(f"{path} is not a store: it is not an SQLite database")


def check_folder(folder: Path, *, made: bool = True) -> None:
    """Raises Unusable where files cannot be made in a folder, which is `made` itself if it is not there."""
    if not folder.exists() and made and folder.parent != folder:
        check_folder(folder.parent)
    elif not folder.is_dir():
        raise Unusable(f"{folder} is not a folder" if folder.exists() else f"folder {folder} does not exist")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise Unusable(f"{folder}: cannot create files")


def count(paths: Iterable[Path], run: str, *, offset: int = 0) -> dict[str, int]:
    """Returns how many instances, iterations and failed iterations of a run there are in files, from a place on."""
    instances: set[str] = set()
    outcomes: list[str] = []
    for path in paths:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            file.seek(offset)
            for line in file:
                record = json.loads(line) if _is_record(line) else {}
                if record.get("kind") == "instance" and record.get("run") == run:
                    instances.add(record["id"])
                elif record.get("kind") == "iteration" and record.get("instance") in instances:
                    outcomes.append(record.get("outcome", "ok"))
    failed = sum(it in ("failed", "timed_out") for it in outcomes)
    return {"instances": len(instances), "iterations": len(outcomes), "failed": failed}


def _is_record(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and "v" in record and "kind" in record


def _end_last_line(descriptor: int) -> None:
    """Drops a last line that was cut off, and ends one that is complete but for its line end."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        begin = max(0, end - (1 << 16))
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            end = begin + found + 1
            break
        end = begin
    if end == size:
        return
    if _is_record(os.pread(descriptor, size - end, end)):
        os.write(descriptor, b"\n")
    else:
        os.ftruncate(descriptor, end)
