"""The patients of a clinic."""

from __future__ import annotations

import numpy as np

from hedgerow.evaluation.synthetic.draw import Draw, Indices, labelled
from hedgerow.evaluation.synthetic.table import Synthetic

_AGE_WEIGHTS = (34, 20, 18, 24, 34, 42, 46, 46, 48, 52, 58, 64, 68, 70, 66, 56, 42, 22)  # five years each, 0-89
_WOMEN_OF_100 = (49, 61, 50, 55)  # as children, young, middle-aged, old

# City and what lies above it; first three digits of its zip codes, and how many; income against the country's; weight.
_CITIES: tuple[tuple[tuple[str, ...], str, int, float, int], ...] = (
    (("Los Angeles", "California", "West Coast"), "900", 9, 1.10, 290),
    (("San Diego", "California", "West Coast"), "921", 6, 1.15, 150),
    (("Sacramento", "California", "West Coast"), "958", 4, 1.05, 70),
    (("Portland", "Oregon", "West Coast"), "972", 4, 1.05, 45),
    (("Eugene", "Oregon", "West Coast"), "974", 2, 0.95, 15),
    (("Wichita", "Kansas", "Midwest"), "672", 5, 0.85, 130),
    (("Kansas City", "Kansas", "Midwest"), "661", 4, 0.85, 70),
    (("Topeka", "Kansas", "Midwest"), "666", 2, 0.80, 30),
    (("Omaha", "Nebraska", "Midwest"), "681", 4, 0.95, 80),
    (("Lincoln", "Nebraska", "Midwest"), "685", 3, 0.90, 45),
    (("Des Moines", "Iowa", "Midwest"), "503", 3, 0.95, 40),
    (("Cedar Rapids", "Iowa", "Midwest"), "524", 2, 0.90, 15),
    (("San Juan", "Puerto Rico"), "009", 3, 0.60, 14),  # in no region, so its path is shorter
    (("Washington, D.C.",), "200", 3, 1.30, 6),  # in no state either
)

# Illness: weight as child, young, middle-aged, old; how much likelier for women, for men.
_DIAGNOSES: dict[str, tuple[tuple[int, int, int, int], tuple[float, float]]] = {
    "hypertension": ((0, 6, 26, 34), (1.0, 1.1)),
    "type 2 diabetes": ((1, 4, 16, 20), (0.9, 1.1)),
    "coronary heart disease": ((0, 1, 9, 24), (0.7, 1.4)),
    "osteoarthritis": ((0, 2, 12, 22), (1.3, 0.8)),
    "asthma": ((26, 12, 7, 5), (1.0, 1.0)),
    "influenza": ((22, 12, 8, 8), (1.0, 1.0)),
    "pneumonia": ((10, 4, 5, 12), (1.0, 1.0)),
    "fracture": ((20, 14, 8, 12), (0.9, 1.1)),
    "appendicitis": ((14, 10, 4, 2), (1.0, 1.0)),
    "depression": ((4, 16, 13, 6), (1.4, 0.7)),
    "migraine": ((3, 12, 8, 2), (1.8, 0.6)),
    "complication of pregnancy": ((1, 22, 2, 0), (2.0, 0.0)),
    "breast cancer": ((0, 1, 8, 9), (2.0, 0.02)),
    "prostate cancer": ((0, 0, 4, 12), (0.0, 2.0)),
    "HIV infection": ((0, 3, 2, 1), (0.5, 1.5)),
}

