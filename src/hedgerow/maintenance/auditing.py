"""The audit of a version before it is written: put on top of the last one, or of all versions from the beginning.

The store keeps the audit of all versions so far (``audit/kept.py``), and a change puts its version on top of that. All
versions are audited from the beginning, from the store's tables, for a small release, for every so-and-so-many-th
version, on request, and where what is kept is not that of the version before; if it is, both must say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hedgerow.maintenance import checking
from hedgerow.maintenance.archive import Archive, Events
from hedgerow.maintenance.audit.audit import AskedOfPeople, Audit
from hedgerow.maintenance.audit.history import build_history
from hedgerow.maintenance.audit.kept import KeptAudit
from hedgerow.maintenance.published import audited_columns
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS

if TYPE_CHECKING:
    from hedgerow.maintenance.candidate import Candidate


@dataclass(frozen=True, eq=False)
class VersionAudit:
    """The audit of a version that is not written yet.

    Attributes
    ----------
    found
        What it found.
    kept
        What the next version can be put on.
    in_part
        Whether it was put on that of the version before.
    """

    found: Audit
    kept: KeptAudit
    in_part: bool

    @property
    def said(self) -> dict[str, Any]:
        """What it found as plain data, with what it covered."""
        covered = {"how": "in part", "last_full": self.kept.since} if self.in_part else {"how": "full"}
        return {**self.found.to_dict(), "covered": covered}

    @property
    def state(self) -> bytes | None:
        """What the store is to keep of it; None for a small release."""
        return self.kept.pack() if len(self.kept.past.keys) > checking.ALWAYS_FULL else None


class Auditor:
    """Audits what may become the next version of a release; ``full``: all versions from the beginning."""

    def __init__(self, archive: Archive, full: bool = False) -> None:
        self._archive, self._full = archive, full

    def audit(self, made: Candidate) -> VersionAudit:
        """Audit a version.

        Raises
        ------
        DataError
            If what the store keeps of the last audit is not what its tables say.
        """
        asked, events = asked_of(self._archive.plan), made.events
        if made.before is None:
            kept, found = self._empty.after(made.number, events, asked)
            return VersionAudit(found, _from_here(kept), False)
        on_top = None if self._kept is None else self._kept.after(made.number, events, asked)
        if on_top is not None and not self._due:
            return VersionAudit(on_top[1], on_top[0], True)
        kept, found = KeptAudit.of(build_history(*made.and_before(self._past), self._names, made.number), asked)
        if on_top is not None and on_top[1].to_dict() != found.to_dict():
            raise checking.tampered(self._archive)
        return VersionAudit(found, _from_here(kept), False)

    @cached_property
    def _kept(self) -> KeptAudit | None:
        """What the store keeps of the version before."""
        row = self._archive.row()
        if row.counts["records"] <= checking.ALWAYS_FULL:
            return None
        kept = KeptAudit.unpack(self._archive.store.audit_state())
        return kept if kept is not None and kept.past.number == row.number else None

    @property
    def _due(self) -> bool:
        return self._full or (
            self._kept is not None and self._kept.past.number + 1 - self._kept.since >= checking.FULL_EVERY
        )

    @cached_property
    def _past(self) -> Events:
        return self._archive.events(self._archive.row().number)

    @property
    def _names(self) -> list[str]:
        return [name for name, _ in audited_columns(self._archive.plan)]

    @property
    def _empty(self) -> KeptAudit:
        return KeptAudit.empty(self._names)


def audit_all(archive: Archive, newest: int) -> Audit:
    """Audit all versions up to one from the beginning, from the tables of their store."""
    names = [name for name, _ in audited_columns(archive.plan)]
    return KeptAudit.of(build_history(*archive.events(newest), names, newest), asked_of(archive.plan))[1]


def asked_of(plan: Plan) -> AskedOfPeople:
    """What a plan asks of every person."""
    columns = [_asked_of(plan, name, at_level) for name, at_level in audited_columns(plan)]
    return AskedOfPeople.of(plan.privacy.k, [p for p, _ in columns], [alpha for _, alpha in columns], len(columns))


def _asked_of(plan: Plan, name: str, at_level: bool) -> tuple[int, float | None]:
    """How many values of an audited column must be left, and how certain somebody may be of one."""
    if plan.attributes[name].level is not None and not at_level:
        return 0, None  # what is asked, is asked of it at its level
    demands = plan.privacy.demands(name)
    values = [PRIVACY_MODELS[model].least_values(demand) for model, demand in demands.items()]
    shares = [PRIVACY_MODELS[model].greatest_share(demand) for model, demand in demands.items()]
    return max(values, default=0), min((share for share in shares if share is not None), default=None)


def _from_here(kept: KeptAudit) -> KeptAudit:
    """Return it as what all versions up to its own were audited to from the beginning."""
    return KeptAudit(kept.past.number, kept.past, kept.standing)
