"""Description of a test as a benchmark: id, parameters, tags, fingerprint, source."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import math
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

NOT_TAGS = {"skip", "skipif", "parametrize", "usefixtures", "xfail", "filterwarnings", "lapwing"}
"""Markers about how a test is run, not about what it is."""

LONGEST_SOURCE = 16 * 1024
LONGEST_REPR = 200


def benchmark(item: pytest.Item) -> dict[str, Any]:
    """Returns the `benchmark` of an instance's record."""
    described: dict[str, Any] = {"id": item.nodeid}
    for key, value in (("params", params(item)), ("tags", tags(item)), ("fingerprint", fingerprint(item))):
        if value:
            described[key] = value
    return described


def params(item: pytest.Item) -> dict[str, Any]:
    """Returns the parameters of a parametrised test, the same in every process; other values than JSON's as repr."""
    callspec = getattr(item, "callspec", None)
    return {name: _stable(value) for name, value in callspec.params.items()} if callspec else {}


def _stable(value: Any, depth: int = 5) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth and isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _stable(it, depth - 1) for key, it in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_stable(it, depth - 1) for it in value]
    if depth and isinstance(value, (set, frozenset)):
        # Their order is another one in every process.
        return sorted((_stable(it, depth - 1) for it in value), key=lambda it: json.dumps(it, sort_keys=True))
    if depth and not inspect.isclass(value) and getattr(value, "shape", None) == () and hasattr(value, "item"):
        # A number of NumPy, whose repr depends on its version.
        return _stable(value.item(), 0)
    if inspect.isclass(value) or inspect.isroutine(value):
        names = (getattr(value, "__module__", None), getattr(value, "__qualname__", None))
        return ".".join(filter(None, names)) or type(value).__name__
    return _text(value)


def _text(value: Any) -> str:
    """Returns a value's repr without its address in memory."""
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__name__} object>"
    without = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    return re.sub(r"\b0x[0-9a-fA-F]{9,16}\b", "0x…", without)[:LONGEST_REPR]


def tags(item: pytest.Item) -> list[str]:
    """Returns the names of the markers, so that `-m NAME` and `--tag NAME` mean the same."""
    return sorted({mark.name for mark in item.iter_markers()} - NOT_TAGS)


def fingerprint(item: pytest.Item) -> str | None:
    """Returns a hash of the test's source without its markers; or its epoch, if its marker has one."""
    for mark in item.iter_markers("lapwing"):
        if "epoch" in mark.kwargs:
            return f"epoch:{mark.kwargs['epoch']}"
    found = source_lines(item)
    if found is None:
        return None
    text = without_markers(textwrap.dedent("".join(found[0])), _names_around(item))
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _names_around(item: pytest.Item) -> dict[str, Any]:
    """Returns what a test's decorators may name: what its module and its class hold."""
    function = inspect.unwrap(getattr(item, "function", None) or getattr(item, "obj", None))  # type: ignore[arg-type]
    classes = reversed(getattr(getattr(item, "cls", None), "__mro__", ()))
    names = dict(getattr(function, "__globals__", {}))
    for it in classes:
        names.update(vars(it))
    return names


def without_markers(source: str, names: Mapping[str, Any]) -> str:
    """Returns a function's source without its decorators that are markers, empty lines and spaces at ends.

    Those are `pytest.mark.…`, and what `names` says is one under another name. Another marker, or one more parameter
    set, does not make it another benchmark.
    """
    lines = source.splitlines()
    dropped: set[int] = set()
    try:
        tree = ast.parse(source)
    except SyntaxError:
        tree = ast.Module(body=[], type_ignores=[])
    for node in tree.body:
        for decorator in getattr(node, "decorator_list", []):
            if _is_marker(decorator, names):
                dropped.update(range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1))
    kept = (line.rstrip() for number, line in enumerate(lines, 1) if number not in dropped)
    return "\n".join(line for line in kept if line)


def _is_marker(decorator: ast.expr, names: Mapping[str, Any]) -> bool:
    while isinstance(decorator, ast.Call):
        decorator = decorator.func
    owner = decorator.value if isinstance(decorator, ast.Attribute) else None
    return (
        (isinstance(owner, ast.Attribute) and owner.attr == "mark")
        or (isinstance(owner, ast.Name) and owner.id == "mark")
        or isinstance(_named(decorator, names), pytest.MarkDecorator)
    )


def _named(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """Returns what a name stands for, also one in a module or class; None where that takes more than looking."""
    if isinstance(expression, ast.Name):
        return names.get(expression.id)
    if isinstance(expression, ast.Attribute):
        owner = _named(expression.value, names)
        if inspect.ismodule(owner) or inspect.isclass(owner):
            return vars(owner).get(expression.attr)
    return None


def source_lines(item: pytest.Item) -> tuple[list[str], int] | None:
    """Returns the lines of a test's function, decorators included, and the number of the first one."""
    function = getattr(item, "function", None) or getattr(item, "obj", None)
    try:
        return inspect.getsourcelines(inspect.unwrap(function))  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return None


def source(item: pytest.Item) -> dict[str, Any] | None:
    """Returns the location and the text of a test's source, for the report."""
    found = source_lines(item)
    if found is None:
        return None
    text = textwrap.dedent("".join(found[0])).rstrip()
    return {"path": _relative(item.path, item.config.rootpath), "line": found[1], "text": text[:LONGEST_SOURCE]}


def _relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return str(path)
