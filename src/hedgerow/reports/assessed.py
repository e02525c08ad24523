"""An assessment in words, the same on a terminal, on its page and in the studio; given as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hedgerow.evaluation.extremes import Extremes
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.privacy.uniqueness import NAMES
from hedgerow.reports.wording import NONE, counted, percent

Found = Mapping[str, Any]


def people_word(found: Found) -> str:
    """Say what is counted: persons where a column names them, else records."""
    return "persons" if found["person"] else "records"


def headline(found: Found) -> str:
    """Say the worst first: how many are unique.

    Examples
    --------
    >>> headline({"person": None, "unique": 3, "people": 12, "k": 1, "columns": ["age", "sex"]})
    '3 of 12 records (25%) are unique: nobody else has the same values in these 2 columns.'
    >>> headline({"person": None, "unique": 0, "people": 12, "k": 4, "columns": ["age", "sex"]})
    'Every record is like at least 3 others in these 2 columns: k = 4.'
    """
    columns = counted(len(found["columns"]), "column")
    these = f"in th{'is' if len(found['columns']) == 1 else 'ese'} {columns}"
    if not found["unique"]:
        others = counted(found["k"] - 1, "other")
        return f"Every {people_word(found)[:-1]} is like at least {others} {these}: k = {found['k']:,}."
    share = percent(found["unique"] / found["people"])
    are = f"{people_word(found)} ({share}) {'is' if found['unique'] == 1 else 'are'} unique"
    return f"{found['unique']:,} of {found['people']:,} {are}: nobody else has the same values {these}."


def notes(found: Found) -> Iterator[str]:
    """Say what the figures rest on, and what may be missing."""
    people = f" of {counted(found['people'], 'person')}" if found["person"] else ""
    yield f"{counted(found['records'], 'record')}{people} in {counted(found['groups'], 'group')}. {_compared(found)}"
    if found["chosen"] == "proposed":
        yield "Nobody said which columns to look at, so these are the ones that a draft of a plan would coarsen."
    if found["withheld"]:
        yield f"{counted(found['withheld'], 'record')} without any value left {_count_as(found['withheld'])} withheld."
    if found["hidden"]:
        hold = "holds" if found["hidden"] == 1 else "hold"
        yield (
            f"{counted(found['hidden'], 'record')} {hold} nothing but * in these columns. "
            "If that means withheld, leave them out: --withheld '*' (in Python withheld='*')."
        )
    for one in found.get("extremes", ()):
        yield _far_out(one)
    if not found["sensitive"]:
        yield "No sensitive column is named, so nothing is said about what could be learned of a person."


def _far_out(one: Mapping[str, Any]) -> str:
    """Say of a column how many lie far from all others, and what a plan can do about it."""
    ends = [f"{counted(one[end], 'record')} far {end}" for end in ("above", "below") if one[end]]
    return (
        f"{one['column']}: {' and '.join(ends)} all others, whom the number alone may give away. "
        f"In a plan, treat: {Extremes(**one).treat} publishes such as one value."
    )


def _compared(found: Found) -> str:
    return "Values are compared as they are written; a missing one is a value like others."


def _count_as(number: int) -> str:
    return "counts as" if number == 1 else "count as"


def telling(found: Found) -> list[Mapping[str, Any]]:
    """List the combinations that are smallest for somebody: small ones first, and of these those of most people."""
    some = [one for one in found["combinations"] if one["smallest_of"]]
    return sorted(some, key=lambda one: (len(one["columns"]), -one["smallest_of"]))


def held(reached: Mapping[str, Any]) -> list[str]:
    """Say what every group already meets, of each privacy model.

    Examples
    --------
    >>> held({"p": 2, "l": {"distinct": 2, "entropy": 1.889881574842}, "t": {"equal": 0.25}, "alpha": 0.6666666})
    ['p = 2', 'l = 2 (entropy 1.8899)', 't = 0.25', 'alpha = 0.6667']
    """
    said = []
    for name in (model.name for model in PRIVACY_MODELS if model.name in reached):
        value = reached[name]
        if not isinstance(value, Mapping):
            said.append(f"{name} = {_short(value)}")
            continue
        (_, first), *others = value.items()
        more = ", ".join(f"{form} {_short(other)}" for form, other in others)
        said.append(f"{name} = {_short(first)}" + (f" ({more})" if more else ""))
    return said


def demand_text(demand: Mapping[str, Any]) -> str:
    """Say what is required, and of which column.

    Examples
    --------
    >>> demand_text({"said": "p = 2", "column": "diagnosis"}), demand_text({"said": "k = 5", "column": None})
    ('p = 2 of diagnosis', 'k = 5')
    """
    return demand["said"] if demand["column"] is None else f"{demand['said']} of {demand['column']}"


def failing_text(demand: Mapping[str, Any]) -> str:
    """Say how many groups do not meet what is required."""
    if demand.get("note"):
        return str(demand["note"])
    if demand["kept"]:
        return ""
    failing = counted(demand["failing"], "group does", "groups do")
    return f"{failing} not meet it, with {counted(demand['records'], 'record')}"


def columns_text(columns: Sequence[str]) -> str:
    """Write a combination of columns."""
    return " + ".join(columns)


def special_text(found: Found) -> str | None:
    """Say in a sentence how special the unique people are.

    Examples
    --------
    >>> special_text({"special": {"fraction": 0.01, "unique_match_is_right": 0.0118, "records": 1}, "person": None})
    'If 1% of the population is in the table, a unique match is right 1.18% of the time on average.'
    """
    special = found["special"]
    if special is None or not special["records"]:
        return None
    return (
        f"If {percent(special['fraction'])} of the population is in the table, a unique match is right "
        f"{percent(special['unique_match_is_right'])} of the time on average."
    )


def share_text(share: float | None) -> str:
    """Write the share of scores that a column has."""
    return NONE if share is None else percent(share)


def sample_rows(sample: Mapping[str, Any], threshold: float) -> list[tuple[str, str]]:
    """List what weights say of the risk, each with its number."""
    rows = [
        ("people that the records stand for", f"{sample['people']:,.0f}"),
        ("share of them in the table", percent(sample["fraction"])),
        ("fewest people that any group stands for (k of an estimated k-map)", f"{sample['fewest']:,.0f}"),
        ("highest risk of a record", _risk(sample["highest"])),
        ("average risk of a record (global risk)", _risk(sample["average"])),
        ("records expected to be found if all are matched", f"{sample['expected']:,.2f}"),
        (f"records above {threshold:g}", f"{sample['above']:,}"),
    ]
    household = sample["household"]
    if household is not None:
        rows += [
            ("households", f"{household['households']:,}"),
            ("highest risk that a member of a household is found", _risk(household["highest"])),
            ("average risk that a member of a household is found", _risk(household["average"])),
            ("records expected in households of which somebody is found", f"{household['records_expected']:,.2f}"),
        ]
    return rows


def uniqueness_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List how many people of the population are unique in it, by each estimator; the one that counts first.

    Examples
    --------
    >>> estimates = {"pitman": 3930.6, "zayatz": None}
    >>> uniqueness_rows({"population": 50000, "chosen": "pitman", "estimates": estimates, "share": 0.0786})
    [('Pitman (for a sample of this size)', '3,931 (7.86%)'), ('Zayatz', 'unknown')]
    """
    names = sorted(found["estimates"], key=lambda name: name != found["chosen"])
    rows = []
    for name in names:
        unique = found["estimates"][name]
        shown = "unknown" if unique is None else f"{unique:,.0f} ({percent(unique / found['population'])})"
        rows.append((NAMES[name] + (" (for a sample of this size)" if name == found["chosen"] else ""), shown))
    return rows


def _risk(value: float) -> str:
    return f"{value:.4f}"


def _short(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}".rstrip("0").rstrip(".")
