"""From a project of ARX to a plan folder, with a list of what has no counterpart here."""

from __future__ import annotations

import codecs
import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.anonymization.lattice.space import MOST_NODES
from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.evaluation.arx.archive import DATA
from hedgerow.evaluation.arx.criteria import ROLES, objective_of, privacy_of
from hedgerow.evaluation.arx.notes import notes_on, notes_on_levels
from hedgerow.outside import sandbox
from hedgerow.outside.outputs import new_folder
from hedgerow.plan import Plan
from hedgerow.plan.check_levels import known_height
from hedgerow.plan.write import plan_to_yaml

TASK = "hedgerow.evaluation.arx.archive:read"
PLAN, NOTES, DATA_FILE = "plan.yaml", "notes.txt", "data.csv"


@dataclass(frozen=True)
class FromArx:
    """What became of a project.

    Attributes
    ----------
    plan
        The plan.
    levels
        The levels that ARX chose, by quasi-identifier, where the project says so; else empty.
    notes
        What has no counterpart, or is done differently; each a sentence.
    """

    plan: Plan
    levels: Mapping[str, int]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"plan": self.plan.to_dict(), "levels": dict(self.levels), "notes": list(self.notes)}


def plan_from_arx(project: str | Path, output: str | Path, *, levels: bool = False, data: bool = True) -> FromArx:
    """Read a project of ARX into a folder with a plan, its hierarchies, its data, and notes on what differs.

    Nothing in the project is run: of its Java objects nothing is read.

    Parameters
    ----------
    project
        A ``.deid`` file.
    output
        Folder to make: ``plan.yaml``, a ``hierarchy-….csv`` for each, ``data.csv`` (mode 0600) and ``notes.txt``.
    levels
        Whether the plan asks for the levels that ARX chose, in the stead of a search.
    data
        Whether the data in the project is written, too.

    Raises
    ------
    DataError
        If it is no project of ARX, or takes more room than its size allows.
    PlanError
        If its hierarchies cannot be read here.
    """
    target = Path(output)
    with (
        sandbox.run(TASK, {"place": str(project), "data": data}, [project], what="The project") as answer,
        new_folder(target, False, frozenset(), "the plan") as folder,
    ):
        told = answer.facts
        files = _file_names(told["columns"], told["entries"])
        encoding = _write_files(answer, folder, files)
        chosen = _chosen(told)
        if levels and not chosen:
            message = "The project does not say which levels ARX chose."
            raise DataError(Problem("usage", message, str(project), "leave out --levels: they are then searched"))
        asked = _asked(told, files, encoding)
        plan = _checked(asked, folder, str(project))
        too_many = _nodes(plan) > MOST_NODES
        if levels or (chosen and too_many):
            asked["method"] = {**asked["method"], "levels": chosen}
        elif too_many:
            asked["method"] = "cluster"
        plan = _checked(asked, folder, str(project))
        notes = (*notes_on(told), *notes_on_levels(bool(chosen), levels, too_many))
        (folder / PLAN).write_text(plan_to_yaml(asked), encoding="utf-8")
        (folder / NOTES).write_text("".join(f"- {note}\n" for note in notes), encoding="utf-8")
    return FromArx(plan, chosen, notes)


def _checked(asked: Mapping[str, Any], folder: Path, project: str) -> Plan:
    try:
        return Plan.from_dict(asked, folder)
    except PlanError as error:
        raise PlanError(dataclasses.replace(problem, place=project) for problem in error.problems) from None


def _nodes(plan: Plan) -> int:
    return math.prod(1 + (known_height(plan.attributes[name]) or 1) for name in plan.quasi_identifiers)


def _file_names(columns: list[dict[str, Any]], entries: list[str]) -> dict[str, str]:
    """Name the files that are written, by their names in the archive; none of these is used as a path."""
    names = {}
    for number, column in enumerate(columns, 1):
        if column["hierarchy"] in entries:
            plain = re.sub(r"[^A-Za-z0-9]+", "-", column["name"]).strip("-").lower()[:40]
            names[column["hierarchy"]] = f"hierarchy-{number:02}{'-' if plain else ''}{plain}.csv"
    return {**names, **({DATA: DATA_FILE} if DATA in entries else {})}


def _write_files(answer: Any, folder: Path, files: Mapping[str, str]) -> str:
    """Write what the child found, and return the encoding of the data."""
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    for batch in answer.batches():
        for name, piece in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            path = folder / files[name]
            with path.open("ab") as file:
                file.write(piece)
            if name == DATA and encoding == "utf-8":
                path.chmod(0o600)
                try:
                    decoder.decode(piece)
                except UnicodeDecodeError:
                    encoding = "cp1252"
    return encoding


def _asked(told: Mapping[str, Any], files: Mapping[str, str], encoding: str) -> dict[str, Any]:
    data = {"delimiter": told["separator"], "quote": told["quote"]}
    weights = dict(told["weights"])
    differ = len({float(weight) for weight in weights.values()}) > 1
    attributes = {}
    for column in told["columns"]:
        weight = float(weights.get(column["name"], 0)) if differ else 0
        attributes[column["name"]] = _attribute(column, files, weight)
    privacy = privacy_of(told["criteria"]).privacy
    asked: dict[str, Any] = {
        "data": {**data, "encoding": encoding} if encoding != "utf-8" else data,
        "attributes": attributes,
        "privacy": {"k": 2, **privacy},
        "method": {"name": "lattice", "objective": objective_of(told["metric"])[0]},
    }
    if share := float(told["most_withheld"]):
        asked["withhold"] = f"{share * 100:.6f}".rstrip("0").rstrip(".") + "%"
    return asked


def _attribute(column: Mapping[str, Any], files: Mapping[str, str], weight: float) -> dict[str, Any]:
    found: dict[str, Any] = {"role": ROLES.get(column["type"], "identifier")}
    hierarchy = files.get(column["hierarchy"])
    if hierarchy is not None and found["role"] in ("quasi-identifier", "sensitive"):
        found["hierarchy"] = {"file": hierarchy}
    if found["role"] == "quasi-identifier":
        if hierarchy is None:
            found["limit"] = {"level": 0}
        elif column["max"].isdigit():
            found["limit"] = {"level": int(column["max"])}
        if weight:
            found["weight"] = weight
    return found


def _chosen(told: Mapping[str, Any]) -> dict[str, int]:
    """Return the levels that ARX chose, if they fit the columns."""
    quasi = (column for column in told["columns"] if ROLES.get(column["type"]) == "quasi-identifier")
    searched = [column for column in quasi if column["aggregated"] is None]
    if told["best"] is None or len(told["best"]) != len(searched):
        return {}
    return {column["name"]: level for column, level in zip(searched, told["best"], strict=True)}
