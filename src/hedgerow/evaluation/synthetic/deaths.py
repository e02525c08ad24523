"""The death certificates of a county."""

from __future__ import annotations

from hedgerow.evaluation.synthetic import death_values as values
from hedgerow.evaluation.synthetic.attributes import (
    MadeUpAttribute,
    attribute_lines,
    first_attributes,
    hierarchy_files,
    rule_lines,
)
from hedgerow.evaluation.synthetic.death_causes import CAUSE_TREE
from hedgerow.evaluation.synthetic.death_certificates import Certificates
from hedgerow.evaluation.synthetic.draw import Draw
from hedgerow.evaluation.synthetic.table import Synthetic

_FILE = "{role: quasi-identifier, hierarchy: {file}}"
_HOURS = "{role: quasi-identifier, hierarchy: {cuts: [[0, 6, 12, 18, 24], [0, 12, 24]]}}"
_TRACTS = "{role: quasi-identifier, hierarchy: {prefix: [3, 2], length: 4}}"
_AGE = """
    role: quasi-identifier
    hierarchy:
      cuts:
        - [0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 120]
        - [0, 1, 15, 25, 35, 45, 55, 65, 75, 85, 120]
        - [0, 25, 45, 65, 85, 120]
        - [0, 65, 120]
    weight: 3"""

# Those that are studied most come first. Numbers, dates and codes have hierarchies made by rule, the others files.
ATTRIBUTES = (
    MadeUpAttribute("age", _AGE, rules=(("64", "65", 25), ("24", "25", 5), ("44", "45", 5), ("84", "85", 5))),
    MadeUpAttribute("sex", "{role: quasi-identifier, weight: 2}", rules=(("female", "male", 10),)),
    MadeUpAttribute(
        "cause_of_death",
        "{role: sensitive, hierarchy: {file}}",
        "published as it is",
        CAUSE_TREE,
    ),
    MadeUpAttribute(
        "race",
        "{role: quasi-identifier, hierarchy: {file}, weight: 2}",
        tree=values.RACES,
        rules=(("White", "Black", 20), ("Hispanic", "Black", 10), ("White", "Hispanic", 5), ("Hispanic", "Asian", 5)),
    ),
    MadeUpAttribute(
        "marital_status",
        "{role: quasi-identifier, hierarchy: {file}, weight: 2}",
        tree=values.MARITAL,
        rules=(("married", "widowed", 10), ("married", "never married", 10), ("widowed", "divorced", 5)),
    ),
    MadeUpAttribute(
        "education",
        "{role: quasi-identifier, hierarchy: {file}, weight: 2}",
        tree=values.EDUCATION,
        rules=(("high school", "college", 20), ("some college", "bachelor", 5)),
    ),
    MadeUpAttribute(
        "manner_of_death",
        "{role: quasi-identifier, hierarchy: {file}, weight: 2}",
        tree=values.MANNERS,
        rules=(("natural", "injury", 20), ("suicide", "homicide", 15)),
    ),
    MadeUpAttribute("place_of_death", _FILE, tree=values.PLACES, rules=(("hospital", "home", 5),)),
    MadeUpAttribute("zip_code", "{role: quasi-identifier, hierarchy: {prefix: [4, 3], length: 5}}"),
    MadeUpAttribute("occupation_category", _FILE, tree=values.OCCUPATIONS, rules=(("white collar", "blue collar", 5),)),
    MadeUpAttribute("industry", _FILE, tree=values.INDUSTRIES),
    MadeUpAttribute("autopsy"),
    MadeUpAttribute("us_veteran", rules=(("no", "yes", 5),)),
    MadeUpAttribute("state_of_birth", _FILE, tree=values.STATES),
    MadeUpAttribute("date_of_death", "{role: quasi-identifier, hierarchy: {dates: [month, quarter, year, decade]}}"),
    MadeUpAttribute("citizenship", _FILE, tree=values.CITIZENSHIP),
    MadeUpAttribute("disposition", _FILE, tree=values.DISPOSITIONS),
    MadeUpAttribute("informant", _FILE, tree=values.INFORMANTS),
    MadeUpAttribute("certifier", _FILE, tree=values.CERTIFIERS),
    MadeUpAttribute("college", "{role: quasi-identifier, hierarchy: {cuts: [[0, 1, 3, 5, 10], [0, 1, 10]]}}", "years"),
    MadeUpAttribute("census_tract", _TRACTS),
    MadeUpAttribute("military", _FILE, tree=values.MILITARY),
    MadeUpAttribute("pregnant", _FILE, tree=values.PREGNANCY),
    MadeUpAttribute("farm"),
    MadeUpAttribute("motor_vehicle_accident", _FILE, tree=values.VEHICLE),
    MadeUpAttribute("death_city", _FILE, tree=values.DEATH_CITIES),
    MadeUpAttribute("death_state", _FILE, tree=values.DEATH_STATES),
    MadeUpAttribute("death_zip", "{role: quasi-identifier, hierarchy: {prefix: [4, 3, 1], length: 5}}"),
    MadeUpAttribute("city_of_birth", _FILE, tree=values.BIRTH_CITIES),
    MadeUpAttribute("date_of_birth", "{role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}"),
    MadeUpAttribute("occupation_code", "{role: quasi-identifier, hierarchy: {prefix: [2, 1], length: 3}}"),
    MadeUpAttribute("time_of_death", _HOURS, "hour of the day"),
    MadeUpAttribute("injury_date", "{role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}"),
    MadeUpAttribute("injury_time", _HOURS, "hour of the day"),
    MadeUpAttribute("injury_county", _FILE, tree=values.COUNTIES),
    MadeUpAttribute("injury_tract", _TRACTS),
)

