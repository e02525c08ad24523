"""What a draft proposes for a column, and what it asks a person to decide."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.extremes import extremes_of
from hedgerow.microdata.notes import ColumnNote
from hedgerow.plan.hierarchy.builders import parse_day
from hedgerow.plan.hierarchy.numbers import Number, is_whole, number_label, parse_number

FEW_NUMBERS = 12
"""Numbers of at most so many different values are taken for categories."""
MANY_YEARS, LIFETIMES = 15, 40
"""Years that days span from which on decades, and periods of 20 and 40 years, are of use."""
MANY_WORDS = 100
"""Text of more different values needs a hierarchy to be of use."""


@dataclass(frozen=True)
class Proposal:
    """A role, a hierarchy, what was seen, and what a person must decide.

    Attributes
    ----------
    level, leaves
        A limit that may be of use, by level, and what it leaves of a value in words.
    delicate
        Whether its name suggests something that people keep to themselves.
    treat
        A treatment that may be of use, as a plan has it; empty: none.
    """

    role: str
    seen: str
    notes: tuple[str, ...] = ()
    rule: str = ""
    unknown: str = ""
    level: int | None = None
    leaves: str = ""
    delicate: bool = False
    treat: str = ""


_PARTIAL = "Check: it has too many values to look at each. Rare ones were not looked at, and may be of another kind."


def propose(column: SeenColumn) -> Proposal:
    """Propose what the first kind that fits proposes, and ask where the column's name raises a question."""
    kinds = (_unusable, _postcode, _dates, _code, _name, _numbers, _long_text, _text)
    proposal = next(found for kind in kinds if (found := kind(column)) is not None)
    if column.partial and proposal.role == "quasi-identifier":
        proposal = replace(proposal, notes=(*proposal.notes, _PARTIAL))
    proposal = _with_treatment(column, proposal)
    if proposal.role == "identifier" or not column.words & _DELICATE:
        return proposal
    question = (
        "Decide: its name suggests something people keep to themselves. If nobody outside can know it, make it "
        "`sensitive`: it is then published as it is. If in doubt, leave it."
    )
    others = tuple(note.replace("Decide:", "Otherwise decide:") for note in proposal.notes)
    return replace(proposal, notes=(question, *others), delicate=True)


def _with_treatment(column: SeenColumn, proposal: Proposal) -> Proposal:
    """Point at numbers far from all others, and propose to publish them as one value."""
    if proposal.role == "identifier" or column.partial or not column.counts:
        return proposal
    if not (proposal.rule.startswith("{bands") or (not proposal.rule and column.numeric_share == 1)):
        return proposal
    found = extremes_of(column.name, column.numbers)
    if found is None:
        return proposal
    ends = [f"{about(count)} far {word}" for word, count in (("above", found.above), ("below", found.below)) if count]
    note = f"Check: {' and '.join(ends)} all others: the number alone may tell who they are."
    return replace(proposal, notes=(*proposal.notes, note), treat=found.treat)


def _unusable(column: SeenColumn) -> Proposal | None:
    if column.counts:
        return None
    if not column.allowed:
        why, seen = "the role may not read it", "not looked at"
    elif column.readable:
        why, seen = "it is empty", "no value at all"
    else:
        why, seen = "it cannot be coarsened", "no plain values"
    return Proposal("identifier", seen, (f"Proposed: left out, because {why}.",))


def _postcode(column: SeenColumn) -> Proposal | None:
    """Propose prefixes for a column whose name says that it holds postal codes."""
    if not column.words & _POSTCODES or not 2 <= column.longest <= 10:
        return None
    return _prefixes(column, "postal codes")


def _code(column: SeenColumn) -> Proposal | None:
    """Propose prefixes for digits of one length that are no numbers: some start with 0, or the name says code."""
    digits = len({len(label) for label in column.counts}) == 1 and all(map(str.isdecimal, column.counts))
    if not digits or not 3 <= column.longest <= 10 or column.nearly_unique or _names_people(column):
        return None
    starts_with_0 = any(label.startswith("0") for label in column.counts)
    return _prefixes(column, "codes of equal length") if starts_with_0 or "code" in column.words else None


