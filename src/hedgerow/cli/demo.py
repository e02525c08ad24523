"""``hedgerow demo``: the main job on made-up patients, from nothing to a checked release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule

from hedgerow.engines.folder import check_free
from hedgerow.reports.terminal import explanation_summary, facts_summary, verification_summary
from hedgerow.synthetic import clinic, write_demo
from hedgerow.workflow import anonymize, explain, verify

DEMO_FILES = frozenset({"patients.csv", "plan.yaml", "location.csv", "release"})


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    folder: Path
    explanation: Mapping[str, Any]
    facts: Mapping[str, Any]
    verification: Mapping[str, Any]

    def show(self, console: Console) -> None:
        """Tell the story step by step, with the commands that do the same."""
        data, plan, release = self.folder / "patients.csv", self.folder / "plan.yaml", self.folder / "release"
        steps: list[tuple[str, Any]] = [
            (f"hedgerow explain {data} {plan}", explanation_summary(self.explanation)),
            (f"hedgerow anonymize {data} {plan} -o {release}", facts_summary(self.facts)),
            (f"hedgerow verify {release} --original {data}", verification_summary(self.verification)),
        ]
        for command, summary in steps:
            console.print(Rule(style="dim"))
            console.print(f"[bold]$ {command}\n", highlight=False, soft_wrap=True)
            console.print(summary)
            console.print()
        console.print(Rule(style="dim"))
        console.print("[bold]where to look\n")
        for path, what in (
            (data, "the made-up patients"),
            (plan, "what their owner asked, with comments"),
            (release / "data.csv", "what others may use"),
            (release / "facts.json", "what is true of it"),
        ):
            console.print(f"  {path!s:<36}  {what}", highlight=False, soft_wrap=True)


def run_demo(folder: Path, records: int, seed: int, replace: bool, progress: Callable[[str, int, int], None]) -> Demo:
    """Make up a clinic in a folder and release it."""
    check_free(folder, replace, DEMO_FILES)
    folder.mkdir(parents=True, exist_ok=True)
    progress("making up patients", 0, 0)
    data, plan = write_demo(folder, clinic(records, seed))
    found = explain(data, plan)
    release = anonymize(data, plan, folder / "release", replace=replace, progress=progress)
    checked = verify(folder / "release", original=data)
    return Demo(folder, found.to_dict(), release.facts, checked.to_dict())
