"""Assessing a table: how many people it singles out, by which columns, and which promises already hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.engines.opening import open_engine
from hedgerow.errors import HedgerowError, Problem
from hedgerow.evaluation.assessing import choosing, demands, sampling
from hedgerow.evaluation.assessing.assessment import Assessment, ColumnPart, Combination, Disclosure, names_of
from hedgerow.evaluation.assessing.choosing import KeyColumns
from hedgerow.evaluation.assessing.people import Crowd
from hedgerow.evaluation.assessing.special import USUAL_FRACTION, shares_of_score, special_uniques
from hedgerow.evaluation.assessing.subsets import affordable_size, all_together, every_subset, without_each
from hedgerow.evaluation.drafting.draft import in_likely_encoding
from hedgerow.evaluation.extremes import Extremes, extremes_of
from hedgerow.microdata import Table
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.frames import taken_over
from hedgerow.microdata.microdata import person_codes, ranks
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.microdata.sensitive import SensitiveColumn, encode_sensitive
from hedgerow.outside.server import is_server
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.plan.hierarchy.numbers import Number, parse_number
from hedgerow.plan.model import Privacy
from hedgerow.privacy.risks import accepted_risk, risks
from hedgerow.privacy.tally import Tally
from hedgerow.privacy.uniqueness import population_uniqueness
from hedgerow.types import IntArray, Progress, silent

if TYPE_CHECKING:
    import pyarrow as pa

SUPPRESSED = "*"
"""What most tools publish in place of all values of a withheld record."""
USUAL_THRESHOLD = 0.2
Tallies = list[tuple[SensitiveColumn, Tally]]


def assess(
    data: Any,
    plan: Plan | str | Path | None = None,
    *,
    columns: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    fraction: float | None = None,
    population_size: int | None = None,
    size: int | None = None,
    threshold: float = USUAL_THRESHOLD,
    withheld: str | None = None,
    require: str | Mapping[str, Any] | None = None,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Say how much a table gives away as it stands: unchanged, or anonymized by whatever tool.

    Values are compared as they are written, so generalized ones such as ``20-29`` are values like others, and a
    missing one is too.

    Parameters
    ----------
    data
        The table; whatever :func:`anonymize` takes.
    plan
        A plan that says which columns are quasi-identifiers and which sensitive, and how the file is written. Its
        hierarchies are used for sensitive columns only.
    columns, sensitive, person
        The same without a plan. By default all columns are looked at that a draft would coarsen.
    weight
        Column that says how many people of the population each record stands for, where the table is a sample.
    household
        Column that says which records are of one household. Goes with ``weight``.
    fraction
        Share of the population that is in the table, for the scores of special uniques. By default what the weights
        say; without weights 0.01.
    population_size
        How many people the population has, where the table is a sample without weights: to estimate how many of them
        are unique in it.
    size
        Every combination of so many columns is looked at. By default 3, or less where that would take long.
    threshold
        Risk that is just acceptable.
    withheld
        Records whose chosen columns all hold this, such as ``*``, count as withheld, and are left out of everything.
    require
        What must hold: ``"k=5,p=2,population_unique=0.01"``, the same as the ``privacy`` of a plan, or ``"plan"`` for
        what the plan asks.
    engine, master, progress
        As for :func:`anonymize`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table(
    ...     {"age": ["30", "30", "40", "40", "40"], "sex": list("FMFFF"), "ill": ["flu", "flu", "flu", "cold", "flu"]}
    ... )
    >>> found = assess(people, columns=["age", "sex"], sensitive=["ill"], require="k=2")
    >>> found
    Assessment(5 records in 3 groups by 2 columns; k = 1; 2 unique)
    >>> [(part.column, part.unique_without) for part in found.parts]
    [('sex', 0), ('age', 1)]
    >>> [(one.columns, one.smallest_of) for one in found.telling]
    [(('sex',), 1), (('age', 'sex'), 1)]
    >>> found.met, found.holds["ill"]["p"]
    (False, 1)
    """
    data, tell = taken_over(data), progress or silent
    asked = plan if plan is None or isinstance(plan, Plan) else Plan.load(plan)
    if size is not None and size < 1:
        raise HedgerowError(Problem("usage", f"The 'size' parameter must be 1 or more. Got {size} instead."))
    if fraction is not None and not 0 < fraction <= 1:
        raise HedgerowError(Problem("usage", f"The 'fraction' parameter must be above 0, 1 at most. Got {fraction}."))
    if population_size is not None and population_size < 1:
        message = f"The 'population_size' parameter must be 1 or more. Got {population_size} instead."
        raise HedgerowError(Problem("usage", message, hint="give the number of people whom the sample was drawn from"))
    choice = _choice(data, asked, columns, sensitive, person, (weight, household), tell)
    sampling.checked(choice)
    required = _required(require, asked, choice.sensitive)
    tell("reading", 0, 0)
    table = _read(data, choice, engine, master)
    found = _assessed(table, choice, fraction, size, threshold, withheld, required, tell)
    return _with_uniqueness(found, fraction, population_size, demands.unique_required(require))


