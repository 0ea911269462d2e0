"""Detection of the fixture `benchmark` that a test uses, even if a conftest.py wraps it under the same name."""

from __future__ import annotations

import inspect
from types import CodeType

import pytest

NAME = "benchmark"


def is_of(definition: pytest.FixtureDef[object], package: str) -> bool:
    """Returns whether a definition of the fixture `benchmark` is that of a package or module."""
    module = getattr(definition.func, "__module__", None) or ""
    return definition.argname == NAME and (module == package or module.startswith(f"{package}."))


def leads_to(item: pytest.Item, package: str) -> bool:
    """Returns whether a test asks for the `benchmark` of a package, by itself or through others of the name.

    What asks for it only while it is executed, by `request.getfixturevalue`, is not seen.
    """
    info = getattr(item, "_fixtureinfo", None)
    # The nearest one is the last. One that asks for its own name gets the one before it.
    for definition in reversed(info.name2fixturedefs.get(NAME, ()) if info else ()):
        if is_of(definition, package):
            return True
        if NAME not in definition.argnames:
            return False
    return False


def may_be_asked_late(item: pytest.Function) -> bool:
    """Returns whether a test or one of its fixtures asks for any fixture while it is executed."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = [it for several in (info.name2fixturedefs.values() if info else ()) for it in several]
    functions = [getattr(item, "function", None), *(it.func for it in definitions)]
    return any(_asks(getattr(inspect.unwrap(it), "__code__", None)) for it in functions if it is not None)


def _asks(code: CodeType | None) -> bool:
    if code is None:
        return False
    return "getfixturevalue" in code.co_names or any(_asks(it) for it in code.co_consts if isinstance(it, CodeType))
