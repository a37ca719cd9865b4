# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables of results."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from carrick import _carrick

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: Rows that a notebook shows.
_SHOWN = 20


class Table:
    """Named columns of the same length. Times are integers of nanoseconds, cells without a value are None.

    Libraries of tables take it without copying, by the Arrow C stream interface: `polars.DataFrame(table)`, `pyarrow.table(table)`.
    """

    def __init__(self, columns: _carrick.Columns) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._columns.names()

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, column: str) -> list[Any]:
        """Returns the values of a column."""
        return self._columns.column(column)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns a dictionary for each row."""
        return self._columns.to_dicts()

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of pyarrow, which must be installed."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a frame of pandas, which must be installed, with pyarrow. Integers stay integers where values are missing."""
        import pandas

        kinds = {"int64": pandas.Int64Dtype()}
        return self.to_arrow().to_pandas(types_mapper=lambda kind: kinds.get(str(kind)))

    def to_polars(self) -> polars.DataFrame:
        """Returns a frame of polars, which must be installed."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        cell = lambda tag, value: f"<{tag}>{html.escape('' if value is None else str(value))}</{tag}>"  # noqa: E731
        shown = [self._columns.column(name)[:_SHOWN] for name in self.columns]
        head = "".join(cell("th", name) for name in self.columns)
        rows = "".join("<tr>" + "".join(cell("td", value) for value in row) + "</tr>" for row in zip(*shown))
        more = f"<p>{len(self) - _SHOWN} more rows</p>" if len(self) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"
