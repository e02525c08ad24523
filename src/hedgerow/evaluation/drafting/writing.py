"""Writing a draft: commented YAML that shows types, rounded counts and round band widths, but no value of a record."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from hedgerow.errors import escape_text
from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.propose import Proposal, about
from hedgerow.plan import DataFormat

if TYPE_CHECKING:
    from hedgerow.evaluation.drafting.examination import Examination

_WIDTH = 108


def write_draft(seen: Examination) -> str:
    """Write what was seen and is proposed as a plan with comments."""
    parts = [
        _head(seen.records, len(seen.columns)),
        _data(seen),
        "attributes:\n",
        *(_attribute(column, proposal) for column, proposal in zip(seen.columns, seen.proposals, strict=True)),
        _foot(sum(proposal.role == "quasi-identifier" for proposal in seen.proposals)),
    ]
    return "\n".join(part for part in parts if part)


def _head(records: int, columns: int) -> str:
    return f"""\
# DRAFT — review every line. Hedgerow has looked at the table; only you know what people outside could know.
# Seen: {about(records)} records, {columns:,} columns. No value of a record stands in this file.
#
#   identifier         names a person or a record: left out of the release
#   quasi-identifier   could be known from elsewhere, such as age or place: coarsened until k people look alike
#   sensitive          nobody should learn it of a person: published as it is
#   other              neither: published as it is
#
# A limit says how far a value may be coarsened; without one it may go all the way to *.
# When you have decided: hedgerow plan check PLAN, then hedgerow explain DATA PLAN.
"""


def _data(seen: Examination) -> str:
    lines, found, usual = [], seen.format, DataFormat()
    if found.delimiter is not None:
        delimiter = "tab" if found.delimiter == "\t" else _quoted(found.delimiter)
        one = len(seen.columns) == 1
        check = "   # Check: the header has one column only when split at this" if one else ""
        lines.append(f"  delimiter: {delimiter}{check}")
    if found.encoding != usual.encoding:
        check = "   # Check: not UTF-8, so this is a guess" if seen.guessed else ""
        lines.append(f"  encoding: {found.encoding}{check}")
    if found.quote != usual.quote:
        lines.append(f"  quote: {_quoted(found.quote)}")
    if seen.missing != usual.missing:
        check = "   # Check: does each of these mean a missing value in every column?" if seen.markers else ""
        lines.append(f"  missing: [{', '.join(map(_quoted, seen.missing))}]{check}")
    if found.format is not None:
        lines.append(f"  format: {found.format}")
    return "data:\n" + "\n".join(lines) + "\n" if lines else ""


def _attribute(column: SeenColumn, proposal: Proposal) -> str:
    lines = [wrapped for note in (proposal.seen, *proposal.notes) for wrapped in textwrap.wrap(note, _WIDTH - 4)]
    value = proposal.role
    if value == "quasi-identifier":
        parts = {"role": value, "hierarchy": proposal.rule, "unknown": proposal.unknown}
        value = "{" + ", ".join(f"{key}: {part}" for key, part in parts.items() if part) + "}"
    key = _key(column.name)
    entry = f"  {key}: {value}" if len(key) < 1000 else f"  ? {key}\n  : {value}"  # YAML wants long keys announced
    return "\n".join([*(f"  # {line}" for line in lines), entry, ""])


def _foot(quasi_identifiers: int) -> str:
    many = (
        f"# All {quasi_identifiers} quasi-identifiers count together: each one fewer leaves the others finer.\n"
        if quasi_identifiers > 5
        else ""
    )
    return (
        "# What must hold: everyone in the release looks like at least k - 1 others in all quasi-identifiers.\n"
        f"{many}privacy: {{k: 5}}\n\n"
        "# How groups are formed. improve: quick searches for groups that lose less; thorough and longest do so for\n"
        "# longer, longest for minutes on large tables.\n"
        "method: {name: cluster, improve: quick}\n"
    )


def _key(name: str) -> str:
    """Write a column name so that every reader of YAML takes it for text, on one line."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*", name)
    reserved = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.casefold() not in reserved else _quoted(name)


def _quoted(text: str) -> str:
    import yaml

    quoted = str(yaml.dump(text, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=True, width=1 << 30))
    return escape_text(quoted.strip())  # YAML escapes as Python does, but lets marks of direction stand
