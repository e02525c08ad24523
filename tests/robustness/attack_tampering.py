"""Tampering with a release in every way: it is found, or it is in the table of what cannot be seen without something.

The table is asserted both ways: what it says is seen must be, and what it says is not seen must not be, so that it cannot
say less, or more, than the truth.
"""

from __future__ import annotations

import copy
import csv
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import hedgerow as hr
from hedgerow.plan import Plan
from hedgerow.release.signing import make_key, sign_folder
from hedgerow.verification.reading.stated import BY_NAME, is_proven
from tests.cases.stated import facts_of
from tests.robustness.campaign import Campaign

TRIES = 14
MODES = ("folder", "original", "link")
ALWAYS = dict.fromkeys(MODES, True)
TREE = {"any": {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": {"plain": ["d", "e"]}}}
QUASI: dict[str, Any] = {
    "sex": "quasi-identifier",
    "place": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
    "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}},
}
FREE = {"role": "quasi-identifier", "intervals": "free"}
PLANS: dict[str, dict[str, Any]] = {
    "cluster": {"privacy": {"k": 3}},
    "p": {"privacy": {"k": 3, "p": 2}},
    "l": {"privacy": {"k": 4, "l": {"entropy": "1.5"}}},
    "t": {"privacy": {"k": 4, "t": "0.6"}},
    "alpha": {"privacy": {"k": 4, "alpha": "0.7"}},
    "beta": {"privacy": {"k": 4, "beta": {"at_most": "1.5", "enhanced": True}}},
    "delta": {"privacy": {"k": 4, "delta": "1.5"}},
    "free": {"privacy": {"k": 3}, "age": FREE},
    "snap": {"privacy": {"k": 3}, "age": FREE | {"snap": 5}},
    "limits": {"privacy": {"k": 3}, "place": QUASI["place"] | {"limit": {"level": 1}}},
    "ignored": {"privacy": {"k": 3}, "place": QUASI["place"] | {"limit": {"level": 1}}, "method": {"limits": "ignore"}},
    "partition": {"privacy": {"k": 3}, "method": "partition"},
    "lattice": {"privacy": {"k": 3}, "method": "lattice"},
    "value": {"privacy": {"k": 3}, "method": {"name": "lattice", "objective": "research-value"}},
    "utility": {"privacy": {"k": 3}, "method": "utility", "rules": [{"attribute": "age", "keep_apart": [19, 20]}]},
    "suppress": {
        "privacy": {"k": 3},
        "method": {"name": "utility", "suppress": True},
        "missing": "matches-any",
        "age": FREE,
    },
    "persons": {"privacy": {"k": 2}, "person": "name"},
}
MADE: dict[tuple[str, str], Path] = {}


# -- releases ----------------------------------------------------------------------------------------------------------


def people() -> pa.Table:
    rng = random.Random(7)
    return pa.table(
        {
            "name": [f"P{i}" for i in range(70)],
            "sex": [rng.choice("FM") for _ in range(70)],
            "place": [rng.choice("abcde") for _ in range(70)],
            "age": [str(rng.randint(18, 60)) for _ in range(70)],
            "illness": [rng.choice(["flu", "cold", "gout", "strep"]) for _ in range(70)],
            "ward": [rng.choice(["north", "south"]) for _ in range(70)],
        }
    )


def plan_of(name: str) -> Plan:
    asked = dict(PLANS[name])
    quasi = {column: asked.pop(column, attribute) for column, attribute in QUASI.items()}
    attributes = {"name": "identifier", **quasi, "illness": "sensitive", "ward": "other"}
    return Plan.from_dict({"attributes": attributes, "withhold": "60%", **asked})


def made(name: str, form: str, home: Path) -> Path:
    """A release with its original and its link, made once."""
    key = (name, form)
    if key not in MADE or not MADE[key].exists():
        folder = home / f"made-{name}-{form}"
        folder.mkdir()
        pq.write_table(people(), folder / "original.parquet")
        kind = "parquet" if form == "parts" else form
        hr.anonymize(people(), plan_of(name), folder / "release", format=kind, link=folder / "link.csv")
        if form == "parts":
            table = pq.read_table(folder / "release" / "data.parquet")
            (folder / "release" / "data.parquet").unlink()
            (folder / "release" / "data.parquet").mkdir()
            for number in range(2):
                part = table.slice(number * 30, 30 if number == 0 else None)
                pq.write_table(part, folder / "release" / "data.parquet" / f"part-{number:05d}.parquet")
        MADE[key] = folder
    return MADE[key]


@dataclass
class Case:
    """A copy of a release that may be changed."""

    home: Path
    rng: random.Random

    @property
    def folder(self) -> Path:
        return self.home / "release"

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "facts.json").read_text(encoding="utf-8"))
        return found

    def state(self, facts: dict[str, Any]) -> None:
        (self.folder / "facts.json").write_text(json.dumps(facts, indent=2), encoding="utf-8")

    @property
    def plan(self) -> Plan:
        return Plan.load(self.folder / "plan.yaml")

    def rows(self) -> list[list[str]]:
        """The rows of data.csv, header first."""
        with (self.folder / "data.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def write(self, rows: list[list[str]]) -> None:
        with (self.folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def groups(self) -> dict[tuple[str, ...], list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        width = len(self.plan.quasi_identifiers)
        for number, row in enumerate(self.rows()[1:], start=1):
            found.setdefault(tuple(row[:width]), []).append(number)
        return found

    def sizes(self) -> Counter[int]:
        """How many groups there are of each size."""
        return Counter(len(numbers) for numbers in self.groups().values())


Expected = dict[str, bool | None]
"""For each of the modes whether it is seen; None: it depends on the values."""


# -- facts and plan ----------------------------------------------------------------------------------------------------


def forge(value: Any) -> Any:
    """Say something else of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 0.125
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, dict) and value:
        name = next(iter(value))
        return {**value, name: forge(value[name])}
    return [*value, "x"] if isinstance(value, list) else {"x": 1} if isinstance(value, dict) else 1


SEEN_BY_BOUNDS = {"records", "withheld", "discernibility", "normalized_average_group_size", "levels", "limits_broken",
                  "limits_broken_by_attribute", "exact_end_points", "suppressed_cells", "smallest_group_persons",
                  "limits_by_attribute", "persons", "blocks",
                  "columns_not_released", "least_rows_for_a_known_person", "group_risk_sizes"}  # fmt: skip
"""Facts that may be the maker's word, of which a false one is seen all the same if it cannot be or does not add up."""


def change_fact(case: Case) -> tuple[str, Expected]:
    facts, plan = case.facts, case.plan
    name = case.rng.choice(list(facts))
    facts[name] = forge(facts[name])
    case.state(facts)
    expected: Expected = {}
    for mode in MODES:
        proven = is_proven(BY_NAME[name], plan, mode != "folder", mode == "link")
        expected[mode] = True if proven else None if name in SEEN_BY_BOUNDS else False
    return f"fact {name} changed", expected


def remove_fact(case: Case) -> tuple[str, Expected]:
    facts = case.facts
    name = case.rng.choice(list(facts))
    del facts[name]
    case.state(facts)
    return "fact removed", {**ALWAYS} if not BY_NAME[name].optional else dict.fromkeys(MODES)


def add_fact(case: Case) -> tuple[str, Expected]:
    case.state(case.facts | {case.rng.choice(["Alice", "Levels", "note"]): 1})
    return "fact added", {**ALWAYS}


def break_json(case: Case) -> tuple[str, Expected]:
    text = (case.folder / "facts.json").read_text(encoding="utf-8")
    bad = case.rng.choice(
        [text[:-9], text.replace('"k"', '"k": 9, "k"', 1), "[]", "", text.replace('"k": ', '"k": NaN, "x": ')]
    )
    (case.folder / "facts.json").write_text(bad, encoding="utf-8")
    return "facts damaged", {**ALWAYS}


PLAN_EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "k": lambda plan: plan["privacy"].update(k=2 if plan["privacy"]["k"] != 2 else 3),
    "seed": lambda plan: plan.update(seed=5),
    "withhold": lambda plan: plan.update(withhold="99%"),
    "weight": lambda plan: plan["attributes"].update(sex={"role": "quasi-identifier", "weight": 3}),
    "role": lambda plan: plan["attributes"].update(ward="sensitive"),
    "limits": lambda plan: plan["attributes"].update(sex={"role": "quasi-identifier", "limit": {"level": 1}}),
    "missing": lambda plan: plan["data"].update(missing=["", "none"]),
    "drift": lambda plan: plan.update(drift="7%"),
    "key": lambda plan: plan.update(key="name"),
}


def edit_plan(case: Case) -> tuple[str, Expected]:
    what = case.rng.choice(list(PLAN_EDITS))
    plan = copy.deepcopy(case.plan.short())
    plan.setdefault("data", {})
    PLAN_EDITS[what](plan)
    (case.folder / "plan.yaml").write_text(Plan.from_dict(plan).to_yaml(), encoding="utf-8")
    return f"plan {what} edited", {**ALWAYS}


def edit_plan_and_facts(case: Case) -> tuple[str, Expected]:
    """Lower k in both, with the right fingerprint: consistent, so only a signature tells."""
    plan, facts = copy.deepcopy(case.plan.short()), case.facts
    if plan["privacy"]["k"] == 2:
        return "nothing", dict.fromkeys(MODES, False)
    plan["privacy"]["k"] -= 1
    new = Plan.from_dict(plan)
    (case.folder / "plan.yaml").write_text(new.to_yaml(), encoding="utf-8")
    facts |= {
        "plan": new.digest(),
        "k": new.privacy.k,
        "privacy": json.loads(json.dumps(new.short()["privacy"], default=float)),
    }
    if facts["normalized_average_group_size"] is not None:
        facts["normalized_average_group_size"] *= (new.privacy.k + 1) / new.privacy.k
    case.state(facts)
    return "plan and facts edited alike", dict.fromkeys(MODES, False)


# -- rows --------------------------------------------------------------------------------------------------------------


def change_label(case: Case) -> tuple[str, Expected]:
    rows, width = case.rows(), len(case.plan.quasi_identifiers)
    one, other = case.rng.sample(range(1, len(rows)), 2)
    if rows[one][:width] == rows[other][:width]:
        return "nothing", dict.fromkeys(MODES, False)
    before = case.sizes()
    rows[one][:width] = rows[other][:width]
    case.write(rows)
    if case.sizes() == before:  # from a group to one that had a record less
        return "row moved, and sizes are the same", {"folder": None, "original": None, "link": True}
    return "row moved to another group", {**ALWAYS}  # group sizes are not those of the facts


def change_to_nothing_known(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    rows[case.rng.randrange(1, len(rows))][case.plan.quasi_identifiers.index("place")] = "atlantis"
    case.write(rows)
    return "label that is no node", {**ALWAYS}


def swap_groups(case: Case) -> tuple[str, Expected]:
    """Give two groups of one size the labels of each other: everything counts the same."""
    groups = case.groups()
    at = case.plan.quasi_identifiers.index("sex")
    pairs = [
        (one, other)
        for one in groups
        for other in groups
        if {one[at], other[at]} == {"F", "M"} and len(groups[one]) == len(groups[other])
    ]
    if not pairs or case.plan.missing == "matches-any":
        return "nothing", dict.fromkeys(MODES, False)
    one, other = case.rng.choice(pairs)
    rows = case.rows()
    for number in groups[one]:
        rows[number][: len(one)] = other
    for number in groups[other]:
        rows[number][: len(other)] = one
    case.write(rows)
    return "labels of two groups swapped", {"folder": None, "original": None, "link": True}


def drop_row(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    del rows[case.rng.randrange(1, len(rows))]
    case.write(rows)
    return "row dropped", {**ALWAYS}


def double_row(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    rows.append(rows[case.rng.randrange(1, len(rows))])
    case.write(rows)
    return "row doubled", {**ALWAYS}


def drop_groups(case: Case) -> tuple[str, Expected]:
    groups, rows = case.groups(), case.rows()
    gone = {number for numbers in list(groups.values())[::2] for number in numbers}
    case.write([row for number, row in enumerate(rows) if number not in gone])
    return "half of the groups dropped", {**ALWAYS}


def drop_groups_and_facts(case: Case) -> tuple[str, Expected]:
    """Drop groups and let the facts fit: then more was withheld, which only a budget in the plan forbids."""
    plan, facts, rows, groups = case.plan, case.facts, case.rows(), case.groups()
    if (
        plan.method.name not in ("cluster", "partition")
        or plan.person
        or plan.quasi_identifiers[-1] != "age"
        or "free" in str(plan.attributes["age"])
    ):
        return "nothing", dict.fromkeys(MODES, False)
    gone = {number for numbers in list(groups.values())[::4] for number in numbers}
    left = [row for number, row in enumerate(rows) if number not in gone]
    case.write(left)
    word = {name: facts[name] for name in facts if BY_NAME[name].proof == "word"}
    breaks = dict.fromkeys(facts["limits_broken_by_attribute"], 0)
    given = {**word, "blocks": 1, "exact_end_points": {}, "limits_broken": 0, "limits_broken_by_attribute": breaks}
    if not plan.keeps_limits:
        return "nothing", dict.fromkeys(MODES, False)
    case.state(facts_of(plan, left[0], left[1:], facts["records"], given))
    asked = plan.privacy.demands("illness")
    if "t" in asked:  # the distribution of all is another one now
        return "groups dropped, facts fit", {"folder": None, "original": None, "link": True}
    return "groups dropped, facts fit", {"folder": False, "original": False, "link": True}


def swap_values(case: Case) -> tuple[str, Expected]:
    """Exchange the sensitive values of two rows: the link tells, and the original where no record fits."""
    rows = case.rows()
    at = rows[0].index("illness")
    pairs = [
        (one, other)
        for one in range(1, len(rows))
        for other in range(one)
        if other and rows[one][at] != rows[other][at] and rows[one][:at] != rows[other][:at]
    ]
    if not pairs:
        return "nothing", dict.fromkeys(MODES, False)
    one, other = case.rng.choice(pairs)
    rows[one][at], rows[other][at] = rows[other][at], rows[one][at]
    case.write(rows)
    return "sensitive values swapped", {"folder": None, "original": None, "link": True}


def invent_value(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    column = case.rng.choice(["ward", "illness"])
    rows[case.rng.randrange(1, len(rows))][rows[0].index(column)] = "invented"
    case.write(rows)
    return f"{column} invented", {"folder": None if column == "illness" else False, "original": True, "link": True}


def turn_rows(case: Case) -> tuple[str, Expected]:
    """Another order of rows says nothing false of the release, but listed groups and the link go by it."""
    rows = case.rows()
    if rows[1] == rows[-1]:
        return "nothing", dict.fromkeys(MODES, False)
    case.write([rows[0], *rows[:0:-1]])
    return "rows turned round", {"folder": None, "original": None, "link": True}


def show_identifier(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    case.write([[*row, "name" if number == 0 else "Ada"] for number, row in enumerate(rows)])
    return "column added", {**ALWAYS}


def cut_row(case: Case) -> tuple[str, Expected]:
    rows = case.rows()
    rows[-1] = rows[-1][:-1]
    case.write(rows)
    return "row cut", {**ALWAYS}


# -- files -------------------------------------------------------------------------------------------------------------


def add_file(case: Case) -> tuple[str, Expected]:
    name = case.rng.choice(["names.txt", ".hidden", "data.csv~", "signature.json.old", "report.html"])
    (case.folder / name).write_text("Ada\n", encoding="utf-8")
    return "file added", {**ALWAYS}


def add_folder(case: Case) -> tuple[str, Expected]:
    (case.folder / "more").mkdir()
    return "folder added", {**ALWAYS}


def rename_file(case: Case) -> tuple[str, Expected]:
    file = case.rng.choice(sorted(case.folder.iterdir()))
    file.rename(case.folder / case.rng.choice(["data.txt", "Plan.yaml", "facts"]))
    return "file renamed", {**ALWAYS}


def link_file(case: Case) -> tuple[str, Expected]:
    file = case.rng.choice(sorted(case.folder.iterdir()))
    file.rename(case.home / "elsewhere")
    file.symlink_to(case.home / "elsewhere")
    return "file linked", {**ALWAYS}


def damage_bytes(case: Case) -> tuple[str, Expected]:
    """Cut a Parquet file short, or end a CSV in the middle of a quote."""
    data = case.folder / "data.csv"
    if data.exists():
        data.write_bytes(data.read_bytes() + b'"')
    else:
        parquet = case.folder / "data.parquet"
        file = parquet if parquet.is_file() else sorted(parquet.iterdir())[0]
        file.write_bytes(file.read_bytes()[:-20])
    return "data damaged", {**ALWAYS}


ANY_FORM = [change_fact, change_fact, change_fact, remove_fact, add_fact, break_json, edit_plan, edit_plan_and_facts,
            add_file, add_folder, rename_file, link_file, damage_bytes]  # fmt: skip
OF_CSV = [change_label, change_to_nothing_known, swap_groups, drop_row, double_row, drop_groups, drop_groups_and_facts, swap_values, invent_value,
          turn_rows, show_identifier, cut_row]  # fmt: skip


# -- the campaign ------------------------------------------------------------------------------------------------------


def is_seen(case: Case, mode: str, key: Path | None = None) -> bool:
    """Whether the check finds something wrong: a broken promise, or an error of ours. Anything else is a fault."""
    original = None if mode == "folder" else case.home / "original.parquet"
    link = case.home / "link.csv" if mode == "link" else None
    try:
        return not hr.verify(case.folder, original, link, key).kept
    except hr.HedgerowError:
        return True


def batch(rng: random.Random, folder: Path) -> Counter[str]:
    """Tamper with one release in several ways."""
    cases: Counter[str] = Counter()
    form = rng.choice(["csv", "csv", "parquet", "parts"])
    name = rng.choice(list(PLANS))
    release = made(name, form, folder)
    key = folder / "key"
    make_key(key)
    for number in range(TRIES):
        case = Case(folder / f"case-{number}", rng)
        shutil.copytree(release, case.home)
        if number == 0:
            assert not any(is_seen(case, mode) for mode in MODES), f"{name}, {form}: the release itself"
        tamper = rng.choice(ANY_FORM + (OF_CSV if form == "csv" else []))
        signed = rng.random() < 0.3
        if signed:
            sign_folder(case.folder, key)
        before = sorted((path.name, path.is_file() and path.read_bytes()) for path in case.folder.rglob("*"))
        what, expected = tamper(case)
        mode = rng.choice(MODES)
        if what == "nothing":
            continue
        seen = is_seen(case, mode)
        case_name = f"{what}, {mode}, {name}, {form}"
        assert expected[mode] is None or seen == expected[mode], f"{case_name}: seen {seen}, expected {expected[mode]}"
        cases[f"{what.split(' ')[0]} {'seen' if seen else 'not seen'}"] += 1
        if signed and before != sorted((p.name, p.is_file() and p.read_bytes()) for p in case.folder.rglob("*")):
            assert is_seen(case, mode, Path(f"{key}.pub")), f"{case_name}: not seen with a signature"
            cases["seen with a signature"] += 1
        shutil.rmtree(case.home)
    return cases


CAMPAIGN = Campaign("tampering", "tamperings with a release", batch)
