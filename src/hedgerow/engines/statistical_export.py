"""Writing releases as files of SPSS and Stata, with titles, labels and kinds of missing values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.engines.labelled import ReleasedColumn, released_columns
from hedgerow.engines.release_dialect import ReleaseDialect
from hedgerow.engines.rows import Rows
from hedgerow.engines.writer import Writer, read_text_back
from hedgerow.errors import DataError, Problem
from hedgerow.microdata.parsing.texts import number_text

LONGEST_SPSS_LABEL, LONGEST_SPSS_TEXT = 120, 32_767
LONGEST_STATA_TEXT = 2_045
LONGEST_SPSS_CODE = 8
"""Bytes of a text that means a missing value."""
LONGEST_SPSS_TITLE, LONGEST_STATA_TITLE = 250, 80
SPSS_KINDS = 3
"""Missing values of different kinds that a variable of SPSS can list one by one."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPSS_DATE, SPSS_LONG_AGO = slice(92, 109), b"01 Jan 7000:00:00"
STATA_DATE = re.compile(rb"<timestamp>(.)(.*?)</timestamp>", re.DOTALL)
STATA_LONG_AGO = b"01 Jan 1970 00:00"
SPSS_NAME = re.compile(r"[^\W\d_][\w.$#@]{0,63}")
STATA_NAME = re.compile(r"[^\W\d][\w]{0,31}")
SPSS_WORDS = frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"])


