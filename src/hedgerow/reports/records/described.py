"""What both kinds of record say, in words: the release as a whole, each of its columns, its numbers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from hedgerow.plan.concepts import MEASURES
from hedgerow.reports.column_words import WHY, coarsened
from hedgerow.reports.level_words import limit_words
from hedgerow.reports.material import Material
from hedgerow.reports.wording import counted, percent


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a release."""

    name: str
    title: str
    role: str
    said: str
    share_lost: float | None


def identity(material: Material) -> uuid.UUID:
    """Return what names the release everywhere: the same for the same bytes."""
    return uuid.uuid5(uuid.NAMESPACE_URL, material.fingerprint)


def abstract(material: Material) -> str:
    """Describe the release in a few sentences."""
    facts = material.facts
    released, withheld = facts.count("released"), facts.count("withheld")
    columns = counted(len(material.plan.released_columns), "column")
    parts = [
        f"Anonymized microdata: {counted(released, 'record')}, {columns}.",
        f"It meets {', '.join(material.demands())}, as an independent check found.",
    ]
    if withheld:
        parts.append(f"{counted(withheld, 'record was', 'records were')} withheld.")
    ntil = facts.number("ntil")
    if ntil is not None:
        parts.append(f"{percent(ntil)} of the detail was lost to coarsening and withholding (NTIL).")
    return " ".join(parts)


def columns(material: Material) -> list[DescribedColumn]:
    """Describe every released column."""
    lost = material.facts.numbers("share_lost_by_attribute")
    found = []
    for name in material.plan.released_columns:
        attribute = material.plan.attributes[name]
        said = f"{attribute.role}: {WHY[attribute.role]}. Published: {coarsened(attribute)}"
        if attribute.limit is not None:
            said += f"; limit: {limit_words(attribute)}"
        found.append(DescribedColumn(name, attribute.title or name, attribute.role, said + ".", lost.get(name)))
    return found


def numbers(material: Material) -> Iterator[tuple[str, str, float]]:
    """Yield every measure of the release: its name in facts.json, what it is called, and its value."""
    for measure in MEASURES:
        value = material.facts.number(measure.name)
        if value is not None:
            yield measure.name, measure.title, value
