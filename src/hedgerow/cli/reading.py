"""What somebody says on the command line of how a file is written: ``--read KEY=VALUE``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.errors import HedgerowError, PlanError, Problem

if TYPE_CHECKING:
    from hedgerow.plan import DataFormat

ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help="Say how the file is written: a key of 'data' in a plan, such as decimal=comma, header=no, "
        "missing='k.A.|n/a', 'missing_in=height:999' or dates='%d.%m.%Y|%Y-%m-%d'. May be given several times.",
    ),
]
WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar": "|",
    "point": ".",
    "blank": " ",
    "apostrophe": "'",
    "none": None,
}
LISTS = ("missing", "dates")


def stated_form(read: list[str] | None, sheet: str | None = None, keep_codes: bool = False) -> DataFormat | None:
    """Return what is said of how a file is written; None if nothing is.

    Examples
    --------
    >>> stated_form(["decimal=comma", "missing=k.A.|n/a", "missing_in=height:999"]).missing_in
    {'height': ('999',)}
    """
    from hedgerow.plan import DataFormat, Plan  # the help needs no plans

    asked: dict[str, Any] = {"sheet": sheet} if sheet is not None else {}
    asked |= {"labels": "keep-codes"} if keep_codes else {}
    for one in read or ():
        key, sign, value = one.partition("=")
        if not sign or key not in DataFormat.model_fields:
            keys = ", ".join(DataFormat.model_fields)
            raise HedgerowError(Problem("usage", "--read takes KEY=VALUE.", hint=f"KEY is one of {keys}"))
        asked[key] = _value(key, value, asked)
    if not asked:
        return None
    try:
        columns = ["x", *asked.get("missing_in", {})]
        raw = {"data": asked, "attributes": dict.fromkeys(columns, "quasi-identifier"), "privacy": {"k": 2}}
        return Plan.from_dict(raw, base=None).data
    except PlanError as error:
        raise HedgerowError(Problem("usage", f"--read: {error.problems[0].message}")) from None


def _value(key: str, value: str, asked: dict[str, Any]) -> Any:
    if key == "missing_in":
        column, _, cells = value.rpartition(":")
        return {**asked.get(key, {}), column: cells.split("|")}
    if key in LISTS:
        parts = value.split("|")
        return ["", *parts] if key == "missing" and "" not in parts else parts
    if key == "header":
        return {"yes": True, "no": False}.get(value, value)
    return WORDS.get(value, value)
