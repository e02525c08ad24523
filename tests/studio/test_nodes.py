"""Choosing a node of the lattice in the studio: the list, the picture, and the release of the one that is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Plan, lattice, verify
from hedgerow.reports.level_words import levels_in_words
from hedgerow.studio.workbench import Workbench
from tests.studio.servers import Served, serving
from tests.studio.steps import fill, plan_text

NewPage = Callable[..., Any]
PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
  sex: quasi-identifier
  city: {role: quasi-identifier, hierarchy: {tree: {US: {Kansas: [Wichita, Topeka, Kansas City],
    Nebraska: [Omaha, Lincoln], California: [Los Angeles, San Diego, Oakland]}}}, unknown: own-leaf-under-root}
  diagnosis: sensitive
privacy: {k: 5}
method: lattice
withhold: 3%
"""
LOOK = """() => {
  const fields = [...document.querySelectorAll('button, a, input:not([type=hidden]), select, textarea')];
  const named = (e) => e.getAttribute('aria-label') || e.innerText || e.title || (e.labels && e.labels.length)
      || e.getAttribute('aria-labelledby') || e.closest('label');
  const shown = (e) => e.offsetParent !== null && !e.closest('[aria-hidden=true]');
  return [document.documentElement.scrollWidth, fields.filter(e => shown(e) && !named(e)).map(e => e.outerHTML.slice(0, 200))];
}"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "by-level.yaml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def served(made_up: tuple[Path, Path], plan: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(made_up[0], plan, folder=tmp_path) as studio:
        yield studio


def _say_worths(page: Any) -> None:
    """Say what the levels of a column are worth, wrongly, rightly, and no longer."""
    page.click("[data-testid=worths] >> text=What each level is worth")
    fill(page, "worths-age", "1, 0.5")
    page.wait_for_selector('.q-field--error:has([data-testid="worths-age"]) :text("lists 2 numbers")')
    fill(page, "worths-sex", "90, 0")
    page.wait_for_selector('[data-testid=worths]:has-text("said for sex")')
    assert Plan.loads(plan_text(page), base=None).research_value.levels == {"sex": (90, 0)}
    fill(page, "worths-sex", "")
    page.wait_for_selector('[data-testid=worths]:has-text("said for")', state="detached")
    assert "research_value" not in plan_text(page)


def test_a_node_is_chosen_from_the_list_and_released(
    served: Served, new_page: NewPage, made_up: tuple[Path, Path], plan: Path, tmp_path: Path
) -> None:
    page = new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(served.link())
    page.wait_for_selector("[data-testid=records]")
    page.click("[data-testid=nav-run]")
    _say_worths(page)
    page.click("[data-testid=list-nodes]")
    page.wait_for_selector("[data-testid=node-table]", timeout=120_000)
    expected = lattice(made_up[0], Plan.load(plan), most=200)
    rows = page.locator("[data-testid=node-table] tbody tr")
    assert rows.count() == len(expected.listed) >= 3
    node = expected.listed[1]
    cells = rows.nth(1).locator("td").all_inner_texts()
    assert cells[1] == levels_in_words(Plan.load(plan), node.levels)
    assert [int(cell) for cell in cells[2:5]] == [node.withheld, node.groups, node.smallest]
    assert page.locator("[data-testid=nodes] svg circle, [data-testid=nodes] svg rect").count() >= len(expected.listed)

    page.click('[data-testid=node-table] th:has-text("withheld")')  # sorts in the browser
    page.wait_for_selector("[data-testid=node-table] th.sorted")
    shown = [int(row.locator("td").nth(2).inner_text()) for row in rows.all()]
    assert shown == sorted(one.withheld for one in expected.listed)
    page.click(f'[data-testid=node-table] tr:has(td:nth-child(2):text-is("{cells[1]}"))')
    page.click("[data-testid=make-node]")
    page.wait_for_selector("[data-testid=result-1]", timeout=120_000)
    assert cells[1] in page.inner_text("[data-testid=chosen-levels]")
    assert cells[1] in page.inner_text("[data-testid=run-1]")
    facts = next(path for path in (tmp_path / "scratch").rglob("facts.json"))
    assert json.loads(facts.read_text())["levels"] == node.levels
    assert verify(facts.parent, made_up[0]).kept
    assert Plan.load(facts.parent / "plan.yaml").method.levels == node.levels

    page.reload()  # the list is still there, as it is one of this plan but for its levels
    page.wait_for_selector("[data-testid=node-table]")
    page.click("[data-testid=search-levels]")
    page.wait_for_selector("[data-testid=search-levels]", state="detached")
    assert not said


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_list_fits_and_has_names_for_everything(served: Served, new_page: NewPage, width: int, scheme: str) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(served.link())
    page.wait_for_selector("[data-testid=records]")
    page.goto(f"{served.url}/run")
    page.click("[data-testid=list-nodes]")
    page.wait_for_selector("[data-testid=node-table]", timeout=120_000)
    page.wait_for_timeout(300)
    wide, nameless = page.evaluate(LOOK)
    assert wide <= width
    assert not nameless


def test_a_list_belongs_to_a_plan(made_up: tuple[Path, Path], plan: Path, tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.open(made_up[0], plan=plan)
    assert bench.nodes_job() is None
    job = bench.look_at_nodes("all", "loss", 5)
    job.wait(120)
    assert job.state == "done"
    assert len(job.result["listed"]) == 5
    assert job.result["left_out"] == job.result["satisfying"] - 5
    assert bench.nodes_job() is job
    assert bench.choose_levels(job.result["listed"][0]["levels"]) == ()
    assert bench.plan is not None
    assert bench.plan.method.levels == job.result["listed"][0]["levels"]
    assert bench.nodes_job() is job
    assert bench.choose_levels({"age": 9})
    assert bench.plan.method.levels == job.result["listed"][0]["levels"]
    assert bench.change(privacy={"k": 7}) == ()
    assert bench.nodes_job() is None
    assert bench.undo()
    assert bench.nodes_job() is job
    bench.close()
