"""A privacy model, a method and a measure that are registered in one place are found everywhere, and make releases.

Each toy stands once in this file, as a new one would stand once in the sources; a model and a measure have their
independent side in the verifier, found by the same name.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.anonymization.clustering import Cells
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.cli.app import app
from hedgerow.cli.described import complete_methods
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan.concepts import (
    MEASURES,
    METHODS,
    PRIVACY_MODELS,
    MeasureDescriptor,
    MethodDescriptor,
    ModelDescriptor,
    Variant,
)
from hedgerow.plan.model import Count
from hedgerow.plan.schema import plan_schema
from hedgerow.privacy import Tally
from hedgerow.privacy.models.p_sensitive import PSensitive
from hedgerow.studio.pages import promise as promise_page
from hedgerow.studio.pages import run as run_page
from hedgerow.types import BoolArray, Steps
from hedgerow.verification.promises import models as verified
from hedgerow.verification.reading import stated
from tests.docs import tables

# -- a privacy model: at least so many values that more than one person has --------------------------------------------


@dataclass(frozen=True)
class Shared:
    """At least ``n`` different values in every group; for kernels it is what p-sensitivity is."""

    n: int
    survives_growth: ClassVar[bool] = True

    def holds(self, tally: Tally) -> BoolArray:
        met: BoolArray = tally.distinct >= self.n
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        return PSensitive(self.n).kernel_code()


MODEL = ModelDescriptor(
    name="toy",
    title="toy diversity",
    help="at least so many values, as a test wants it",
    order=15,
    form=Count,
    short={"type": "integer"},
    make=lambda asked, column: Shared(asked),
    said=lambda asked: f"toy = {asked}",
    least_values=int,
    ask="values of the toy",
)

# -- a method: every block is one group ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class WholeBlocks:
    """Makes one group of every block."""

    def __call__(self, microdata: Microdata, *, cells: Cells, progress: Steps | None = None) -> Recoding:
        return recoding_of(microdata, np.where(cells.failing[cells.cell_of], -1, cells.cell_of))


METHOD = MethodDescriptor(
    name="blocks",
    title="whole blocks",
    help="makes one group of every block",
    order=15,
    variants=(Variant("blocks", "Makes one group of every block"),),
    make=lambda microdata, plan, requirement, threads, objective: WholeBlocks(),
    objectives=("loss",),
)

# -- a measure: how many groups there are for a record ------------------------------------------------------------------

MEASURE = MeasureDescriptor(
    name="groups_per_record",
    title="groups per record",
    help="groups / records, as a test wants it",
    order=85,
    of_release=lambda measured: Fraction(measured.recoding.groups, measured.microdata.records),
    compared=7,
    objective="toy-steps",
    more_is_better=True,
    cost_of_nodes=lambda tree, leaves: (np.minimum(tree.heights, 1), 1),
)
FACT = stated.Fact("groups_per_record", "number", "word", "groups / records")

PEOPLE = pa.table(
    {
        "age": [str(20 + i % 40) for i in range(120)],
        "ward": ["north", "south"] * 60,
        "illness": [f"illness {i % 7}" for i in range(120)],
    }
)
ASKED: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}},
        "ward": "quasi-identifier",
        "illness": "sensitive",
    },
    "privacy": {"k": 4},
}


@contextlib.contextmanager
def verified_model(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the verifier its own side of the model."""
    demands: Mapping[str, Any] = {**verified.DEMANDS, "toy": lambda asked, attribute: verified.DifferentValues(asked)}
    patch.setattr(verified, "DEMANDS", demands)
    yield


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(stated, "FACTS", (*stated.FACTS, FACT))
    monkeypatch.setattr(stated, "BY_NAME", {**stated.BY_NAME, FACT.name: FACT})
    with (
        PRIVACY_MODELS.registered(MODEL),
        METHODS.registered(METHOD),
        MEASURES.registered(MEASURE),
        verified_model(monkeypatch),
    ):
        yield


def help_of(*words: str) -> str:
    found = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "300"})
    assert found.exit_code == 0
    return " ".join(found.stdout.split())


def test_nobody_knows_a_toy_that_is_not_registered() -> None:
    with pytest.raises(hr.PlanError, match="Unknown key 'toy'"):
        hr.Plan.from_dict({**ASKED, "privacy": {"k": 4, "toy": 2}})
    with pytest.raises(hr.PlanError, match=r"'method\.name' must be"):
        hr.Plan.from_dict({**ASKED, "method": "blocks"})


@pytest.mark.usefixtures("toys")
def test_toys_are_words_of_the_schema() -> None:
    parts = plan_schema()["$defs"]
    assert parts["Privacy"]["properties"]["toy"]["description"] == MODEL.help
    method = parts["Method"]["anyOf"]
    assert "blocks" in method[0]["properties"]["name"]["enum"]
    assert "blocks" in method[1]["enum"]
    assert "toy-steps" in method[0]["properties"]["objective"]["enum"]


