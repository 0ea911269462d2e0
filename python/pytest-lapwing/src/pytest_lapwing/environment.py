"""The environment: machine, interpreter, packages; and the version under test."""

from __future__ import annotations

import contextlib
import os
import re
import platform
import subprocess
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any


def environment() -> dict[str, Any]:
    """Returns the environment of a run, without unknown values. The keys are those of `lapwing run`."""
    found = {
        "host": platform.node(),
        "cpu_model": _field("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "memory": _memory(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "os": _os(),
        "platform": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": packages(),
    }
    return {key: value for key, value in found.items() if value}


def packages() -> dict[str, str]:
    """Returns the installed distributions and their versions."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        with contextlib.suppress(Exception):
            name = distribution.metadata["Name"]
            if name:
                found.setdefault(name, distribution.version)
    return dict(sorted(found.items()))


def package_version(name: str) -> dict[str, Any]:
    """Returns the version of an installed distribution; LookupError if it is not installed."""
    try:
        return {"name": metadata.version(name)}
    except metadata.PackageNotFoundError as error:
        raise LookupError(f"package {name} is not installed") from error


def repository_version(folder: Path) -> dict[str, Any]:
    """Returns the state of the Git repository around a folder; empty if there is none."""
    head = _git(folder, "show", "-s", "--format=%H %cI", "HEAD")
    if not head:
        return {}
    commit, _, date = head.partition(" ")
    version: dict[str, Any] = {"commit": commit}
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    if branch:
        version["branch"] = branch
    if date:
        version["date"] = date
    dirty = _is_changed(folder)
    if dirty is not None:
        version["dirty"] = dirty
    return version


def repository_name(folder: Path) -> str | None:
    """Returns the name that a folder has in every clone of its Git repository; None outside of one.

    The same as `lapwing run` takes for suites without a name: the last part of the remote's address, else
    `repository-` with the first ten digits of the root commit; below the top folder, the path within the repository follows.
    """
    if not _git(folder, "rev-parse", "--show-toplevel"):
        return None
    remotes = (_git(folder, "remote") or "").splitlines()
    url = _git(folder, "config", "--get", "remote.origin.url") or (remotes and _git(folder, "remote", "get-url", remotes[0]))
    # What follows may be a token.
    url = re.split(r"[?#]", url)[0] if url else url
    name = re.split(r"[/:\\]", url.rstrip("/"))[-1].removesuffix(".git") if url else ""
    if not name and _git(folder, "rev-parse", "--is-shallow-repository") == "false":
        roots = (_git(folder, "rev-list", "--max-parents=0", "HEAD") or "").splitlines()
        name = f"repository-{roots[-1][:10]}" if roots else ""
    within = (_git(folder, "rev-parse", "--show-prefix") or "").rstrip("/")
    return f"{name}/{within}" if name and within else name or None


def _is_changed(folder: Path) -> bool | None:
    """Returns whether tracked files differ from the last commit, without executing filters; None if Git does not say."""
    # Code 1: there are none.
    found = _git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", codes=(0, 1))
    keys = (found or "").split("\0")
    # Git would cut a name at its first `=`.
    if found is None or any("=" in key for key in keys):
        return None
    settings = [f"{key}={'false' if key.endswith('.required') else ''}" for key in keys if key]
    options = [part for setting in settings for part in ("-c", setting)]
    changes = _git(folder, *options, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    return None if changes is None else bool(changes)


def _git(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> str | None:
    # Nothing is executed that the configuration of a repository names; Git decides whose repositories it reads.
    nothing = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "safe.bareRepository=explicit")
    command = ["git", "--no-pager", *(part for setting in nothing for part in ("-c", setting)), *arguments]
    # Set in a Git hook, they would name another repository.
    ignored = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    variables = {name: value for name, value in os.environ.items() if name not in ignored}
    variables |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, errors="surrogateescape", timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if "detected dubious ownership" in done.stderr:
        warnings.warn(
            f"{folder} is in a Git repository of another user, which Git does not read: no version is recorded. "
            "If you trust its owner, `git config --global --add safe.directory PATH`",
            stacklevel=2,
        )
    return done.stdout.strip() if done.returncode in codes else None


def ci() -> dict[str, str]:
    """Returns the URL of the CI job, on GitHub."""
    parts = [os.environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    if not all(parts):
        return {}
    server, repository, run = parts
    return {"ci_run_url": f"{server}/{repository}/actions/runs/{run}"}


def _field(path: str, name: str) -> str | None:
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    return None


def _memory() -> int | None:
    text = _field("/proc/meminfo", "MemTotal")
    if text:
        return int(text.split()[0]) * 1024
    return None


def _os() -> str | None:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("PRETTY_NAME="):
                    return line.partition("=")[2].strip().strip("\"'")
    return platform.system() or None
