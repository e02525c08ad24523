"""What an attack is asked to do, and what it cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import HedgerowError, Problem, did_you_mean
from hedgerow.outside.server import is_server
from hedgerow.outside.stores import is_in_spark
from hedgerow.release import Release


@dataclass(frozen=True)
class AttackAsked:
    """What the attacker knows and does, as it was asked."""

    columns: Sequence[str] | Mapping[str, str] | None
    control: Any
    register: Any
    key: str | None
    people: int
    noise: float
    confidence: float
    seed: int


def check(release: Any, people: int, noise: float, confidence: float) -> None:
    """Refuse what cannot be attacked, and numbers that mean nothing."""
    if not isinstance(release, Release) and (is_server(release) or is_in_spark(release)):
        message = "Only a release in a folder, or in memory, is attacked."
        raise HedgerowError(Problem("usage", message, hint="export the release to a folder first"))
    for name, value, fits, wanted in (
        ("people", people, people >= 1, "at least 1"),
        ("noise", noise, 0 <= noise <= 1, "from 0 to 1"),
        ("confidence", confidence, 0.5 <= confidence < 1, "from 0.5 to below 1"),
    ):
        if not fits:
            message = f"The '{name}' parameter must be {wanted}. Got {value} instead."
            raise HedgerowError(Problem("usage", message, hint="leave it out for the default"))


def known_columns(asked: AttackAsked, there: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are known; only quasi-identifiers can be, since of others nothing is promised."""
    if asked.columns is None:
        return tuple(there)
    for name in asked.columns:
        if name not in there:
            message = f"The attacker may know quasi-identifiers of the release, and {name!r} is none."
            raise HedgerowError(
                Problem("usage", message, hint=did_you_mean(name, there) or f"one of {', '.join(there)}")
            )
    if not asked.columns:
        raise HedgerowError(Problem("usage", "The attacker must know a column at least.", hint="leave it out for all"))
    return tuple(dict.fromkeys(asked.columns))
