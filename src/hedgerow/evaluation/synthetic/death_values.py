"""What a made-up death certificate can say: values with their hierarchies.

A number beside a value says how often it turns up where a record strays from what is expected of it.
"""

from __future__ import annotations

from hedgerow.evaluation.synthetic.trees import NestedNames

# -- people ----------------------------------------------------------------------------------------------------------

SEXES = ("female", "male")
RACES = NestedNames(
    {
        "White": 62,
        "not White": {
            "Black": 26,
            "not White or Black": {
                "Hispanic": 7,
                "other race": {"Asian": 2.5, "American Indian": 0.8, "Pacific Islander": 0.2, "several": 1.5},
            },
        },
    }
)
MARITAL = NestedNames(
    {
        "married": 38,
        "formerly married": {"widowed": 32, "divorced or separated": {"divorced": 15, "separated": 1.5}},
        "never married": 14,
    }
)
EDUCATION = NestedNames(
    {
        "school": {
            "no diploma": {"8th grade or less": 9, "9th-12th grade": 14},
            "high school": 40,
        },
        "college": {
            "some college": {"college, no degree": 12, "associate degree": 5},
            "bachelor": 12,
            "graduate degree": {"master": 5, "doctorate": 1.5},
        },
    }
)
COLLEGE_YEARS = {  # years of college that go with an education: the usual number, and one more or less
    "8th grade or less": 0,
    "9th-12th grade": 0,
    "high school": 0,
    "college, no degree": 1,
    "associate degree": 2,
    "bachelor": 4,
    "master": 6,
    "doctorate": 8,
}
OCCUPATIONS = NestedNames(
    {
        "worked": {
            "white collar": {"management": 9, "professional": 11, "office": 13, "sales": 8},
            "care and teaching": {"health care": 7, "teaching": 5},
            "services": {"food and cleaning": 9, "protective service": 2, "armed forces": 1},
            "blue collar": {"construction": 8, "production": 16, "transport": 9, "farming, forestry": 1},
        },
        "did not work": {"homemaker": 12, "student": 2, "never worked": 3},
    }
)
INDUSTRIES = NestedNames(
    {
        "goods": {
            "land": {"agriculture": 2, "mining": 0.5, "utilities": 1},
            "making": {"construction industry": 8, "metal and machines": 12, "food and textiles": 4, "chemicals": 3},
        },
        "services": {
            "trade": {"retail": 12, "wholesale": 4, "transportation": 7, "restaurants and hotels": 6},
            "offices": {"finance": 5, "information": 2, "professional services": 6, "administration": 3},
            "public": {"health": 10, "education services": 7, "government": 5, "military service": 1, "charities": 2},
        },
        "none": {"own home": 10, "no industry": 4},
    }
)
INDUSTRY_OF = {
    "management": "professional services",
    "professional": "professional services",
    "office": "finance",
    "sales": "retail",
    "health care": "health",
    "teaching": "education services",
    "food and cleaning": "restaurants and hotels",
    "protective service": "government",
    "armed forces": "military service",
    "construction": "construction industry",
    "production": "metal and machines",
    "transport": "transportation",
    "farming, forestry": "agriculture",
    "homemaker": "own home",
    "student": "no industry",
    "never worked": "no industry",
}
CODES = NestedNames.by_prefix(  # two digits for the occupation, the third for a kind of it, from the usual to the rare
    {f"{10 + 5 * place}{kind}": 1 / kind**1.5 for place in range(16) for kind in range(1, 9)}, [2, 1]
)
MILITARY = NestedNames(
    {
        "none": 70,
        "served": {
            "land": {"Army": 16, "National Guard": 1},
            "sea": {"Navy": 6, "Marines": 3, "Coast Guard": 0.3},
            "air": {"Air Force": 4},
        },
    }
)
STATES = NestedNames(
    {
        "United States": {
            "Midwest": {
                "East North Central": {"Indiana": 62, "Illinois": 4, "Ohio": 4, "Michigan": 2, "Wisconsin": 0.7},
                "West North Central": {"Missouri": 1.2, "Iowa": 0.6, "Kansas": 0.4, "Minnesota": 0.4, "Nebraska": 0.2},
            },
            "South": {
                "East South Central": {"Kentucky": 9, "Tennessee": 4, "Mississippi": 2.5, "Alabama": 2},
                "South Atlantic": {
                    "Georgia": 1,
                    "Florida": 0.8,
                    "Virginia": 0.8,
                    "West Virginia": 0.8,
                    "Maryland": 0.2,
                },
                "West South Central": {"Arkansas": 0.8, "Texas": 1, "Louisiana": 0.5, "Oklahoma": 0.3},
            },
            "Northeast": {
                "Mid-Atlantic": {"New York": 1.2, "Pennsylvania": 1.3, "New Jersey": 0.5},
                "New England": {"Massachusetts": 0.4, "Connecticut": 0.2, "Maine": 0.1},
            },
            "West": {"Pacific": {"California": 0.9, "Washington": 0.2}, "Mountain": {"Colorado": 0.2, "Arizona": 0.2}},
        },
        "abroad": {
            "Americas": {"Latin America": {"Mexico": 2, "El Salvador": 0.3, "Cuba": 0.2}, "North": {"Canada": 0.3}},
            "Old World": {
                "Europe": {"Germany": 0.6, "Poland": 0.2, "Ireland": 0.2, "United Kingdom": 0.4, "Ukraine": 0.2},
                "Asia": {"India": 0.4, "Philippines": 0.3, "China": 0.3, "Vietnam": 0.2, "Burma": 0.3},
                "Africa": {"Nigeria": 0.3, "Ethiopia": 0.1},
            },
        },
    }
)
BIRTH_CITIES = NestedNames(
    {
        "Indiana towns": {
            "central Indiana": {"Indianapolis": 60, "Greenfield": 3, "Franklin": 3, "Lebanon": 2, "Noblesville": 2},
            "northern Indiana": {"Fort Wayne": 3, "South Bend": 2, "Gary": 3, "Kokomo": 2, "Muncie": 3, "Anderson": 4},
            "southern Indiana": {"Bloomington": 4, "Evansville": 2, "Terre Haute": 4, "Bedford": 2, "Columbus": 2},
        },
        "towns elsewhere": {
            "Midwestern towns": {"Chicago": 8, "Cincinnati": 4, "Detroit": 4, "St. Louis": 2, "elsewhere, Midwest": 6},
            "Southern towns": {"Louisville": 6, "Nashville": 3, "Memphis": 2, "Birmingham": 1, "elsewhere, South": 14},
            "other towns": {"New York City": 2, "Los Angeles": 1, "elsewhere, United States": 5},
            "foreign towns": {"Mexico City": 1, "elsewhere, abroad": 6},
        },
    }
)
BIRTH_CITY_OF = {  # the usual one for the first of these that lies above the state of birth
    "Indiana": "Indianapolis",
    "Midwest": "Chicago",
    "South": "elsewhere, South",
    "United States": "elsewhere, United States",
    "abroad": "elsewhere, abroad",
}
CITIZENSHIP = NestedNames(
    {
        "American": 96,
        "foreign": {
            "American neighbour": {"Mexican": 5, "Canadian": 0.4, "other American": 1},
            "overseas": {"European": 1, "Asian citizen": 1.5, "African": 0.6},
        },
    }
)
CITIZEN_OF = {  # of the first of these that lies above the place of birth
    "United States": "American",
    "Mexico": "Mexican",
    "Canada": "Canadian",
    "Americas": "other American",
    "Europe": "European",
    "Asia": "Asian citizen",
    "Africa": "African",
}

