"""The process of a reader: answers questions about what people brought, one line of JSON for each; see ``reader.py``.

It knows no session and no screen. Every question says all that is needed to answer it, so that a process which was
ended can be started again; the table, its examination and the last outlook are kept only to be fast.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import pyarrow

from hedgerow.errors import DataError, HedgerowError, Problem, kind_and_place
from hedgerow.outside import children, sandbox

LARGEST_PLAN = 8 << 20
LARGEST_HIERARCHY = 32 << 20
MOST_COLUMNS = 2_000
LONGEST_NAME = 300
MOST_NODES = 100_000
"""Nodes of a tree that a screen can draw."""
LONGEST_CELL = 200
PREVIEW_ROWS = 12
BARS = 6
MOST_COMBINATIONS = 20
"""Combinations of columns of which an assessment tells."""
NICER = 5
"""The server goes first where processors are scarce."""

Asked = Mapping[str, Any]
Answer = dict[str, Any]


class TableReading:
    """What was read so far."""

    def __init__(self) -> None:
        self._seen: tuple[str, Any] | None = None
        self._plan: tuple[str, Any] | None = None
        self._encoded: tuple[str, Any] | None = None
        self._under: tuple[str, Any, Any] | None = None
        self._known: tuple[str, dict[str, list[str]]] | None = None

    # -- tables and plans ----------------------------------------------------------------------------------------------

    def examine(self, asked: Asked) -> Answer:
        """Look at a table; ``form`` says how it is written, ``plan_file`` names a plan of the owner's for it."""
        from hedgerow.evaluation.inspecting import inspection_of
        from hedgerow.plan import Plan

        plan = None
        if asked.get("plan_file") is not None:
            plan = Plan.load(asked["plan_file"])
        form = asked.get("form") if plan is None else plan.data.model_dump(mode="json", exclude_unset=True)
        drafts = plan is None and bool(asked.get("draft"))
        seen = self._examined(asked["place"], form, trust_names=not drafts)
        if not seen.format.header and "header" not in (form or {}):  # so it is the next time
            form = {**(form or {}), "header": False}
        _check_width(seen.columns)
        if drafts:
            plan = Plan.loads(seen.to_yaml(), file="draft")
        text = None if asked.get("plan_file") is None else Path(asked["plan_file"]).read_text(encoding="utf-8-sig")
        how = inspection_of(seen, self._sheets(asked["place"], form))
        assumed = [asdict(one) for one in how.assumptions]
        read = {"assumptions": assumed, "sheets": how.sheets, "labelled": bool(seen.notes)}
        taken = None if plan is None else plan.to_dict()
        return {**_told(seen), "read": read, "form": form, "plan": taken, "text": text}

    def plan(self, asked: Asked) -> Answer:
        """Read a plan that somebody brought; it names no files."""
        from hedgerow.plan import Plan

        path = Path(asked["path"])
        if path.stat().st_size > LARGEST_PLAN:
            raise DataError(Problem("too-much", "This file is too large to be a plan.", hint="upload a plan file"))
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise DataError(Problem("yaml", "The plan is not UTF-8 text.", hint="save it as UTF-8")) from None
        return {"plan": Plan.loads(text, file=asked["name"], base=None).to_dict(), "text": text}

    def written(self, asked: Asked) -> Answer:
        """Write a plan into the file that it comes from, with its comments."""
        from hedgerow.plan.commented import with_comments

        base = None if asked["folder"] is None else Path(asked["folder"])
        plan = self._given_plan(asked)
        if asked.get("population") is not None:
            plan = plan.counting_in(asked["population"])
        return {"text": with_comments(asked["text"], plan, base)}

    def store(self, asked: Asked) -> Answer:
        """Look at the history of a maintained release."""
        from hedgerow.studio.stores import look_at

        view = look_at(asked["store"])
        return {**asdict(view), "versions": [asdict(row) for row in view.versions]}

    # -- what a plan comes to ------------------------------------------------------------------------------------------

    def fits(self, asked: Asked) -> Answer:
        """Read the table by a plan, and say nothing if that works."""
        self._microdata(asked)
        return {}

    def outlook(self, asked: Asked) -> Answer:
        """Say what the limits come to."""
        _, outlook = self._looked_ahead(asked)
        found = asdict(replace(outlook, withheld_by_profile=None))
        return {**found, "withheld_by_profile": ()}

    def explanation(self, asked: Asked) -> Answer:
        """Say what each limit costs, and what would help."""
        from hedgerow.anonymization.explanation import explain_limits

        return explain_limits(self._microdata(asked), self._planned(asked)).to_dict()

    def assessment(self, asked: Asked) -> Answer:
        """Say how much the table gives away as it stands, by the columns of the plan."""
        from hedgerow.evaluation.assessing import assess

        found = assess(asked["place"], self._given_plan(asked))
        told = found.to_dict()
        kept = {name: told[name] for name in ("people", "unique", "k", "columns", "parts", "disclosures")}
        return {**kept, "telling": [asdict(one) for one in found.telling[:MOST_COMBINATIONS]]}

    def population_columns(self, asked: Asked) -> Answer:
        """Name the columns of a table of the population."""
        from hedgerow.engines.opening import columns_of

        columns = columns_of(asked["population"], self._given_plan(asked))
        if len(columns) > MOST_COLUMNS or any(len(name) > LONGEST_NAME for name in columns):
            message = f"The population has more than {MOST_COLUMNS:,} columns, or names that are too long."
            raise DataError(Problem("too-much", message, hint="leave some out"))
        return {"columns": columns}

    def population(self, asked: Asked) -> Answer:
        """Count the people of a population whom the records fit as they are."""
        microdata, _ = self._peopled(asked)
        people = microdata.population
        fitting = people.as_they_are(microdata.columns, microdata.planned_profiles)
        return {
            "columns": list(people.asked.columns),
            "people": people.people,
            "left_out": people.left_out,
            "records": microdata.records,
            "fewest": int(fitting.min(initial=people.people)),
            "alone": int(microdata.counts[fitting == 1].sum()),
        }

    def proposed_limits(self, asked: Asked) -> Answer:
        """Propose limits for some columns, so that no more than a share must be withheld."""
        from hedgerow.evaluation.tightening import propose_for

        plan = self._given_plan(asked)
        if asked.get("population") is None:
            plan, microdata, settled = plan.counting_in(None), self._microdata(asked), self._planned(asked)
        else:
            microdata, settled = self._peopled(asked)
        return propose_for(microdata, settled, plan, asked["withhold"], asked["columns"]).to_dict()

    def look(self, asked: Asked) -> Answer:
        """Show a column: its tree with counts, or its numbers; and all columns in short."""
        from hedgerow.microdata import FreeColumn
        from hedgerow.plan.hierarchy import editing
        from hedgerow.plan.hierarchy.numbers import number_label
        from hedgerow.studio.views import numbers_view, step_of, tree_view

        microdata, outlook = self._looked_ahead(asked)
        sizes = {}
        for column in microdata.columns:
            if isinstance(column, FreeColumn):
                sizes[column.name] = f"{len(column.intervals.scaled):,} numbers, free intervals"
            else:
                values = len(editing.of_plan(column.hierarchy).leaf_nodes)
                sizes[column.name] = f"{values:,} values"
        name = asked["column"]
        tree, numbers = tree_view(microdata, outlook, name), numbers_view(microdata, name)
        if tree is not None and len(tree.hierarchy.names) > MOST_NODES:
            message = f"The tree of this column has {len(tree.hierarchy.names):,} nodes, too many to be drawn."
            hint = "give it a hierarchy of fewer values, such as prefixes, or set its limit in a plan file"
            raise DataError(Problem("too-much", message, hint=hint))
        return {
            "tree": None if tree is None else tree.to_dict(),
            "numbers": None if numbers is None else numbers.to_dict(),
            "step": number_label(step_of(microdata, name)),
            "sizes": sizes,
            "examples": self.examples(asked),
        }

    def lifted(self, asked: Asked) -> Answer:
        """Say what a limit is after a change that an explanation proposed."""
        from hedgerow.studio import limit_changes

        column = next(each for each in self._microdata(asked).columns if each.name == asked["column"])
        limit = self._planned(asked).attributes[column.name].limit
        known, left = limit_changes.lifted(column, limit, asked["change"])
        return {"known": known, "limit": left}

    def examples(self, asked: Asked) -> Answer:
        """Say what a value of each column with a hierarchy is on each level; limits make no difference to it."""
        from hedgerow.microdata import TreeColumn
        from hedgerow.reports.level_words import examples_of

        microdata = self._microdata(asked)
        assert self._encoded is not None
        if self._known is None or self._known[0] != self._encoded[0]:
            found = {}
            for place, column in enumerate(microdata.columns):
                if isinstance(column, TreeColumn):
                    labels = examples_of(column.hierarchy, microdata.codes(place), microdata.counts)
                    found[column.name] = [_short(label) for label in labels]
            self._known = self._encoded[0], found
        return self._known[1]

    def levels(self, asked: Asked) -> Answer:
        """Say what a value of a column is on each level of its hierarchy, whatever its role; none if it has none."""
        import numpy as np

        from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
        from hedgerow.reports.level_words import examples_of

        column, plan = self._column(asked), self._given_plan(asked)
        spec = plan.attributes[column.name].hierarchy
        if spec is None:
            return {"examples": []}
        built = HIERARCHY_KINDS[spec.kind].build(spec, sorted(column.counts))
        tree, placed = built.hierarchy, sorted(built.leaf_of)
        codes = np.array([tree.code_of[built.leaf_of[label]] for label in placed], np.uint32)
        counts = np.array([column.counts[label] for label in placed], np.int64)
        return {"examples": [_short(label) for label in examples_of(tree, codes, counts)]}

    # -- hierarchies ---------------------------------------------------------------------------------------------------

    def hierarchy(self, asked: Asked) -> Answer:
        """Read a hierarchy file that somebody brought, or rows that were pasted from a spreadsheet."""
        from hedgerow.plan.hierarchy import read_hierarchy
        from hedgerow.studio.hierarchy_wishes import from_spreadsheet

        path = Path(asked["path"])
        if path.stat().st_size > LARGEST_HIERARCHY:
            raise DataError(Problem("too-much", "This file is too large to be a hierarchy.", hint="upload another"))
        if asked.get("pasted"):
            path.write_text(from_spreadsheet(path.read_text(encoding="utf-8")), encoding="utf-8")
        tree = read_hierarchy(path, as_printed=True)  # whether the method can do with it is for the plan to say
        return {"names": tree.names, "parents": tree.parents}

    def first_wish(self, asked: Asked) -> Answer:
        """Say how a column is coarsened now, with something to begin with for every other way."""
        from hedgerow.studio.hierarchy_wishes import first_choice, suggested

        column, plan = self._column(asked), self._given_plan(asked)
        kind, typed = first_choice(column, plan.attributes[column.name])
        return {"kind": kind, "typed": typed, "unlisted": column.unlisted, "suggestions": suggested(column)}

    def wish(self, asked: Asked) -> Answer:
        """Build the tree that somebody wishes for a column."""
        from hedgerow.plan.hierarchy import Hierarchy
        from hedgerow.studio.hierarchy_wishes import records_under, wanted

        column, given = self._column(asked), asked.get("given")
        tree = None if given is None else Hierarchy(tuple(given["names"]), tuple(given["parents"]))
        found = wanted(asked["kind"], dict(asked["typed"]), sorted(column.counts), tree)
        if found.built is None:
            return {"keys": found.keys, "tree": None}
        built = found.built
        return {
            "keys": found.keys,
            "tree": {"names": built.hierarchy.names, "parents": built.hierarchy.parents},
            "counts": records_under(built.hierarchy, built.leaf_of, column.counts),
            "unplaced": len(built.unplaced),
            "unplaced_records": sum(column.counts[label] for label in built.unplaced),
        }

    # -- what is kept --------------------------------------------------------------------------------------------------

    def _examined(self, place: str, form: Any, trust_names: bool = True) -> Any:
        from hedgerow.evaluation.inspecting import examine_with_or_without_names
        from hedgerow.plan import DataFormat

        key = json.dumps([place, form], sort_keys=True)
        if self._seen is None or self._seen[0] != key:
            self._seen = None
            written = None if form is None else DataFormat(**form)
            seen = examine_with_or_without_names(place, written, rows=PREVIEW_ROWS, trust_names=trust_names)
            self._seen = key, seen
        return self._seen[1]

    def _sheets(self, place: str, form: Any) -> tuple[str, ...]:
        from hedgerow.microdata.read import sheet_names
        from hedgerow.outside.server import is_server
        from hedgerow.plan import DataFormat

        return () if is_server(place) else sheet_names(Path(place), DataFormat(**(form or {})))

    def _column(self, asked: Asked) -> Any:
        seen = self._examined(asked["place"], asked["form"])
        return next(column for column in seen.columns if column.name == asked["column"])

    def _given_plan(self, asked: Asked) -> Any:
        from hedgerow.plan import Plan

        key = json.dumps(asked["plan"], sort_keys=True)
        if self._plan is None or self._plan[0] != key:
            self._plan = key, Plan.from_dict(asked["plan"], base=None)
        return self._plan[1]

    def _planned(self, asked: Asked) -> Any:
        """Return the plan as far as a look at the table needs it: people of a population are counted for themselves."""
        return self._given_plan(asked).counting_in(None).settled()

    def _peopled(self, asked: Asked) -> Any:
        """Read the table, and the population that is given, anew."""
        from hedgerow.engines.opening import read_microdata

        return read_microdata(asked["place"], self._given_plan(asked).counting_in(asked["population"]).settled())

    def _microdata(self, asked: Asked) -> Any:
        """Read the table as a plan says; it is read anew only when something else than limits has changed."""
        from hedgerow.engines.opening import read_microdata

        plan = self._planned(asked)
        bare, key = without_limits(plan)
        if self._encoded is None or self._encoded[0] != key:
            self._encoded = self._under = None
            self._encoded = key, read_microdata(asked["place"], bare)[0]
        return self._encoded[1].under(plan)

    def _looked_ahead(self, asked: Asked) -> tuple[Any, Any]:
        from hedgerow.anonymization.explanation import look_ahead

        plan = self._planned(asked)
        key = plan.digest()
        if self._under is None or self._under[0] != key:
            microdata = self._microdata(asked)
            self._under = key, microdata, look_ahead(microdata, plan)
        return self._under[1], self._under[2]


