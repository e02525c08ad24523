"""The machinery of the benchmarks: figures, what changed, blocks of the page, baselines, one definition of loss. No timing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import __main__ as program
from benchmarks import changes as told
from benchmarks import results, sweep, tables
from benchmarks.baselines import MDAV, Mondrian, NearestNeighbours
from benchmarks.baselines.__main__ import Encoded
from benchmarks.page import replace_block
from benchmarks.penalty import Categories, Numbers, mean_penalty
from benchmarks.processes import PYTHON, Failed, use
from benchmarks.results import Figure, Report, Results, Section
from benchmarks.task import Task
from hedgerow.anonymization.solving import solve
from hedgerow.measures import mean_ncp
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan

MACHINE = {"cores": "2"}
PATHS = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]


def results_of(*figures: tuple[str, float, str, str], machine: dict[str, str] = MACHINE) -> Results:
    made = [Figure("one", name, value, unit, kind) for name, value, unit, kind in figures]  # type: ignore[arg-type]
    return Results(machine, {}, {"one": Section("one", made, {"left": "out"}, "2026-11-16")})


def words(before: Results, after: Results) -> list[str]:
    return [str(change) for change in told.changes(before, after)]


# ---- figures -----------------------------------------------------------------------------------------------------


def test_results_come_back_from_json_as_they_were() -> None:
    made = results_of(("fast", 0.125, "s", "time"), ("many", 3, "", "count"))
    assert Results.from_json(made.to_json()) == made


def test_every_figure_has_a_line_of_its_own() -> None:
    text = results_of(("fast", 0.125, "s", "time"), ("many", 3, "", "count")).to_json()
    assert sum('"kind"' in line for line in text.splitlines()) == 2


def test_name_and_kind_are_a_key() -> None:
    report = Report("one")
    report.time("it", 1.0)
    report.loss("it", 0.5)
    with pytest.raises(ValueError, match="two figures"):
        report.time("it", 2.0)
    assert report.section.value("it", "loss") == 0.5
    assert report.section.cell("it", "memory") == "–"


@pytest.mark.parametrize(
    ("value", "text"), [(30162, "30,162"), (12.345, "12.3"), (0.049812, "0.0498"), (1234.5, "1,234"), (0.0, "0")]
)
def test_figures_are_shown_with_as_many_digits_as_matter(value: float, text: str) -> None:
    assert results.shown(value) == text


# ---- what changed ------------------------------------------------------------------------------------------------


def test_times_within_the_margin_are_the_same_and_beyond_it_are_told() -> None:
    before = results_of(("t", 1.0, "s", "time"))
    assert words(before, results_of(("t", 1.2, "s", "time"))) == []
    assert words(before, results_of(("t", 1.3, "s", "time"))) == ["worse  one: t (time): 1 s → 1.3 s (+30%)"]
    assert words(before, results_of(("t", 0.5, "s", "time")))[0].startswith("better")


def test_differences_too_small_to_measure_are_not_told() -> None:
    assert words(results_of(("t", 0.001, "s", "time")), results_of(("t", 0.003, "s", "time"))) == []


@pytest.mark.parametrize("kind", ["loss", "count"])
def test_losses_and_counts_are_told_if_they_change_at_all(kind: str) -> None:
    assert len(words(results_of(("x", 0.05, "", kind)), results_of(("x", 0.050001, "", kind)))) == 1
    assert words(results_of(("x", 0.05, "", kind)), results_of(("x", 0.05, "", kind))) == []


def test_times_of_another_machine_are_not_compared_but_losses_are() -> None:
    before = results_of(("t", 1.0, "s", "time"), ("x", 0.5, "", "loss"), machine={"cores": "64"})
    after = results_of(("t", 9.0, "s", "time"), ("x", 0.4, "", "loss"))
    assert words(before, after) == ["better one: x (loss): 0.5000 → 0.4000 (-20%)"]


def test_figures_that_are_new_or_gone_are_told() -> None:
    found = words(results_of(("old", 1.0, "s", "time")), results_of(("new", 1.0, "s", "time")))
    assert [line.split()[0] for line in found] == ["new", "gone"]


def test_sections_that_were_not_run_are_not_compared() -> None:
    assert not list(told.changes(results_of(("x", 1, "", "count")), results_of(("x", 2, "", "count")), ["other"]))


# ---- the page ----------------------------------------------------------------------------------------------------


def test_a_block_is_replaced_and_the_words_around_it_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin x -->\nold\n<!-- end x -->\nafter\n")
    replace_block(page, "x", "new")
    assert page.read_text() == "before\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nafter\n"
    with pytest.raises(ValueError, match="needs one"):
        replace_block(page, "y", "new")


@pytest.mark.parametrize("name", program.NAMES)
def test_the_page_has_every_block_of_every_benchmark(name: str) -> None:
    section = Section(name, [Figure(name, "x", 1, "", "count")])
    page = program.PAGE.read_text(encoding="utf-8")
    for block in program._blocks(program._module(name), section):
        assert page.count(f"<!-- begin {block} -->") == page.count(f"<!-- end {block} -->") == 1


def test_a_benchmark_that_fails_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Good:
        @staticmethod
        def run(report: Report) -> None:
            report.count("x", 1)

    class Bad:
        @staticmethod
        def run(report: Report) -> None:
            raise RuntimeError("no luck")

    monkeypatch.setattr(program, "_module", {"bad": Bad, "good": Good}.__getitem__)
    done, failed = program._run(["bad", "good"])
    assert list(done) == ["good"]
    assert failed == {"bad": "RuntimeError: no luck"}


# ---- other processes ---------------------------------------------------------------------------------------------


def test_what_a_process_takes_is_its_own() -> None:
    held = np.ones(40_000_000)  # 320 MB here, which the other process must not be charged for
    used = use([PYTHON, "-c", "print('hello')"])
    assert used.output == "hello\n"
    assert used.megabytes < held.nbytes / 2**20


def test_a_process_that_fails_or_takes_too_long_says_so() -> None:
    with pytest.raises(Failed, match="no luck"):
        use([PYTHON, "-c", "import sys; sys.exit('no luck')"])
    with pytest.raises(Failed, match="not done after 1 s"):
        use([PYTHON, "-c", "import time; time.sleep(60)"], limit=1)
    with pytest.raises(Failed):
        use(["/there/is/no/such/program"])


# ---- loss, tables, baselines ---------------------------------------------------------------------------------------


def test_penalties_of_cells() -> None:
    ages, letters = Numbers(20, 60), Categories(PATHS)
    assert [ages.penalty(cell) for cell in ("30", "30-40", "*", "10-30")] == [0, 0.25, 1, 0.25]
    assert [letters.penalty(cell) for cell in ("a", "ab", "*", "a,c")] == [0, 0.5, 1, 0.5]
    assert mean_penalty(4, {"x": ["ab", "ab", "c"]}, {"x": letters}) == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)


def small_task(records: int = 157, k: int = 5) -> Task:
    draw = np.random.default_rng(1)
    cells = {
        "age": [str(age) for age in draw.integers(20, 60, records)],
        "letter": [str(letter) for letter in draw.choice(list("abcd"), records)],
    }
    return Task(k, cells, {"age": [5, 10, 20]}, {"letter": PATHS})


def test_a_task_comes_back_from_its_files(tmp_path: Path) -> None:
    task = small_task()
    task.write(tmp_path)
    back = Task.read(tmp_path)
    assert (back.k, back.cells, back.records) == (task.k, task.cells, task.records)
    assert Task.read_k(tmp_path) == task.k


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("method", ["mondrian", "mdav", "nearest"])
def test_groups_of_the_baselines_have_k_rows(method: str, k: int) -> None:
    table = Encoded(small_task(k=k))
    makers = {
        "mondrian": lambda: Mondrian(k).fit_predict(table.scaled()),
        "mdav": lambda: MDAV(k).fit_predict(table.one_hot()),
        "nearest": lambda: NearestNeighbours(k, table.penalties).fit_predict(table.codes),
    }
    labels = makers[method]()
    sizes = np.unique(labels, return_counts=True)[1]
    assert sizes.min() >= k
    assert sizes.sum() == len(table.codes)
    assert (makers[method]() == labels).all()


def test_the_plain_penalty_is_hedgerows_ncp() -> None:
    task = small_task()
    tree = {"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}
    attributes = {
        "age": {"role": "quasi-identifier", "intervals": "free"},
        "letter": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
    }
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": task.k}}).settled()
    microdata = encode_table(read_table(pa.table(dict(task.cells)), plan), plan)
    recoding = solve(microdata, plan, threads=1).recoding
    labels = np.empty(microdata.records, np.int64)
    labels[microdata.record_of] = recoding.group_of
    release = dict(zip(task.cells, Encoded(task).release(labels), strict=True))
    assert mean_penalty(task.records, release, task.columns()) == pytest.approx(float(mean_ncp(microdata, recoding)))


def test_repeated_rows_leave_the_share_that_was_asked_for() -> None:
    table = pa.table({"x": list(range(1000))})
    made = tables.repeated(table, 0.1)
    assert made.num_rows == 1000
    assert len(set(made.column("x").to_pylist())) == 100
    assert tables.repeated(table, 1.0) is table


def test_growth_is_the_slope_of_the_logarithms() -> None:
    assert sweep.growth([(10, 3), (100, 300), (1000, 30000)]) == pytest.approx(2)


def test_methods_that_this_version_does_not_know_are_left_out() -> None:
    asked = {"good": {"name": "cluster"}, "strange": {"name": "cluster", "improve": "by magic"}}
    assert list(tables.known(asked)) == ["good"]


def test_names_are_checked_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed"])
    with pytest.raises(SystemExit, match="no benchmark called speed"):
        program.main()