# -- places ----------------------------------------------------------------------------------------------------------

PLACES = NestedNames(
    {
        "in care": {
            "hospital": {"inpatient": 40, "emergency room": 8, "dead on arrival": 1},
            "care home": {"nursing home": 20, "hospice": 6},
        },
        "elsewhere": {"home": 26, "other place": {"another's home": 2, "street": 2, "workplace": 0.3, "outdoors": 0.6}},
    }
)
COUNTIES = NestedNames(
    {
        "Indiana": {
            "Marion area": {
                "Marion": 90,
                "Hamilton": 2.5,
                "Johnson": 2,
                "Hendricks": 1.5,
                "Hancock": 0.7,
                "Boone": 0.5,
            },
            "other Indiana": {"Allen": 0.3, "Lake": 0.3, "Monroe": 0.4, "Vigo": 0.3},
        },
        "other state": {"Kentucky, any": 0.4, "Ohio, any": 0.3, "Illinois, any": 0.5},
        "not applicable": 0,
    }
)

# Zip code: how often, city, county, state. The first four digits are a part of town.
_ZIPS: dict[str, tuple[float, str, str, str]] = {
    **{
        f"462{last:02d}": (weight, "Indianapolis", "Marion", "Indiana")
        for last, weight in {
            1: 8, 2: 5, 3: 6, 4: 2, 5: 5, 8: 3,
            14: 3, 16: 1.5, 17: 5, 18: 6, 19: 6,
            20: 4, 21: 3, 22: 5, 24: 4, 25: 1, 26: 6, 27: 6, 28: 1.5, 29: 4,
            31: 1.5, 34: 2, 35: 3, 36: 3, 37: 3, 39: 2,
            40: 2, 41: 3, 50: 3, 54: 4, 56: 3, 59: 0.8, 60: 4, 68: 2,
        }.items()
    },
    "46107": (1.5, "Beech Grove", "Marion", "Indiana"),
    "46032": (0.8, "Carmel", "Hamilton", "Indiana"),
    "46038": (0.5, "Fishers", "Hamilton", "Indiana"),
    "46060": (0.3, "Noblesville", "Hamilton", "Indiana"),
    "46112": (0.4, "Brownsburg", "Hendricks", "Indiana"),
    "46142": (1.0, "Greenwood", "Johnson", "Indiana"),
    "46140": (0.4, "Greenfield", "Hancock", "Indiana"),
    "46052": (0.2, "Lebanon", "Boone", "Indiana"),
    "46168": (0.4, "Plainfield", "Hendricks", "Indiana"),
}  # fmt: skip
_FAR_ZIPS: dict[str, tuple[float, str, str, str]] = {  # nobody in the table lives there, but some die there
    "47403": (0.4, "Bloomington", "Monroe", "Indiana"),
    "47802": (0.2, "Terre Haute", "Vigo", "Indiana"),
    "46802": (0.2, "Fort Wayne", "Allen", "Indiana"),
    "40202": (0.3, "Louisville", "Kentucky, any", "Kentucky"),
    "45202": (0.2, "Cincinnati", "Ohio, any", "Ohio"),
    "60611": (0.3, "Chicago", "Illinois, any", "Illinois"),
}
HOMES = NestedNames.by_prefix({code: facts[0] for code, facts in _ZIPS.items()}, [4, 3])
DEATH_ZIPS = NestedNames.by_prefix({code: facts[0] for code, facts in (_ZIPS | _FAR_ZIPS).items()}, [4, 3, 1])
ZIP_FACTS = [(_ZIPS | _FAR_ZIPS)[code][1:] for code in DEATH_ZIPS.leaves]
HOSPITALS = ("46202", "46219", "46222", "46237", "46222", "46260", "46260", "46202", "46202", "46202")  # by 4th digit
_DISTRICTS = sorted({code[:4] for code in _ZIPS})
TRACT_GROUPS = [  # tracts of a zip code: two digits for the part of town, one for the zip code in it
    f"{31 + _DISTRICTS.index(code[:4])}{[other for other in HOMES.leaves if other[:4] == code[:4]].index(code)}"
    for code in HOMES.leaves
]
TRACTS = NestedNames.by_prefix({f"{group}{last}": 1 / last for group in TRACT_GROUPS for last in range(1, 5)}, [3, 2])
DEATH_CITIES = NestedNames(
    {
        "Indiana": {
            "Marion County": {"Indianapolis": 1, "Beech Grove": 1},
            "around Marion County": {
                **{"Carmel": 1, "Fishers": 1, "Noblesville": 1, "Brownsburg": 1, "Plainfield": 1, "Greenwood": 1},
                **{"Greenfield": 1, "Lebanon": 1},
            },
            "farther away": {"Bloomington": 1, "Terre Haute": 1, "Fort Wayne": 1},
        },
        "other state": {"Louisville": 1, "Cincinnati": 1, "Chicago": 1},
    }
)
DEATH_STATES = NestedNames({"Indiana": 1, "neighbour": {"Kentucky": 1, "Ohio": 1, "Illinois": 1}})

