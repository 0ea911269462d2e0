"""Tables: what the store holds, and the rows of answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._program import LapwingError, command_line, error_of, execute


class Table:
    """A table that pandas, polars, DuckDB and pyarrow take: `polars.DataFrame(table)`, `table.to_pandas()`."""

    def __init__(self, data: bytes, form: str) -> None:
        self._data = data
        self._form = form

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow, which has the units of columns in its schema."""
        if self._form == "arrow":
            import pyarrow.ipc

            return pyarrow.ipc.open_stream(pyarrow.py_buffer(self._data)).read_all()
        import pyarrow.csv

        return pyarrow.csv.read_csv(io.BytesIO(self._data))

    def to_polars(self) -> Any:
        """Returns a data frame of polars."""
        import polars

        if self._form == "arrow":
            return polars.read_ipc_stream(io.BytesIO(self._data))
        return polars.read_csv(self._data, infer_schema_length=None)

    def to_pandas(self) -> Any:
        """Returns a data frame of pandas."""
        import pandas

        if self._form == "arrow":
            return self.to_arrow().to_pandas()
        return pandas.read_csv(io.BytesIO(self._data))

    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries; those of an answer have texts."""
        if self._form == "csv":
            return list(csv.DictReader(io.StringIO(self._data.decode())))
        read = self._any()
        return read.to_pylist() if hasattr(read, "to_pylist") else read.to_dicts()

    def _any(self) -> Any:
        """Returns the table in whichever library is installed."""
        try:
            return self.to_arrow()
        except ImportError:
            pass
        try:
            return self.to_polars()
        except ImportError:
            raise LapwingError("reading a table needs pyarrow or polars", hint="pip install pyarrow") from None

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._any().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self._any()) if self._form == "arrow" else len(self.rows())

    def __repr__(self) -> str:
        return repr(self._any()) if self._form == "arrow" else self._data.decode()

    def _repr_html_(self) -> str | None:
        try:
            return self.to_pandas()._repr_html_()
        except ImportError:
            return None


def table(name: str = "iterations", *, store: str | Path | None = None, where: Any = None, **filters: Any) -> Table:
    """Returns a table of the store (`docs/tables.md`): `iterations`, `instances`, `runs`, `history_points`, `spans`,
    `study_runs` or `exclusions`, with the filters of every command, such as `benchmark="sort"` or `metric="wall_time"`.
    """
    options = {"to": "arrow", "table": name, "store": store, "where": where, **filters}
    line = command_line("export", [], options)
    written, talk, code = execute(line, ["--format=json"])
    if code:
        raise error_of(written, talk, code)
    return Table(written, "arrow")