def _prefixes(column: SeenColumn, what: str) -> Proposal:
    shortest = min(map(len, column.counts))  # beyond it, a shorter code would be a part of itself
    kept = [count for count in (5, 4, 3, 2, 1) if count < column.longest and count <= shortest]
    level = max(1, len(kept) - 1)
    characters = "1 character" if kept[level - 1] == 1 else f"{kept[level - 1]} characters"
    notes = [f"Decide: how much of it must be left? limit: {{level: {level}}} leaves {characters} or more."]
    if len(set(map(len, column.counts))) > 1 and column.numeric_share == 1:
        notes.append("Check: some codes are shorter than others. Were leading zeros lost?")
    rule = f"{{prefix: [{', '.join(map(str, kept))}], length: {column.longest}}}"
    return Proposal("quasi-identifier", _seen(column, what), tuple(notes), rule, level=level, leaves=characters)


def _dates(column: SeenColumn) -> Proposal | None:
    seen = column.days
    if seen is None:
        return None
    years = {day.year for label in column.counts if (day := parse_day(label, seen.form)) is not None}
    span = max(years) - min(years)
    levels: tuple[str, ...] = ("month", "year", "decade") if span >= MANY_YEARS else ("month", "quarter", "year")
    enough = "year"
    if span >= LIFETIMES:  # such as days of birth: few people are alike in the year, or even the decade
        levels, enough = (*levels, "20-years", "40-years"), "decade"
    level = levels.index(enough) + 1
    notes = [f"Decide: how coarse is still of use? limit: {{level: {level}}} leaves the {enough} or better."]
    if len(seen.forms) > 1:
        notes.append(f"Its days are written in {len(seen.forms)} forms: each is read by the first that fits.")
    if seen.ambiguous:
        notes.append(f"Check: nothing in it tells day from month. Is the form {' and '.join(seen.ambiguous)} right?")
    if seen.two_digits:
        notes.append("Check: its years have two digits. 69 to 99 are taken for 1969 to 1999, others for 2000 to 2068.")
    if seen.misfits:
        many = sum(seen.misfits.values())
        notes.append(f"Check: {about(many)} cells are no days in any form{_rows(column)}. Their records are withheld.")
    form = seen.form
    written = "" if form is None else f", form: {json.dumps(form)}"
    rule = f"{{dates: [{', '.join(levels)}]{written}}}"
    unknown = "withhold" if seen.misfits else ""
    return Proposal(
        "quasi-identifier", _seen(column, "dates"), tuple(notes), rule, unknown, level=level, leaves=f"the {enough}"
    )


def _rows(column: SeenColumn) -> str:
    """Name the records of a column whose values do not fit, where they are known."""
    if not column.misfit_rows:
        return ""
    more = ", …" if sum((column.days.misfits if column.days else {}).values()) > len(column.misfit_rows) else ""
    word = "record" if len(column.misfit_rows) == 1 else "records"
    return f" ({word} {', '.join(f'{row:,}' for row in column.misfit_rows)}{more})"


def _name(column: SeenColumn) -> Proposal | None:
    """Propose to leave out what names a person or a record."""
    seen, unique = _seen(column, _kind(column)), column.nearly_unique
    few = column.distinct <= MANY_WORDS and column.variety <= 0.5
    if column.words & _OF_A_PERSON or (_names_people(column) and not few):
        notes = ["Proposed: left out, because by its name it names a person or a record."]
        if not unique and not few:
            notes.append(
                "Decide: does it name persons who may have several records? Then also write it at the top level, as "
                "`person:`, and k counts persons."
            )
        return Proposal("identifier", seen, tuple(notes))
    if unique and column.numeric_share < 1:
        return Proposal("identifier", seen, ("Proposed: left out, because it seems to name a person or a record.",))
    if unique and column.whole and not column.words & (_MEASURES | _DELICATE):
        notes = ["Proposed: left out, because it seems to number the records.",
                 "Check: does it measure something? Then make it a quasi-identifier with bands."]  # fmt: skip
        return Proposal("identifier", seen, tuple(notes))
    return None


def names_records(column: SeenColumn) -> bool:
    """Tell whether the draft takes a column for what names a person or a record."""
    return _name(column) is not None


def is_code(column: SeenColumn) -> bool:
    """Tell whether the draft takes a column for codes, of which only the first characters mean something."""
    return _postcode(column) is not None or _code(column) is not None


def names_ages(column: SeenColumn) -> bool:
    """Tell whether the name of a column says that it holds ages."""
    return bool(column.words & _AGES)


def _names_people(column: SeenColumn) -> bool:
    words = column.words
    full_name = "name" in words and words <= _PARTS_OF_NAMES
    person_number = bool(words & _NUMBER_WORDS) and words <= _NUMBER_WORDS | _NUMBERED
    compound = any(word.endswith(_NUMBER_ENDINGS) and word.startswith(_PEOPLE) for word in words)
    return bool(words & _NAMING) or full_name or person_number or compound


