"""What is said of the versions of a release that stays current: what holders of all of them could learn, and advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow.reports.wording import NONE, first_of

AS_IT_IS = {
    "create": "the store holds this release already",
    "insert": "just these records were inserted before",
    "delete": "just these records were deleted before",
    "update": "the records are so already",
    "optimize": "no step from here loses less",
    "restart": "the groups are those of a fresh release",
}
ADVICE = (
    "This is about readers who hold all versions: whoever has the newest alone learns no more than it says.",
    "Collect changes: people who come or leave together, k or more of a kind, hide each other.",
    "optimize and restart regroup people who did not change, which tells readers of old versions most.",
    "'republish: gated' or 'cohorts' in the plan of a new release lets no version pass that fails.",
)
PAIRS = {
    "newcomers": "where people only came: rows of a newcomer's group that may be new, with at least p values",
    "leavers": "where people only left: rows of a leaver's old group that may be gone, with at least p values",
    "difference": "by how many rows a part of the table grew or shrank from one version to the next, if it did",
}


def audit_checks(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, int | None, str]]:
    """Name, what is asked, the worst that was found, how many fail (None: nothing is asked), and what it means."""
    least = f"{found['k']:,} or more"
    left = found["people_left"]
    meaning = "how many people somebody can be one of, once all groups they were in are laid over each other"
    yield "people left", least, _number(left["least"]), left["below_k"], meaning
    for name, values in found["values_left"].items():
        p = found["p"][name]
        meaning = f"how many values of {name} remain possible for a person; 1: it is known"
        asked = f"{p:,} or more" if p else "no p"
        yield f"values left, {name}", asked, _number(values["least"]), values["below_p"] if p else None, meaning
    for name, share in found["confidence"].items():
        alpha = found["alpha"][name]
        meaning = f"the share of the likeliest value of {name} among the people left; 100%: it is known"
        asked = "no alpha" if alpha is None else f"{alpha:.0%} at most"
        worst = NONE if share["highest"] is None else f"{share['highest']:.0%}"
        yield f"confidence, {name}", asked, worst, None if alpha is None else share["above_alpha"], meaning
    for name, meaning in PAIRS.items():
        yield (name, least, *_pair(found[name], found["k"], meaning))
    alike = found["history_class"]
    meaning = (
        f"people who were in the same groups all along; {alike['below_k']:,} are alike with fewer than k, which "
        "matters only if somebody can match rows of different versions"
    )
    yield "history class", "no limit", _number(alike["least"]), None, meaning


def _pair(pairs: Mapping[str, Any], k: int, meaning: str) -> tuple[str, int, str]:
    """The worst of a check that compares versions one by one, how many fail, and what it means."""
    if not pairs["pairs"]:
        return "no such change", 0, meaning
    worst = NONE if pairs["least"] is None else f"{k:,} or more" if pairs["least"] >= k else _number(pairs["least"])
    if pairs["versions"]:
        meaning += f"; fails in version {first_of([str(number) for number in pairs['versions']], 8)}"
    if pairs["unknown"]:
        meaning += f"; {pairs['unknown']:,} of those who fail were erased"
    return worst, pairs["failing"] + pairs["unknown"], meaning


def _number(count: int | None) -> str:
    return NONE if count is None else f"{count:,}"


def kept_wide(scores: Mapping[str, Any]) -> str:
    """Say what it costs that no group is published narrower than before; nothing where none is wider."""
    narrowest = scores.get("narrowest_ntil")
    if narrowest is None or round(scores["ntil"] - narrowest, 4) <= 0:
        return ""
    return f"{narrowest:.4f} if every group were as narrow as its records; republish: only-coarser keeps them wide"
