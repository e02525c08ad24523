"""Releases that are reported on, and what a page holds."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa

import hedgerow as hr

QI = "quasi-identifier"
EVIL = "<script>alert('x')</script>\"&<b>"
TREE = {"*": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}}
ATTRIBUTES: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": QI, "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 2}},
    "city": {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas", "Nebraska"]},
    "income": {"role": QI, "intervals": "free"},
    "illness": "sensitive",
    "note": "other",
}
VOID = {"meta", "link", "br", "img", "hr", "input"}


def people(count: int = 200) -> pa.Table:
    draw = random.Random(5)
    return pa.table(
        {
            "name": [f"Quasimodo{i}" for i in range(count)],
            "age": [str(draw.randint(18, 70)) for _ in range(count)],
            "city": [draw.choice(["Wichita", "Topeka", "Lincoln", "Omaha"]) for _ in range(count)],
            "income": [str(draw.randint(0, 1000)) for _ in range(count)],
            "illness": [draw.choice(["flu", "cold", "asthma"]) for _ in range(count)],
            "note": [draw.choice("xyz") for _ in range(count)],
        }
    )


def plan(attributes: dict[str, Any] = ATTRIBUTES, k: int = 4, **more: Any) -> hr.Plan:
    return hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": k, **more.pop("privacy", {})}, **more})


PLANS = {
    "cluster": plan(),
    "diverse": plan(privacy={"p": 2, "alpha": {"illness": 0.9}}, withhold="50%"),
    "lattice": plan({**ATTRIBUTES, "income": {"role": QI, "hierarchy": {"bands": [100, 500]}}}, method="lattice", withhold="20%"),
    "rules": plan(
        method="utility",
        rules=[{"attribute": "income", "keep_apart": [400, 500]}, {"attribute": "city", "keep_apart": ["Wichita", "Omaha"]}],
    ),
    "suppress": plan(method={"name": "utility", "suppress": True}, missing="matches-any", k=6),
    "ignored": plan(method={"name": "cluster", "limits": "ignore"}),
    "person": plan(person="name", k=3),
    "bare": plan({"city": QI}, 2, republish="gated", seed=7),
}  # fmt: skip


class Page(HTMLParser):
    """What a page holds: its texts, its numbers, and whether every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.facts: dict[str, set[str]] = {}
        self.risks: dict[str, set[str]] = {}
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.words = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if "data-fact" in given:
            self.facts.setdefault(given["data-fact"], set()).add(given["value"])
        if "data-risk" in given:
            self.risks.setdefault(given["data-risk"], set()).add(given["value"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if "style" not in self.open:
            self.words += text