def _numbers(column: SeenColumn) -> Proposal | None:
    """Propose bands for many numbers; a few cells that are not numbers, such as 90+, do no harm."""
    odd = [label for label in column.counts if parse_number(label) is None]
    if column.numeric_share < 0.9 or len(column.numbers) <= FEW_NUMBERS:
        return None
    if any(re.search(r"\d\s*[-–,;]\s*\d", label) for label in odd):
        return None  # they may be written like a band
    widths = band_widths(column.numbers)
    level = min(2, len(widths))
    notes = [f"Decide: how wide a band is still of use? limit: {{level: {level}}} leaves {_band(widths[level - 1])}."]
    if not odd:
        notes.append(
            f"Or, instead of the hierarchy, intervals: free, snap: {number_label(widths[0])}: intervals that fit the "
            "data. Never without snap: both ends of an interval are then exact values of people."
        )
    if odd:
        notes.append("Check: a few cells are not numbers. Each is taken as a value of its own, outside all bands.")
    rule = f"{{bands: [{', '.join(map(number_label, widths))}]}}"
    unknown = "own-leaf-under-root" if odd else ""
    seen, leaves = _seen(column, _kind(column)), _band(widths[level - 1])
    return Proposal("quasi-identifier", seen, tuple(notes), rule, unknown, level, leaves)


def _band(width: Number) -> str:
    return f"bands of {width:,} or less" if isinstance(width, int) else f"bands of {number_label(width)} or less"


def _long_text(column: SeenColumn) -> Proposal | None:
    length = sum(len(label) * count for label, count in column.weights.items()) / sum(column.weights.values())
    if length <= 40 or column.variety <= 0.5:
        return None
    note = "Proposed: left out, because long text that differs from record to record may tell who is meant."
    return Proposal("identifier", _seen(column, "long text"), (note,))


def _text(column: SeenColumn) -> Proposal:
    """Propose the flat hierarchy: the value, then *."""
    level: int | None = None
    if column.distinct <= FEW_NUMBERS or column.numeric_share == 1:
        note, level = "Decide: may it become *? If not, limit: {level: 0} leaves it as it is.", 0
    elif column.distinct <= MANY_WORDS:
        note = "Decide: its only step is to *. If groups of values are of use, add hierarchy: {file: …}."
    else:
        note = (
            "Decide: so many values need a hierarchy, or each can only become *. Write a file with one line per value, "
            "value;group;larger group;*, and add hierarchy: {file: …}."
        )
    return Proposal(
        "quasi-identifier", _seen(column, _kind(column)), (note,), level=level, leaves="" if level else "every value"
    )


def with_a_quasi_identifier(columns: list[SeenColumn], proposals: list[Proposal]) -> list[Proposal]:
    """Let one column stand in where every one seems to be an identifier: a plan needs something to protect by."""
    if any(proposal.role == "quasi-identifier" for proposal in proposals):
        return proposals
    places = sorted(range(len(columns)), key=lambda place: (not columns[place].readable, not columns[place].counts))
    if not columns[places[0]].readable:
        message = "No column holds plain values, such as text, numbers or dates."
        raise DataError(Problem("format", message, hint="unpack nested columns first"))
    note = "Decide: a plan needs a quasi-identifier, and no column looks like one. This one stands in."
    stand_in = Proposal("quasi-identifier", proposals[places[0]].seen, (note,))
    return [stand_in if place == places[0] else proposal for place, proposal in enumerate(proposals)]


def band_widths(numbers: Mapping[Number, int]) -> tuple[Number, ...]:
    """Choose round band widths: some twenty bands over the middle 98 % of the records, then wider ones.

    Parameters
    ----------
    numbers
        Records by number.

    Examples
    --------
    >>> band_widths({age: 1 for age in range(90)})
    (5, 10, 20)
    >>> band_widths({500 * step: 1 for step in range(200)})
    (5000, 10000, 20000)
    """
    ordered = sorted(numbers)
    upto = np.cumsum([numbers[number] for number in ordered])
    low, high = (ordered[int(np.searchsorted(upto, share * upto[-1]))] for share in (0.01, 0.99))
    spread = Decimal(high - low) or Decimal(ordered[-1] - ordered[0]) or Decimal(1)
    finest = spread / 20
    if all(map(is_whole, ordered)):
        finest = max(finest, Decimal(2))
    unit = Decimal(1).scaleb(finest.adjusted())
    first = next(step for step in (1, 2, 5, 10) if step * unit >= finest)
    steps = {1: (1, 2, 4), 2: (2, 10, 20), 5: (5, 10, 20), 10: (10, 20, 40)}[first]
    widths = [step * unit for step in steps]
    fitting = list(itertools.takewhile(lambda width: width < spread, widths)) or widths[:1]
    return tuple(parse_number(format(width, "f")) or 1 for width in fitting)


