"""Whatever a plan can say can be said on a screen: every key has a control, or a reason why it needs none.

A new key of plans goes to ``CONTROLS`` with the name of its control, or to ``NEED_NONE`` with the reason. A control that
shows only with some table, plan or method goes on a page of ``shown`` that has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from hedgerow.plan.concepts import METHODS
from hedgerow.plan.grammar import grammar
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.studio.components.hierarchy_builder import HierarchyBuilder
from hedgerow.studio.components.level_worths import LevelWorths
from hedgerow.studio.components.method_options import MethodOptions
from hedgerow.studio.components.reading_card import show_reading_card
from hedgerow.studio.pages import data, limits, promise, run
from hedgerow.studio.sessions import Session
from tests.cases.messy_export import write_messy_export

POINT = ("at", "quantile", "fewest")
CONTROLS = {
    **{f"data.{key}": f"read-{key}" for key in ("delimiter", "encoding", "quote", "header", "decimal", "thousands")},
    **{f"data.{key}": f"read-{key}" for key in ("dates", "missing", "missing_in", "sheet", "labels", "output")},
    "key": "key",
    "person": "person",
    "weight.column": "weight",
    "unit.column": "unit",
    "unit.same": "unit-same",
    "unit.order": "unit-order",
    "attributes.role": "role-PLZ",
    "attributes.title": "title-PLZ",
    **{f"attributes.hierarchy.{kind.name}": "builder-kind" for kind in HIERARCHY_KINDS if kind.name != "file"},
    "attributes.hierarchy.length": "builder-length",
    "attributes.hierarchy.form": "builder-form",
    "attributes.intervals": "builder-kind",
    "attributes.snap": "builder-snap",
    "attributes.unknown": "builder-unknown",
    "attributes.numeric": "builder-numeric",
    **{f"attributes.treat.{end}.{key}": f"treat-{end}-PLZ" for end in ("top", "bottom") for key in POINT},
    **{f"attributes.treat.{key}": f"treat-{key}-PLZ" for key in ("round", "dates")},
    "attributes.limit.level": "level",
    "attributes.limit.nodes": "LimitTree",
    "attributes.limit.cuts": "CutLine",
    "attributes.limit.width": "CutLine",
    "attributes.limit.values": "builder-values",
    "attributes.publish": "builder-publish",
    "attributes.decimals": "builder-decimals",
    "attributes.weight": "alike-weight-Diagnose",
    "attributes.level": "alike-level-Diagnose",
    "privacy.k": "k",
    "privacy.k_map": "k-map",
    "privacy.presence.at_least": "presence-least",
    "privacy.presence.at_most": "presence-most",
    "population.file": "population-place",
    "population.columns": "population-by-PLZ",
    "population.count": "population-count",
    "privacy.p": "p",
    "privacy.l.distinct": "l-form",
    "privacy.l.entropy": "l-form",
    "privacy.l.recursive": "l-form",
    "privacy.t.at_most": "t",
    "privacy.t.distance": "t-distance",
    "privacy.alpha": "alpha",
    "privacy.beta.at_most": "beta",
    "privacy.beta.enhanced": "beta-enhanced",
    "privacy.delta": "delta",
    "method.name": "method",
    "method.levels": "list-nodes",
    "method.certify": "certify",
    **{f"method.{key}": f"option-{key}" for key in ("limits", "objective", "improve", "search", "block", "suppress")},
    **{f"method.{key}": f"option-{key}" for key in ("overlap", "join", "split")},
    "withhold.at_most": "withhold",
    "rules.name": "rule-name",
    "rules.attribute": "rule-column",
    "rules.keep_apart": "rule-first",
    "rules.importance": "rule-importance",
    "weights": "weight-PLZ",
    "research_value.base": "option-base",
    "research_value.lambda": "option-lambda",
    "research_value.levels": "worths-PLZ",
    "missing": "missing",
    "republish": "republish",
    "drift.advise_above": "drift",
    "threshold": "threshold",
    "seed": "seed",
}
FREE = "Gewicht (kg)"
NEED_NONE = {
    "attributes.hierarchy.bottom": "as attributes.treat.bottom.at, from which it is filled in",
    "attributes.hierarchy.top": "as attributes.treat.bottom.at, from which it is filled in",
    "attributes.treat.form": "days are written as data.dates says",
    "data.format": "the ending of a file says it, and only files with an ending that is known are taken",
    "attributes.hierarchy.file": "a file that is brought is written out as a tree, so that the plan needs no other file",
    "unit.publish": "there is one way so far",
}


def keys_of(part: type[BaseModel], above: str = "") -> Iterator[str]:
    """Yield the keys that a part of a plan can have, with those of its own parts."""
    for name, field in part.model_fields.items():
        key = f"{above}{field.alias or name}"
        below = next(_parts(field.annotation), None)
        yield from (key,) if below is None else keys_of(below, f"{key}.")


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of parts that stand in an annotation, however they are wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of all controls, on screens of the messy export and of a workbook with labels."""
    pytest.importorskip("nicegui")
    from tests.studio.offline import controls_of, session_at_work

    folder = tmp_path_factory.mktemp("controls")
    table, found = write_messy_export(folder / "export.csv"), set[str]()
    with session_at_work(table) as session:
        bench = session.bench
        session.kept.data_view = "cards"
        _decide(session)
        for page in (data, promise):
            found |= controls_of(session, page.show)
        (folder / "register.csv").write_text("PLZ\n10115\n")
        assert not bench.count_in(str(folder / "register.csv"))
        found |= controls_of(session, promise.show)
        assert not bench.count_nowhere()
        for column in ("PLZ", FREE):
            found |= controls_of(session, partial(limits.show, column))
        for kind in ("flat", "free", *(kind.name for kind in HIERARCHY_KINDS if kind.rule is not None)):
            found |= controls_of(session, partial(_builder, session, kind))
        assert not bench.change(unit=None)
        assert not bench.change_attribute(FREE, intervals=None)
        for method in METHODS:
            assert not bench.change(method=method.name, missing="matches-any")
            found |= controls_of(session, lambda: MethodOptions(bench, _nothing))
        assert not bench.change(method="lattice")
        found |= controls_of(session, run.show)
        found |= controls_of(session, lambda: LevelWorths(bench, _nothing).load())
    for labelled in (_workbook(folder / "people.xlsx"), _with_labels(folder / "people.sav")):
        with session_at_work(labelled) as session:
            found |= controls_of(session, partial(show_reading_card, session.bench, _nothing))
    return found


