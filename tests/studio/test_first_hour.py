"""What a steward meets in the first hour on screens, one fact after the other; the messy export has tests of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Plan
from tests.studio.servers import Served, serving
from tests.studio.steps import NewPage, choose, choose_attribute, expect_text, fill, open_made_up, plan_text

ENDS = """() => {
  window.scrollTo(0, document.documentElement.scrollHeight);
  const bar = document.querySelector('.studio-bar');
  const top = bar && bar.offsetHeight ? bar.getBoundingClientRect().top : innerHeight;
  const last = Math.max(...[...document.querySelectorAll('.studio-main > *')].map(e => e.getBoundingClientRect().bottom));
  return [last, top];
}"""
SCROLLING = """() => [...document.querySelectorAll('main *')].filter(e => {
  const style = getComputedStyle(e);
  return e.offsetParent && /auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1 && e.clientHeight > 60;
}).map(e => e.dataset.testid || e.className)"""
CUT_OFF = """() => [...document.querySelectorAll('main svg')].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => {
    const r = t.getBoundingClientRect();
    return r.width && (r.left < box.left - 1 || r.right > box.right + 1);
  }).map(t => t.textContent);
})"""


@pytest.fixture(scope="module")
def ran(studio: Served, chromium: Any) -> Iterator[Any]:
    """A page whose session has made-up patients and two runs."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    open_made_up(studio, lambda: page)
    page.goto(f"{studio.url}/run")
    page.click("[data-testid=start]")
    page.wait_for_selector("[data-testid=result-1]")
    page.goto(f"{studio.url}/promise")
    page.wait_for_selector("[data-testid=withheld]")
    page.click("[data-testid=audience-partners]")
    page.wait_for_selector("[data-testid=audience-partners][aria-pressed=true]")
    page.goto(f"{studio.url}/run")
    page.click("[data-testid=start]")
    page.wait_for_selector("[data-testid=result-2]")
    yield page
    context.close()


def test_the_tour_has_five_steps_and_can_be_left(studio: Served, new_page: NewPage) -> None:
    page = new_page()
    page.goto(studio.link())
    page.click("[data-testid=tour]")
    for number, screen in enumerate(("data", "limits", "promise", "run"), start=1):
        page.wait_for_selector(f"[data-testid=tour-{number}]")
        assert page.url.endswith(f"/{screen}")
        page.click("[data-testid=tour-next]")
    page.wait_for_selector("[data-testid=tour-5]")
    page.wait_for_selector("[data-testid=empty] button")  # nothing was run: what to do, and the button
    page.click("[data-testid=tour-leave]")
    page.wait_for_selector("[data-testid=tour-5]", state="detached")
    page.click("[data-testid=nav-data]")
    page.wait_for_selector("[data-testid=records]")
    assert not page.locator("[data-testid^=tour-]").count()


