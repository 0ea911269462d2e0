"""Benchmarks from pytest: every iteration is recorded for Lapwing.

Recording is asked for with ``--lapwing``. The plugin writes Lapwing's record format, version 1, and nothing
else; it needs no Lapwing to run.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def trace_dask(client: Any, path: Any, *, benchmark: str | None = None) -> Any:
    """Writes a trace of a block on a Dask cluster to a record file: `with trace_dask(client, "trace.jsonl"): …`.

    With an asynchronous client use `async with`. The benchmark is called like the file, without its ending. An older
    trace of the same name is replaced; a file that is something else is refused.
    """
    # Pytest imports this module before it can rewrite the assertions of the others.
    from . import dask_trace

    return dask_trace.trace_to_file(client, path, benchmark)
