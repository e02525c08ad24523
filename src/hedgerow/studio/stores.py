"""Looking at the store of a maintained release: its versions, and what was asked of them. No screen here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.maintenance import open_release
from hedgerow.maintenance.store import VersionRow
from hedgerow.maintenance.store.address import StoreAddress, read_address
from hedgerow.reports.material import demands_of
from hedgerow.studio.settings import Settings

MOST_OFFERED = 100


@dataclass(frozen=True)
class StoreView:
    """What a store says.

    Attributes
    ----------
    place
        Where it is; it may hold a password, so it is never shown.
    name
        What is shown instead.
    key
        The column that names records.
    demands
        What was asked, such as ``k = 5``.
    k
        Least people of a group.
    republish
        The rule about later versions.
    advise_above
        Drift from which on the plan advises to start over, if it says so.
    versions
        Oldest first.
    """

    place: str = field(repr=False)
    name: str
    key: str
    demands: tuple[str, ...]
    k: int
    republish: str
    advise_above: float | None
    versions: tuple[VersionRow, ...]

    @property
    def newest(self) -> VersionRow:
        """The newest version."""
        return self.versions[-1]


def look_at(place: str) -> StoreView:
    """Read the history of a store; takes a moment, and no records are read."""
    with open_release(place) as release:
        plan = release.plan
        return StoreView(
            place,
            shown_store(place),
            str(plan.key),
            tuple(demands_of(plan)),
            plan.privacy.k,
            plan.republish,
            None if plan.drift is None else plan.drift.share,
            tuple(release.history()),
        )


def store_of(raw: Mapping[str, Any]) -> StoreView:
    """Take what a reader saw in a store."""
    versions = tuple(VersionRow(**row) for row in raw["versions"])
    return StoreView(**{**raw, "demands": tuple(raw["demands"]), "versions": versions})


def shown_store(place: str) -> str:
    """Return what is shown of the place of a store: no password.

    Examples
    --------
    >>> shown_store("postgresql://ann:secret@db.example/health?schema=clinic")
    'postgresql://ann@db.example/health?schema=clinic'
    """
    address = read_address(place)
    return address.shown if isinstance(address, StoreAddress) else str(address)


def offered_stores(settings: Settings, user: str) -> list[Path]:
    """Stores that lie in the folder of the studio, of a team those of one person, by name."""
    folder = settings.stores(user)
    if folder is None:
        return []
    try:
        return sorted(path for path in folder.glob("*.store") if path.is_file())[:MOST_OFFERED]
    except OSError:
        return []
