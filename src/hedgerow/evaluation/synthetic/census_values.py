"""What a made-up census can say: values with their hierarchies, and how they depend on each other."""

from __future__ import annotations

import numpy as np

from hedgerow.evaluation.synthetic.trees import NestedNames

# -- people ----------------------------------------------------------------------------------------------------------

AGE_WEIGHTS = (50, 51, 53, 54, 57, 62, 66, 66, 64, 63, 66, 68, 62, 54, 47, 37, 25, 14, 6, 1.5)  # five years each, 0-99
STAGES = (16, 25, 45, 65, 80)  # where child, youth, young, middle-aged, retired and old part
WOMEN_OF_100 = (49, 49, 50, 51, 53, 63)
MARITAL = NestedNames(
    {
        "together": {"married": 40, "cohabiting": 10},
        "apart": {"never married": 34, "once married": {"divorced": 8, "separated": 1.5, "widowed": 6}},
    }
)
MARITAL_WEIGHTS = (  # by phase, in the order of the tree
    (0, 0, 1, 0, 0, 0),
    (4, 10, 85, 0.4, 0.5, 0.05),
    (45, 18, 28, 6, 2.5, 0.4),
    (62, 8, 12, 14, 2, 3),
    (64, 4, 6, 11, 1, 14),
    (38, 1, 5, 6, 0.4, 50),
)
EDUCATION = NestedNames(
    {
        "school": {"primary": 20, "lower secondary": 18, "upper secondary": 30},
        "after school": {
            "vocational": 12,
            "university": {"bachelor": 12, "master": 6, "doctorate": 0.8},
        },
    }
)
EDUCATION_WEIGHTS = (  # by phase, in the order of the tree
    (1, 0, 0, 0, 0, 0, 0),
    (2, 34, 44, 8, 11, 1, 0),
    (2, 12, 30, 18, 24, 12, 1.2),
    (5, 19, 34, 18, 15, 7, 1.2),
    (16, 26, 30, 14, 9, 4, 0.8),
    (34, 28, 20, 9, 6, 2, 0.6),
)
RELATIONSHIPS = NestedNames(
    {
        "couple or single": {"head": 1, "couple": {"spouse": 1, "partner": 1}},
        "other member": {
            "family": {"child": 1, "parent": 1, "sibling": 1, "other relative": 1},
            "not family": {"lodger": 1, "live-in worker": 1, "in an institution": 1},
        },
    }
)
ALONE_WEIGHTS = (  # of those who are not in a couple, by phase, in the order of the tree
    (0, 0, 0, 97, 0, 1, 1.5, 0, 0, 0.4),
    (34, 0, 0, 58, 0, 3, 1.5, 3, 0.3, 0.5),
    (83, 0, 0, 9, 0.1, 3, 1.2, 2, 0.5, 0.6),
    (91, 0, 0, 3, 1, 1.5, 1, 0.8, 0.3, 0.8),
    (92, 0, 0, 0.3, 3, 1, 1, 0.2, 0.1, 2),
    (83, 0, 0, 0, 6, 0.6, 1, 0, 0, 10),
)
MORE_PERSONS = (  # than one who lives alone; than the two of a couple or of others; than a child and a parent
    (74, 14, 8, 3, 0.8, 0.15, 0.05, 0, 0, 0, 0),
    (48, 20, 21, 8, 2, 0.7, 0.2, 0.06, 0.03, 0.01, 0.005),
    (12, 34, 34, 13, 4, 1.6, 0.8, 0.4, 0.2, 0.1, 0.05),
)

# -- places ----------------------------------------------------------------------------------------------------------

HOME = "Arboria"
_STEMS = {
    "North": ("Alder", "Birch", "Larch", "Rowan", "Juniper"),
    "East": ("Ash", "Elm", "Linden", "Poplar", "Willow"),
    "South": ("Hazel", "Holly", "Maple", "Oak", "Sloe"),
    "West": ("Beech", "Bramble", "Briar", "Hawthorn", "Elder"),
}
_ENDINGS = ("ton", "ford", "wick", "ley", "ham")
_REGION_SIZES = {"North": 14, "East": 22, "South": 46, "West": 18}
LOCATIONS = NestedNames(
    {
        region: {
            f"{stem}shire": {
                f"{stem}{ending}": _REGION_SIZES[region] / (1 + county) ** 1.1 / (1 + place) ** 1.2
                for place, ending in enumerate(_ENDINGS)
            }
            for county, stem in enumerate(stems)
        }
        for region, stems in _STEMS.items()
    },
    root=HOME,
)
REGION_OF = np.array([list(_STEMS).index(path[2]) for path in LOCATIONS.paths])
BORN_ABROAD = (0.05, 0.09, 0.2, 0.07)  # by region
COUNTRIES = NestedNames(
    {
        HOME: 0,
        "abroad": {
            "Europe": {
                "middle Europe": {"Germany": 9, "Poland": 12, "Romania": 8, "Italy": 4, "France": 2},
                "outer Europe": {"United Kingdom": 3, "Ireland": 1, "Portugal": 2, "Ukraine": 7, "Iceland": 0.1},
            },
            "other continent": {
                "Africa": {"Morocco": 4, "Nigeria": 2, "Somalia": 2, "Ghana": 0.6},
                "Americas": {"United States": 1.5, "Brazil": 2, "Mexico": 0.3},
                "Asia": {"Turkey": 10, "Syria": 7, "India": 5, "China": 3, "Vietnam": 2, "Bhutan": 0.1},
            },
        },
    }
)

