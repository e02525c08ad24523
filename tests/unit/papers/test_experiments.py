"""The papers' experiments: what they print is what the papers print, and small runs of them hold together."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import machine
from benchmarks.drawing import Panel, draw
from benchmarks.papers import adult_limits, cka, cpka, deaths, inc, ps, ps_times, rv, rv_records, skewed
from benchmarks.papers.__main__ import BY_NAME, NAMES, main
from benchmarks.papers.measuring import fastest
from benchmarks.papers.writing import PAGE
from hedgerow.anonymization.lattice import make_space
from hedgerow.reports.charts.axes import Axis
from tests.cases.papers import TABLE_6, TABLE_12

Rows = list[list[str]]
BLOCKS = {
    "machine",
    *("cka-loss", "cka-time", "cka-table-1", "cka-table-2"),
    *("cpka-figures", "cpka-table-5", "cpka-table-6"),
    *("inc-figures", "inc-figure-6"),
    *("ps-table-4", "ps-tables-5-6", "ps-table-7", "ps-table-8", "ps-times"),
    *("rv-table-12", "rv-tree", "rv-bucket-1", "rv-bucket-2", "rv-levels", "rv-releases", "rv-maybe"),
    *("rv-suppression", "rv-printed-conditions"),
    *("rv-skewed-tree", "rv-skewed-released", "rv-skewed-leaves"),
    *("deaths-many", "deaths-few"),
}


def rows_of(text: str) -> list[list[str]]:
    """The cells of a Markdown table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_has_every_block_once_and_a_command_for_every_paper() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for mark in ("begin", "end"):
        assert sorted(re.findall(rf"<!-- {mark} (\S+) -->", page)) == sorted(BLOCKS)
    for name in (*NAMES, *BY_NAME):
        assert f"python -m benchmarks.papers {name}" in page


def test_no_block_of_the_page_is_empty() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in BLOCKS:
        _, _, rest = page.partition(f"<!-- begin {name} -->")
        assert len(rest.partition(f"<!-- end {name} -->")[0].strip()) > 20, name


def test_without_adult_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.adult.FOLDER", tmp_path_factory.mktemp("empty"))
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: ")


def test_a_paper_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().err


def test_the_machine_is_described_without_its_name() -> None:
    import platform

    assert re.fullmatch(r"\d+ cores, .*; Python .*, numpy .*, numba .*, duckdb .*, pyarrow .*\.", machine.describe())
    assert platform.node() not in machine.describe()


def test_what_is_printed_is_what_the_tests_hold() -> None:
    """CPKA's Table 6 and RV's Table 12 are in the tests of vectors, too."""
    assert {k: {p: pair[1] for p, pair in by_p.items()} for k, by_p in cpka.PRINTED.items()} == {
        k: {p: withheld for p, withheld in row.items() if p > 1} for k, row in TABLE_6.items()
    }
    assert {k: row[1] for k, row in TABLE_6.items()} == cpka.PRINTED_CKA
    assert [row[:4] for row in rv.TABLE_12] == [row[:4] for row in TABLE_12]
    assert [float(row[4].rstrip("%")) / 100 * row[3] for row in rv.TABLE_12] == [row[4] for row in TABLE_12]


def test_the_fastest_run_is_told_with_what_was_made() -> None:
    made = iter(range(3))
    seconds, first = fastest(lambda: next(made), times=3)
    assert (first, next(made, None)) == (0, None)
    assert seconds >= 0


# ---- PS: exact, without Adult ----------------------------------------------------------------------------------------


def test_ps_tables_4_to_6_come_out_as_printed() -> None:
    for text in (ps.table_4(), ps.tables_5_and_6()):
        for *_, printed, ours in rows_of(text):
            assert printed == ours


def test_ps_tables_7_and_8_on_a_few_records(adult_rows: Rows) -> None:
    lattice = {row[0]: row[-1] for row in rows_of(ps.table_7(adult_rows))}
    assert (lattice["nodes of the lattice"], lattice["its height"]) == ("96", "9")
    found = rows_of(ps.table_8(adult_rows[:500], samples=1, thresholds=(0,)))
    assert [row[0] for row in found] == ["400, k = 2", "400, k = 3", "4,000, k = 2", "4,000, k = 3"]


def test_ps_asking_for_two_values_goes_higher(adult_rows: Rows) -> None:
    microdata = adult_limits.encode(adult_rows[:400], ps.adult_plan())
    case = ps.look(microdata, 2, 0, (1, 1, 1, 1))
    assert case.disclosures > 0
    assert case.sensitive_node is not None
    assert sum(case.sensitive_node) > sum(case.node)


