"""Is k within reach? Table 12 of the thesis, simulations, real tables, and the command."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from fractions import Fraction
from math import comb, sqrt
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from hedgerow.cli.simulate import simulate as simulate_command
from hedgerow.errors import HedgerowError, NoSolution
from hedgerow.evaluation.reach import (
    chance_of_reaching,
    reach_of_table,
    records_needed,
    simulate,
    simulate_chance,
    sums,
    tolerated_share,
    wilson,
)
from hedgerow.evaluation.reach.frequencies import combined, number_of_cells, shares_of
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from tests.naive import reach as naive

# attributes of two values each, k, records, repetitions, published successes, log10 of the chance
TABLE_12 = [
    (3, 3, 50, 50, 34, -0.1591033773441284),
    (3, 3, 75, 50, 50, -0.010712219735519066),
    (3, 5, 75, 50, 37, -0.12985062882704249),
    (3, 5, 100, 50, 50, -0.012374508843567198),
    (7, 5, 1200, 500, 0, -2.6820958704989173),
    (7, 5, 7500, 500, 500, -5.334659544972783e-13),
    (12, 5, 30_000, 500, 0, -363.6753484327047),
    (12, 5, 100_000, 500, 500, -0.000777064942721071),
    (15, 5, 750_000, 200, 192, -0.02240013834387359),
    (18, 5, 2_000_000, 200, 0, -18738.53028206771),
]


# ---- Table 12 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("attributes", "k", "records", "repetitions", "successes", "log10"), TABLE_12)
def test_table_12(attributes: int, k: int, records: int, repetitions: int, successes: int, log10: float) -> None:
    found = chance_of_reaching(2**attributes, records, k)
    assert found.log10_probability is not None
    assert found.log10_probability == pytest.approx(log10, abs=1e-6, rel=1e-7)
    assert found.probability == pytest.approx(10**log10, rel=1e-6)


@pytest.mark.parametrize(("attributes", "k", "records", "repetitions", "successes", "log10"), TABLE_12)
def test_the_published_successes_are_within_sampling_error(
    attributes: int, k: int, records: int, repetitions: int, successes: int, log10: float
) -> None:
    assert binomial_p_value(successes, repetitions, chance_of_reaching(2**attributes, records, k).probability) > 0.01


def binomial_p_value(successes: int, repetitions: int, probability: float) -> float:
    """Chance of a number of successes that is at most as likely as the one seen."""
    masses = [
        comb(repetitions, n) * probability**n * (1 - probability) ** (repetitions - n) for n in range(repetitions + 1)
    ]
    return sum(mass for mass in masses if mass <= masses[successes] * (1 + 1e-9))


def test_a_near_certain_chance_is_certain_up_to_rounding() -> None:
    """128 cells of 58.6 records on average: the chance of fewer than 5 in one is 1.9e-20 (the vector rounds sooner)."""
    assert chance_of_reaching(2**7, 7500, 5).probability == pytest.approx(1, abs=1e-13)


def test_the_method_is_stated() -> None:
    cases = {
        "by counting": (8, 23, 3),
        "exact convolution": (8, 50, 3),
        "characteristic function": (2**12, 100_000, 5),
        "saddlepoint": (2**25, 1_000_000_000, 5),
    }
    for method, (cells, records, k) in cases.items():
        assert chance_of_reaching(cells, records, k).method == method


@pytest.mark.parametrize(("cells", "records", "k"), [(2**18, 6_000_000, 5), (2**20, 30_000_000, 10)])
def test_saddlepoint_and_characteristic_function_agree(cells: int, records: int, k: int) -> None:
    with patch.object(sums, "LEAST_CORRECTION", 1e-6):
        one = chance_of_reaching(cells, records, k)
    with patch.object(sums, "LEAST_CORRECTION", 0):
        other = chance_of_reaching(cells, records, k)
    assert (one.method, other.method) == ("saddlepoint", "characteristic function")
    assert one.log10_probability == pytest.approx(other.log10_probability, abs=1e-9)


def test_empty_cells_with_more_cells_than_records() -> None:
    """12 records in 2**40 cells, in groups of 5 or more: all in one cell, or in two of 5 to 7 (by hand)."""
    found = chance_of_reaching(2**40, 12, 5, empty_allowed=True)
    cells = 2**40
    two = sum(Fraction(comb(12, first), 2) for first in (5, 6, 7)) * cells * (cells - 1)
    wanted = (cells + two) / Fraction(cells) ** 12
    assert found.probability == pytest.approx(float(wanted), rel=1e-9)


def test_nothing_to_compute() -> None:
    assert chance_of_reaching(8, 23, 3).log10_probability is None
    assert chance_of_reaching(8, 0, 3, empty_allowed=True).probability == 1
    assert chance_of_reaching(8, 5, 1, empty_allowed=True).probability == 1
    assert chance_of_reaching(1, 5, 5).probability == 1
    assert chance_of_reaching(2, 6, 3).probability == pytest.approx(20 / 64)


def test_records_needed() -> None:
    for cells, k, wanted in ((2**3, 3, 0.95), (2**12, 5, 0.95), (2**15, 5, 0.5)):
        least = records_needed(cells, k, wanted)
        assert least is not None
        assert chance_of_reaching(cells, least - 1, k).probability < wanted
        assert chance_of_reaching(cells, least, k).probability >= wanted
    assert records_needed([0.7, 0.2, 0.1], 2, 0.5) == naive.records_needed(
        [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], 2, Fraction(1, 2)
    )
    assert records_needed(2**60, 5) is None
    assert records_needed(8, 1, empty_allowed=True) == 0


def test_records_needed_with_empty_cells_allowed() -> None:
    least = records_needed(4, 3, empty_allowed=True)
    assert least is not None
    assert chance_of_reaching(4, least - 1, 3, empty_allowed=True).probability < 0.95
    assert all(chance_of_reaching(4, n, 3, empty_allowed=True).probability >= 0.95 for n in range(least, least + 30))
    strict = records_needed(4, 3)
    assert strict is not None
    assert least <= strict


# ---- simulation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty_allowed", [False, True])
@pytest.mark.parametrize("cells", [8, [0.3, 0.3, 0.2, 0.1, 0.1]])
def test_simulated_rates_are_near_the_chance(cells: int | list[float], empty_allowed: bool) -> None:
    for records in (20, 40, 60):
        wanted = chance_of_reaching(cells, records, 3, empty_allowed=empty_allowed).probability
        found = simulate_chance(cells, records, 3, 2000, seed=7, empty_allowed=empty_allowed)
        assert abs(found.rate - wanted) <= 4 * sqrt(wanted * (1 - wanted) / 2000) + 1e-12
        assert 0 <= found.low <= found.rate <= found.high <= 1


def test_simulation_with_more_cells_than_records() -> None:
    """Few records in many cells, most of them empty: here 4 records of 2 in 6 cells, by hand (6 + 90) / 1296."""
    found = simulate_chance(6, 4, 2, 20_000, seed=1, empty_allowed=True)
    assert abs(found.rate - 96 / 1296) < 4 * sqrt(0.074 * 0.926 / 20_000)


def test_simulation_is_the_same_for_the_same_seed() -> None:
    one, same, other = (simulate_chance(8, 50, 3, 300, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.successes != other.successes


def test_wilson_interval() -> None:
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == 1
    low, high = wilson(50, 100)
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)


def test_simulate_verb() -> None:
    calls: list[tuple[int, int]] = []
    found = simulate(3, k=3, records=[50, 75], repetitions=10, chance=0.9, progress=lambda *call: calls.append(call))
    assert (found.cells, found.values, [needed.chance for needed in found.needed]) == (
        8, (2, 2, 2), [0.05, 0.5, 0.9, 0.95, 0.999],
    )  # fmt: skip
    assert found.records_needed == records_needed(8, 3, 0.9)
    assert calls[-1] == (20, 20)
    chances = [probability for _, probability in found.curve]
    assert chances == sorted(chances)
    assert chances[-1] >= 0.999
    assert json.loads(json.dumps(found.to_dict()))["attributes"] == 3
    assert simulate(values=(2, 2, 5), k=5).cells == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chance_of_reaching(0, 5, 3), "'cells' must be a whole number of 1 or more. Got 0 instead."),
        (lambda: chance_of_reaching([0.5, 0.4], 5, 3), "probabilities above 0 that sum to 1"),
        (lambda: chance_of_reaching([1.5, -0.5], 5, 3), "probabilities above 0 that sum to 1"),
        (lambda: chance_of_reaching([], 5, 3), "probabilities above 0 that sum to 1"),
        (lambda: chance_of_reaching(8, -1, 3), "'records' must be a whole number"),
        (lambda: chance_of_reaching(8, 50.0, 3), "'records' must be a whole number"),  # type: ignore[arg-type]
        (lambda: chance_of_reaching(8, 50, 0), "'k' must be a whole number of 1 or more"),
        (lambda: records_needed(8, 3, 1.0), "'chance' must be above 0 and below 1"),
        (lambda: simulate_chance(8, 50, 3, 0), "'repetitions' must be a whole number of 1 or more"),
        (lambda: simulate_chance(2**70, 50, 3, 1, empty_allowed=True), "more cells than can be numbered"),
        (lambda: simulate_chance(2**26, 2**29, 3, 1), "more than 50,000,000"),
        (lambda: simulate(k=5), "'attributes' is missing"),
        (lambda: simulate(3, [2, 2], k=5), "'attributes' is 3, but 'values' lists 2"),
        (lambda: simulate(values=[], k=5), "at least one attribute"),
        (lambda: simulate(3, 0, k=5), "'values' must be a whole number of 1 or more"),
        (lambda: simulate(3, k=5, records=0), "'records' must be a whole number of 1 or more"),
        (lambda: simulate(3, k=5, seed=-1), "'seed' must be a whole number of 0 or more"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(HedgerowError, match=re.escape(message)) as caught:
        call()
    assert [problem.code for problem in caught.value.problems] == ["usage"]


def test_too_many_different_probabilities_are_for_simulation() -> None:
    cells = [(1 + n / 200_000) / 150_000.375 for n in range(100_001)]
    total = sum(cells)
    with pytest.raises(HedgerowError, match="different probabilities"):
        chance_of_reaching([cell / total for cell in cells], 10_000_000, 5)


# ---- a table -------------------------------------------------------------------------------------------------------

TREE = {"US": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}}
CITIES = ["Wichita", "Topeka", "Lincoln", "Omaha"]


def microdata(rows: dict[str, list[str]], **more: Any) -> Microdata:
    attributes = {name: "quasi-identifier" for name in rows if name != "person"}
    plan = Plan.from_dict({"attributes": {**attributes, **more.pop("attributes", {})}, "privacy": {"k": 2}, **more})
    return encode_table(read_table(pa.table(rows), plan), plan)


def outlooks(found: Any) -> dict[tuple[str, int | None], float]:
    return {(change.column, change.level): change.outlook.share_below for change in found.reaches[0].changes}


def test_coarsening_and_dropping() -> None:
    rows = {"sex": list("FFFFMMMM"), "city": CITIES * 2}
    city = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}
    found = reach_of_table(microdata(rows, attributes={"city": city}), 2)
    assert found.reaches[0].now.share_below == 1
    assert outlooks(found) == {("sex", None): 0, ("city", None): 0, ("city", 1): 0}
    assert [drop.column for drop in found.reaches[0].drops] == ["city"], "fewest groups are left without it"


def test_values_stop_at_their_limits() -> None:
    rows = {"sex": list("FFFFMMMM"), "city": CITIES * 2}
    city = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}, "limits": [*CITIES[:2], "Nebraska"]}
    found = reach_of_table(microdata(rows, attributes={"city": city}), 2)
    assert outlooks(found) == {("sex", None): 0, ("city", None): 0, ("city", 1): 0.5}


def test_free_intervals_are_only_dropped() -> None:
    rows = {"age": ["1", "2", "3"], "sex": list("FFF")}
    age = {"role": "quasi-identifier", "intervals": "free"}
    found = reach_of_table(microdata(rows, attributes={"age": age}), 2)
    assert outlooks(found) == {("age", None): 0, ("sex", None): 1}


def test_persons_are_counted_if_there_is_a_key() -> None:
    rows = {"sex": list("FFFMM"), "person": list("aaabc")}
    found = reach_of_table(microdata(rows, person="person"), 2)
    assert (found.counted, found.people, found.records) == ("persons", 3, 5)
    assert found.reaches[0].now.share_below == 0.6
    assert reach_of_table(microdata({"sex": rows["sex"]}), 2).reaches[0].now.share_below == 0


def test_several_k_and_shares() -> None:
    rows = {"sex": list("FFFFFMMM"), "town": list("aaaaabbc")}
    found = reach_of_table(microdata(rows), [2, 3, 6], share=0.2)
    assert [reach.k for reach in found.reaches] == [2, 3, 6]
    assert [reach.now.below for reach in found.reaches] == [1, 3, 8]
    assert [reach.now.enough for reach in found.reaches] == [True, False, False]
    assert [[drop.column for drop in reach.drops] for reach in found.reaches] == [[], ["town"], ["town", "sex"]]
    for reach in found.reaches:
        needed = reach.now.records_needed
        assert needed is None or (needed <= 8) == reach.now.enough


def test_a_table_smaller_than_k() -> None:
    found = reach_of_table(microdata({"sex": list("FM")}), 5)
    assert [drop.outlook.share_below for drop in found.reaches[0].drops] == [1]


def test_where_everybody_is_alone_no_number_of_records_is_promised() -> None:
    now = reach_of_table(microdata({"name": [str(n) for n in range(100)]}), 2).reaches[0].now
    assert (now.records_needed, now.unseen_share) == (None, 1)
    assert now.records_at_least is not None


def test_records_without_a_leaf_are_not_counted() -> None:
    city = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}, "unknown": "withhold"}
    found = reach_of_table(microdata({"city": ["Omaha", "Omaha", "Paris"]}, attributes={"city": city}), 2)
    assert (found.records, found.without_leaf, found.reaches[0].now.below) == (2, 1, 0)
    with pytest.raises(NoSolution, match="No record is left"):
        reach_of_table(microdata({"city": ["Paris"]}, attributes={"city": city}), 2)


def test_bad_demands_on_a_table() -> None:
    table = microdata({"sex": list("FM")})
    for k, share in ((1, 0.05), ([], 0.05), (2, 1.0), (2, -0.1)):
        with pytest.raises(HedgerowError, match=r"must be"):
            reach_of_table(table, k, share)


def test_the_tolerated_share_is_the_plans() -> None:
    raw = {"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}}
    shares = [tolerated_share(Plan.from_dict({**raw, "withhold": most})) for most in ("2.5%", 7)]
    assert shares == [0.025, 0.05]


def test_a_quarter_of_adult_tells_how_many_records_are_needed(adult_rows: list[list[str]]) -> None:
    """The estimate from 11,306 records meets what 45,222 records show; counting only what was seen is far too low."""
    positions = {"education": 3, "marital": 5, "occupation": 6, "race": 8, "sex": 9, "salary": 14}

    def share(rows: list[list[str]], tolerated: float) -> Any:
        columns = {name: [row[position] for row in rows] for name, position in positions.items()}
        return reach_of_table(microdata(columns), 5, tolerated).reaches[0].now

    everything = share(adult_rows, 0.05).share_below
    quarter = share(adult_rows[::4], everything)
    assert not quarter.enough
    assert 0.8 * len(adult_rows) < quarter.records_needed < 1.2 * len(adult_rows)
    assert quarter.records_at_least < 0.65 * len(adult_rows)


# ---- the command ---------------------------------------------------------------------------------------------------


def run(*words: str | Path) -> Any:
    app = typer.Typer()
    app.command()(simulate_command)
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "100", "TERM": "dumb"})


def test_command_for_attributes() -> None:
    done = run("--attributes", "12", "--k", "5", "--records", "30000,100000", "--repetitions", "5")
    assert done.exit_code == 0
    assert "It takes 83,437 records to have k = 5 in every one of 4,096 combinations" in done.stdout
    assert "10^-363.7" in done.stdout
    assert "99.82%" in done.stdout
    assert "0 of 5" in done.stdout


def test_command_for_attributes_as_json() -> None:
    found = json.loads(run("--values", "2,2,5", "--k", "3", "--chance", "50%", "--empty-allowed", "--json").stdout)
    assert (found["values"], found["cells"], found["chance"], found["empty_allowed"]) == ([2, 2, 5], 20, 0.5, True)
    assert found["records_needed"] == records_needed(20, 3, 0.5, empty_allowed=True)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rows = "".join(f"{sex},{zip}\n" for sex in "FM" for zip in range(40) for _ in range(3))
    (tmp_path / "data.csv").write_text("sex,zip\n" + rows)
    plan = "attributes: {sex: quasi-identifier, zip: quasi-identifier}\nprivacy: {k: 5}\nwithhold: 2%\n"
    (tmp_path / "plan.yaml").write_text(plan)
    return tmp_path / "data.csv", tmp_path / "plan.yaml"


def test_command_for_a_table(files: tuple[Path, Path]) -> None:
    done = run(*files)
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    assert "With these 2 columns, k = 5 needs" in text
    assert "(you have 240: 100% of them are in groups of fewer than 5). Dropping 'sex' gets you there." in text
    within = " ".join(run(*files, "--k", "3,5").stdout.split())
    assert "With these 2 columns, k = 3 is within reach" in within
    found = json.loads(run(*files, "--share", "1%", "--json").stdout)
    assert (found["share"], found["reaches"][0]["k"], found["records"]) == (0.01, 5, 240)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--k"),
        (("--k", "5"), "--attributes"),
        (("--k", "3,5", "--attributes", "3"), "--k"),
        (("--k", "many", "--attributes", "3"), "--k"),
        (("--k", "5", "--attributes", "0"), "--attributes"),
        (("--k", "5", "--attributes", "3", "--values", "2,2"), "--values"),
        (("--k", "5", "--attributes", "3", "--chance", "often"), "--chance"),
        (("--k", "5", "--attributes", "3", "--share", "5%"), "--share"),
        (("data.csv",), "PLAN"),
        (("data.csv", "plan.yaml", "--attributes", "3"), "--attributes"),
        (("data.csv", "plan.yaml", "--seed", "0"), "--seed"),
        (("data.csv", "plan.yaml", "--empty-allowed"), "--empty-allowed"),
        (("data.csv", "plan.yaml", "--share", "much"), "--share"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...], message: str, files: tuple[Path, Path]) -> None:
    named = {"data.csv": files[0], "plan.yaml": files[1]}
    done = run(*(named.get(word, word) for word in words))
    assert done.exit_code == 2
    assert f"Invalid value for {message}" in " ".join(done.stderr.split())


# -- values that are not equally likely ------------------------------------------------------------------------------


def test_combinations_are_those_of_every_value_with_every_other() -> None:
    attributes = [shares_of(["0.5", "0.3", "0.2"]), shares_of([9, 1]), shares_of(["0.5", "0.5"])]
    found = combined(attributes)
    every = Counter(math.prod(one) for one in itertools.product(*attributes))
    assert found.times == tuple(every[share] for share in sorted(every))
    assert found.shares.tolist() == [float(share) for share in sorted(every)]
    assert found.number == number_of_cells(attributes) == 12
    assert math.isclose(found.total(found.shares), 1)


def test_unequal_chances_are_those_of_the_naive_reference() -> None:
    found = simulate(frequencies=[["0.7", "0.3"], ["0.6", "0.4"]], k=2, records=[12, 20])
    cells = [a * b for a, b in itertools.product(shares_of(["0.7", "0.3"]), shares_of(["0.6", "0.4"]))]
    for attempt in found.attempts:
        assert attempt.chance is not None
        exact = naive.chance(cells, attempt.records, 2)
        assert math.isclose(attempt.chance.probability, float(exact), rel_tol=1e-12)
    assert found.records_needed == naive.records_needed(cells, 2, Fraction("0.95"))
    assert found.values == (2, 2)
    assert found.to_dict()["frequencies"] == ((0.7, 0.3), (0.6, 0.4))


def test_equal_frequencies_are_equally_likely_values() -> None:
    given, counted = simulate(4, frequencies=[[1, 1]], k=5), simulate(4, 2, k=5)
    assert [one.records for one in given.needed] == [one.records for one in counted.needed]
    assert given.growth() == counted.growth()


def test_more_attributes_need_more_records() -> None:
    grown = simulate(5, 3, k=4).growth()
    for k in (3, 4, 5, 10):
        records = [one.records or 0 for one in grown if one.k == k]
        assert len(records) == 5
        assert records == sorted(records)
        assert records[-1] == records_needed(3**5, k)


@pytest.mark.parametrize(
    ("frequencies", "said"),
    [
        ([["0.5", "0.3"]], "sum to 0.8"),
        ([["0.5", "x"]], "must be numbers"),
        ([["1.5", "-0.5"]], "above 0"),
        ([[]], "at least one"),
        ([], "at least one attribute"),
        ([[1], [1], [1]], "lists 3"),
    ],
)
def test_frequencies_that_mean_nothing_are_refused(frequencies: list[list[str]], said: str) -> None:
    with pytest.raises(HedgerowError, match=said):
        simulate(2, frequencies=frequencies, k=2)


def test_too_many_different_chances_are_refused() -> None:
    with pytest.raises(HedgerowError, match="different chances"):
        simulate(frequencies=[[n, 2 * n + 1, 3 * n + 7, 101] for n in range(3, 40)], k=2)
