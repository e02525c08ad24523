"""``hedgerow demo``: the main job on made-up people, from nothing to a checked release."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType
from rich.rule import Rule

from hedgerow.anonymization.lattice import Patience
from hedgerow.api import anonymize, explain, verify
from hedgerow.cli.printing import show, tell
from hedgerow.evaluation.synthetic import Synthetic, census, clinic, deaths, write_demo
from hedgerow.evaluation.synthetic.attributes import FEWEST, FOLDER
from hedgerow.evaluation.synthetic.census import ATTRIBUTES as CENSUS_ATTRIBUTES
from hedgerow.evaluation.synthetic.deaths import ATTRIBUTES as DEATHS_ATTRIBUTES
from hedgerow.outside.outputs import new_folder
from hedgerow.outside.outputs.moment import rehearsal
from hedgerow.reports.reporting import report
from hedgerow.reports.terminal.release import explanation_summary, release_summary, verification_summary
from hedgerow.reports.terminal.report import risk_summary


@dataclass(frozen=True)
class Kind:
    """A kind of made-up table.

    Attributes
    ----------
    make
        Makes it up.
    people
        What is in it.
    files
        What is written into the folder, beside the plan, the release and its report.
    most_attributes
        How many columns it can have; None if they are always the same.
    """

    make: Callable[..., Synthetic]
    people: str
    files: tuple[str, ...]
    most_attributes: int | None = None


REPORT = "release-report.html"
TYPED = ("my-release", "my-release-report.html")
"""What there is besides once somebody has typed what the demo says to type next: replaced with the demo."""
KINDS = {
    "clinic": Kind(clinic, "patients", ("patients.csv", "location.csv")),
    "census": Kind(census, "persons", ("census.csv", FOLDER), len(CENSUS_ATTRIBUTES)),
    "deaths": Kind(deaths, "death certificates", ("deaths.csv", FOLDER), len(DEATHS_ATTRIBUTES)),
}


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    folder: Path
    table: Path
    kind: Kind
    explanation: Mapping[str, Any]
    facts: Mapping[str, Any]
    verification: Mapping[str, Any]
    verdict: Mapping[str, Any]
    risks: Mapping[str, Any] | None

    def show(self) -> None:
        """Tell the story step by step, with the commands that do the same."""
        data, plan, release = self.table, self.folder / "plan.yaml", self.folder / "release"
        a, b, c = (shlex.quote(str(path)) for path in (data, plan, release))
        steps: list[tuple[str, Callable[..., RenderableType], tuple[Any, ...]]] = [
            (f"hedgerow explain {a} {b}", explanation_summary, (self.explanation,)),
            (f"hedgerow anonymize {a} {b} -o {c} --replace", release_summary, (self.facts, self.verdict)),
            (f"hedgerow verify {c} --original {a}", verification_summary, (self.verification, self.verdict)),
            (f"hedgerow report {c} --replace", risk_summary, (self.facts, self.risks)),
        ]
        for command, draw, found in steps:
            show(lambda: Rule(style="dim"))
            tell("[bold]$ {}\n", command)
            show(draw, *found)
            tell("")
        show(lambda: Rule(style="dim"))
        tell("[bold]where to look\n")
        for path, what in (
            (data, f"the made-up {self.kind.people}"),
            (plan, "what their owner asked, with comments"),
            (release / "data.csv", "what others may use"),
            (release / "facts.json", "what is true of it"),
            (self.folder / REPORT, "all of this on a page, to read, print and sign"),
        ):
            tell("  {}  {}", f"{path!s:<36}", what)
        tell("\n[bold]what to type next\n")
        for line in self.next_commands():
            tell("  {}", line)

    def next_commands(self) -> list[str]:
        """Return commands that work as they are, typed into a shell where the demo was run."""
        data = self.table.name
        lines = [*_activating(), f"cd {shlex.quote(str(self.folder))}"]
        lines += [f"hedgerow explain {data} plan.yaml"]
        lines += [f"hedgerow anonymize {data} plan.yaml -o my-release", "hedgerow verify my-release"]
        if find_spec("nicegui") is not None:
            lines += [f"hedgerow studio {data} plan.yaml"]
        return lines


def _activating() -> list[str]:
    """Return what makes a shell find the program that runs: nothing, if it does already."""
    here = Path(sys.prefix) / "bin" / "hedgerow"
    activate = Path(sys.prefix) / "bin" / "activate"
    found = shutil.which("hedgerow")
    if (found is not None and Path(found).absolute() == here) or not activate.is_file():
        return []
    near = activate.is_relative_to(Path.cwd())
    return [f"source {shlex.quote(str(activate.relative_to(Path.cwd()) if near else activate))}"]


@dataclass(frozen=True)
class DemoWish:
    """What to make up. Wishes that cannot be met are refused as wrong options of the command."""

    kind: str = "clinic"
    records: int | None = None
    attributes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise typer.BadParameter(f"must be one of {', '.join(KINDS)}", param_hint="--kind")
        if self.attributes is None:
            return
        most = KINDS[self.kind].most_attributes
        if most is None:
            message = f"is not for {self.kind}, which always has the same columns"
            raise typer.BadParameter(message, param_hint="--attributes")
        if not FEWEST <= self.attributes <= most:
            message = f"must be from {FEWEST} to {most} for {self.kind}"
            raise typer.BadParameter(message, param_hint="--attributes")

    def make(self) -> Synthetic:
        """Make up the table."""
        wished = {"records": self.records, "attributes": self.attributes}
        given = {name: number for name, number in wished.items() if number is not None}
        return KINDS[self.kind].make(seed=self.seed, **given)


def run_demo(
    folder: Path,
    wish: DemoWish,
    replace: bool,
    progress: Callable[[str, int, int], None],
    patience: Patience | None = None,
) -> Demo:
    """Make up a table in a folder and release it."""
    kind = KINDS[wish.kind]
    own = frozenset({*kind.files, "plan.yaml", "release", REPORT, *TYPED})
    with new_folder(folder, replace, own, "the demo") as inside, rehearsal():
        progress(f"making up {kind.people}", 0, 0)
        data, plan = write_demo(inside, wish.make())
        progress("explaining", 0, 0)
        found = explain(data, plan)
        release = anonymize(data, plan, inside / "release", progress=progress, patience=patience)
        progress("checking the release", 0, 0)
        checked = verify(inside / "release", original=data)
        told = report(inside / "release", inside / REPORT, progress=progress)
        for check in (checked, told.verification):
            check.raise_if_broken()
    verdict = told.verdict.to_dict()
    return Demo(folder, folder / data.name, kind, found.to_dict(), release.told, checked.to_dict(), verdict, told.risks)
