"""The audit of all versions so far, as a store keeps it: the next version is put on top of it.

So an audit costs what the version changed. It gives what auditing all versions from the beginning gives; that is done
again with every so-and-so-many-th version, and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.maintenance.audit.audit import AskedOfPeople, Audit, conclude, stand
from hedgerow.maintenance.audit.comparing import PairFinding
from hedgerow.maintenance.audit.history import History
from hedgerow.maintenance.audit.past import Past, PublishedVersion, boxes_of
from hedgerow.maintenance.audit.standing import Standing, States
from hedgerow.maintenance.packing import Arrays, narrow, pack, pack_keys, unpack, unpack_keys

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"hedgerow audit 1\n"


@dataclass(frozen=True, eq=False)
class KeptAudit:
    """What is known of all versions up to one.

    Attributes
    ----------
    since
        The version up to which all were audited from the beginning.
    past
        The newest version.
    standing
        What is left of everybody.
    """

    since: int
    past: Past
    standing: Standing

    @classmethod
    def empty(cls, sensitive: Sequence[str]) -> KeptAudit:
        """Return what is known before the first version."""
        return cls(0, Past.empty(sensitive), Standing.empty(len(sensitive)))

    @classmethod
    def of(cls, history: History, asked: AskedOfPeople) -> tuple[KeptAudit, Audit]:
        """Audit all versions of a history from the beginning."""
        standing = stand(history, asked)
        found = conclude(standing, history.past, history.versions, len(history.versions), asked)
        return cls(history.past.number, history.past, standing), found

    def after(
        self, number: int, events: tuple[pa.Table, pa.Table, pa.Table], asked: AskedOfPeople
    ) -> tuple[KeptAudit, Audit]:
        """Audit the next version, by its events: groups, places and values, as ``build_history`` takes them."""
        past = self.past.after(number, *events)
        boxes, people = boxes_of(past.entries), len(past.keys)
        old: PublishedVersion | None = None
        if self.past.number:
            old = self.past.published(boxes, people)
        new = past.published(boxes, people)
        standing = self.standing.after(old, new, past.codes, asked.k, asked.p)
        return KeptAudit(self.since, past, standing), conclude(standing, past, (new,), number, asked)

    # -- in a store --------------------------------------------------------------------------------------------------

    def pack(self) -> bytes:
        """Write it down."""
        past, pairs = self.past, self.standing.pairs
        tables = {
            f"{name} {one.name}": getattr(part, one.name)
            for name, part in (("past", past), ("states", self.standing.states), ("standing", self.standing))
            for one in fields(part)
            if isinstance(getattr(part, one.name), np.ndarray)
        }
        tables["pair people"] = np.concatenate([np.zeros(0, np.int64), *(pair.people for pair in pairs)])
        flat = {name: np.ascontiguousarray(table).reshape(-1) for name, table in tables.items()}
        arrays = {name: one if one.dtype == np.float64 else narrow(one) for name, one in flat.items()}
        said = {
            "since": self.since,
            "number": past.number,
            "sensitive": past.sensitive,
            "values": past.values,
            "entries": past.entries,
            "shapes": {name: table.shape for name, table in tables.items()},
            "pairs": [
                [one.kind, one.version, one.checked, len(one.people), one.unknown, one.least_people, one.least_values]
                for one in pairs
            ],
        }
        return pack(MAGIC, said, {**pack_keys(past.keys), **arrays})

    @classmethod
    def unpack(cls, packed: bytes) -> KeptAudit | None:
        """Read what :meth:`pack` wrote; None if it is anything else."""
        import pyarrow as pa

        found = unpack(MAGIC, packed)
        if found is None:
            return None
        try:
            return _read(*found)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, pa.ArrowException):
            return None


def _read(said: dict[str, Any], arrays: Arrays) -> KeptAudit:
    def tables(part: str) -> dict[str, Any]:
        names = [name for name in said["shapes"] if name.startswith(f"{part} ")]
        wide = {name: np.float64 if arrays[name].dtype == np.float64 else np.int64 for name in names}
        return {
            name.removeprefix(f"{part} "): arrays[name].astype(wide[name]).reshape(said["shapes"][name])
            for name in names
        }

    past = Past(
        number=int(said["number"]),
        sensitive=tuple(said["sensitive"]),
        keys=unpack_keys(arrays),
        values=tuple(said["values"]),
        entries=tuple(map(tuple, said["entries"])),
        **tables("past"),
    )
    pairs, at, people = [], 0, tables("pair")["people"]
    for kind, version, checked, many, unknown, least, values in said["pairs"]:
        values = None if values is None else tuple(values)
        of_pair, groups = people[at : at + many], np.zeros(0, np.int64)
        pairs.append(PairFinding(kind, version, checked, of_pair, groups, unknown, least, values))
        at += many
    standing = Standing(states=States(**tables("states")), pairs=tuple(pairs), **tables("standing"))
    if not len(past.keys) == len(past.place) == len(past.value) == len(standing.state_of) == len(standing.class_of):
        raise ValueError("lengths")
    return KeptAudit(int(said["since"]), past, standing)
