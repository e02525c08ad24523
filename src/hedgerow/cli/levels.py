"""Levels as they are typed: ``age=2,sex=0``."""

from __future__ import annotations

from typing import Annotated

import typer

LevelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN=N,…",
        help="The level of each column, like 'method.levels' in a plan; the best level is searched for the others.",
    ),
]


def read_levels(text: str | None) -> dict[str, int] | None:
    """Read levels by column; None if none were given.

    Examples
    --------
    >>> read_levels("age=2, city, state=0")
    {'age': 2, 'city, state': 0}
    """
    if text is None:
        return None
    levels: dict[str, int] = {}
    name = ""
    for part in text.split(","):
        name += part  # a name may have commas itself
        column, equals, level = name.rpartition("=")
        if not equals:
            name += ","
            continue
        if not level.strip().isdecimal() or not column.strip() or column.strip() in levels:
            raise _wrong()
        levels[column.strip()] = int(level)
        name = ""
    if name.strip(", "):
        raise _wrong()
    return levels


def _wrong() -> typer.BadParameter:
    return typer.BadParameter("must be levels by column, each once, such as age=2,sex=0", param_hint="--levels")