_FAMILY_NAMES = """
Adams Alvarez Anderson Bailey Baker Becker Bennett Brooks Brown Butler Campbell Carter Castillo Chen Clark Cohen Cole
Collins Cook Cooper Cruz Davis Diaz Edwards Evans Fischer Flores Foster Garcia Gomez Gonzalez Gray Green Gutierrez Hall
Harris Hayes Hernandez Hill Howard Hughes Jackson James Jenkins Johnson Jones Kelly Kim King Larsen Lee Lewis Long
Lopez Martin Martinez Miller Mitchell Moore Morales Morgan Morris Muñoz Murphy Nelson Nguyen Novak O'Brien Okafor Olsen
Ortiz Park Parker Patel Perez Peterson Phillips Powell Price Ramirez Reed Reyes Reynolds Rivera Roberts Robinson
Rodriguez Rogers Ross Ruiz Russell Sanchez Sanders Schmidt Scott Singh Smith Stein Stewart Sullivan Taylor Thomas
Thompson Torres Turner Walker Ward Washington Watson White Williams Wilson Wood Wright Yang Young
"""
_GIVEN_NAMES = (
    """
    Abigail Aisha Alice Amanda Amelia Ana Andrea Angela Anna Ashley Barbara Beatriz Betty Camila Carmen Carol Caroline
    Charlotte Chloe Clara Daniela Deborah Diana Donna Dorothy Elena Elizabeth Ella Emily Emma Eva Fatima Frances Gloria
    Grace Hannah Helen Ingrid Irene Isabel Jane Jessica Joan Judith Julia Karen Laura Leila Linda Lucia Margaret Maria
    Mary Mei Nancy Nora Olivia Patricia Priya Rachel Rosa Ruth Sarah Sofia Susan Teresa Victoria Yuki Zoë
    """,
    """
    Aaron Adam Ahmed Albert Alejandro Alexander Andrew Anthony Antonio Arthur Benjamin Brian Carl Carlos Charles Chris
    Daniel David Diego Douglas Edward Eric Ernesto Francis Frank Gabriel George Hans Harold Henry Hiroshi Hugo Ivan Jack
    Jacob James Javier Jerome John Jorge José Joseph Joshua Juan Kenneth Kevin Lars Leon Louis Luis Manuel Marcus Mark
    Martin Matthew Michael Miguel Nathan Noah Oscar Patrick Paul Peter Rafael Raj Richard Robert Samuel Stephen Thomas
    Victor Walter William
    """,
)
_NICKNAMES = ("Ace", "Bo", "Buddy", "Coco", "Dee", "Junior", "Red", "Sunny")

_YEAR = np.datetime64("2024-01")
_MONTH_WEIGHTS = (12, 11, 10, 8, 8, 7, 7, 7, 8, 9, 10, 12)  # January to December: winters are busy


def _names(draw: Draw, sex: Indices) -> list[str]:
    """Family name, comma, given name and initial; a few have a nickname in quotes. Both need quoting in CSV."""
    families, givens = _FAMILY_NAMES.split(), [names.split() for names in _GIVEN_NAMES]
    count = len(families)
    family = draw.choice([1 / (8 + 37 * place % count) for place in range(count)])  # some are common, most are rare
    given = draw.below(np.array([len(names) for names in givens])[sex])
    initial = draw.below(26)
    nickname = draw.below(100 * len(_NICKNAMES))  # one in a hundred has one
    names = [
        f"{families[a]}, {givens[s][b]} {chr(65 + c)}."
        for a, s, b, c in zip(family.tolist(), sex.tolist(), given.tolist(), initial.tolist(), strict=True)
    ]
    for record in np.flatnonzero(nickname < len(_NICKNAMES)).tolist():
        names[record] += f' "{_NICKNAMES[nickname[record]]}"'
    return names


def _incomes(draw: Draw, phase: Indices, city: Indices) -> Indices:
    """Household incomes: many modest, few high, higher in middle age, different by place; in steps of 500."""
    typical = np.array([52_000, 44_000, 60_000, 38_000])[phase] * np.array([factor for *_, factor, _ in _CITIES])[city]
    dollars: Indices = np.round(typical * np.exp(0.4 * draw.bell()) / 500).astype(np.int64) * 500
    return np.clip(dollars, 9_000, 150_000)


def _diagnosis_weights() -> list[list[float]]:
    """Weights of the illnesses by phase of life and, within it, by sex."""
    return [
        [by_phase[phase] * by_sex[sex] for by_phase, by_sex in _DIAGNOSES.values()]
        for phase in range(4)
        for sex in range(2)
    ]


def _zips(draw: Draw, city: Indices) -> list[str]:
    """Zip codes of the city, those with low numbers more often; one in fifty is missing."""
    spread = np.array([number for _, _, number, *_ in _CITIES])[city]
    number = np.floor(draw.uniform() * draw.uniform() * spread).astype(np.int64) + 1
    missing = draw.below(50) == 0
    return [
        "" if absent else f"{_CITIES[place][1]}{last:02d}"
        for place, last, absent in zip(city.tolist(), number.tolist(), missing.tolist(), strict=True)
    ]


def _days(draw: Draw) -> list[str]:
    """Days of admission within one year, more of them in winter."""
    starts = (_YEAR + np.arange(13).astype("timedelta64[M]")).astype("datetime64[D]")
    month = draw.choice(_MONTH_WEIGHTS)
    within = draw.below(np.diff(starts).astype(np.int64)[month])
    return [str(day) for day in np.datetime_as_string(starts[month] + within.astype("timedelta64[D]")).tolist()]