# ---- CKA and CPKA ----------------------------------------------------------------------------------------------------


def test_cka_heights_are_those_of_the_paper(adult_rows: Rows) -> None:
    microdata = adult_limits.encode(adult_rows, adult_limits.plan_of(cka.COLUMNS, ("native-country", "age")))
    heights = {column.name: column.hierarchy.height for column in microdata.columns}  # type: ignore[union-attr]
    printed = {"education-num": 4, "workclass": 1, "marital-status": 2, "occupation": 1, "race": 1, "sex": 1}
    assert {name: heights[name] for name in printed} == printed


def test_cka_on_a_few_records(adult_rows: Rows) -> None:
    sample = cka.encoded(cka.drawn(adult_rows, 600, seed=0))
    lines = [cka.compare(sample, k) for k in (2, 3)]
    for line in lines:
        assert 0 < line.breaks["country"] < line.breaks["country and age"]
        assert line.withheld["country"] <= line.withheld["country and age"]
        assert line.loss[""] < line.loss["country and age"]
    times = cka.measure_times(sample, (2,))
    text = cka.blocks([lines, lines], times)
    assert set(text) == {block for block in BLOCKS if block.startswith("cka-")}
    assert [row[1] for row in rows_of(text["cka-table-1"])] == ["605", "991"]
    assert [len(panel.curves) for panel in cka.panels(lines, times)] == [3, 3]


def test_cka_samples_do_not_change() -> None:
    rows = [[str(number)] for number in range(100)]
    assert cka.drawn(rows, 5, seed=1) == cka.drawn(rows, 5, seed=1)
    assert cka.drawn(rows, 5, seed=1) != cka.drawn(rows, 5, seed=2)


def test_cpka_on_a_few_records(adult_rows: Rows) -> None:
    plan = adult_limits.plan_of(cpka.COLUMNS, cpka.LIMITED, cpka.SENSITIVE)
    lines = cpka.compare(adult_limits.encode(adult_rows[:1500], plan), {4: (2, 4), 8: (2,)}, times=1)
    for line in lines:
        assert line.constrained.breaks == line.k_only.breaks == 0 < line.unconstrained.breaks
        assert line.unconstrained.withheld == 0
        assert line.k_only.withheld <= line.constrained.withheld
    assert lines[1].by_increase is not None
    assert lines[1].by_increase.loss < lines[1].unconstrained.loss
    text = cpka.blocks(lines)
    assert set(text) == {block for block in BLOCKS if block.startswith("cpka-")}
    assert [row[:3] for row in rows_of(text["cpka-table-5"])] == [
        ["4", "2", "3,958"],
        ["4", "4", "12,743"],
        ["8", "2", "7,260"],
    ]
    assert len(cpka.panels(lines)) == 4


# ---- INC, RV, deaths -------------------------------------------------------------------------------------------------


def test_inc_writes_its_lines() -> None:
    lines = [
        inc.Line(verb, k, share, 0.002, 0.05, 0.02, 4_100.0, 4_000.0, 4_200.0, 4_080.0)  # type: ignore[attr-defined]
        for verb in inc.VERBS
        for k in inc.KS
        for share in (0.01, 0.1)
    ]
    text = inc.blocks(lines)
    assert rows_of(text["inc-figures"])[0] == ["1% inserted"] + ["4,000 → 4,100, × 1.025; 25.0"] * 3
    assert rows_of(text["inc-figure-6"])[0] == ["inserted", "3", "2.0%", "2.4%", "20", "50"]
    assert len(inc.panels(lines)) == 6


def people() -> pa.Table:
    """Made-up records: who gains much earns much."""
    draw = np.random.default_rng(0)
    gain = draw.choice([0, 0, 0, 2000, 8000], 600)
    return pa.table(
        {
            "age": [str(age) for age in draw.integers(20, 60, 600)],
            "education-num": [str(number) for number in draw.integers(5, 15, 600)],
            "capital-gain": [str(number) for number in gain],
            "salary": [">50K" if number > 5000 else "<=50K" for number in gain],
        }
    )