def _decide(session: Session) -> None:
    """Let the plan have what some controls show with only."""
    bench = session.bench
    assert bench.plan is not None
    attributes = {**bench.plan.to_dict()["attributes"], "Diagnose": {"role": "sensitive"}, "Mandant": {"role": "other"}}
    attributes[FREE] = {"role": "quasi-identifier", "intervals": "free"}
    assert not bench.change(attributes=attributes, unit={"column": "Patientennummer"}, weight="Mandant")


def _workbook(path: Path) -> Path:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(path) as book:
        for name in ("2023", "2024"):
            sheet = book.add_worksheet(name)
            for row in range(40):
                sheet.write_row(row, 0, ["age", "sex"] if not row else [20 + row, "mf"[row % 2]])
    return path


def _with_labels(path: Path) -> Path:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    table = pandas.DataFrame({"age": [20.0 + row for row in range(40)], "sex": [float(row % 2) for row in range(40)]})
    pyreadstat.write_sav(table, path, variable_value_labels={"sex": {0.0: "m", 1.0: "f"}})
    return path


def _builder(session: Session, kind: str) -> None:
    first = replace(session.bench.first_wish("PLZ"), kind=kind)
    HierarchyBuilder(session, "PLZ", first, None, lambda *_: _nothing())


async def _nothing() -> Any:
    return ()


def test_every_key_of_a_plan_has_a_control_or_a_reason_to_need_none() -> None:
    known, told = set(keys_of(grammar())), {*CONTROLS, *NEED_NONE}
    assert sorted(known - told) == [], "new keys: see the first lines of this file"
    assert sorted(told - known) == [], "keys that plans do not have any more"
    assert sorted(set(CONTROLS) & set(NEED_NONE)) == []
    assert all(NEED_NONE.values())


@pytest.mark.parametrize("key", CONTROLS)
def test_the_control_of_a_key_is_on_a_screen(key: str, shown: set[str]) -> None:
    assert CONTROLS[key] in shown
