"""Drawing death certificates: first who died, then of what, then what follows from both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.synthetic import death_values as values
from hedgerow.evaluation.synthetic.death_causes import CAUSES
from hedgerow.evaluation.synthetic.death_lives import LIVES
from hedgerow.evaluation.synthetic.draw import Draw, Indices, labelled
from hedgerow.evaluation.synthetic.trees import NestedNames

Flags = npt.NDArray[np.bool_]

_FIRST_DAY = np.datetime64("2001-01-01")
_DAYS = 5478  # fifteen years
_MONTH_WEIGHTS = (108, 106, 104, 99, 97, 95, 94, 94, 95, 98, 101, 106)
_STAGES = (1, 25, 45, 65, 85)  # where infant, young, adult, middle-aged, old and very old part
_YES_NO = ("no", "yes")
_GROWN, _RETIRED, _OLDEST = 18, 65, 110


class Certificates:
    """The certificates of one draw: a number per record and column, and the labels that the numbers stand for."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._numbers: dict[str, Indices] = {}
        self._labels: dict[str, Sequence[str]] = {}
        self._life = draw.choice([1 / (1 + rank) ** 0.8 for rank in range(len(LIVES))])
        self._draw_person()
        self._draw_work()
        self._draw_origin()
        self._draw_home()
        self._draw_death()
        self._draw_dates()
        self._draw_papers()
        self._draw_place()
        self._draw_injury()
        self._lose_some()

    def cells(self, column: str) -> list[str]:
        """Cells of a column; an empty one is missing."""
        return labelled(self._numbers[column], (*self._labels[column], ""))  # −1 takes the last

    # -- tools -------------------------------------------------------------------------------------------------------

    def _put(self, column: str, numbers: Indices, labels: Sequence[str]) -> None:
        self._numbers[column], self._labels[column] = numbers, labels

    def _usual(self, fact: str, tree: NestedNames) -> Indices:
        """Value that is usual for the life of each record."""
        found: Indices = tree.codes([getattr(life, fact) for life in LIVES])[self._life]
        return found

    def _happens(self, chance: float) -> Flags:
        return self._draw.uniform() < chance

    def _is(self, column: str, tree: NestedNames, *names: str) -> Flags:
        """Tell which records have one of some values, or a value under one of some nodes."""
        under = np.array([not set(names).isdisjoint(path) for path in tree.paths])
        found: Flags = under[self._numbers[column]]
        return found

    # -- who died ----------------------------------------------------------------------------------------------------

    def _draw_person(self) -> None:
        draw = self._draw
        low, high = np.array([life.ages for life in LIVES])[self._life].T
        far = np.round(12 * draw.bell()).astype(np.int64) * self._happens(0.08)
        age = low + draw.below(high - low + 1)
        retired = (
            low >= _RETIRED
        )  # however far an age strays, it stays on its side: retirement made the life what it was
        strayed = np.clip(age + far, np.where(retired, _RETIRED, _GROWN), np.where(retired, _OLDEST, _RETIRED - 1))
        self._age = np.where(low >= _GROWN, strayed, age)
        self._put("age", self._age, [str(years) for years in range(_OLDEST + 1)])

        male = np.array([life.sex == "male" for life in LIVES])[self._life]
        self._male = male
        self._put("sex", male.astype(np.int64), values.SEXES)

        race = values.RACES.stray(draw, self._usual("race", values.RACES), (0.1, 0.05, 0.02))
        self._put("race", race, values.RACES.leaves)

        child = self._age < _GROWN
        tree = values.MARITAL
        marital = tree.stray(draw, self._usual("marital", tree), (0.08, 0.10, 0.015))
        self._put("marital_status", np.where(child, tree.code("never married"), marital), tree.leaves)

        tree = values.EDUCATION
        education = tree.stray(draw, self._usual("education", tree), (0.3, 0.12))
        at_most = np.where(self._age < 15, 0, np.where(child, 1, len(tree.leaves)))
        education = np.minimum(education, at_most)
        self._put("education", education, tree.leaves)
        years = np.array([values.COLLEGE_YEARS[leaf] for leaf in tree.leaves])[education]
        years = years + ((years > 0) & self._happens(0.3))
        self._put("college", years, [str(count) for count in range(10)])

    def _draw_work(self) -> None:
        draw, tree = self._draw, values.OCCUPATIONS
        work = tree.stray(draw, self._usual("occupation", tree), (0.3, 0.04))
        work = np.where(self._age < 18, tree.code("student"), work)
        work = np.where(self._age < 6, tree.code("never worked"), work)
        self._put("occupation_category", work, tree.leaves)
        kind = values.CODES.codes([f"{10 + 5 * place}1" for place in range(len(tree.leaves))])[work]
        self._put("occupation_code", values.CODES.stray(draw, kind, (0.5, 0.01, 0.002)), values.CODES.leaves)

        industry = values.INDUSTRIES.codes([values.INDUSTRY_OF[leaf] for leaf in tree.leaves])[work]
        employed = self._is("occupation_category", tree, "worked")
        strayed = values.INDUSTRIES.stray(draw, industry, (0.25, 0.04))
        self._put("industry", np.where(employed, strayed, industry), values.INDUSTRIES.leaves)
        farming = self._is("occupation_category", tree, "farming, forestry")
        self._put("farm", (farming & self._happens(0.9) | self._happens(0.002)).astype(np.int64), _YES_NO)

        military = values.MILITARY.stray(draw, self._usual("military", values.MILITARY), (0.15, 0.1))
        may = (self._age >= _GROWN) & (self._male | self._happens(0.2))
        military = np.where(may, military, 0)
        self._put("military", military, values.MILITARY.leaves)
        self._put("us_veteran", (military > 0).astype(np.int64), _YES_NO)

    def _draw_origin(self) -> None:
        draw, states, cities = self._draw, values.STATES, values.BIRTH_CITIES
        born = states.stray(draw, self._usual("born", states), (0.1, 0.02, 0.01))
        self._put("state_of_birth", born, states.leaves)

        usual = [next(values.BIRTH_CITY_OF[n] for n in path if n in values.BIRTH_CITY_OF) for path in states.paths]
        city = cities.codes(usual)[born]
        here = born == states.code("Indiana")
        city = np.where(here, cities.stray(draw, city, (0.15, 0.15)), cities.stray(draw, city, (0.35,)))
        self._put("city_of_birth", city, cities.leaves)

        nations = [next(values.CITIZEN_OF[n] for n in path if n in values.CITIZEN_OF) for path in states.paths]
        nation = values.CITIZENSHIP.codes(nations)[born]
        nation = np.where(self._happens(0.45), 0, nation)  # many took the citizenship of the country
        self._put("citizenship", nation, values.CITIZENSHIP.leaves)

    def _draw_home(self) -> None:
        draw, homes = self._draw, values.HOMES
        home = homes.stray(draw, self._usual("home", homes), (0.5, 0.08))
        self._put("zip_code", home, homes.leaves)
        usual = values.TRACTS.codes([f"{code}1" for code in values.TRACT_GROUPS])[home]
        self._tract = values.TRACTS.stray(draw, usual, (0.5, 0.03, 0.005))
        self._put("census_tract", self._tract, values.TRACTS.leaves)

    # -- how they died -----------------------------------------------------------------------------------------------

    def _draw_death(self) -> None:
        draw, manners = self._draw, values.MANNERS
        manner = manners.stray(draw, self._usual("manner", manners), (0.05, 0.05))
        accident = manners.code("accident")
        manner = np.where((self._age < 10) & (manner == manners.code("suicide")), accident, manner)
        self._put("manner_of_death", manner, manners.leaves)
        self._injured = self._is("manner_of_death", manners, "injury")

        phase = np.digitize(self._age, _STAGES)
        weights = [
            [cause.by_phase[phase] * cause.by_sex[sex] * (cause.manner == name) for cause in CAUSES.values()]
            for name in manners.leaves
            for phase in range(len(_STAGES) + 1)
            for sex in range(2)
        ]
        cause = draw.choice_by((manner * (len(_STAGES) + 1) + phase) * 2 + self._male, weights)
        names = list(CAUSES)
        self._put("cause_of_death", cause, names)

        vehicle = values.VEHICLE.stray(draw, np.full_like(cause, values.VEHICLE.code("driver")), (0.2, 0.35))
        by_car = cause == names.index("motor vehicle accident")
        self._put("motor_vehicle_accident", np.where(by_car, vehicle, 0), values.VEHICLE.leaves)

        fertile = ~self._male & (self._age >= 12) & (self._age < 55)
        pregnancy = values.PREGNANCY.stray(draw, np.full_like(cause, values.PREGNANCY.code("not pregnant")), (0, 0.3))
        at_birth = values.PREGNANCY.codes(["within 42 days"])[0]
        pregnancy = np.where(cause == names.index("complication of pregnancy"), at_birth, pregnancy)
        self._put("pregnant", np.where(fertile, pregnancy, 0), values.PREGNANCY.leaves)

    def _draw_dates(self) -> None:
        draw = self._draw
        days = _FIRST_DAY + np.arange(_DAYS).astype("timedelta64[D]")
        months = days.astype("datetime64[M]").astype(np.int64) % 12
        day = draw.choice(np.array(_MONTH_WEIGHTS)[months].tolist())
        # Between two birthdays, so that age and dates agree, whatever leap years do.
        lived = np.floor(self._age * 365.2425).astype(np.int64) + 2 + draw.below(361)
        earliest = -366 * (_OLDEST + 2)
        labels = np.datetime_as_string(_FIRST_DAY + np.arange(earliest, _DAYS).astype("timedelta64[D]")).tolist()
        self._put("date_of_death", day - earliest, labels)
        self._put("date_of_birth", day - earliest - lived, labels)
        later = draw.below(30) * self._happens(0.2)  # most die of an injury on the same day
        self._put("injury_date", np.where(self._injured, day - earliest - later, -1), labels)

        hours = [str(hour) for hour in range(24)]
        hour = draw.choice([4 + (4 <= hour < 11) for hour in range(24)])
        self._put("time_of_death", hour, hours)
        before = (hour - draw.below(4)) % 24
        self._put("injury_time", np.where(self._injured, before, -1), hours)

    def _draw_papers(self) -> None:
        draw, age = self._draw, self._age
        natural = self._is("manner_of_death", values.MANNERS, "natural")
        surely_not = natural & (age > 0) | self._is("manner_of_death", values.MANNERS, "accident") & (age >= 65)
        self._put("autopsy", (~surely_not ^ self._happens(0.015)).astype(np.int64), _YES_NO)

        tree = values.DISPOSITIONS
        disposition = tree.stray(draw, self._usual("disposition", tree), (0.06, 0.06))
        self._put("disposition", disposition, tree.leaves)

        tree = values.INFORMANTS
        married = self._is("marital_status", values.MARITAL, "married")
        single = self._is("marital_status", values.MARITAL, "never married")
        usual = np.where(married, tree.code("spouse"), tree.code("child"))
        usual = np.where(single, np.where(age < 50, tree.code("parent"), tree.code("sibling")), usual)
        self._put("informant", tree.stray(draw, usual, (0.12, 0.03)), tree.leaves)

    def _draw_place(self) -> None:
        draw, tree = self._draw, values.PLACES
        place = tree.stray(draw, self._usual("place", tree), (0.12, 0.05))
        self._put("place_of_death", place, tree.leaves)

        inpatient = self._is("place_of_death", tree, "hospital")
        natural = self._is("manner_of_death", values.MANNERS, "natural")
        tree = values.CERTIFIERS
        doctor = np.where(inpatient, tree.code("hospital physician"), tree.code("own physician"))
        usual = np.where(natural, doctor, tree.code("deputy coroner"))
        self._put("certifier", tree.stray(draw, usual, (0.1,)), tree.leaves)

        home, zips = self._numbers["zip_code"], values.DEATH_ZIPS
        own = zips.codes(values.HOMES.leaves)[home]
        hospital = zips.codes([values.HOSPITALS[int(code[3])] for code in values.HOMES.leaves])[home]
        usual = np.where(inpatient, hospital, own)
        cared = self._is("place_of_death", values.PLACES, "care home")
        nearby = zips.stray(draw, usual, (0.03, 0.03, 0.01, 0.002))
        where = np.where(cared, zips.stray(draw, usual, (0.3, 0.05, 0.01, 0.001)), nearby)
        self._put("death_zip", where, zips.leaves)
        for column, fact, tree in (("death_city", 0, values.DEATH_CITIES), ("death_state", 2, values.DEATH_STATES)):
            self._put(column, tree.codes([facts[fact] for facts in values.ZIP_FACTS])[where], tree.leaves)

    def _draw_injury(self) -> None:
        draw, tree = self._draw, values.COUNTIES
        of_zip = tree.codes([facts[1] for facts in values.ZIP_FACTS])
        county = tree.stray(draw, of_zip[self._numbers["death_zip"]], (0.02, 0.005, 0.002))
        self._put("injury_county", np.where(self._injured, county, tree.code("not applicable")), tree.leaves)
        tract = values.TRACTS.stray(draw, self._tract, (0.1, 0.1, 0.1))
        self._put("injury_tract", np.where(self._injured, tract, -1), values.TRACTS.leaves)

    # -- what was not written down -----------------------------------------------------------------------------------

    def _lose_some(self) -> None:
        for column, chance in values.MISSING.items():
            self._numbers[column] = np.where(self._happens(chance), -1, self._numbers[column])