def _kind(column: SeenColumn) -> str:
    if column.numeric_share == 1:
        return "whole numbers" if column.whole else "numbers"
    if column.numeric_share >= 0.9 and len(column.numbers) > FEW_NUMBERS:
        return "mostly numbers"
    return "true or false" if set(column.counts) <= {"true", "false"} else "text"


def _seen(column: SeenColumn, what: str) -> str:
    if column.nearly_unique:
        different = "nearly every record has its own"
    elif column.distinct == 1:
        different = "the same everywhere"
    else:
        different = f"{about(column.distinct)} different"
    share = 100 * (column.records - column.filled) / column.records
    missing = "none" if share == 0 else "under 1 %" if share < 1 else f"about {share:.0f} %"
    return f"{what}, {different}, {missing} missing"


def about(count: int) -> str:
    """Round a count: to tens, and to two digits.

    Examples
    --------
    >>> about(17), about(53), about(1984)
    ('17', 'about 50', 'about 2,000')
    """
    if count <= 20:
        return str(count)
    unit = 10 ** max(1, len(str(count)) - 2)
    return f"about {(count + unit // 2) // unit * unit:,}"


# -- words -----------------------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POSTCODES = _words("zip zipcode zip5 postcode postalcode postal plz postleitzahl pincode")
_OF_A_PERSON = _words(
    "surname forename firstname lastname fullname nachname vorname familienname nom prenom apellido apellidos cognome "
    "achternaam voornaam nazwisko email ssn passport iban"
)
"""Whatever few values such a column has, it is left out."""
_NAMING = _OF_A_PERSON | _words(
    "mail phone telephone tel mobile fax mrn address street strasse uuid guid id ids pid url ip username login"
)
_PARTS_OF_NAMES = _words(
    "name full first last given family middle maiden birth nick user patient person client customer employee student "
    "member respondent mother father doctor"
)
_PEOPLE = tuple(
    _words(
        "patient person fall kunde kunden mitglied versicherte versicherten versicherung teilnehmer proband studien "
        "schüler mitarbeiter personal aktenzeichen akten pazient paciente klient klienten bewohner"
    )
)
_NUMBER_ENDINGS = ("nummer", "nr", "number", "kennung", "id", "code", "schlüssel")
"""How compound words begin and end that number people, as Patientennummer does."""
_NUMBER_WORDS = _words("number no nr num key")
_NUMBERED = _words(
    "patient person case record account customer client employee student member social insurance security card "
    "medical health file policy"
)
_AGES = _words("age ages alter lebensalter âge edad età")
_MEASURES = _words(
    "age year years month months day days hour hours weight height bmi size amount price cost count distance duration "
    "time date birth born total value pressure"
)
_DELICATE = _words(
    "diagnosis diagnoses diagnose diagnostic disease diseases illness sickness condition symptom icd icd9 icd10 "
    "symptoms treatment therapy drug drugs medication prescription procedure surgery result results test hiv aids std "
    "cancer gene genetic disability pregnancy pregnant abortion addiction alcohol smoking psychiatric mental outcome "
    "cause death income salary wage wages pay earnings wealth debt loan credit balance benefit benefits religion "
    "religious belief faith political politics party vote union sexual orientation crime criminal offence offense "
    "conviction sentence grade grades score einkommen gehalt krankheit maladie revenu"
)


def labelled(proposal: Proposal, note: ColumnNote | None) -> Proposal:
    """Propose labels as a level of the hierarchy, where a file has labels and codes were kept."""
    if note is not None and note.explains:
        said = f"It says why cells of {note.explains!r} are missing."
        decide = "Proposed: left out. Make it `sensitive` or `other` to publish it."
        return Proposal("identifier", proposal.seen, (said, decide))
    if note is None or note.published or not note.codes or proposal.role != "quasi-identifier":
        return proposal
    if not set(note.codes).isdisjoint({*note.codes.values(), "*"}):
        return proposal
    written = ", ".join(
        f"{json.dumps(name, ensure_ascii=False)}: [{json.dumps(code)}]" for name, code in note.codes.items()
    )
    said = (
        "Its codes have labels in the file: they are the level above the codes. A code without one has only * above it."
    )
    return replace(
        proposal, notes=(*proposal.notes, said), rule=f'{{tree: {{"*": {{{written}}}}}}}', unknown="own-leaf-under-root"
    )