def without_limits(plan: Any) -> tuple[Any, str]:
    """Return a plan without its limits, and a key that is the same for plans which encode a table in the same way."""
    attributes = {name: part.model_copy(update={"limit": None}) for name, part in plan.attributes.items()}
    bare = plan.model_copy(update={"attributes": attributes})
    raw: Mapping[str, Any] = bare.to_dict()
    parts = {name: raw.get(name) for name in ("data", "person", "attributes", "weights", "missing")}
    return bare, json.dumps(parts, sort_keys=True, default=str)


def _check_width(columns: Any) -> None:
    if len(columns) > MOST_COLUMNS:
        message = f"The table has {len(columns):,} columns; the studio shows up to {MOST_COLUMNS:,}."
        raise DataError(Problem("too-much", message, hint="leave some out, or use the command line"))
    if any(len(column.name) > LONGEST_NAME for column in columns):
        message = f"A column has a name of more than {LONGEST_NAME:,} characters."
        raise DataError(Problem("too-much", message, hint="check that the first line names the columns"))


def _told(seen: Any) -> Answer:
    """Tell what was seen of a table in no more than a screen shows."""
    import yaml

    from hedgerow.evaluation.drafting.distribution import distribution
    from hedgerow.evaluation.people import repeats_seen

    columns = []
    for column, proposal in zip(seen.columns, seen.proposals, strict=True):
        spread = distribution(column, most=BARS) if column.counts else None
        columns.append(
            {
                "name": column.name,
                "readable": column.readable,
                "nearly_unique": column.nearly_unique,
                "role": proposal.role,
                "seen": proposal.seen,
                "notes": proposal.notes,
                "rule": yaml.safe_load(proposal.rule) if proposal.rule else None,
                "unknown": proposal.unknown,
                "level": proposal.level,
                "leaves": proposal.leaves,
                "delicate": proposal.delicate,
                "treat": yaml.safe_load(proposal.treat) if proposal.treat else None,
                "missing": 1 - column.filled / column.records if column.counts else 1.0,
                "kind": "" if spread is None else spread.kind,
                "bars": () if spread is None else [(_short(label), count) for label, count in spread.bars],
            }
        )
    preview = [[None if cell is None else _short(cell) for cell in row] for row in seen.preview[:PREVIEW_ROWS]]
    repeats = [asdict(repeat) for repeat in repeats_seen(seen)]
    return {"records": seen.records, "columns": columns, "preview": preview, "repeats": repeats}


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


