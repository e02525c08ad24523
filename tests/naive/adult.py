"""Withheld records on Adult: the column of Campan, Truta and Cooper 2010, Table 6, that asks for k alone.

Only age and native country carry limits; the other quasi-identifiers put all records in one cell, so they
are left out. The paper draws the limits; their names are inferred from its numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from .attributes import TreeAttribute
from .cells import out_records
from .trees import Tree

AGE, NATIVE_COUNTRY = 0, 13

AGE_BANDS = {
    "0-19": (0, 19),
    "20-29": (20, 29),
    "30-39": (30, 39),
    "40-49": (40, 49),
    "50-59": (50, 59),
    "60-69": (60, 69),
    "70-99": (70, 99),
}

COUNTRY_TREE = {
    "Country": {
        "America": {
            "North_America": ["United-States", "Canada", "Mexico", "Outlying-US(Guam-USVI-etc)"],
            "Central_America": [
                "El-Salvador",
                "Guatemala",
                "Honduras",
                "Nicaragua",
                "Cuba",
                "Dominican-Republic",
                "Haiti",
                "Jamaica",
                "Puerto-Rico",
                "Trinadad&Tobago",
            ],
            "South_America": ["Columbia", "Ecuador", "Peru"],
        },
        "Europe": {
            "West_Europe": [
                "England",
                "Scotland",
                "Ireland",
                "France",
                "Germany",
                "Holand-Netherlands",
                "Italy",
                "Portugal",
            ],
            "East_Europe": ["Greece", "Hungary", "Poland", "Yugoslavia"],
        },
        "Asia": {
            "East_Asia": [
                "Cambodia",
                "Laos",
                "Vietnam",
                "Thailand",
                "Philippines",
                "China",
                "Hong",
                "Taiwan",
                "Japan",
                "India",
            ],
            "West_Asia": ["Iran"],
        },
        "Africa": {"South_Africa_region": ["South"]},
    }
}
COUNTRY_LIMITS = frozenset(
    [
        "North_America",
        "Central_America",
        "South_America",
        "West_Europe",
        "East_Europe",
        "East_Asia",
        "West_Asia",
        "Africa",
    ]
)


def constrained_attributes() -> tuple[TreeAttribute, TreeAttribute]:
    """Age and native country with their limits."""
    ages = Tree.from_nested(
        {"0-99": {band: [str(age) for age in range(lo, hi + 1)] for band, (lo, hi) in AGE_BANDS.items()}}
    )
    countries = Tree.from_nested(COUNTRY_TREE)
    return TreeAttribute(ages, frozenset(AGE_BANDS)), TreeAttribute(countries, COUNTRY_LIMITS)


def withheld_counts(rows: Sequence[Sequence[str]], ks: Sequence[int]) -> list[int]:
    """Size of OUT for every k."""
    ages, countries = constrained_attributes()
    records = [(ages.code(row[AGE]), countries.code(row[NATIVE_COUNTRY])) for row in rows]
    return [len(out_records((ages, countries), records, k)) for k in ks]