def test_what_cannot_be_is_said_at_its_field_and_stays_typed(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    before = plan_text(page)
    page.click("[data-testid=nav-promise]")
    page.wait_for_selector("[data-testid=withheld]")
    for testid, typed in (("k", "1"), ("withhold", "lots"), ("threshold", "7")):
        fill(page, testid, typed)
        page.wait_for_selector(f'.q-field--error:has([data-testid="{testid}"]) [role=alert]')
        assert page.input_value(f'[data-testid="{testid}"]') == typed
    assert not page.locator("[data-testid=problems]").count()
    assert plan_text(page) == before
    fill(page, "k", "6")
    page.wait_for_selector('.q-field--error:has([data-testid="k"])', state="detached")
    assert "k: 6" in plan_text(page)


def test_the_plan_is_saved_to_its_file_with_its_comments(
    new_page: NewPage, made_up: tuple[Path, Path], tmp_path: Path
) -> None:
    for file in made_up[0].parent.glob("*.csv"):  # the plan names a hierarchy beside it
        shutil.copy(file, tmp_path)
    plan = tmp_path / "ours.yaml"
    plan.write_text(f"# agreed with the board in May\n{made_up[1].read_text()}")
    with serving("patients.csv", plan, folder=tmp_path) as served:
        page = new_page()
        page.goto(served.link())
        expect_text(page, "records", "600")
        page.click("[data-testid=nav-promise]")
        page.wait_for_selector("[data-testid=withheld]")
        fill(page, "k", "9")
        page.wait_for_selector("text=1 in 9")
        page.click("[data-testid=show-plan]")
        assert page.input_value("[data-testid=plan-place]") == str(plan)
        page.click("[data-testid=save-plan]")
        page.wait_for_selector("[data-testid=plan-saved]")
        saved = plan.read_text()
        assert saved.startswith("# agreed with the board in May\n")
        assert [line for line in made_up[1].read_text().splitlines() if "#" in line and line not in saved] == []
        assert Plan.load(plan) == Plan.load(made_up[1]).replace(
            privacy={**Plan.load(made_up[1]).to_dict()["privacy"], "k": 9}
        )
        other = tmp_path / "other.yaml"
        other.write_text("somebody else's")
        page.fill("[data-testid=plan-place]", "other.yaml")
        page.click("[data-testid=save-plan]")
        page.wait_for_selector('.q-field--error:has([data-testid="plan-place"])')
        assert other.read_text() == "somebody else's"
        page.click("[data-testid=save-plan]")  # asked again: that is meant
        page.wait_for_selector("[data-testid=plan-saved]")
        assert Plan.load(other) == Plan.load(plan)


def test_columns_have_titles_and_count_as_numbers_or_words(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    fill(page, "title-age", "Age in years")
    fill(page, "title-age", "Age at admission")
    page.click("[data-testid=nav-limits]")
    choose_attribute(page, "age")
    page.click("[data-testid=hierarchy]")
    choose(page, "builder-numeric", "words, each for itself")
    page.wait_for_timeout(600)
    page.click("[data-testid=builder-apply]")
    page.wait_for_selector("[data-testid=builder]", state="detached")
    plan = Plan.loads(plan_text(page), base=None)
    assert (plan.attributes["age"].title, plan.attributes["age"].numeric) == ("Age at admission", False)


def test_levels_are_chosen_by_example(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-limits]")
    page.wait_for_selector("[role=treeitem]")
    page.wait_for_selector('[data-testid=limit-text]:text-matches("^at most bands of 10, such as \\\\d+-\\\\d+$")')
    choose(page, "level", "bands of 5, such as")
    page.wait_for_selector('[data-testid=attribute-age]:has-text("at most bands of 5")')
    assert "level: 1" in plan_text(page)


def test_values_are_grouped_by_what_they_suggest_by_rows_that_are_pasted_and_by_the_rest(
    studio: Served, new_page: NewPage
) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-limits]")
    choose_attribute(page, "age")
    page.click("[data-testid=hierarchy]")
    page.click("[data-testid=suggest-0]")  # age groups
    page.wait_for_selector('[data-testid=builder-summary]:has-text("3 levels")')
    page.click("[data-testid=builder-apply]")
    page.wait_for_selector("[data-testid=builder]", state="detached")
    assert "cuts:" in plan_text(page)

    choose_attribute(page, "sex")
    page.click("[data-testid=hierarchy]")
    choose(page, "builder-kind", "a file or a spreadsheet")
    page.fill("[data-testid=builder-pasted]", "female\tpeople\nmale\tpeople\n")
    page.wait_for_selector('[data-testid=builder-summary]:has-text("2 values, 1 level")')
    page.click("[data-testid=builder-apply]")
    page.wait_for_selector("[data-testid=builder]", state="detached")
    page.wait_for_selector('[role=treeitem]:has-text("people")')

    choose_attribute(page, "city")
    page.get_by_role("button", name="Open all").click()
    page.locator("[role=treeitem]", has=page.locator('.hr-name:text-is("Kansas")')).click()
    page.click("[data-testid=tree-rest]")
    page.click("[data-testid=ask-ok]")  # the name that is offered
    page.wait_for_selector('[role=treeitem] .hr-name:text-is("other")')
    assert "other:" in plan_text(page)


def test_150_columns_are_worked_on_by_keyboard(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    names = [f"question_{number:03}" for number in range(150)]
    rows = "".join(",".join("abcde"[(row * step) % 5] for step in range(150)) + "\n" for row in range(60))
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + rows)
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", tmp_path / "wide.csv")
    page.wait_for_selector("[data-testid=column-table]")
    assert page.locator("[data-testid^=table-role-]").count() == 150
    page.focus("[data-testid=find-column]")
    page.keyboard.type("question_14")
    page.wait_for_function("document.querySelectorAll('[data-testid^=table-role-]').length === 10")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Tick all columns":
            break
    page.keyboard.press("Space")
    page.focus("[data-testid=bulk-apply]")
    page.keyboard.press("Enter")
    expect_text(page, "quasi-identifiers", "140")
    page.focus("[data-testid=table-role-question_000]")
    page.keyboard.type("other")
    expect_text(page, "quasi-identifiers", "139")


def test_nothing_is_covered_cut_off_or_scrolled_in_a_box(ran: Any, studio: Served) -> None:
    for screen in ("data", "limits", "promise", "run", "result", "releases"):
        ran.goto(f"{studio.url}/{screen}")
        ran.wait_for_selector("h1")
        for width in (1280, 800):
            ran.set_viewport_size({"width": width, "height": 800})
            ran.wait_for_timeout(500)  # charts and trees draw themselves after the page is there
            last, bar = ran.evaluate(ENDS)
            assert last <= bar + 1, f"{screen}, {width}: the bar covers the end"
            assert not ran.evaluate(SCROLLING), (screen, width)
            assert not ran.evaluate(CUT_OFF), (screen, width)
    ran.set_viewport_size({"width": 1280, "height": 900})


def test_before_and_after_shows_whole_groups_with_a_visible_scrollbar(ran: Any, studio: Served) -> None:
    ran.goto(f"{studio.url}/result")
    marks = ran.locator("[data-testid=before-after] .chip.begins:not(.warn)").all_inner_texts()
    assert len(marks) >= 2
    for mark in marks:
        shown, _, size = mark.split(": ")[1].partition(" of ")
        assert shown == size, mark
    wide = "e => [e.scrollWidth > e.clientWidth, getComputedStyle(e).overflowX]"
    ran.set_viewport_size({"width": 390, "height": 800})
    assert ran.locator("[data-testid=before-after]").evaluate(wide) == [True, "auto"]
    ran.set_viewport_size({"width": 1280, "height": 900})


def test_runs_are_named_by_what_differs_and_differences_stand_out(ran: Any, studio: Served) -> None:
    ran.goto(f"{studio.url}/run")
    for name in ("Fast", "Balanced", "Least loss"):
        assert ran.get_by_role("button", name=f": {name}").count() == 1
    first, second = ran.locator("[data-testid=side-by-side] tbody tr").all()
    assert "no p → p = 2" in second.inner_text()
    assert not first.locator("b").count()
    assert second.locator("b").count()


def test_a_release_that_cannot_be_made_is_not_begun_and_the_reason_stands_there(
    studio: Served, new_page: NewPage
) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-promise]")
    page.wait_for_selector("[data-testid=withheld]")
    fill(page, "withhold", "1")
    page.wait_for_selector("[data-testid=obstacle]")
    page.click("[data-testid=nav-run]")
    page.wait_for_selector('[data-testid=why-not]:has-text("at most 1")')
    assert page.locator("[data-testid=start]").is_disabled()


