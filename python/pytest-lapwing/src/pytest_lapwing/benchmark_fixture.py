"""Whose fixture `benchmark` a test comes to, also where a conftest.py wraps it in one of the same name."""

from __future__ import annotations

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
