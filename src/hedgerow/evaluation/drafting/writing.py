"""Writing a draft: commented YAML that shows types, rounded counts and round band widths, but no value of a record."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hedgerow.errors import escape_text
from hedgerow.evaluation.drafting.assumptions import assumptions_of
from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.propose import Proposal, about
from hedgerow.plan import DataFormat, Limit
from hedgerow.plan.audiences import AUDIENCES, USUAL
from hedgerow.plan.hierarchy.numbers import number_label

if TYPE_CHECKING:
    from hedgerow.evaluation.drafting.examination import Examination
    from hedgerow.evaluation.tightening import ProposedLimits
    from hedgerow.microdata.notes import ColumnNote

_WIDTH = 108
MOST_TOLD = 5


def write_draft(seen: Examination, limits: ProposedLimits | None = None) -> str:
    """Write what was seen and is proposed as a plan with comments, with limits if some are proposed too."""
    parts = [
        _head(seen.records, len(seen.columns), limits),
        _data(seen),
        _person(seen),
        "attributes:\n",
        *(
            _attribute(column, proposal, limits, seen.notes)
            for column, proposal in zip(seen.columns, seen.proposals, strict=True)
        ),
        _foot(seen, limits),
    ]
    return "\n".join(part for part in parts if part)


def _head(records: int, columns: int, limits: ProposedLimits | None) -> str:
    proposed = (
        ""
        if limits is None
        else f"""\
# Limits are proposed from the records: no more than {limits.at_most} must be withheld. Accept, change or remove them.
# One that names classes, such as 30-39, names those that records fall into.
"""
    )
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
{proposed}# When you have decided: hedgerow plan check PLAN, then hedgerow explain DATA PLAN.
"""


def _data(seen: Examination) -> str:
    """Write how the table is written: what is not usual, and why it is taken to be so."""
    lines, form, usual = [], seen.form, DataFormat()
    told = {one.key: one for one in assumptions_of(seen)}
    for key in DataFormat.model_fields:
        value = getattr(form, key)
        if value == getattr(usual, key) or key == "output":
            continue
        why = told[key].comment if key in told else ""
        lines.append(f"  {key}: {_written(value)}{f'   # {why}' if why else ''}")
    return "data:\n" + "\n".join(lines) + "\n" if lines else ""