def test_rv_on_made_up_people() -> None:
    methods = ("global", "local", "lattice", "utility", "bottom-up")
    found = {"plan": rv.compare(people(), "plan", methods, ks=(3,))}
    text = rv.blocks(found, rv_records.numbers(people()))
    assert {f"{block}" for block in text} <= BLOCKS
    buckets = rows_of(text["rv-bucket-1"])
    assert [row[:3] for row in buckets][:2] == [["3", "global", "kept (text)"], ["3", "utility", "144 · > 35K · 100%"]]
    assert [row[3] for row in buckets[2:]] == ["no release", buckets[3][3], "no release"]
    assert [row[2] for row in rows_of(text["rv-levels"])] == ["`global`", "`local`", "`lattice`"]
    assert [row[1] for row in rows_of(text["rv-releases"])] == ["utility", "bottom-up"]
    many = int((rv_records.numbers(people())["capital-gain"] == 8000).sum())
    assert re.search(rf"capital-gain ≥ 8000 +{many} +>50K +100\.0%", text["rv-tree"])
    release = rv_records.suppressed_release(people(), rv.EXAMPLES / "plan.yaml", 3)
    raw, after = rows_of(rv_records.suppression_table(people(), {3: release}))
    assert int(after[1]) < int(raw[1]) == 600


def test_rv_conditions_on_adult_are_the_facts_that_were_checked(adult_rows: Rows) -> None:
    raw = rv_records.numbers(rv.adult_table(adult_rows[:30_162]))
    for conditions, many in (
        (["capital-gain ≥ 7298"], 1330),
        (["capital-gain < 7298", "age maybe < 28"], 7162),
        (["capital-gain surely ≥ 6001"], 1387),
        (["capital-gain < 7298", "28 ≤ age < 100", "education-num ≥ 13"], 5691),
    ):
        assert rv_records.meets(raw, conditions).sum() == many


def test_rv_table_12_first_rows() -> None:
    assert [row[-2:] for row in rows_of(rv.table_12(rv.TABLE_12[:1]))] == [["69.3%", "31 of 50"]]


def test_deaths_writes_what_searches_came_to() -> None:
    exact = deaths.Search(8, "exact", "0", 5.2, "", 0.3844, 15_360, 650, True, 0.3844)
    local = deaths.Search(8, "local", "0", 1.1, "", 0.0, 15_360, 3, False, 1.0)
    refused = deaths.Search(8, "global", "0", 0.1, problem="There are too many.")
    (row,) = rows_of(deaths.few_table([exact, refused, local]))
    assert row == [
        "8", "15,360", "0.3844", "650, 5 s", "refused", "not run", "not run", "3, 1 s, finds 0.0000",
    ]  # fmt: skip
    assert "- `global`: There are too many." in deaths.others_list([refused, local])
    assert rows_of(deaths.many_table([exact]))[0][2:6] == ["1.5 · 10^4", "650", "0.3844", "proven"]


def test_pictures_are_the_same_every_time(tmp_path: Path) -> None:
    panel = Panel("title", Axis("k"), Axis("loss"), {"one": [(1, 3), (2, 4)]})
    drawn = []
    for name in ("first.svg", "second.svg"):
        draw(tmp_path / name, "picture", [panel, panel, panel], columns=2)
        drawn.append((tmp_path / name).read_text(encoding="utf-8"))
    assert drawn[0] == drawn[1]
    assert ">title</text>" in drawn[0]


def test_the_conditions_decide_only_nodes_that_do_not_hold(adult_rows: Rows) -> None:
    space = make_space(adult_limits.encode(adult_rows[:2000], ps_times.plan()))
    cases = {(5, p): (ps_times.test_all(space, 5, p), ps_times.search(space, 5, p)) for p in (1, 3, 5)}
    holding = [tested.hold for tested, _ in cases.values()]
    assert holding == sorted(holding, reverse=True)
    for tested, searched in cases.values():
        assert tested.hold + tested.decided <= space.nodes
        assert (searched.found.node is not None) == (tested.hold > 0)
    assert [row[:2] for row in rows_of(ps_times.times_table(cases))] == [["5", "k alone"], ["5", "3"], ["5", "5"]]


def test_a_skewed_target_on_a_few_certificates() -> None:
    people = skewed.certificates(1500)
    share = people.column("cancer").to_pylist().count("yes") / 1500
    assert 0.08 < share < 0.15
    found = skewed.compare(people, ks=[5])
    assert found.original is not None
    assert "cancer" in skewed.shown(found.original)
    assert [row[1] for row in rows_of(skewed.leaves_table(found))] == ["raw data", *skewed.METHODS.values()]