# -- work ------------------------------------------------------------------------------------------------------------

WORKING = (0, 0.5, 0.84, 0.74, 0.06, 0.004)  # by phase
OCCUPATIONS = NestedNames.by_prefix(  # major group, sub-group, minor group, unit
    {
        f"{major}{group}{minor}{unit}": 1 / (group * minor * unit)
        for major in range(1, 10)
        for group in range(1, 5)
        for minor in range(1, 4)
        for unit in range(1, 5)
    },
    [3, 2, 1],
)
CODES_BY_GROUP = 4 * 3 * 4
# By education: managers, professionals, technicians, clerks, services, farmers, crafts, machines, simple work.
GROUP_WEIGHTS = (
    (1, 0.5, 2, 4, 22, 4, 16, 16, 34),
    (3, 1, 6, 9, 28, 3, 18, 15, 17),
    (6, 4, 17, 17, 22, 2, 15, 11, 6),
    (6, 10, 27, 14, 15, 2, 15, 8, 3),
    (13, 44, 20, 12, 6, 0.6, 2, 1.4, 1),
    (19, 63, 11, 4, 2, 0.3, 0.4, 0.2, 0.1),
    (14, 83, 2, 0.6, 0.3, 0, 0, 0.1, 0),
)
HOURS = (40, 37, 20, 8, 55)
HOURS_WEIGHTS = ((44, 14, 33, 6, 3), (66, 16, 7, 4, 7))  # of women, of men
PAY = (62_000, 54_000, 42_000, 33_000, 25_000, 24_000, 33_000, 30_000, 21_000)  # whole time, by major group
PAY_BY_REGION = (0.9, 0.95, 1.12, 0.92)
INCOME_WITHOUT_WORK = (0, 5_000, 9_000, 13_000, 22_000, 19_000)  # by phase
INDUSTRIES = NestedNames(
    {
        "land and making": {
            "land": {"farming": 4, "forestry": 1, "fishing": 0.3, "mining": 0.4},
            "making": {"food": 4, "machines": 8, "chemicals": 3, "textiles": 1, "building": 9, "energy": 1.5},
        },
        "services": {
            "trade": {"shops": 13, "wholesale": 5, "transport": 7, "hotels and restaurants": 7},
            "offices": {"finance": 4, "information": 5, "consulting": 7, "cleaning and security": 6},
            "public": {"government": 7, "schools": 8, "health and care": 14, "arts": 2},
        },
        "no industry": 0,
    }
)
INDUSTRY_OF_GROUP = (
    "consulting",
    "schools",
    "health and care",
    "government",
    "shops",
    "farming",
    "building",
    "transport",
    "cleaning and security",
)
INDUSTRY_OF_REGION = ("forestry", "machines", "information", "farming")

BENEFITS = (
    "none",
    "child benefit",
    "pension",
    "housing support",
    "unemployment benefit",
    "sickness benefit",
    "disability pension",
    "student grant",
    "income support",
)


def benefit_weights() -> list[list[float]]:
    """Weights of the benefits by phase, then whether a person is without work, then whether poor."""
    return [
        [
            100 if worked else 40,
            (260, 8, 30, 6, 0, 0)[phase],
            (0, 0, 0.5, 5, 400, 900)[phase],
            (0, 5, 7, 6, 14, 16)[phase] * (3 if poor else 0.5),
            0.0 if phase in (0, 4, 5) else 1 if worked else 26,
            0.0 if phase in (0, 5) else 3 if worked else 6,
            (0.2, 2, 3, 9, 4, 1)[phase] * (0.3 if worked else 4),
            (0, 60, 6, 0.2, 0, 0)[phase],
            (0, 3, 5, 5, 2, 2)[phase] * (4 if poor and not worked else 0.2),
        ]
        for phase in range(len(STAGES) + 1)
        for worked in (True, False)
        for poor in (False, True)
    ]
