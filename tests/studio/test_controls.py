"""Controls that change what few people change, in the browser: what is set there is what the plan says."""

from __future__ import annotations

from hedgerow import Plan
from tests.studio.servers import Served
from tests.studio.steps import NewPage, choose, fill, open_made_up, plan_text


def test_values_that_count_as_one_and_distances_between_them(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-promise]")
    page.click("[data-testid=more]")
    page.click("[data-testid=alike-hierarchy-diagnosis]")
    choose(page, "builder-kind", "prefixes: the first characters")
    page.fill("[data-testid=builder-prefix]", "1")
    page.fill("[data-testid=builder-length]", "20")
    page.wait_for_selector('[data-testid=builder-summary]:has-text("2 levels")')
    page.click("[data-testid=builder-apply]")
    page.wait_for_selector("[data-testid=builder]", state="detached")
    choose(page, "alike-level-diagnosis", "the first character, such as")
    fill(page, "alike-weight-diagnosis", "2")
    fill(page, "t", "0.4")
    page.wait_for_timeout(500)
    choose(page, "t-distance", "hierarchical")
    page.wait_for_timeout(500)
    plan = Plan.loads(plan_text(page), base=None)
    attribute = plan.attributes["diagnosis"]
    assert attribute.hierarchy is not None
    assert (attribute.hierarchy.prefix, attribute.hierarchy.length) == ((1,), 20)
    assert (attribute.level, attribute.weight) == (1, 2)
    assert plan.privacy.demands("diagnosis")["t"].distance == "hierarchical"

    fill(page, "t", "0.5")  # what else is asked of it stays
    page.wait_for_timeout(500)
    closeness = Plan.loads(plan_text(page), base=None).privacy.demands("diagnosis")["t"]
    assert (float(closeness.at_most), closeness.distance) == (0.5, "hierarchical")


def test_what_becomes_of_the_values_of_a_column(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    assert not page.locator("[data-testid=treat-sex]").count()  # words are not treated
    page.click("[data-testid=treat-satisfaction] >> text=Treat its values")
    fill(page, "treat-top-satisfaction", "ten")
    page.wait_for_selector("text=This is no point.")
    fill(page, "treat-top-satisfaction", "10 people")
    fill(page, "treat-round-satisfaction", "2")
    page.wait_for_timeout(500)
    treat = Plan.loads(plan_text(page), base=None).attributes["satisfaction"].treat
    assert treat is not None
    assert treat.top is not None
    assert (treat.top.fewest, treat.round) == (10, 2)