def _written(value: Any) -> str:
    """Write a value of ``data`` on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)}: {_written(part)}' for name, part in value.items())}}}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if re.fullmatch(r"[a-z][a-z0-9-]+", value) else "tab" if value == "\t" else _quoted(value)
    return f"[{', '.join(map(_quoted, value))}]"


def _attribute(
    column: SeenColumn, proposal: Proposal, limits: ProposedLimits | None, said_of: Mapping[str, ColumnNote]
) -> str:
    title = said_of[column.name].title if column.name in said_of else ""
    limit = None if limits is None else limits.of(column.name)
    said = () if limits is None or limit is None else (f"Proposed limit: {limits.note(column.name)}.",)
    notes = (proposal.seen, *said, *proposal.notes)
    lines = [wrapped for note in notes for wrapped in textwrap.wrap(note, _WIDTH - 4)]
    value = proposal.role
    if value == "quasi-identifier":
        parts = {"role": value, "hierarchy": proposal.rule, "unknown": proposal.unknown}
        if limit is not None and limit.limit is not None:
            parts["limit"] = limit_text(limit.limit)
        value = "{" + ", ".join(f"{key}: {part}" for key, part in parts.items() if part) + "}"
    if title and value != "identifier":
        inner = value.removeprefix("{").removesuffix("}")
        first, _, rest = (inner if inner.startswith("role:") else f"role: {inner}").partition(", ")
        value = "{" + ", ".join(part for part in (first, f"title: {_quoted(title)}", rest) if part) + "}"
    key = _key(column.name)
    entry = f"  {key}: {value}" if len(key) < 1000 else f"  ? {key}\n  : {value}"  # YAML wants long keys announced
    hint: tuple[str, ...] = ()
    if proposal.treat:
        inner = value.removeprefix("{").removesuffix("}")
        first = inner if inner.startswith("role:") else f"role: {inner}"
        hint = ("  # This line publishes such as one value:", f"  # {key}: {{{first}, treat: {proposal.treat}}}")
    return "\n".join([*(f"  # {line}" for line in lines), *hint, entry, ""])


def limit_text(limit: Limit) -> str:
    """Write a limit on one line, as a plan has it.

    Examples
    --------
    >>> print(
    ...     limit_text(Limit(level=2)), limit_text(Limit(nodes=("30-39", "40, or so"))), limit_text(Limit(cuts=(65,)))
    ... )
    {level: 2} [30-39, "40, or so"] {cuts: [65]}
    """
    if limit.level is not None:
        return f"{{level: {limit.level}}}"
    if limit.nodes is not None:
        plain = (name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_*-]*", name) else _quoted(name) for name in limit.nodes)
        return f"[{', '.join(plain)}]"
    parts = [f"cuts: [{', '.join(map(number_label, limit.cuts))}]"] if limit.cuts else []
    parts += [] if limit.width is None else [f"width: {number_label(limit.width)}"]
    return f"{{{', '.join(parts)}}}"


def _person(seen: Examination) -> str:
    person = seen.wishes.person
    return "" if person is None else f"# k counts persons, whoever has several records.\nperson: {_key(person)}\n"


def _foot(seen: Examination, limits: ProposedLimits | None) -> str:
    quasi_identifiers = sum(proposal.role == "quasi-identifier" for proposal in seen.proposals)
    said = ""
    if limits is not None:
        more = " Others may fit no group." if limits.others_may_not_fit else ""
        must = f"# With the proposed limits {limits.together} must be withheld.{more}"
        said = f"{must} No release is made if it is more than:\nwithhold: {_quoted(limits.at_most)}\n\n"
    many = (
        f"# All {quasi_identifiers} quasi-identifiers count together: each one fewer leaves the others finer.\n"
        if quasi_identifiers > 5
        else ""
    )
    many += _coarsen_first(seen)
    return (
        "# What must hold: everyone in the release looks like at least k - 1 others in all quasi-identifiers.\n"
        f"# {USUAL.k} is usual for {USUAL.title.lower()}, {AUDIENCES['public'].k} for the public.\n"
        f"{many}{_promise(seen, withheld=limits is None)}\n{said}"
        "# How groups are formed. improve: quick searches for groups that lose less; thorough and longest do so for\n"
        "# longer, longest for minutes on large tables.\n"
        "method: {name: cluster, improve: quick}\n"
    )


def _coarsen_first(seen: Examination) -> str:
    """Say which columns make people unique most, so that limits and bands are looked at there first."""
    if not seen.telling:
        return ""
    shares = ", ".join(f"{_key(name)} ({share:.0%})" for name, share in seen.telling[:MOST_TOLD])
    text = f"Coarsen first what singles people out, by its share of the scores of special uniques (SUDA): {shares}."
    return textwrap.fill(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False) + "\n"


def _promise(seen: Examination, withheld: bool) -> str:
    """Write what is promised: to the audience that somebody has named, or else k as is usual."""
    if seen.wishes.audience is None:
        return f"privacy: {{k: {USUAL.k}}}\n"
    audience = AUDIENCES[seen.wishes.audience]
    sensitive = any(proposal.role == "sensitive" for proposal in seen.proposals)
    values = f", p: {audience.values}" if sensitive else ""
    at_most = f'withhold: "{audience.withhold}"\n' if withheld else ""
    return (
        f"# For: {audience.title.lower()}.\nprivacy: {{k: {audience.k}{values}}}\n{at_most}"
        f"threshold: {audience.threshold}\n"
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
