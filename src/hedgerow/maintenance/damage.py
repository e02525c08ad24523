"""Saying that a store is damaged, whatever that led to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from hedgerow.errors import DataError, HedgerowError, Problem, kind_and_place

VERBS = (
    "__init__", "insert", "delete", "update", "optimize", "restart", "erase", "head", "history", "erasures", "release",
    "export", "check", "audit", "diff",
)  # fmt: skip
Kept = TypeVar("Kept", bound=type)


def tells_of_damage(kept: Kept) -> Kept:
    """Let every verb of a release that stays current say so when its store does not hold what Hedgerow wrote.

    A store that somebody else has written to can be wrong in more ways than can be looked for: a version without its
    groups, a group without its records, a number where a text should be. What that leads to is one problem.
    """
    for name in VERBS:
        verb = vars(kept)[name]
        if isinstance(verb, property) and verb.fget is not None:
            setattr(kept, name, property(_telling(verb.fget), doc=verb.__doc__))
        else:
            setattr(kept, name, _telling(verb))
    return kept


def _telling(verb: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(verb)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return verb(*arguments, **options)
        except (HedgerowError, MemoryError):
            raise
        except Exception as error:  # its text may hold cells
            message = f"The store is not as Hedgerow wrote it ({kind_and_place(error)})."
            hint = "go back to a copy of it; if there was nothing wrong with it, please report this line"
            raise DataError(Problem("store-damaged", message, hint=hint)) from None

    return run
