"""An extract from the census of households of a country that does not exist."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.synthetic import census_values as values
from hedgerow.evaluation.synthetic.attributes import (
    MadeUpAttribute,
    attribute_lines,
    first_attributes,
    hierarchy_files,
    rule_lines,
)
from hedgerow.evaluation.synthetic.draw import Draw, Indices, labelled
from hedgerow.evaluation.synthetic.table import Synthetic

_FILE = "{role: quasi-identifier, hierarchy: {file}}"
_AGE = """
    role: quasi-identifier
    hierarchy: {bands: [5, 10, 20]}
    limit: {level: 3}                          # twenty years at the coarsest"""
_LOCATION = """
    role: quasi-identifier
    hierarchy: {file}  # municipality → county → region → country
    limit: {level: 2}                          # the region at the coarsest"""
_EDUCATION = """
    role: quasi-identifier
    hierarchy: {file}
    limits: [school, after school]             # whether people went on after school must show"""
_INCOME = """
    role: quasi-identifier
    hierarchy: {bands: [5000, 10000, 20000, 40000]}   # for methods that use levels
    intervals: free                            # for clustering: every group gets an interval that just fits it,
    snap: 1000                                 # with ends on this grid"""

# Those that are studied most come first. Numbers and codes have hierarchies made by rule, the others files.
ATTRIBUTES = (
    MadeUpAttribute("age", _AGE, rules=(("17", "18", 10), ("64", "65", 25))),
    MadeUpAttribute("sex", rules=(("female", "male", 10),)),
    MadeUpAttribute("benefits", "sensitive"),
    MadeUpAttribute("location", _LOCATION, tree=values.LOCATIONS),
    MadeUpAttribute(
        "marital_status",
        _FILE,
        tree=values.MARITAL,
        rules=(("together", "apart", 10), ("never married", "widowed", 5)),
    ),
    MadeUpAttribute("education", _EDUCATION, tree=values.EDUCATION, rules=(("upper secondary", "after school", 20),)),
    MadeUpAttribute("income", _INCOME, rules=(("14900", "15000", 10),)),
    MadeUpAttribute(
        "occupation", "{role: quasi-identifier, hierarchy: {prefix: [3, 2, 1], length: 4}}", "empty: has no work"
    ),
    MadeUpAttribute("household_size", "{role: quasi-identifier, hierarchy: {cuts: [[1, 2, 3, 5, 16], [1, 2, 16]]}}"),
    MadeUpAttribute("relationship", _FILE, "to the person who filled in the form", values.RELATIONSHIPS),
    MadeUpAttribute("hours", "{role: quasi-identifier, hierarchy: {cuts: [[0, 1, 20, 35, 45, 100], [0, 1, 35, 100]]}}"),
    MadeUpAttribute("country_of_birth", _FILE, tree=values.COUNTRIES, rules=((values.HOME, "abroad", 10),)),
    MadeUpAttribute("industry", _FILE, tree=values.INDUSTRIES),
)

_PLAN = """\
# This plan goes with census.csv, an extract from a census of households: neither they nor their country exist.
#
#   hedgerow explain   census.csv plan.yaml
#   hedgerow anonymize census.csv plan.yaml -o release
#
# All columns but one are quasi-identifiers, those that are studied most first. The benefits are sensitive.

{attributes}
# Distinctions that research needs: the facts say which of them the release keeps.
{rules}
# Every person looks like at least k - 1 others in all quasi-identifiers.
privacy: {{k: 5}}

method: cluster
"""


def census(records: int = 50_000, seed: int = 0, attributes: int = len(ATTRIBUTES)) -> Synthetic:
    """Make up an extract from a census of households, with up to 13 columns.

    The benefits that a person gets are sensitive; all other columns are quasi-identifiers.

    Parameters
    ----------
    records
        Number of persons, one record each, from as many households.
    seed
        Same seed, same persons.
    attributes
        How many columns to keep, from 3 to 13: those that are studied most come first. The benefits, which are always
        among them, count as one.

    Examples
    --------
    >>> census(records=1000)
    Synthetic(census: 1,000 records × 13 columns)
    >>> list(census(records=1000, attributes=4).columns)
    ['age', 'sex', 'benefits', 'location']
    """
    kept = first_attributes(ATTRIBUTES, attributes)
    columns = _draw_columns(Draw(records, seed))
    plan = _PLAN.format(attributes=attribute_lines(kept), rules=rule_lines(kept))
    return Synthetic(
        "census",
        "census.csv",
        {attribute.name: columns[attribute.name] for attribute in kept},
        plan,
        hierarchy_files(kept),
    )


