"""Words and numbers as people read them, the same in a page, on a terminal and in the studio.

Everything here is plain text: whoever puts it into a page escapes it there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

NONE = "–"
HARDLY_LEFT = 0.9
"""Share of a column's detail that is lost, from which on hardly anything is left of it."""
ATTACKERS = {
    "prosecutor": "Somebody who knows that a certain person is in the data, and looks for that person",
    "journalist": "Somebody who does not know whether a certain person is in it, and looks for anybody",
    "marketer": "Somebody who matches many people in bulk, and wants to be right as often as can be",
}
ATTACKERS_IN_SHORT = {
    "prosecutor": "who knows that somebody is in the data",
    "journalist": "who does not know who is in it",
    "marketer": "who matches many people in bulk",
}
LEFT_OUT = {
    "missing": "target missing",
    "coarsened": "target coarsened",
    "withheld": "withheld",
    "no_leaf": "with a value that has no leaf",
}
WITHHELD_BECAUSE = {
    "failing_block": "in blocks that are too small or too uniform",
    "failing_group": "in groups that fail",
    "fits_no_group": "that fit no group",
    "no_leaf": "with a value that has no leaf",
    "held_back": "held back until enough others come",
    "withdrawn": "withdrawn for good",
}


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "record"), counted(2000, "record"), counted(2, "is", "are")
    ('1 record', '2,000 records', '2 are')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def hardly_left(shares: Mapping[str, float]) -> list[str]:
    """Return the columns of which a release has lost all detail or nearly all, given the share that each has lost.

    Examples
    --------
    >>> hardly_left({"born": 1.0, "pay": 0.972, "height": 0.6, "sex": 0})
    ['born', 'pay']
    """
    return [name for name, share in shares.items() if share >= HARDLY_LEFT]


def units_line(units: Mapping[str, Any], k: int) -> str:
    """Say how many linked units there are, and how many are alike.

    Examples
    --------
    >>> units_line({"units": 999, "groups": 325, "smallest_group": 3}, 3)
    '999 in 325 groups of whole units that are alike, the smallest of 3 (k = 3)'
    """
    groups = counted(units["groups"], "group")
    smallest = f"the smallest of {units['smallest_group']:,} (k = {k})"
    return f"{units['units']:,} in {groups} of whole units that are alike, {smallest}"


def first_of(shown: Sequence[str], most: int) -> str:
    """Write things in a sentence, the first of them if they are many.

    Examples
    --------
    >>> first_of(["age", "sex", "city"], 2)
    'age, sex and 1 more'
    """
    left = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {left:,} more" if left > 0 else "")


def estimated_line(risk: Mapping[str, Any]) -> str:
    """Say what sampling weights tell of the risk, before and after.

    Examples
    --------
    >>> before = {"expected": 53.13, "people": 458000.0}
    >>> risk = {"expected": 13.1576, "fewest_people": 300.0, "people": 458000.0, "before": before}
    >>> print(estimated_line(risk))
    13.16 records would be found if all were matched, 53.13 as they were; groups stand for 300 people at least
    >>> print(estimated_line({**risk, "people": 457900.0}).rpartition("; ")[2])
    weights add up to 457,900, 458,000 as they were
    """
    before = risk["before"]["expected"]
    found = f"{risk['expected']:.4g} records would be found if all were matched, {before:.4g} as they were"
    found = f"{found}; groups stand for {risk['fewest_people']:,.6g} people at least"
    were = risk["before"].get("people", risk["people"])
    if abs(risk["people"] - were) > 1e-6 * were:
        found += f"; weights add up to {risk['people']:,.10g}, {were:,.10g} as they were"
    return found


