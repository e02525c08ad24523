"""What an assessment found, as frozen data: numbers, and names of columns; no value of any record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hedgerow.evaluation.assessing.choosing import Chosen
from hedgerow.evaluation.assessing.demands import Required
from hedgerow.evaluation.assessing.sampling import SampleRisk
from hedgerow.evaluation.assessing.special import SpecialUniques
from hedgerow.evaluation.extremes import Extremes
from hedgerow.outside.notebook import html_table
from hedgerow.privacy.uniqueness import PopulationUniqueness
from hedgerow.version import __version__


@dataclass(frozen=True)
class ColumnPart:
    """What one column has to do with people being unique.

    Attributes
    ----------
    column, values
        Its name, and how many different values it has, a missing one included.
    unique_alone
        People whom it singles out by itself.
    needed
        People of whom a smallest combination that singles them out has it.
    unique_without
        People whom all other columns together single out.
    share_of_scores
        Share of the scores of special uniques that is of combinations with it; None where nobody has a score.
    """

    column: str
    values: int
    unique_alone: int
    needed: int
    unique_without: int
    share_of_scores: float | None = None


@dataclass(frozen=True)
class Combination:
    """What some columns tell apart.

    Attributes
    ----------
    columns
        Their names.
    groups, smallest
        How many different combinations of values there are, and how many people the rarest has.
    unique
        People whom it singles out.
    smallest_of
        People whom it singles out and no part of it does.
    """

    columns: tuple[str, ...]
    groups: int
    smallest: int
    unique: int
    smallest_of: int


@dataclass(frozen=True)
class Disclosure:
    """What groups tell of a sensitive column.

    Attributes
    ----------
    column
        Its name.
    groups, records
        Groups with one value of it only, and the records in them.
    of_several
        Those of these groups that have more than one person.
    largest_share
        The greatest share that one value has in a group.
    """

    column: str
    groups: int
    records: int
    of_several: int
    largest_share: float


@dataclass(frozen=True)
class Assessment:
    """How much a table gives away as it stands.

    A *group* is all people who agree in the chosen columns.

    Attributes
    ----------
    chosen, columns, sensitive, person
        How the columns came to be chosen, which they are, the sensitive ones, and the one that names persons.
    records, withheld, people
        Records that are looked at, those that count as withheld, and the people that the former are of.
    hidden
        Records in which every chosen column holds nothing but ``*``; 0 if they count as withheld.
    groups, unique, k
        Groups, people who are alone in theirs, and the people in the smallest.
    people_by_group
        How many groups have how many people.
    holds
        By sensitive column and privacy model, the strictest demand that all groups meet.
    risks
        Those of the three attackers, as :func:`hedgerow.privacy.risks` gives them.
    size, combinations, singled_out
        The size up to which every combination of columns was looked at, all of these, and people singled out by one.
    parts
        What each column has to do with it, that first without which fewest people are unique.
    disclosures
        What groups tell of each sensitive column.
    special
        How special the unique people are, and how likely a match with them is right; None above 20 columns.
    sample
        The risk in view of the population, where weights say how many people each record stands for.
    uniqueness
        How many people are unique in the population, estimated, where its size is known.
    demands
        What was required, and whether it holds.
    extremes
        Columns in which few people lie far from all others, and how many do.
    """

    chosen: Chosen
    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None
    records: int
    withheld: int
    people: int
    hidden: int
    groups: int
    unique: int
    k: int
    holds: Mapping[str, Mapping[str, Any]]
    risks: Mapping[str, Any]
    size: int
    combinations: tuple[Combination, ...]
    singled_out: int
    parts: tuple[ColumnPart, ...]
    disclosures: tuple[Disclosure, ...]
    people_by_group: Mapping[int, int] = field(default_factory=dict)
    special: SpecialUniques | None = None
    sample: SampleRisk | None = None
    uniqueness: PopulationUniqueness | None = None
    demands: tuple[Required, ...] = ()
    extremes: tuple[Extremes, ...] = ()

    @property
    def met(self) -> bool:
        """Whether all that was required holds."""
        return all(demand.kept for demand in self.demands)

    @property
    def telling(self) -> tuple[Combination, ...]:
        """Combinations that are smallest for somebody: small ones first, and of these those of most people."""
        found = [one for one in self.combinations if one.smallest_of]
        return tuple(sorted(found, key=lambda one: (len(one.columns), -one.smallest_of)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {"version": __version__, **asdict(self), "met": self.met}

    def __repr__(self) -> str:
        return (
            f"Assessment({self.records:,} records in {self.groups:,} groups by {len(self.columns)} columns; "
            f"k = {self.k}; {self.unique:,} unique)"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("records", f"{self.records:,}"),
            ("groups", f"{self.groups:,}"),
            ("unique", f"{self.unique:,}"),
            ("k", f"{self.k:,}"),
            *((f"{part.column}: unique without it", f"{part.unique_without:,}") for part in self.parts),
            *((f"{demand.said} {demand.column or ''}", "holds" if demand.kept else "fails") for demand in self.demands),
        ]
        return html_table(repr(self), ("", ""), rows, most=len(rows))


def names_of(positions: Sequence[int], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns by their positions."""
    return tuple(columns[position] for position in positions)