def write_spss(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    """Write a system file of SPSS."""
    import pyreadstat

    columns = released_columns(rows, with_codes=True, with_kinds=True)
    _check_names(columns, "SPSS", SPSS_NAME, SPSS_WORDS)
    columns = [_plain_if_long(column, LONGEST_SPSS_LABEL) for column in columns]
    _check_texts(columns, "SPSS", LONGEST_SPSS_TEXT)
    data: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    missing: dict[str, list[Any]] = {}
    formats: dict[str, str] = {}
    for column in columns:
        cells, shown = list(column.cells), dict(column.labels)
        if column.whys is not None:
            codes = _spss_kinds(column)
            cells = [codes[why] if why is not None else cell for cell, why in zip(cells, column.whys, strict=True)]
            shown |= {code: why for why, code in codes.items() if why}
            low, high = min(codes.values()), max(codes.values())
            missing[column.name] = [*codes.values()] if len(codes) <= SPSS_KINDS else [{"lo": low, "hi": high}]
        data[column.name] = _series(column, cells)
        if shown:
            labels[column.name] = shown
        if column.is_whole:
            formats[column.name] = "F11.0"
    pyreadstat.write_sav(
        _frame(data),
        path,
        column_labels={column.name: _short(column.title, LONGEST_SPSS_TITLE) for column in columns if column.title},
        variable_value_labels=labels,
        missing_ranges=missing,
        variable_measure={column.name: "nominal" for column in columns if column.kind in ("coded", "text")},
        variable_format=formats,
    )
    with path.open("r+b") as file:  # when it was written is nobody's business
        file.seek(SPSS_DATE.start)
        file.write(SPSS_LONG_AGO)


def write_stata(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    """Write a file of Stata 14 or later."""
    import pyreadstat

    columns = released_columns(rows, with_codes=True, with_kinds=True)
    _check_names(columns, "Stata", STATA_NAME, frozenset())
    columns = [column if column.is_whole or column.kind != "coded" else _plain(column) for column in columns]
    _check_texts(columns, "Stata", LONGEST_STATA_TEXT)
    data: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    letters: dict[str, list[str]] = {}
    for column in columns:
        cells, shown = list(column.cells), _whole_labels(column)
        if column.whys is not None:
            whys = sorted({why for why in column.whys if why is not None})
            if len(whys) > len(LETTERS) or column.kind not in ("number", "coded"):
                raise _cannot(column.name, "Stata", "has kinds of missing values that Stata cannot tell apart there")
            of = dict(zip(whys, LETTERS, strict=False))
            cells = [of[why] if why is not None else cell for cell, why in zip(cells, column.whys, strict=True)]
            shown |= {of[why]: why for why in whys}
            letters[column.name] = [*of.values()] or ["a"]
        data[column.name] = _series(column, cells, whole=column.is_whole)
        if shown:
            labels[column.name] = shown
    pyreadstat.write_dta(
        _frame(data),
        path,
        column_labels={column.name: _short(column.title, LONGEST_STATA_TITLE) for column in columns if column.title},
        variable_value_labels=labels,
        missing_user_values=letters or None,
    )
    raw = path.read_bytes()
    found = STATA_DATE.search(raw, 0, 4096)
    if found is not None and len(found[2]) == len(STATA_LONG_AGO):
        path.write_bytes(raw[: found.start(2)] + STATA_LONG_AGO + raw[found.end(2) :])


def _whole_labels(column: ReleasedColumn) -> dict[Any, str]:
    """Return the labels of whole numbers: Stata has no others."""
    labels = column.labels if column.kind in ("number", "coded") else {}
    return {int(code): label for code, label in labels.items() if code == int(code)}


def _short(title: str, most: int) -> str:
    """Cut a title to so many bytes."""
    return title.encode()[:most].decode(errors="ignore")


def _spss_kinds(column: ReleasedColumn) -> dict[str, Any]:
    """Give each kind of missing value its code: that of the file, unless it is a value or they are too many."""
    whys = sorted({why for why in column.whys or () if why is not None})
    if column.kind not in ("number", "coded"):
        return _spss_text_kinds(column, whys)
    values = {cell for cell in column.cells if cell is not None}
    codes: dict[str, float] = {}
    for why in whys:
        code = column.kinds.get(why, why)
        number = float(code) if re.fullmatch(r"-?\d{1,15}(\.\d+)?", code, re.ASCII) else None
        if number is not None and number not in values and number not in codes.values():
            codes[why] = number
    if len(codes) < len(whys) or len(codes) > SPSS_KINDS:
        last = math.floor(min(values, default=0.0)) if min(values, default=0.0) < 0 else 0
        codes = {why: float(last - at) for at, why in enumerate(whys, start=1)}
    if not codes:  # so that the column is there all the same
        last = math.floor(min(values, default=0.0)) if min(values, default=0.0) < 0 else 0
        codes = {"": float(last - 1)}
    return codes


def _spss_text_kinds(column: ReleasedColumn, whys: Sequence[str]) -> dict[str, Any]:
    """Give each kind of missing value of a text its code, which is text too."""
    if column.kind != "text" or len(whys) > SPSS_KINDS:
        raise _cannot(column.name, "SPSS", "has more kinds of missing values than SPSS can tell apart there")
    values = {cell for cell in column.cells if cell is not None}
    free = (code for code in (f"?{at}" for at in range(1, len(values) + len(whys) + 2)) if code not in values)
    codes: dict[str, Any] = {}
    for why in whys:
        code = column.kinds.get(why, why)
        taken = code in values or code in codes.values() or len(code.encode()) > LONGEST_SPSS_CODE
        codes[why] = next(free) if taken else code
    return codes or {"": next(free)}


def _series(column: ReleasedColumn, cells: Sequence[Any], whole: bool = False) -> Any:
    import numpy as np
    import pandas as pd

    if column.kind in ("number", "coded"):
        if any(isinstance(cell, str) for cell in cells):  # letters of Stata among the numbers
            return pd.Series([float("nan") if cell is None else cell for cell in cells], dtype=object)
        numbers = np.array([np.nan if cell is None else cell for cell in cells], float)
        fits = whole and len(cells) and not np.isnan(numbers).any() and (np.abs(numbers) < 2e9).all()
        return pd.Series(numbers.astype(np.int32) if fits else numbers)
    if column.kind == "moment":
        return pd.Series([None if cell is None else cell for cell in cells], dtype=object)
    if column.kind == "day":
        return pd.Series(list(cells), dtype=object)
    return pd.Series(["" if cell is None else cell for cell in cells], dtype=object)


def _frame(data: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(data)


def _plain_if_long(column: ReleasedColumn, most: int) -> ReleasedColumn:
    long = any(len(label.encode()) > most for label in column.labels.values())
    return _plain(column) if long and column.kind == "coded" else column


def _plain(column: ReleasedColumn) -> ReleasedColumn:
    """Return a column with codes as one of text."""
    cells = [
        None if code is None else column.labels.get(code) or number_text(code)
        for code in column.cells
    ]  # fmt: skip
    return ReleasedColumn(column.name, column.title, "text", cells, {}, column.whys, column.kinds)


def _check_names(
    columns: Sequence[ReleasedColumn], program: str, pattern: re.Pattern[str], words: frozenset[str]
) -> None:
    """Refuse names that the program would not take, or would not tell apart."""
    seen: set[str] = set()
    for column in columns:
        name = column.name
        if not pattern.fullmatch(name) or name.upper() in words:
            raise _cannot(name, program, f"has a name that {program} does not take")
        if len(name.encode()) > (64 if program == "SPSS" else 128) or name.upper() in seen:
            raise _cannot(name, program, f"has a name that {program} does not tell apart, or that is too long")
        seen.add(name.upper())


def _check_texts(columns: Sequence[ReleasedColumn], program: str, most: int) -> None:
    for column in columns:
        if column.kind == "text" and any(cell is not None and len(cell.encode()) > most for cell in column.cells):
            raise _cannot(column.name, program, f"holds texts of more than {most:,} bytes")


def _cannot(name: str, program: str, why: str) -> DataError:
    message = f"Column {name!r} {why}, so no {program} file is written."
    return DataError(Problem("output", message, hint="write another format: --format csv"))


SPSS = Writer(write_spss, read_text_back)
STATA = Writer(write_stata, read_text_back)
