"""Plans written for an earlier version: what must change so that they still mean the same, and what to know.

The grammar of plans only grows: a plan of an earlier version is read as it is, unless it asks for something that was
ignored then and is refused now. But some defaults have changed. Each change is a step below.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import PlanError, Problem
from hedgerow.outside.intake import read_bytes
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.places import MOST_BYTES, read_yaml
from hedgerow.plan.plan import Plan

EARLIER_THRESHOLD = 0.09


@dataclass(frozen=True)
class Upgrade:
    """A plan as this version wants it.

    Attributes
    ----------
    text
        The plan, its comments kept.
    changes
        What was written or taken out so that it means what it meant, a sentence each.
    notes
        What the plan still says, but this version does otherwise.
    """

    text: str
    changes: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"plan": self.text, **{name: list(asdict(self)[name]) for name in ("changes", "notes")}}


def upgrade_plan(path: str | Path) -> Upgrade:
    """Upgrade a plan file that was written for an earlier version of Hedgerow. The file itself stays as it is.

    Parameters
    ----------
    path
        The file. A plan that needs no change comes back as it is.

    Raises
    ------
    PlanError
        If the plan has problems that are none of versions.
    """
    path = Path(path)
    try:
        text = read_bytes(path, MOST_BYTES, "The plan").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError(Problem("yaml", "The plan is not UTF-8 text.", str(path), "save it as UTF-8")) from None
    return upgrade(text, str(path), path.parent)


def upgrade(text: str, file: str = "plan", base: Path | None = None) -> Upgrade:
    r"""Upgrade the text of a plan.

    Examples
    --------
    >>> old = "attributes: {sex: quasi-identifier}\nprivacy: {k: 5}  # agreed\ndata: {output: standard}\n"
    >>> new = upgrade(old)
    >>> print(new.text, end="")
    attributes: {sex: quasi-identifier}
    privacy: {k: 5}  # agreed
    data: {output: standard}
    threshold: 0.09
    >>> upgrade(new.text).changes
    ()
    """
    from hedgerow.plan.commented import keeping_comments

    raw, _, problems = read_yaml(text, file)  # bounded; says what is no YAML
    if problems or not isinstance(raw, Mapping):
        Plan.loads(text, file, base)  # which says what is wrong
        raise PlanError(problems)
    yaml = keeping_comments()
    document = yaml.load(text)
    changes = tuple(said for step in CHANGES if (said := step(document)))
    if changes:
        written = io.StringIO()
        yaml.dump(document, written)
        text = written.getvalue()
    plan = Plan.loads(text, file, base)
    return Upgrade(text, changes, tuple(said for step in NOTES if (said := step(plan))))


# -- changed by 0.2.0 --------------------------------------------------------------------------------------------------


def _without_ignored_objective(document: Any) -> str | None:
    method = document.get("method")
    if not isinstance(method, MutableMapping) or "objective" not in method or method.get("name") not in METHODS:
        return None
    if "objective" in METHODS[method["name"]].options:
        return None
    del method["objective"]
    return f"method.objective is gone: '{method['name']}' has an objective of its own, and 0.1 ignored any other."


def _with_earlier_threshold(document: Any) -> str | None:
    if "threshold" in document:
        return None
    document["threshold"] = EARLIER_THRESHOLD
    return (
        f"threshold: {EARLIER_THRESHOLD} is what 0.1 judged by. Without it, 0.2 holds, which goes with k = 5; "
        "k = 12 or more keeps to 0.09."
    )


def _with_earlier_output(document: Any) -> str | None:
    data = document.get("data")
    if data is None:
        document["data"] = {"output": "standard"}
    elif isinstance(data, MutableMapping) and "output" not in data:
        data["output"] = "standard"
    else:
        return None
    return (
        "data.output: standard writes CSV with commas, in UTF-8, as 0.1 did. Without it, a release is written the way "
        "its file was: delimiter, encoding, decimal sign."
    )


CHANGES: tuple[Callable[[Any], str | None], ...] = (
    _without_ignored_objective,
    _with_earlier_threshold,
    _with_earlier_output,
)


def _on_improve(plan: Plan) -> str | None:
    if plan.method.improve == "off":
        return None
    return "improve: the search finds better groups than in 0.1, so a release made anew has other bytes."


def _on_overlap(plan: Plan) -> str | None:
    if plan.method.overlap != "forbidden":
        return None
    return (
        "overlap: forbidden now holds for nodes of hierarchies too, and for ranges one within another: more is lost "
        "than in 0.1. A release that is kept current cannot have it: 'hedgerow release create' refuses it."
    )


def _on_suppress(plan: Plan) -> str | None:
    if not plan.method.suppress:
        return None
    return "suppress: a release that is kept current cannot have it: 'hedgerow release create' refuses it."


NOTES: tuple[Callable[[Plan], str | None], ...] = (_on_improve, _on_overlap, _on_suppress)
