"""Flat records go in, a pandas DataFrame comes out: numbers typed, money Decimal, parameters the text they were."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sweeptool.errors import Problem, SweepError
from sweeptool.text import encodable

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = ("index", "attempt", "exit_code", "repetition")
_FLAGS = ("failed", "git_dirty")
_TIMES = ("pulled_at_utc", "admitted_at", "settled_at")
_REAL = ("wall_time_sec", "units_per_second")


def frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the records as a DataFrame, one row each.

    ``param.*`` is text, ``metric.*`` floats, other columns ending in ``_usd`` hold Decimals in dollars, times are UTC;
    what is unknown is NA, never 0.
    """
    import pandas as pd  # noqa: PLC0415 - a quarter of a second that few commands need

    made = pd.DataFrame(rows, dtype=object)
    for name in made.columns:
        if name in _WHOLE:
            made[name] = made[name].astype("Int64")
        elif name in _FLAGS:
            made[name] = made[name].astype("boolean")
        elif name in _TIMES:
            made[name] = pd.to_datetime(made[name], utc=True, errors="coerce", format="ISO8601")
        elif name in _REAL or name.startswith("metric."):
            made[name] = made[name].astype("float64")
        elif name.endswith("_usd") and not name.startswith("param."):
            made[name] = made[name].map(lambda text: None if text is None else Decimal(text))
    return made


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the records as a Parquet file. Raises SweepError where pyarrow is not installed."""
    try:
        return _parquet(rows)
    except ImportError as error:
        raise SweepError(Problem("Parquet needs pyarrow", path="-o", remedy="pip install pyarrow")) from error
    except UnicodeEncodeError:
        return _parquet(
            [
                {name: encodable(value) if isinstance(value, str) else value for name, value in row.items()}
                for row in rows
            ]
        )


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    stream = io.BytesIO()
    frame(rows).to_parquet(stream, engine="pyarrow", index=False)
    return stream.getvalue()
