"""Whether an option's value has moved pytest's root folder.

pytest looks for its root before it knows the options of plugins. It then takes the value of `--lapwing-store PATH` for
a path of tests if it exists; root, configuration, ids and suite follow from it. `--lapwing-store=PATH` is safe.
"""

from __future__ import annotations

import inspect

import pytest
from _pytest.config.findpaths import determine_setup


def check(config: pytest.Config, arguments: list[str], flags: set[str]) -> None:
    """Raises UsageError where the separate value of one of these options has moved the root folder."""
    found = _with_separate_values(config, arguments, flags)
    if not found or _root(config) == (config.rootpath, config.inipath):
        return
    flag, value = found[0]
    raise pytest.UsageError(
        f"{flag} {value}: pytest took {value} for a path of tests when it looked for its root folder, "
        f"and ids of benchmarks start from that; write {flag}={value}"
    )


def _with_separate_values(config: pytest.Config, arguments: list[str], flags: set[str]) -> list[tuple[str, str]]:
    """Returns options whose value is an argument of its own, and names something that exists."""
    start = config.invocation_params.dir
    pairs = zip(arguments, arguments[1:])
    return [(flag, value) for flag, value in pairs if flag in flags and _exists(start / value.partition("::")[0])]


def _exists(path: object) -> bool:
    try:
        return path.exists()  # type: ignore[attr-defined]
    except OSError:
        return False


def _root(config: pytest.Config) -> tuple[object, object]:
    """Returns root folder and configuration file as they are when values of options are no paths of tests."""
    known = config.known_args_namespace
    arguments = {
        "inifile": known.inifilename,
        "override_ini": known.override_ini,
        "args": known.file_or_dir,
        "rootdir_cmd_arg": known.rootdir or None,
        "invocation_dir": config.invocation_params.dir,
    }
    # Which of them there are depends on the version of pytest.
    wanted = inspect.signature(determine_setup).parameters
    return determine_setup(**{name: value for name, value in arguments.items() if name in wanted})[:2]  # type: ignore[arg-type]