def _with_uniqueness(
    found: Assessment, fraction: float | None, population_size: int | None, most: float | None
) -> Assessment:
    """Estimate how many are unique in the population, where its size is given, or follows from weights or a share."""
    size = population_size
    if size is None and found.sample is not None:
        size = round(found.sample.people)
    if size is None and fraction is not None:
        size = round(found.people / fraction)
    if size is not None and size < found.people:
        message = f"The population has {size:,} people, fewer than the {found.people:,} of the table."
        raise HedgerowError(Problem("usage", message, hint="give the size of what the table was drawn from"))
    uniqueness = None if size is None else population_uniqueness(found.people_by_group, size)
    judged = () if most is None else (demands.judged_unique(most, uniqueness),)
    return replace(found, uniqueness=uniqueness, demands=(*found.demands, *judged))


def _choice(
    data: Any,
    plan: Plan | None,
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    person: str | None,
    sample: tuple[str | None, str | None],
    tell: Progress,
) -> KeyColumns:
    if plan is None:
        if columns is None:
            return choosing.of_draft(data, sensitive, person, sample, tell).also(*sample)
        return choosing.of_names(columns, sensitive, person).also(*sample)
    if columns is not None or sensitive or person is not None:
        message = "A plan says which columns are looked at, so they cannot be named besides."
        raise HedgerowError(Problem("usage", message, hint="leave out the plan, or the names"))
    return choosing.of_plan(plan).also(*sample)


def _required(
    require: str | Mapping[str, Any] | None, plan: Plan | None, sensitive: Sequence[str]
) -> tuple[Privacy, tuple[str, ...]] | None:
    if require is None:
        return None
    if require == "plan":
        if plan is None:
            raise HedgerowError(Problem("usage", "There is no plan whose demands could be required.", "require"))
        if plan.privacy.of_population:
            message = "What the plan promises of a population cannot be required of a table: it is not counted here."
            raise HedgerowError(Problem("usage", message, "require", "verify a release: hedgerow verify --population"))
        return plan.privacy, ("k", *plan.privacy.asked)
    return demands.checked(require, sensitive)


def _read(data: Any, choice: KeyColumns, engine: str, master: str | None) -> Table:
    """Read the columns where the table lies; a file whose encoding nobody stated is tried in the likely ones."""

    def read(form: DataFormat) -> Table:
        plan = choice.plan.model_copy(update={"data": form})
        with open_engine(data, plan, engine, master) as source:
            return source.read(plan)

    if choice.chosen == "named" and not is_server(data):
        return in_likely_encoding(data, DataFormat(), read)
    return read(choice.plan.data)


