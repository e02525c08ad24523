"""Withheld records on Adult: the CKA column of CPKA Table 6 (SPEC 6 and appendix).

Only age and native country carry limits; the other quasi-identifiers put all records in one cell, so they
are left out. The limits are those inferred in the specification's ``hierarchies/``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .attributes import TreeAttribute
from .cells import out_records
from .trees import Tree

COLUMNS = 15
AGE, NATIVE_COUNTRY = 0, 13
FILES = ("adult.data", "adult.test")

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


def data_folder() -> Path:
    """The folder named by HEDGEROW_DATA, or ``../shared/data`` from the project's root."""
    named = os.environ.get("HEDGEROW_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared" / "data"


def missing_files(folder: Path) -> list[str]:
    """Names of the Adult files that the folder does not have."""
    return [name for name in FILES if not (folder / name).is_file()]


def read_adult(folder: Path) -> list[list[str]]:
    """Complete rows of both files, fields trimmed; rows with ``?`` are dropped."""
    lines = (line for name in FILES for line in (folder / name).read_text(encoding="utf-8").splitlines())
    rows = ([field.strip() for field in line.split(",")] for line in lines)
    return [row for row in rows if len(row) == COLUMNS and "?" not in row]


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
