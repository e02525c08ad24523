"""Every result shows itself in a notebook: well-formed, with nothing of the data's that a browser would obey."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.evaluation.reach import simulate_chance
from hedgerow.plan import Plan

NASTY = "<b>age</b>&"
TABLE = pa.table(
    {"id": [f"p{n}" for n in range(24)], NASTY: [20 + n % 6 for n in range(24)], "sex": list("fm") * 12,
     "ill": list("abc") * 8}
)  # fmt: skip
PLAN = Plan.from_dict(
    {
        "key": "id",
        "attributes": {
            NASTY: {"role": "quasi-identifier", "hierarchy": {"bands": [2, 6]}, "limit": {"level": 1}},
            "sex": "quasi-identifier",
            "ill": "sensitive",
        },
        "privacy": {"k": 3},
        "withhold": "50%",
    }
)


def maintained(folder: Path) -> Any:
    return hr.create_release(TABLE, PLAN, folder / "store")


RESULTS: dict[str, Callable[[Path], Any]] = {
    "release": lambda folder: hr.anonymize(TABLE, PLAN),
    "explanation": lambda folder: hr.explain(TABLE, PLAN),
    "lattice": lambda folder: hr.lattice(TABLE, PLAN),
    "weights": lambda folder: hr.weights(TABLE, PLAN),
    "leave out": lambda folder: hr.leave_out(TABLE, PLAN),
    "comparison": lambda folder: hr.compare(TABLE, PLAN, k=[3, 25], methods=["plan"]),
    "certificate": lambda folder: hr.bound(TABLE, PLAN, effort="1s"),
    "proposed limits": lambda folder: hr.propose_limits(TABLE, PLAN.replace(privacy={"k": 2})),
    "assessment": lambda folder: hr.assess(TABLE, columns=[NASTY, "sex"], sensitive=["ill"], require="k=2"),
    "reach": lambda folder: hr.simulate(4, k=3),
    "simulated": lambda folder: simulate_chance(4, 50, 3, 20),
    "plan": lambda folder: PLAN,
    "maintained": maintained,
    "verification": lambda folder: hr.anonymize(TABLE, PLAN).verification or hr.verify(hr.anonymize(TABLE, PLAN)),
    "report": lambda folder: hr.report(hr.anonymize(TABLE, PLAN)),
}
VOID = {"br", "hr", "img", "meta", "link", "input", "col"}


class Tags(HTMLParser):
    """The tags of a page, which must close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("result", RESULTS)
def test_every_result_shows_itself(result: str, tmp_path: Path) -> None:
    found = RESULTS[result](tmp_path)
    tags = Tags()
    tags.feed(found._repr_html_())
    tags.close()
    assert tags.open == []
    assert tags.seen & {"table", "iframe"}
    assert "b" not in tags.seen
    if hasattr(found, "close"):
        found.close()


def test_long_tables_say_how_much_more_there_is() -> None:
    from hedgerow.outside.notebook import html_table

    shown = html_table("", ["n"], ([number] for number in range(25)))
    assert shown.count("<tr>") == 21
    assert "… and 5 more" in shown
