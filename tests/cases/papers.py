"""Tables and limits of the papers that several tests and the benchmarks take."""

from __future__ import annotations

import numpy as np

import hedgerow as hr
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding


def recoding_of(microdata: Microdata, groups: list[list[int]]) -> Recoding:
    unit_of = {int(record): unit for unit, record in enumerate(microdata.record_of)}
    group_of = np.full(microdata.records, -1)
    codes = microdata.profiles[microdata.profile_of_unit].astype(np.int64)
    at = [microdata.index_order.index(position) for position in range(len(microdata.columns))]
    lo, hi = [], []
    for number, members in enumerate(groups):
        units = [unit_of[member] for member in members]
        group_of[units] = number
        lo.append(codes[units].min(axis=0)[at])
        hi.append(codes[units].max(axis=0)[at])
    return Recoding.of_boxes(microdata, group_of, np.array(lo), np.array(hi))


COUNTRIES = {
    "Country": {
        "America": {
            "North_America": ["United-States", "Canada", "Mexico", "Outlying-US(Guam-USVI-etc)"],
            "Central_America": [
                "El-Salvador", "Guatemala", "Honduras", "Nicaragua", "Cuba", "Dominican-Republic", "Haiti", "Jamaica",
                "Puerto-Rico", "Trinadad&Tobago",
            ],
            "South_America": ["Columbia", "Ecuador", "Peru"],
        },
        "Europe": {
            "West_Europe": [
                "England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands", "Italy", "Portugal",
            ],
            "East_Europe": ["Greece", "Hungary", "Poland", "Yugoslavia"],
        },
        "Asia": {
            "East_Asia": [
                "Cambodia", "Laos", "Vietnam", "Thailand", "Philippines", "China", "Hong", "Taiwan", "Japan", "India",
            ],
            "West_Asia": ["Iran"],
        },
        "Africa": {"South_Africa_region": ["South"]},
    }
}  # fmt: skip
COUNTRY_LIMITS = [
    "North_America", "Central_America", "South_America", "West_Europe", "East_Europe", "East_Asia", "West_Asia", "Africa",
]  # fmt: skip


def table6_plan(k: int) -> hr.Plan:
    """The limits of CPKA Table 6 as the paper draws them."""
    return hr.Plan.from_dict(
        {
            "attributes": {
                "age": {
                    "role": "quasi-identifier",
                    "hierarchy": {"cuts": [[0, 20, 30, 40, 50, 60, 70, 100], [0, 20, 60, 100]]},
                    "limit": {"level": 1},
                },
                "workclass": "quasi-identifier",
                "marital_status": "quasi-identifier",
                "race": "quasi-identifier",
                "sex": "quasi-identifier",
                "native_country": {
                    "role": "quasi-identifier",
                    "hierarchy": {"tree": COUNTRIES},
                    "limits": COUNTRY_LIMITS,
                },
            },
            "privacy": {"k": k},
        }
    )


TABLE_6 = {
    4: {1: 11, 2: 11, 3: 17, 4: 38},
    8: {1: 42, 2: 42, 3: 42, 4: 52, 6: 127, 8: 358},
    10: {1: 51, 2: 51, 3: 51, 4: 61, 6: 136, 8: 358, 10: 463},
    20: {1: 162, 2: 162, 3: 162, 4: 162, 6: 192, 8: 370, 10: 463, 13: 1593},
}


# attributes of two values, k, records, repetitions and successes of the thesis, chance to three digits
TABLE_12 = [
    (3, 3, 50, 50, 34, 0.693),
    (3, 3, 75, 50, 50, 0.976),
    (3, 5, 75, 50, 37, 0.742),
    (3, 5, 100, 50, 50, 0.972),
    (7, 5, 1200, 500, 0, 0.002),
    (7, 5, 7500, 500, 500, 1.0),
    (12, 5, 30_000, 500, 0, 0.0),
    (12, 5, 100_000, 500, 500, 0.998),
    (15, 5, 750_000, 200, 192, 0.950),
    (18, 5, 2_000_000, 200, 0, 0.0),
]