def shorten(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` letters.

    Examples
    --------
    >>> shorten("California, Kansas, Midwest", 12)
    'California,…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def percent(share: float) -> str:
    """Write a share as a percentage: never 0% for what is not nothing, nor 100% for what is not all.

    Examples
    --------
    >>> percent(0.5), percent(0.0095), percent(0.00001), percent(0.999999), percent(0), percent(1)
    ('50%', '0.95%', '<0.01%', '>99.99%', '0%', '100%')
    """
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    shown = f"{share * 100:.2f}" if share < 0.1 else f"{share * 100:.1f}"
    return shown.rstrip("0").rstrip(".") + "%"


def exact_percent(share: float) -> str:
    """Write a chance as a percentage with as many digits as tell it from 0% and from 100%.

    Examples
    --------
    >>> [exact_percent(share) for share in (0.0, 0.00004, 0.05, 0.3421, 0.9982, 0.99999999, 1.0)]
    ['0%', '0.004%', '5%', '34.2%', '99.82%', '99.999999%', '100%']
    """
    near = min(share, 1 - share) * 100
    digits = 1
    while 0 < near < 10 ** (1 - digits) and digits < 12:
        digits += 1
    text = f"{100 * share:.{digits}f}".rstrip("0").rstrip(".")  # there always is a point
    return f"{text}%"


def written(number: float, form: str = ",") -> str:
    """Write a number in one of Python's formats, but never as 0 if it is a little more.

    Examples
    --------
    >>> written(1234), written(0.00001, ".1%"), written(0.0, ".1%"), written(0.5)
    ('1,234', '<0.1%', '0.0%', '0.5000')
    """
    shown = f"{number:{'.4f' if form == ',' and isinstance(number, float) else form}}"
    if number > 0 and not any("1" <= letter <= "9" for letter in shown):
        last = shown.rindex("0")
        return f"<{shown[:last]}1{shown[last + 1 :]}"
    return shown


def solved_exactly(records: int, released: int) -> str:
    """Say of how many records the grouping is proven to be the best.

    Examples
    --------
    >>> solved_exactly(62, 100), solved_exactly(100, 100)
    ('62% of the records are grouped in the best possible way', 'all records are grouped in the best possible way')
    """
    whom = "all records" if records == released else f"{percent(records / max(released, 1))} of the records"
    return f"{whom} are grouped in the best possible way"


def near_the_best(optimality: Any) -> str:
    """Say how far from the best possible a release is at most, as its facts have it; empty if they do not say.

    Examples
    --------
    >>> print(near_the_best({"gap": 0.0454, "proven": False, "overlooked": ["p"]}))
    loses at most 4.6% more than the best possible grouping of these records (by k and the limits alone, not by p)
    """
    if not isinstance(optimality, Mapping):
        return ""
    gap, others = optimality.get("gap"), optimality.get("overlooked")
    if optimality.get("proven") is True:
        return "no grouping of these records loses less"
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap < 1e9:
        return "no bound was found on what the best possible grouping loses"
    names = [str(name) for name in others] if isinstance(others, list | tuple) else []
    alone = f" (by k and the limits alone, not by {', '.join(names)})" if names else ""
    share = f"{math.ceil(round(1000 * gap, 6)) / 10:,}%"
    return f"loses at most {share} more than the best possible grouping of these records{alone}"


def worths_mark(run: Mapping[str, Any]) -> str:
    """Mark a research value that goes by the worths that the plan gives to levels; others are worked out.

    Examples
    --------
    >>> worths_mark({"worths_given": ["age"]}), worths_mark({})
    ('*', '')
    """
    return "*" if run.get("worths_given") else ""


def worths_note(runs: Sequence[Mapping[str, Any]]) -> str:
    """Say what the mark means; empty if no research value has it.

    Examples
    --------
    >>> print(worths_note([{"worths_given": ["age"]}, {}]))
    * By the worths that the plan gives to levels of age. The others are worked out: the two kinds do not compare.
    """
    columns = ", ".join(dict.fromkeys(name for run in runs for name in run.get("worths_given", ())))
    if not columns:
        return ""
    others = " The others are worked out: the two kinds do not compare."
    return f"* By the worths that the plan gives to levels of {columns}.{'' if all(map(worths_mark, runs)) else others}"


def columns_left_out(facts: Mapping[str, Any]) -> str:
    """Name the columns that the plan leaves out, and count those that it does not name.

    Examples
    --------
    >>> columns_left_out({"columns_not_released": ["name"], "columns_not_in_plan": 2})
    'name, and 2 columns that the plan does not name'
    """
    named, others = facts.get("columns_not_released", []), facts.get("columns_not_in_plan", 0)
    unnamed = [f"{counted(others, 'column')} that the plan does not name"] if others else []
    return ", and ".join([*([", ".join(named)] if named else []), *unnamed])