# -- the process -------------------------------------------------------------------------------------------------------

QUESTIONS = (
    *("examine", "plan", "written", "store", "fits", "outlook", "explanation", "look", "lifted", "examples", "levels"),
    *("proposed_limits", "hierarchy", "first_wish", "wish", "assessment", "population", "population_columns"),
)


def answer(reading: TableReading, asked: Asked) -> dict[str, Any]:
    """Answer a question, or say what is wrong, in words that hold no value of a record."""
    try:
        name = asked["question"]
        if name not in QUESTIONS:
            raise HedgerowError(Problem("usage", "There is no such question."))
        work: Callable[[Asked], Answer] = getattr(reading, name)
        return {"answer": work(asked)}
    except HedgerowError as error:
        return {"kind": type(error).__name__, "problems": [problem.to_dict() for problem in error.problems]}
    except MemoryError:
        hint = "give a smaller table, or use the command line"
        problem = Problem("too-much", "Reading this takes more memory than it may.", hint=hint)
        return {"kind": "DataError", "problems": [problem.to_dict()], "spent": True}
    except (pyarrow.ArrowException, UnicodeError, OverflowError) as error:  # of a kind that no reader foresaw
        hint = "check that the file is whole, or write it anew"
        message = f"The file is damaged: reading it failed ({kind_and_place(error)})."
        problem = Problem("unreadable-file", message, hint=hint)
        return {"kind": "DataError", "problems": [problem.to_dict()]}
    except Exception as error:  # its text may hold cells of the data, so only its kind and place are told
        hint = "please report this line; it holds nothing of your data"
        problem = Problem("internal", f"Internal error ({kind_and_place(error)}).", hint=hint)
        return {"kind": "HedgerowError", "problems": [problem.to_dict()]}


def answer_all(questions: IO[str], answers: IO[str], memory: int) -> None:
    """Answer questions until there are no more, within so many bytes of memory."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the studio, which ends this process then
    if hasattr(os, "nice"):
        os.nice(NICER)
    children.confine(memory)
    sandbox.stay_here()
    reading = TableReading()
    for line in questions:
        answers.write(json.dumps(answer(reading, json.loads(line)), default=plain) + "\n")
        answers.flush()


def plain(value: Any) -> Any:
    """Return a number as JSON knows it; in plans numbers stand as text."""
    return value.item() if hasattr(value, "item") else str(value)


if __name__ == "__main__":
    answer_all(sys.stdin, sys.stdout, int(sys.argv[1]))
