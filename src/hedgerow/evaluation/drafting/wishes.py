"""What somebody decides before a plan is drafted: roles of columns, who a person is, and who gets the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.errors import DataError, Problem
from hedgerow.plan.audiences import AUDIENCES


@dataclass(frozen=True)
class Wishes:
    """What is decided.

    Attributes
    ----------
    person
        The column that names a person.
    sensitive, other, left_out
        Columns of these roles.
    audience
        The name of one of :data:`hedgerow.plan.audiences.AUDIENCES`.
    """

    person: str | None = None
    sensitive: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    audience: str | None = None

    def by_column(self) -> dict[str, str]:
        """Return the role of each column that has one."""
        roles = dict.fromkeys(self.left_out, "identifier")
        roles |= dict.fromkeys(self.other, "other") | dict.fromkeys(self.sensitive, "sensitive")
        return roles | ({self.person: "identifier"} if self.person is not None else {})

    def check(self, names: Sequence[str]) -> None:
        """Refuse columns that the table does not have, and an audience that there is not."""
        problems = []
        for name in self.by_column():
            if name not in names:
                message = f"The data has no column {name!r}."
                problems.append(Problem("missing-column", message, hint="hedgerow inspect names its columns"))
        twice = [name for name in self.sensitive if name in self.other or name == self.person]
        for name in twice:
            message = f"Column {name!r} cannot have two roles."
            problems.append(Problem("usage", message, hint="name it once"))
        if self.audience is not None and self.audience not in AUDIENCES:
            message = f"There is no audience {self.audience!r}."
            problems.append(Problem("usage", message, hint=f"one of {', '.join(AUDIENCES)}"))
        if problems:
            raise DataError(problems)