def _assessed(
    table: Table,
    choice: KeyColumns,
    fraction: float | None,
    size: int | None,
    threshold: float,
    withheld: str | None,
    required: tuple[Privacy, tuple[str, ...]] | None,
    tell: Progress,
) -> Assessment:
    plan, counts = choice.plan, _counts(table)
    names, sensitive = plan.quasi_identifiers, choice.sensitive
    left_out = _holding_only(table, names, withheld, len(counts))
    hidden = 0 if withheld else int(counts[_holding_only(table, names, SUPPRESSED, len(counts))].sum())
    if left_out.all():
        message = "Every record counts as withheld, so nothing is left to look at."
        raise HedgerowError(Problem("usage", message, hint="check what is given as withheld"))
    person = None if plan.person is None else person_codes(plan.person, table)[0]
    codes = [ranks(table.columns[name])[0] for name in names]
    people = Crowd.of(codes, counts, person, ~left_out)
    group, groups = all_together(people)
    in_group = people.in_groups(group, groups)
    records = np.bincount(group, weights=people.records, minlength=groups).astype(np.int64)
    group_of = np.where(people.unit_of >= 0, group[people.unit_of], -1)
    tallies = _tallies(table, plan, sensitive, group_of, groups, counts)
    looked = every_subset(people, min(size or affordable_size(len(names), people.units), len(names)), tell)
    without = without_each(people)
    shares = shares_of_score(looked)
    parts = [
        ColumnPart(name, one.groups, one.unique, looked.needed[position], without[position], shares[position])
        for position, (name, one) in enumerate(zip(names, looked.listed, strict=False))
    ]
    sample = sampling.sample_risk(table, choice, group_of, groups, counts, threshold)
    taken = fraction or (USUAL_FRACTION if sample is None else sample.fraction)
    limit = float(accepted_risk(threshold))
    return Assessment(
        chosen=choice.chosen,
        columns=names,
        sensitive=sensitive,
        person=plan.person,
        records=int(people.records.sum()),
        withheld=int(counts[left_out].sum()),
        people=people.number(np.ones(people.units, bool)),
        hidden=hidden,
        groups=groups,
        unique=int((in_group == 1).sum()),
        k=int(in_group.min()),
        holds={column.name: _holds(column, tally) for column, tally in tallies},
        risks=risks(records, int(counts[left_out].sum()), threshold, in_group),
        size=looked.size,
        combinations=tuple(
            Combination(names_of(one.columns, names), one.groups, one.smallest, one.unique, one.smallest_of)
            for one in looked.listed
        ),
        singled_out=looked.singled_out,
        parts=tuple(sorted(parts, key=lambda part: (part.unique_without, -part.needed))),
        special=special_uniques(looked.score, people.records, in_group, len(names), taken, limit),
        sample=sample,
        people_by_group=dict(sorted(Counter(in_group.tolist()).items())),
        disclosures=tuple(_disclosure(column, tally, in_group, records) for column, tally in tallies),
        demands=() if required is None else demands.judged(*required, in_group, records, tallies),
        extremes=_extremes(table, [*names, *sensitive], counts * ~left_out),
    )


def _extremes(table: Table, names: Sequence[str], counts: IntArray) -> tuple[Extremes, ...]:
    """Find columns in which few people lie far from all others."""
    found = []
    for name in names:
        labels, indices = distinct_labels(table.columns[name])
        total = np.bincount(indices, counts, len(labels)).astype(np.int64).tolist()
        numbers: dict[Number, int] = {}
        for label, count in zip(labels, total, strict=True):
            number = None if label is None else parse_number(label)
            if number is not None and count:
                numbers[number] = numbers.get(number, 0) + count
        found.append(extremes_of(name, numbers))
    return tuple(one for one in found if one is not None)


def _counts(table: Table) -> IntArray:
    return np.ones(table.records, np.int64) if table.counts is None else table.counts


def _holding_only(table: Table, names: Sequence[str], value: str | None, rows: int) -> npt.NDArray[np.bool_]:
    """Tell which rows hold one value in all of these columns."""
    found = np.full(rows, value is not None)
    for name in names if value is not None else ():
        array = dictionary_encoded(table.columns[name])
        same = np.array([label == value for label in array.dictionary.to_pylist()] + [False], bool)
        found &= same[array.indices.fill_null(len(same) - 1).to_numpy(zero_copy_only=False)]
    return found


def _tallies(
    table: Table, plan: Plan, sensitive: Sequence[str], group_of: IntArray, groups: int, counts: IntArray
) -> Tallies:
    """Count the values of sensitive columns by group; what is withheld is not part of the whole table either."""
    kept = group_of >= 0
    each = None if table.counts is None else counts[kept]
    of_record = group_of[kept] if each is None else np.repeat(group_of[kept], each)
    found = []
    for name in sensitive:
        values = _rows(table.columns[name], kept)
        column, codes, _ = encode_sensitive(name, plan.attributes[name], values, each)
        of_value = codes if each is None else np.repeat(codes, each)
        tally = Tally.of_codes(of_record, of_value, groups, column.counts, column.tree, column.leaf_node)
        found.append((column, tally))
    return found


def _rows(values: pa.ChunkedArray, kept: npt.NDArray[np.bool_]) -> pa.ChunkedArray:
    import pyarrow as pa

    return values if kept.all() else values.filter(pa.array(kept))


def _holds(column: SensitiveColumn, tally: Tally) -> dict[str, Any]:
    reached = {model.name: model.reached(tally, column) for model in PRIVACY_MODELS}
    return {name: value for name, value in reached.items() if value is not None}


def _disclosure(column: SensitiveColumn, tally: Tally, people: IntArray, records: IntArray) -> Disclosure:
    single = tally.distinct == 1
    share = float((tally.count / tally.total[tally.group]).max(initial=0))
    several = int((single & (people > 1)).sum())
    return Disclosure(column.name, int(single.sum()), int(records[single].sum()), several, round(share, 12))
