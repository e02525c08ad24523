"""What attacks on a release came to, in words: the same on a page, on a terminal and in the studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow.reports.wording import counted, percent

ATTACKS = {
    "linkage": "a row that fits",
    "nearest": "the nearest row",
    "traced": "somebody for a row",
    "units": "a whole unit",
}


def headline(found: Mapping[str, Any]) -> str:
    """Say in one sentence whether the promise stood."""
    if found["beaten"]:
        return f"BEATEN: people are found more often than 1 in {found['k']}, beyond chance. Do not share this release."
    return f"Nobody is found more often than 1 in {found['k']}, as the plan promises."


def notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Say what the attacker knew, and what was taken for granted."""
    wrong = f", {percent(found['noise'])} of it wrong" if found["noise"] else ""
    register = found["register"]
    whom = f"{counted(found['people'], 'record')} of the original{wrong}"
    if register is not None:
        whom = f"{counted(found['people'], 'person', 'people')} of a register of {register['people']:,}{wrong}"
    yield f"The attacker knows {', '.join(found['columns'])} of {whom}."
    if register is not None:
        there = counted(register["known"], "person of the register is", "people of the register are")
        yield f"{there} in the original; of their cells {percent(register['wrong'])} are not as they are there."
        if found["traced"] is None:
            yield "Give the link to see, too, how often a row is traced to somebody of the register."
    if found["withheld"]:
        whom = "of them" if register is None else "of those who are looked for"
        yield f"{counted(found['withheld'], f'{whom} is', f'{whom} are')} not in the release, and count nowhere."
    if not found["linked"]:
        yield "No link was given: a row that may be somebody's is taken for theirs."


def linkage_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield, for every attack that picks a row, what it picks, how often it is right, and what is promised."""
    for name, what in ATTACKS.items():
        of = found[name]
        if of is not None:
            rate = f"{percent(of['rate'])} ({percent(of['low'])} to {percent(of['high'])})"
            state = "✗ beaten" if of["beaten"] else "✓ stands"
            yield what, f"{of['right']:,} of {of['tries']:,}", rate, percent(of["bound"]), f"{of['fewest']:,}", state


def guess_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield, for every sensitive column, how often it is guessed with the release and without it."""
    for guess in found["guesses"]:
        rates = [guess["with_release"], guess["without"]]
        shown = [f"{percent(rate['rate'])} ({percent(rate['low'])} to {percent(rate['high'])})" for rate in rates]
        gained = f"{percent(max(guess['gained'], 0.0))}" + ("" if guess["surely_gained"] else ", within chance")
        yield guess["column"], shown[0], shown[1], gained


def baseline_text(found: Mapping[str, Any]) -> str:
    """Say what guesses are held against; empty if nothing was guessed."""
    if not found["guesses"]:
        return ""
    if found["guesses"][0]["baseline"] == "control":
        return "Without the release: the same guesses of people who are not in it, so what it tells of everybody."
    return "Without the release: the value that most people have, whoever is asked about."


def left_text(found: Mapping[str, Any]) -> str:
    """Say what the fewest are that are left."""
    people = "" if found["traced"] is None else ", or people for a row"
    return f"Left: the fewest rows, or units{people}, that anybody was left with to pick from."


def confidence_text(found: Mapping[str, Any]) -> str:
    """Say how sure the intervals are."""
    return f"In brackets: intervals of {percent(found['confidence'])} confidence. k promises nothing of guesses."