@pytest.mark.usefixtures("toys")
def test_toys_are_checked_in_plans(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps({**ASKED, "privacy": {"k": 4, "toy": 5}, "method": {"name": "blocks", "split": 2000}}))
    found = CliRunner().invoke(app, ["plan", "check", str(plan), "--json"])
    problems = [problem["message"] for problem in json.loads(found.stdout)["problems"]]
    assert "'privacy.toy' asks for 5 different values in groups of k = 4." in problems
    assert "'method.split' goes with method cluster only." in problems
    plan.write_text(json.dumps({**ASKED, "privacy": {"k": 4, "toy": {"illness": 3}}, "method": "blocks"}))
    assert CliRunner().invoke(app, ["plan", "check", str(plan)]).exit_code == 0


@pytest.mark.usefixtures("toys")
def test_toys_are_in_help_and_completion() -> None:
    assert "toy (toy diversity)" in help_of("plan", "check")
    assert "blocks" in help_of("plan", "check")
    assert "toy-steps" in help_of("plan", "check")
    assert "quick, thorough, longest" in help_of("compare")
    assert "steps, microaggregation, even, blocks, partition" in help_of("compare")
    assert "groups per record" in help_of("compare")
    assert complete_methods("quick,bl") == ["quick,blocks"]


@pytest.mark.usefixtures("toys")
def test_toys_are_in_the_reference() -> None:
    assert "| `toy` | toy diversity | at least so many values, as a test wants it |" in tables.privacy_models()
    assert "`blocks`" in tables.methods()
    assert "`groups_per_record`" in tables.measures()


@pytest.mark.usefixtures("toys")
def test_toys_are_choices_of_the_studio() -> None:
    assert run_page.offered()["blocks"] == "blocks — Makes one group of every block"
    assert promise_page.offered()[MODEL] == "values of the toy (toy)"


@pytest.mark.usefixtures("toys")
def test_a_release_is_made_by_toys_and_proven(tmp_path: Path) -> None:
    plan = hr.Plan.from_dict({**ASKED, "privacy": {"k": 4, "toy": 3}, "method": "blocks"})
    release = hr.anonymize(PEOPLE, plan, tmp_path / "release")
    facts = json.loads((tmp_path / "release" / "facts.json").read_text())
    assert facts["method"] == "blocks"
    assert facts["privacy"] == {"k": 4, "toy": 3}
    assert facts["groups"] == 1
    assert facts["groups_per_record"] == round(1 / 120, 12)
    assert release.scores["groups_per_record"] == round(1 / 120, 12)
    found = hr.verify(tmp_path / "release", PEOPLE)
    assert found.kept
    assert next(promise for promise in found.promises if promise.name == "toy").asked == 3
    page = hr.report(tmp_path / "release").html
    assert "toy = 3" in page


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize("method", ["cluster", "quick", "lattice"])
def test_methods_that_are_there_keep_the_toy_promise(method: str) -> None:
    improve = {"improve": "quick"} if method == "quick" else {}
    name = "cluster" if method == "quick" else method
    goal = {"objective": "toy-steps"}
    chosen = replace(METHODS[name], objectives=(*METHODS[name].objectives, "toy-steps"))
    others = tuple(chosen if one.name == name else one for one in METHODS.all)
    before, METHODS._found = METHODS._found, others
    try:
        plan = hr.Plan.from_dict({**ASKED, "privacy": {"k": 4, "toy": 4}, "method": {"name": name, **improve, **goal}})
        facts = hr.anonymize(PEOPLE, plan).facts
    finally:
        METHODS._found = before
    assert facts["groups"] >= 1
    if name == "lattice":
        assert facts["score"] == facts["groups_per_record"]


@pytest.mark.usefixtures("toys")
def test_a_broken_toy_promise_is_found(tmp_path: Path) -> None:
    plan = hr.Plan.from_dict({**ASKED, "privacy": {"k": 4, "toy": 3}})
    hr.anonymize(PEOPLE, plan, tmp_path / "release")
    data = tmp_path / "release" / "data.csv"
    lines = data.read_text().splitlines()
    data.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",illness 1" for line in lines[1:])]) + "\n")
    broken = {promise.name for promise in hr.verify(tmp_path / "release").broken}
    assert "toy" in broken


@pytest.mark.usefixtures("toys")
def test_toys_are_compared() -> None:
    found = hr.compare(PEOPLE, hr.Plan.from_dict(ASKED), methods=["cluster", "blocks"]).to_dict()
    assert [run["method"] for run in found["runs"]] == ["cluster", "blocks"]
    assert all("groups_per_record" in run["measures"] for run in found["runs"])


def test_a_model_that_the_verifier_does_not_know_is_never_released(tmp_path: Path) -> None:
    with PRIVACY_MODELS.registered(MODEL):
        plan = hr.Plan.from_dict({**ASKED, "privacy": {"k": 4, "toy": 3}})
        with pytest.raises(hr.BrokenPromise, match="toy"):
            hr.anonymize(PEOPLE, plan, tmp_path / "release")
    assert not (tmp_path / "release").exists()
