"""Weights by association from the command line, and their plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow.plan import Plan
from tests.cases.commands import WIDE, Command
from tests.conftest import Run

# ---- weights ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Two columns that tell each other, and one that tells nothing."""
    lines = [f"{40 + i % 2 * 20},{'ab'[i % 2]},{'xy'[i // 2 % 2]}" for i in range(400)]
    (tmp_path / "data.csv").write_text("age,ward,coin\n" + "\n".join(lines) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "attributes:\n  age: {role: quasi-identifier, intervals: free}\n  ward: quasi-identifier\n"
        "  coin: quasi-identifier\nprivacy: {k: 2}\nweights: association\nmethod: utility\n"
    )
    return tmp_path


def test_weights(twins: Path, hedgerow: Run, command: Command) -> None:
    done = hedgerow("weights", "data.csv", "plan.yaml", "--json", cwd=twins)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["columns"] == ["age", "ward", "coin"]
    assert found["numeric"] == {"age": True, "ward": False, "coin": False}
    matrix = found["association"]
    assert [matrix[i][i] for i in range(3)] == [1, 1, 1]
    assert all(matrix[i][j] == matrix[j][i] for i in range(3) for j in range(3))
    assert matrix[0][1] == 1  # the age tells the ward
    assert matrix[0][2] == matrix[1][2] == 0
    assert found["weights"] == {"age": 0.25, "ward": 0.25, "coin": 0.5}
    shown = command("weights", "data.csv", "plan.yaml", cwd=twins, **WIDE)
    assert shown.returncode == 0
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["age", "ward", "coin", "weight"] in lines
    assert ["coin", "0.00", "0.00", "·", "0.500"] in lines


def test_a_release_says_the_weights_it_was_made_with(twins: Path, command: Command) -> None:
    assert command("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=twins).returncode == 0
    plan = Plan.load(twins / "release" / "plan.yaml")
    assert plan.weights is None
    assert {name: float(plan.attributes[name].weight) for name in plan.quasi_identifiers} == {
        "age": 0.25,
        "ward": 0.25,
        "coin": 0.5,
    }


def test_the_plot_of_weights_is_given_numbers(twins: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Any, ...]] = []
    monkeypatch.setattr("hedgerow.reports.charts.plots.check_plot", lambda path: None)
    monkeypatch.setattr("hedgerow.reports.charts.plots.association_plot", lambda *given: drawn.append(given))
    code, printed, _ = command("weights", "data.csv", "plan.yaml", "--plot", "plot.svg", "--json", cwd=twins)
    assert code == 0
    names, matrix, weights, path = drawn[0]
    assert (list(names), str(path)) == (["age", "ward", "coin"], "plot.svg")
    assert matrix == json.loads(printed)["association"]
    assert [float(weight) for weight in weights] == [0.25, 0.25, 0.5]


def test_a_plot_of_weights(twins: Path, hedgerow: Run) -> None:
    done = hedgerow("weights", "data.csv", "plan.yaml", "--plot", "plot.svg", cwd=twins)
    assert (done.returncode, done.stderr) == (0, "")
    assert (twins / "plot.svg").read_text().lstrip().startswith("<svg ")


@pytest.mark.parametrize("words", [("weights", "data.csv", "plan.yaml"), ("compare", "data.csv", "plan.yaml")])
def test_a_plot_in_another_format_is_refused(twins: Path, command: Command, words: tuple[str, ...]) -> None:
    more = ("--method", "utility") if words[0] == "compare" else ()
    code, _, errors = command(*words, *more, "--plot", "plot.pdf", cwd=twins)
    assert code == 2
    assert "plot.pdf: A plot is written as SVG, which browsers" in errors
    assert not (twins / "plot.pdf").exists()