_PLAN = """\
# This plan goes with deaths.csv, the made-up death certificates of a county: nobody in it lived.
#
#   hedgerow anonymize deaths.csv plan.yaml -o release
#
# All columns but one are quasi-identifiers, those that are studied most first. The cause of death is sensitive: make it
# a quasi-identifier, and it is coarsened to its chapter. A column that weighs more is kept finer at the cost of others.

{attributes}
# Distinctions that research needs. A level that keeps them is worth more.
{rules}
# Every certificate looks like at least k - 1 others in all quasi-identifiers. None is withheld; with
# "withhold: 1%" here much more could be kept of the others, but the best levels take longer to find.
privacy: {{k: 5}}

# One level for every column: those that together are worth most.
method: {{name: lattice, objective: research-value}}
"""


def deaths(records: int = 216_000, seed: int = 0, attributes: int = len(ATTRIBUTES)) -> Synthetic:
    """Make up the death certificates of a county, with up to 36 columns.

    The columns are those of the county file that the research value was first tried on (Morton 2013, Table 3), but for
    the half of the day of an injury, which its hour says already. The cause of death is sensitive; all others are
    quasi-identifiers. Most certificates follow one of a few dozen usual lives and deaths, and stray from it now and
    then, more often a little than much. So the columns depend on each other, and some of what they say survives even if
    many are released together.

    Parameters
    ----------
    records
        Number of certificates, one per person.
    seed
        Same seed, same certificates.
    attributes
        How many columns to keep, from 3 to 36: those that are studied most come first. The cause of death, which is
        always among them, counts as one.

    Examples
    --------
    >>> deaths(records=1000)
    Synthetic(deaths: 1,000 records × 36 columns)
    >>> list(deaths(records=1000, attributes=6).columns)
    ['age', 'sex', 'cause_of_death', 'race', 'marital_status', 'education']
    """
    kept = first_attributes(ATTRIBUTES, attributes)
    certificates = Certificates(Draw(records, seed))
    columns = {attribute.name: certificates.cells(attribute.name) for attribute in kept}
    plan = _PLAN.format(attributes=attribute_lines(kept), rules=rule_lines(kept))
    return Synthetic("deaths", "deaths.csv", columns, plan, hierarchy_files(kept))
