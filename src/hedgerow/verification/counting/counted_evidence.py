"""Evidence in counted form: equal rows are one with a count, and a counted link tells what lies behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hedgerow.verification.counting.counted_link import Ties
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.pairs import Pair
from hedgerow.verification.counting.sources import Source, surplus
from hedgerow.verification.counting.tabulation import count_labels
from hedgerow.verification.counting.tallies import Tallies
from hedgerow.verification.reading.cells import without
from hedgerow.verification.reading.original import Original
from hedgerow.verification.reading.places import LinkClaim
from hedgerow.verification.values.columns import Cell
from hedgerow.verification.values.treatments import rules_of


@dataclass(frozen=True)
class CountedEvidence(Evidence):
    """All that is at hand to judge a release by, counted.

    Attributes
    ----------
    tallies
        What counts rows that are not held.
    released, source
        Where the release and the original lie.
    link
        What became of the records.
    """

    tallies: Tallies
    released: Source
    source: Source | None = None
    link: LinkClaim | None = None

    @property
    def has_link(self) -> bool:
        """Whether a link was given."""
        return self.link is not None

    @cached_property
    def _ties(self) -> Ties | None:
        if self.link is None or self.original is None:
            return None
        return Ties.read(self.link, self.plan, self.original)

    @cached_property
    def link_fault(self) -> str:
        """What is wrong with the link."""
        if self._ties is None or self.original is None or self.published.counts is None:
            return ""
        sensitive = {name: self.as_original(name, self.original) for name in self.sensitive}
        return next(self._ties.faults(self.original, self.cells, sensitive, self.published.counts), "")

    def tally(self, name: str) -> list[tuple[Cell, int, int]]:
        """Every distinct published cell of a column that is not coarsened, with its count; others are counted anew."""
        if name in self.published.columns:
            return super().tally(name)
        rows = self.released.count([name], None, ())
        empty = [text for text in self.plan.data.missing if not text]
        column = rows.columns[name]
        return count_labels(without(column, empty) if empty else column, rows.counts)

    def _fewest_persons(self, key: str, groups: int) -> int:
        assert self._ties is not None
        return self._ties.fewest_persons(self.cells, self.group_of, groups)

    def behind_groups(self, name: str) -> Sequence[tuple[int, tuple[Cell, ...], int]]:
        """Return every distinct pair of a group and the original cells of a class in it, with its count."""
        assert self._ties is not None
        return self._ties.behind_groups(name, self.cells, self.group_of)

    @cached_property
    def pairs(self) -> Mapping[str, Sequence[Pair]]:
        """Every distinct pair of original cells of a class and a published cell, with its count."""
        ties = self._ties
        assert ties is not None
        return {
            name: [Pair(values, label, count, 0) for values, label, count in ties.pairs(name)] for name in self.cells
        }

    def changed(self, original: Original) -> str:
        """Say how many rows have values in other columns that no record with their sensitive values has.

        That sensitive values are those of the records is part of what makes a link sound.
        """
        kept = [name for name in self.published.unchanged if name in self.plan.columns("other")]
        return self.surplus(original) if kept else ""

    def surplus(self, original: Original) -> str:
        """Say how many rows have values in columns that are released as they are which the original has not as often.

        Values of all these columns are compared together.
        """
        names = self.published.unchanged
        if not names or self.source is None:
            return ""
        count = surplus(self.released, self.source, names, self.plan.data, self.tallies, rules_of(self.plan, names))
        return f"{', '.join(names)}: {count} rows too many with the same values" if count else ""
