"""Asks the program, and histories of others."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

from . import answers
from ._answer import Answer, made, shell_line
from ._program import answer_of, command_line


def ask(command: str, /, *words: Any, **options: Any) -> Any:
    """Returns the answer of any command of the program: `ask("study findings", metric="rate")`."""
    if "format" in options:
        raise TypeError("an answer has every format: `.json`, `.table()`, `str(answer)`; leave `format` out")
    line = command_line(command, words, options)
    json, code = answer_of(line)
    return made(answers.KINDS.get(json["answer"], Answer), json, shell_line(line), code)


class Store:
    """A store: the functions of this package for it, such as `store.compare("old", "new")` and `store.table()`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __getattr__(self, name: str) -> Any:
        if name not in _asking():
            raise AttributeError(f"a store has no {name!r}: {', '.join(_asking())}")
        if name in ("study", "trace"):
            return _Bound(_asking()[name], self.path)
        return _bound(_asking()[name], self.path)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_asking()]

    def __repr__(self) -> str:
        return f"lapwing.Store({str(self.path)!r})"


class _Bound:
    """The functions of a module for a store."""

    def __init__(self, module: Any, path: Path) -> None:
        self._module, self._path = module, path

    def __getattr__(self, name: str) -> Any:
        if name not in self._module.__all__:
            raise AttributeError(f"{self._module.__name__} has no {name!r}: {', '.join(self._module.__all__)}")
        return _bound(getattr(self._module, name), self._path)

    def __dir__(self) -> list[str]:
        return self._module.__all__


def _bound(function: Any, path: Path) -> Any:
    @functools.wraps(function)
    def asked(*words: Any, **options: Any) -> Any:
        return function(*words, store=path, **options)

    return asked


@functools.cache
def _asking() -> dict[str, Any]:
    """Returns what can be asked of a store, by name."""
    import lapwing
    from lapwing import _commands

    names = [*_commands.__all__, "ask", "record", "study", "table", "trace"]
    return {name: getattr(lapwing, name) for name in names}


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
    ask("db pull", place, store=store)
    return Store(store)