_CLINIC_PLAN = """\
# A plan says what every column of a table is, how far its values may be coarsened, and what must hold of the release.
# This one goes with patients.csv, a made-up clinic: nobody in it exists. Change a line, and look what it costs:
#
#   hedgerow explain   patients.csv plan.yaml                before anything is run: what must be withheld, and why
#   hedgerow anonymize patients.csv plan.yaml -o release     the release, checked before it is put in place

attributes:

  # Identifiers name one person. They are not even read.
  name:           identifier
  patient_number: identifier

  # Quasi-identifiers could be known from elsewhere, and several of them together point at one person. They are
  # coarsened, step by step up their hierarchy, until at least k patients look alike; but never past their limit.
  age:
    role: quasi-identifier
    hierarchy: {bands: [5, 10, 20]}          # years: 37 → 35-39 → 30-39 → 20-39 → *
    limit: {level: 2}                        # the study compares decades of life: 30-39 at the coarsest

  sex: quasi-identifier                      # no hierarchy: the only step is female → *; no limit: it may be taken

  city:
    role: quasi-identifier
    hierarchy: {file: location.csv}          # Wichita → Kansas → Midwest → United States
    limits: [California, Kansas, Midwest]    # the first of these on the way up holds: Wichita may become Kansas,
                                             # Omaha Midwest; Portland meets none, so it may become United States

  zip:
    role: quasi-identifier
    hierarchy: {prefix: [3, 2], length: 5}   # characters kept: 67202 → 672** → 67*** → *
    weight: 0.5                              # counts half when groups are formed: the city says much of it already

  admitted:
    role: quasi-identifier
    hierarchy:                               # 2024-02-29 → 2024-02 → 2024-Q1 → 2024 → *
      dates: [month, quarter, year]
    limit: {level: 3}                        # the year at the coarsest

  income:
    role: quasi-identifier
    intervals: free                          # no fixed bands: every group gets an interval that just fits it,
    snap: 5000                               # with ends on this grid, so that nobody's own income shows
    limit: {cuts: [50000], width: 40000}     # no interval crosses 50,000, and none is wider than 40,000

  # Sensitive values are what the release is for: nobody should learn them of a person. They are published as they are.
  # (k alone does not ask for different values within a group: if all k look-alikes share one, it is known of each.
  # Ask for two or more with privacy: {k: 5, p: 2}.)
  diagnosis:      sensitive

  # Other columns are neither known from elsewhere nor confidential. They are published as they are.
  satisfaction:   other

# What must hold: every patient looks like at least k - 1 others in all quasi-identifiers. Those for whom that is
# impossible within the limits are withheld, and no others.
privacy: {k: 5}

# How groups are formed.
method: cluster
"""


def clinic(records: int = 2000, seed: int = 0) -> Synthetic:
    """Make up the patients of a clinic.

    Parameters
    ----------
    records
        Number of patients, one record each.
    seed
        Same seed, same patients.

    Examples
    --------
    >>> clinic(records=100)
    Synthetic(clinic: 100 records × 10 columns)
    >>> list(clinic(records=100).columns)
    ['name', 'patient_number', 'age', 'sex', 'city', 'zip', 'admitted', 'income', 'diagnosis', 'satisfaction']
    """
    draw = Draw(records, seed)
    age_band = draw.choice(_AGE_WEIGHTS)
    age = age_band * 5 + draw.below(5)
    phase = np.digitize(age, (20, 40, 60))  # child, young, middle-aged, old
    sex = draw.choice_by(phase, [[weight, 100 - weight] for weight in _WOMEN_OF_100])
    city = draw.choice([weight for *_, weight in _CITIES])
    income = _incomes(draw, phase, city)
    diagnosis = draw.choice_by(phase * 2 + sex, _diagnosis_weights())
    columns = {
        "name": _names(draw, sex),
        "patient_number": [f"P{number:07d}" for number in (1_000_000 + draw.order()).tolist()],
        "age": [str(years) for years in age.tolist()],
        "sex": labelled(sex, ("female", "male")),
        "city": labelled(city, [path[0] for path, *_ in _CITIES]),
        "zip": _zips(draw, city),
        "admitted": _days(draw),
        "income": [str(dollars) for dollars in income.tolist()],
        "diagnosis": labelled(diagnosis, list(_DIAGNOSES)),
        "satisfaction": labelled(draw.choice((4, 8, 22, 41, 25)), "12345"),
    }
    paths = [(*path, "United States") for path, *_ in _CITIES]
    return Synthetic("clinic", "patients.csv", columns, _CLINIC_PLAN, {"location.csv": paths})
