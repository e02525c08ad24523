"""Some units of microdata: as much of them as a requirement looks at."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.microdata import Microdata, SensitiveColumn
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Units:
    """Units in some order, with their values and persons."""

    sensitive: tuple[SensitiveColumn, ...]
    sensitive_of: IntArray
    person_of: IntArray | None

    @classmethod
    def of(cls, microdata: Microdata) -> Units:
        """Take all units, in canonical order."""
        return cls(microdata.sensitive, microdata.sensitive_of, microdata.person_of)

    def __getitem__(self, units: IntArray) -> Units:
        person = None if self.person_of is None else self.person_of[units]
        return Units(self.sensitive, self.sensitive_of[units], person)