def _draw_columns(draw: Draw) -> dict[str, list[str]]:
    age = draw.choice(values.AGE_WEIGHTS) * 5 + draw.below(5)
    phase = np.digitize(age, values.STAGES)  # child, youth, young, middle-aged, retired, old
    sex = draw.choice_by(phase, [[weight, 100 - weight] for weight in values.WOMEN_OF_100])
    location = values.LOCATIONS.draw(draw)
    region = values.REGION_OF[location]
    country = _countries(draw, region)
    marital = draw.choice_by(phase, values.MARITAL_WEIGHTS)
    relationship = _relationships(draw, phase, marital)
    education = draw.choice_by(phase, values.EDUCATION_WEIGHTS)
    working = draw.uniform() < np.array(values.WORKING)[phase]
    occupation = _occupations(draw, education)
    hours = np.where(working, _hours(draw, sex), 0)
    income = _incomes(draw, phase, region, occupation // values.CODES_BY_GROUP, hours)
    return {
        "age": _numbers(age),
        "sex": labelled(sex, ("female", "male")),
        "benefits": labelled(_benefits(draw, phase, hours, income), values.BENEFITS),
        "location": labelled(location, values.LOCATIONS.leaves),
        "marital_status": labelled(marital, values.MARITAL.leaves),
        "education": labelled(_lose(draw, education, 0.01), (*values.EDUCATION.leaves, "")),
        "income": _numbers(income),
        "occupation": labelled(np.where(working, occupation, -1), (*values.OCCUPATIONS.leaves, "")),
        "household_size": _numbers(_household_sizes(draw, marital, relationship)),
        "relationship": labelled(relationship, values.RELATIONSHIPS.leaves),
        "hours": _numbers(hours),
        "country_of_birth": labelled(_lose(draw, country, 0.004), (*values.COUNTRIES.leaves, "")),
        "industry": labelled(_industries(draw, occupation, region, working), values.INDUSTRIES.leaves),
    }


def _numbers(numbers: Indices) -> list[str]:
    return [str(number) for number in numbers.tolist()]


def _lose(draw: Draw, numbers: Indices, chance: float) -> Indices:
    """Replace some numbers by −1, which stands for an empty cell."""
    kept: Indices = np.where(draw.uniform() < chance, -1, numbers)
    return kept


def _countries(draw: Draw, region: Indices) -> Indices:
    """Country of birth: more people from abroad where the large towns are."""
    abroad = draw.uniform() < np.array(values.BORN_ABROAD)[region]
    found: Indices = np.where(abroad, values.COUNTRIES.draw(draw), values.COUNTRIES.code(values.HOME))
    return found


def _relationships(draw: Draw, phase: Indices, marital: Indices) -> Indices:
    """Place in the household: one of a couple filled in the form, the other is spouse or partner."""
    tree = values.RELATIONSHIPS
    other = np.where(marital == values.MARITAL.code("married"), tree.code("spouse"), tree.code("partner"))
    couple = np.where(draw.uniform() < 0.5, tree.code("head"), other)
    alone = draw.choice_by(phase, values.ALONE_WEIGHTS)
    found: Indices = np.where(_coupled(marital), couple, alone)
    return found


def _household_sizes(draw: Draw, marital: Indices, relationship: Indices) -> Indices:
    """Size of the household: many small ones, few large."""
    tree = values.RELATIONSHIPS
    single = (relationship == tree.code("head")) & ~_coupled(marital)
    child = relationship == tree.code("child")
    more = draw.choice_by(np.where(single, 0, np.where(child, 2, 1)), values.MORE_PERSONS)
    found: Indices = np.where(single, 1, 2) + more
    return found


def _coupled(marital: Indices) -> npt.NDArray[np.bool_]:
    return np.isin(marital, values.MARITAL.codes(["married", "cohabiting"]))


def _occupations(draw: Draw, education: Indices) -> Indices:
    """Code of the occupation: the major group goes with the education, the rest from the usual to the rare."""
    group = draw.choice_by(education, values.GROUP_WEIGHTS)
    usual = values.OCCUPATIONS.codes([f"{major}111" for major in range(1, 10)])[group]
    return values.OCCUPATIONS.stray(draw, usual, (0.25, 0.25, 0.3))


def _hours(draw: Draw, sex: Indices) -> Indices:
    """Hours of work a week: whole time for most, part time more often for women, long weeks for few."""
    kind = draw.choice_by(sex, values.HOURS_WEIGHTS)
    base = np.array(values.HOURS)[kind]
    found: Indices = np.clip(base + np.round(3 * draw.bell() * (draw.uniform() < 0.4)).astype(np.int64), 1, 90)
    return found


def _incomes(draw: Draw, phase: Indices, region: Indices, group: Indices, hours: Indices) -> Indices:
    """Yearly income in steps of 100: of work by occupation and hours, otherwise a pension or little."""
    work = np.array(values.PAY)[group] * hours / 40 * np.array(values.PAY_BY_REGION)[region]
    typical = np.where(hours > 0, work, np.array(values.INCOME_WITHOUT_WORK)[phase])
    spread: npt.NDArray[np.float64] = typical * np.exp(0.35 * draw.bell())
    found: Indices = np.clip(np.round(spread / 100).astype(np.int64) * 100, 0, 400_000)
    return found


def _industries(draw: Draw, occupation: Indices, region: Indices, working: npt.NDArray[np.bool_]) -> Indices:
    """Industry: goes with the major group of the occupation, and with the region."""
    tree = values.INDUSTRIES
    usual = tree.codes(values.INDUSTRY_OF_GROUP)[occupation // values.CODES_BY_GROUP]
    local = tree.codes(values.INDUSTRY_OF_REGION)[region]
    chosen = np.where(draw.uniform() < 0.15, local, tree.stray(draw, usual, (0.25, 0.2)))
    found: Indices = np.where(working, chosen, tree.code("no industry"))
    return found


def _benefits(draw: Draw, phase: Indices, hours: Indices, income: Indices) -> Indices:
    """Benefits: by phase of life, and whether people work and are poor."""
    poor = (income < 15_000).astype(np.int64)
    return draw.choice_by((phase * 2 + (hours == 0)) * 2 + poor, values.benefit_weights())
