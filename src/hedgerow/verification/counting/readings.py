"""What the values of a sensitive column count as, once for all groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hedgerow.plan import Attribute
from hedgerow.verification.values.sensitive import Place, Reader, Way


@dataclass(frozen=True, eq=False)
class Readings:
    """What the values of a sensitive column count as.

    Attributes
    ----------
    reader, ways, in_order
        As in :class:`Counted`.
    code_of
        The number of the class of every text; −1: the plan gives it no leaf.
    """

    reader: Reader
    ways: tuple[Way, ...]
    in_order: bool
    code_of: Mapping[str, int]

    @classmethod
    def of(cls, attribute: Attribute, labels: Sequence[str]) -> Readings:
        """Read the values that occur."""
        reader = Reader.of(attribute, labels)
        readings = {text: reader.read(text) for text in labels}
        places: dict[Way, Place] = {}
        for reading in readings.values():
            if reading is not None:
                places[reading.way] = min(reading.place, places.get(reading.way, reading.place))
        ways = tuple(sorted(places, key=places.__getitem__))
        number = {way: code for code, way in enumerate(ways)}
        codes = {text: -1 if reading is None else number[reading.way] for text, reading in readings.items()}
        return cls(reader, ways, reader.has_hierarchy or all(place[0] == 0 for place in places.values()), codes)
