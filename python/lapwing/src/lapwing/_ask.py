"""Asks the program, and histories of others."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import answers
from ._answer import Answer, made, shell_line
from ._program import answer_of, command_line


def ask(command: str, words: Iterable[Any] = (), options: Mapping[str, Any] | None = None) -> Any:
    """Returns the answer of any command of the program: `ask("study findings", options={"metric": "rate"})`."""
    line = command_line(command, words, options or {})
    json, code = answer_of(line)
    return made(answers.KINDS.get(json["answer"], Answer), json, shell_line(line), code)


class Store:
    """A store: the functions of this package for it, such as `store.compare("old", "new")` and `store.table()`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __getattr__(self, name: str) -> Any:
        import lapwing

        asked = getattr(lapwing, name)
        if name in ("study", "trace"):
            return _Bound(asked, self.path)
        return functools.partial(asked, store=self.path)

    def __repr__(self) -> str:
        return f"lapwing.Store({str(self.path)!r})"


class _Bound:
    def __init__(self, module: Any, path: Path) -> None:
        self._module, self._path = module, path

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(self._module, name), store=self._path)


def open(place: str | Path) -> Store:
    """Opens a store by its path, or a shared history by its address (`s3://…`, `https://…`): what others pushed is
    copied to the cache of this user, now and each time that it is opened.
    """
    if "://" not in str(place):
        return Store(place)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lapwing"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = hashlib.sha256(str(place).encode()).hexdigest()[:16]
    store = cache / f"shared-{name}.db"
    ask("db pull", [place], {"store": store})
    return Store(store)