# -- the death -------------------------------------------------------------------------------------------------------

MANNERS = NestedNames(
    {
        "natural": 90,
        "injury": {"unintended": {"accident": 6}, "intended": {"suicide": 1.6, "homicide": 1.3}},
        "unclear": {"pending": 0.1, "undetermined": 0.6},
    }
)
CERTIFIERS = NestedNames(
    {
        "physician": {"own physician": 60, "hospital physician": 25, "medical director": 3},
        "coroner's office": {"coroner": 4, "deputy coroner": 7},
        "health officer": 0.3,
    }
)
DISPOSITIONS = NestedNames(
    {
        "buried": {"burial": 55, "entombment": 3},
        "not buried": {"cremation": 38, "other way": {"removed": 3, "donation": 1, "unclaimed": 0.4}},
    }
)
INFORMANTS = NestedNames(
    {
        "family": {
            "close family": {"spouse": 34, "child": 36, "parent": 8},
            "other family": {"sibling": 8, "grandchild": 2, "niece or nephew": 3, "cousin": 1},
        },
        "not family": {"friend": 4, "institution": {"guardian": 0.6, "care home staff": 1, "public record": 0.8}},
    }
)
PREGNANCY = NestedNames(
    {
        "not applicable": 0,
        "applicable": {
            "not pregnant": 95,
            "pregnant": {"at death": 1, "within 42 days": 1, "within a year": 1},
        },
    }
)
VEHICLE = NestedNames(
    {
        "no vehicle": 0,
        "vehicle": {
            "in a car": {"driver": 50, "passenger": 18},
            "not in a car": {"pedestrian": 14, "motorcyclist": 12, "cyclist": 3},
        },
    }
)

MISSING = {  # how often a cell is empty
    "industry": 0.004,
    "census_tract": 0.01,
    "city_of_birth": 0.05,
    "occupation_code": 0.01,
    "time_of_death": 0.02,
    "injury_time": 0.02,
}