def test_what_is_typed_outlives_screens_and_reloads(ran: Any, studio: Served) -> None:
    ran.goto(f"{studio.url}/result")
    ran.fill("[data-testid=report-title]", "Stays of 2024")
    ran.goto(f"{studio.url}/run")
    ran.fill("[data-testid=run-title]", "a try")
    ran.wait_for_timeout(300)
    ran.click("[data-testid=nav-result]")
    ran.wait_for_url("**/result")
    ran.wait_for_selector("[data-testid=report-title]")
    assert ran.input_value("[data-testid=report-title]") == "Stays of 2024"
    ran.reload()
    assert ran.input_value("[data-testid=report-title]") == "Stays of 2024"
    ran.goto(f"{studio.url}/run")
    assert ran.input_value("[data-testid=run-title]") == "a try"


def test_nodes_are_moved_by_touch(studio: Served, new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    open_made_up(studio, new_page, page)
    page.goto(f"{studio.url}/limits?column=city")
    page.wait_for_selector("[role=treeitem]")
    page.get_by_role("button", name="Open all").tap()
    page.locator("[role=treeitem]", has=page.locator('.hr-name:text-is("Omaha")')).tap()
    move = page.locator("[data-testid=tree-move]")
    box = move.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 780  # within reach, though the tree goes on below
    move.tap()
    page.locator("[role=treeitem]", has=page.locator('.hr-name:text-is("Kansas")')).tap()
    page.wait_for_timeout(1200)
    assert "Kansas: [Wichita, Kansas City, Topeka, Omaha]" in plan_text(page)


def test_people_with_several_rows_are_asked_about_first(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    rows = "".join(f"p{number % 70},{20 + number % 50},{'ab'[number % 2]}\n" for number in range(120))
    (tmp_path / "stays.csv").write_text(f"patient_id,age,ward\n{rows}")
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", tmp_path / "stays.csv")
    assert "70 people in 120 rows" in page.inner_text("[data-testid=people-question]")
    page.goto(f"{studio.url}/run")  # who does not answer is reminded, and gets no green banner
    assert "one person may fill a group" in page.inner_text("[data-testid=still-open]")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    page.wait_for_selector("[data-testid=verdict].remains")
    page.click("[data-testid=verdict] >> text=Say which column names the person")
    page.click('[data-testid="person-patient_id"]')
    page.wait_for_selector("[data-testid=people-question]", state="detached")
    page.click("[data-testid=nav-promise]")
    page.wait_for_selector("text=k: people in every group, at least")
    assert "person: patient_id" in plan_text(page)


def test_what_is_open_and_looked_at_outlives_screens_and_reloads(ran: Any, studio: Served) -> None:
    ran.goto(f"{studio.url}/limits")
    choose_attribute(ran, "city")
    ran.click("[data-testid=tree-close-all]")
    before = ran.locator("[role=treeitem]").count()
    ran.locator("[role=treeitem]", has=ran.locator('.hr-name:text-is("Midwest")')).dblclick()
    ran.wait_for_function("n => document.querySelectorAll('[role=treeitem]').length > n", arg=before)
    opened = ran.locator("[role=treeitem]").count()
    ran.wait_for_timeout(400)  # it is told when nothing more is opened for a moment
    ran.click("[data-testid=nav-promise]")
    ran.click("[data-testid=more]")
    ran.wait_for_selector("[data-testid=alike-level-diagnosis]")
    ran.goto(f"{studio.url}/result?run=1")
    ran.wait_for_selector("[data-testid=verdict]")
    for _ in range(2):
        ran.click("[data-testid=nav-limits]")
        ran.wait_for_selector("[role=treeitem]")
        assert ran.inner_text("[data-testid=column]") == "city"
        assert ran.locator("[role=treeitem]").count() == opened
        ran.click("[data-testid=nav-promise]")
        ran.wait_for_selector("[data-testid=alike-level-diagnosis]")
        ran.click("[data-testid=nav-result]")
        ran.wait_for_selector('h1 + * :text("1. "), :text("1. ")')
        assert ran.input_value("[data-testid=run-choice]").startswith("1. ")
        ran.reload()
        ran.wait_for_selector("[data-testid=verdict]")
