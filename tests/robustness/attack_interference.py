"""Change records that are withheld so that they stay withheld: every byte of what is published must stay the same.

Tables and plans are drawn over all methods, models, kinds of columns and forms of output. Of the changes that are drawn,
extreme numbers, new categories, longer texts, missing values, only those count after which the same records are released.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import hedgerow as hr
from hedgerow.anonymization.withholding import settle
from hedgerow.engines import local
from hedgerow.errors import DataError, NoSolution, PlanError
from hedgerow.release import make_release, write_release
from tests.robustness.campaign import Campaign

Rows = dict[str, list[str | None]]
CHANGES, OF_VERSIONS = 10, 3  # changes of each table, and of each that is maintained
FEWEST, MOST = 20, 300  # changes of a batch that must count, and that may be tried for it
REFUSED = (DataError, NoSolution, PlanError)
CITIES = {"land": {"north": {"fjord": ["Oslo", "Bergen"], "bay": ["Turku"]}, "south": ["Rome", "Bari", "Nice"]}}
ILLS = {"ill": {"lung": ["cough", "flu", "asthma"], "skin": ["rash", "burn"]}}
METHODS: tuple[dict[str, Any], ...] = (
    {"name": "cluster"},
    {"name": "cluster", "improve": "quick"},
    {"name": "cluster", "improve": "thorough"},
    {"name": "cluster", "improve": "longest"},
    {"name": "cluster", "improve": "steps"},
    {"name": "cluster", "improve": "quick", "objective": "entropy"},
    {"name": "cluster", "objective": "discernibility", "improve": "steps"},
    {"name": "utility", "overlap": "forbidden"},
    {"name": "cluster", "split": 20},
    {"name": "cluster", "join": "loss"},
    {"name": "partition"},
    {"name": "utility"},
    {"name": "utility", "suppress": True},
    {"name": "bottom-up"},
    {"name": "euclidean"},
    *(
        {"name": "lattice", "objective": one}
        for one in ("loss", "ncp", "granularity", "entropy", "discernibility", "group-size")
    ),
    *(
        {"name": "lattice", "objective": "research-value", "search": one}
        for one in ("exact", "global", "local", "hybrid", "divided")
    ),
)
MODELS: tuple[dict[str, Any], ...] = (
    {},
    {"p": 2},
    {"l": {"distinct": 2}},
    {"l": {"entropy": 1.6}},
    {"l": {"recursive": [3, 2]}},
    {"t": {"at_most": 0.45}},
    {"t": {"pain": {"at_most": 0.4, "distance": "ordered"}}},
    {"t": {"ill": {"at_most": 0.5, "distance": "hierarchical"}}},
    {"alpha": 0.7},
)


@dataclasses.dataclass(frozen=True)
class Case:
    """A table and a plan."""

    rows: Rows
    plan: dict[str, Any]
    kind: str

    @property
    def records(self) -> int:
        return len(next(iter(self.rows.values())))

    def changed(self, draw: random.Random, records: list[int]) -> Case:
        """Change some cells of some records."""
        rows = {name: list(cells) for name, cells in self.rows.items()}
        for record in draw.sample(records, draw.randint(1, len(records))):
            for name in draw.sample(list(rows), draw.randint(1, len(rows))):
                if name not in ("key", "person"):
                    rows[name][record] = other_value(draw, name, draw.choice(list(rows[name])))
        return dataclasses.replace(self, rows=rows)


def other_value(draw: random.Random, name: str, usual: str | None) -> str | None:
    """Draw a value: usual, extreme, missing, or of a kind that no other record has."""
    extreme = {
        "age": ["-7", "3.125", "1000000007", "99.5", "0", "x"],
        "income": ["-1", "7654321", "0.5", "123456789012", "none at all"],
        "zip": ["1", "43102999999", "", "99*", "431**"],
        "city": ["Nowhere", "fjord", "Turku", "*"],
        "day": ["1066-10-14", "2199-12-31", "2024-02-29T23:59:59", "someday"],
        "sex": ["other", "unknown to all others", "*"],
        "pain": ["-3", "77", "2.25", "1e9"],
        "ill": ["plague", "FLU ", "lung", "burn"],
        "note": ["a very long note that nobody else has written", "~", ""],
    }
    return draw.choice([usual, usual, None, *extreme[name], *extreme[name]])


def draw_case(draw: random.Random, maintained: bool = False) -> Case:
    """Draw a table with some odd people, and a plan."""
    records = draw.randint(24, 60)
    usual = {
        "age": lambda: str(draw.randint(20, 60)),
        "income": lambda: str(draw.randrange(20, 90) * 1000),
        "zip": lambda: draw.choice(["43102", "43103", "43199", "43201", "4320"]),
        "city": lambda: draw.choice(["Oslo", "Bergen", "Turku", "Rome", "Bari", "Nice"]),
        "day": lambda: f"2024-{draw.randint(1, 6):02d}-{draw.randint(1, 28):02d}",
        "sex": lambda: draw.choice(["F", "M", None] if gaps else ["F", "M"]),  # type: ignore[has-type]
        "pain": lambda: str(draw.randint(0, 4)),
        "ill": lambda: draw.choice(["cough", "flu", "asthma", "rash", "burn"]),
        "note": lambda: draw.choice("abc"),
    }
    gaps = draw.random() < 0.3
    names = draw.sample(["age", "income", "zip", "city", "day", "sex"], draw.randint(2, 4))
    published = [*names, *draw.sample(["pain", "ill", "note"], draw.randint(1, 3))]
    rows: Rows = {name: [usual[name]() for _ in range(records)] for name in published}
    for record in range(draw.randint(1, 5)):  # odd ones
        for name in draw.sample(names, draw.randint(1, len(names))):
            rows[name][record] = other_value(draw, name, usual[name]())
    method = draw.choice([one for one in METHODS if not maintained or not {"suppress"} & one.keys()])
    if maintained:
        may = [one for one in METHODS if one["name"] != "lattice" and not {"suppress", "overlap"} & one.keys()]
        method = draw.choice(may)
    lattice = method["name"] == "lattice"
    attributes: dict[str, Any] = {name: draw_attribute(draw, name, lattice) for name in names}
    for name in published[len(names) :]:
        attributes[name] = "other" if name == "note" else {"role": "sensitive"}
        if name == "ill" and draw.random() < 0.5:
            attributes[name] |= {
                "hierarchy": {"tree": ILLS},
                "unknown": draw.choice(["withhold", "own-leaf-under-root"]),
            }
            if draw.random() < 0.4:
                attributes[name]["level"] = 1
    sensitive = [name for name in published if name in ("pain", "ill")]
    model = draw.choice(MODELS) if sensitive else {}
    if any(name not in sensitive for name in model.get("t", {}) if name in ("pain", "ill")):
        model = {}
    plan: dict[str, Any] = {"attributes": attributes, "privacy": {"k": draw.randint(2, 5), **model}, "method": method}
    if draw.random() < 0.25:
        plan["weights"] = "association"
    if method.get("suppress") or (gaps and draw.random() < 0.3 and not maintained):
        plan["missing"] = "matches-any"
    if lattice:
        plan["withhold"] = {"at_most": draw.choice(["40%", "25%", 5, "10%"])}
    if draw.random() < 0.2 and not lattice and "missing" not in plan:
        rows["person"] = [f"p{draw.randrange(records)}" for _ in range(records)]
        attributes["person"], plan["person"] = "identifier", "person"
    if "city" in attributes and draw.random() < 0.2:
        plan["rules"] = [{"attribute": "city", "keep_apart": ["Oslo", "Rome"]}]
    kind = "-".join(str(part) for part in method.values())
    return Case(rows, plan, kind)


def draw_attribute(draw: random.Random, name: str, lattice: bool) -> dict[str, Any]:
    """Draw how a quasi-identifier may be coarsened, with a limit more often than not."""
    level = {"limit": {"level": draw.randint(0, 2)}} if draw.random() < 0.6 else {}
    unknown = {"unknown": "withhold"}
    if name in ("age", "income"):
        wide = 10 if name == "age" else 20000
        free = {"intervals": "free", **unknown}
        kinds: list[dict[str, Any]] = [
            free | {"limit": {"width": 2 * wide}},
            free | {"limit": {"width": wide}},
            free | {"snap": wide // 2},
            free | {"snap": wide // 2, "limit": {"width": 3 * wide}},
            free | {"limit": {"cuts": [2 * wide, 4 * wide]}},
            free,
            {"hierarchy": {"bands": [wide // 2, wide, 2 * wide]}, **unknown, **level},
            {"hierarchy": {"cuts": [[0, 3 * wide, 4 * wide, 10 * wide], [0, 4 * wide, 10 * wide]]}, **unknown, **level},
        ]
        return {"role": "quasi-identifier", **draw.choice(kinds[-2:] if lattice else kinds)}
    if name == "zip":
        return {"role": "quasi-identifier", "hierarchy": {"prefix": draw.choice([[3, 0], [4, 2]])}, **unknown, **level}
    if name == "day":
        return {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year"]}, **unknown, **level}
    if name == "city" and draw.random() < 0.7:
        unknown = {"unknown": draw.choice(["withhold", "own-leaf-under-root"])}
        limits = {"limits": ["north", "Rome"]} if draw.random() < 0.3 else level
        return {"role": "quasi-identifier", "hierarchy": {"tree": CITIES}, **unknown, **limits}
    return {"role": "quasi-identifier", **({"limit": {"level": 0}} if draw.random() < 0.6 else {})}


# -- what is published -----------------------------------------------------------------------------------------------


def published(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything that a folder holds: names, bytes and modes; all files have one time, in whole seconds."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    times = {path.stat().st_mtime_ns for path in paths}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in paths}


def released(link: Path) -> frozenset[int]:
    """Numbers of the records that are released, from 0."""
    with link.open() as file:
        return frozenset(int(row["record"]) - 1 for row in csv.DictReader(file))


def release_once(
    case: Case, folder: Path, form: str, verified: bool
) -> tuple[frozenset[int], dict[str, tuple[bytes, int]]]:
    """Make a release, and say whom it releases; most are not verified, which changes no byte and takes the most time."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if not verified:
        plan = hr.Plan.from_dict(case.plan).settled()
        table = local.read(pa.table(case.rows), plan)
        made = make_release(table, settle(table, plan, threads=1))
        (folder / "r").mkdir()
        write_release(made, folder / "r", form)
        return frozenset(made.record_of_row.tolist()), published(folder / "r")
    hr.anonymize(pa.table(case.rows), hr.Plan.from_dict(case.plan), folder / "r", format=form, link=folder / "link")
    return released(folder / "link"), published(folder / "r")


def release_duckdb(case: Case, folder: Path, form: str) -> dict[str, tuple[bytes, int]]:
    """Make the same release by DuckDB."""
    shutil.rmtree(folder, ignore_errors=True)
    plan = hr.Plan.from_dict(case.plan)
    hr.anonymize(pa.table(case.rows), plan, folder, format=form, engine="duckdb")  # type: ignore[arg-type]
    return published(folder)


def keep_current(case: Case, folder: Path, script: list[tuple[str, list[int]]]) -> tuple[list[frozenset[str]], Any]:
    """Make and change a maintained release; returns who is in each version, and all that is published of it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    table = pa.table({"key": [f"{number:03}" for number in range(case.records)], **case.rows})
    plan = hr.Plan.from_dict({**case.plan, "key": "key"})
    people, told = [], []
    (verb, first), *more = script
    assert verb == "create"
    with hr.create_release(table.take(first), plan, folder / "store") as release:
        living = set(first)
        for verb, records in [("create", first), *more]:
            if verb == "insert":
                release.insert(table.take(records))
                living |= set(records)
            elif verb == "delete":
                release.delete(keys=[f"{number:03}" for number in records])
                living -= set(records)
            elif verb in ("optimize", "restart"):
                getattr(release, verb)()
            number = release.head
            out, link = folder / f"v{len(told)}", folder / f"l{len(told)}"
            made = release.export(number, out, link=link)
            keys = sorted(living)
            people.append(frozenset(f"{keys[at]:03}" for at in released(link)))
            row = release.history()[-1]
            said = {name: getattr(row, name) for name in ("number", "verb", "plan_digest", "scores", "facts")}
            counts = dict(row.counts)  # of those who are withheld, their number alone
            counts["withheld"] = counts.pop("held_back") + counts.pop("withheld")
            said["counts"] = counts
            told.append((published(out), json.dumps(said, sort_keys=True, default=str), made.plan.digest()))
        groups = release._store.all_groups(release.head).to_pylist()
    return people, (told, groups)


# -- the attack ------------------------------------------------------------------------------------------------------


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Try some tables, and some changes of each."""
    kept: Counter[str] = Counter()
    tried = 0
    while kept.total() < FEWEST:
        for kind, same, change in attack(draw, folder):
            tried += 1
            kept[kind] += same
            assert change is None, f"a withheld record shows in {change}: see {folder / 'case.json'}"
        assert tried <= MOST, f"of {tried} changes only {kept.total()} left the same records released"
    return +kept


def attack(draw: random.Random, folder: Path) -> Iterator[tuple[str, bool, str | None]]:
    """Yield, for every change: its kind, whether it left the same records released, and what it changed if anything."""
    if draw.random() < 0.05:
        yield from attack_maintained(draw, folder)
        return
    form, duckdb, verified = draw.choice(["csv", "csv", "parquet"]), draw.random() < 0.04, draw.random() < 0.06
    while True:
        case = draw_case(draw)
        try:
            before, bytes_before = release_once(case, folder / "before", form, verified)
        except REFUSED:
            continue  # no release, or a plan whose parts do not go together
        withheld = sorted(set(range(case.records)) - before)
        if withheld:
            break
    by_duckdb = release_duckdb(case, folder / "duckdb", form) if duckdb else None
    kind = f"{case.kind}{'-duckdb' if duckdb else ''}"
    assert by_duckdb in (None, bytes_before), f"DuckDB releases something else: {write(case, case, folder)}"
    for _ in range(CHANGES):
        changed = case.changed(draw, withheld)
        try:
            after, bytes_after = release_once(changed, folder / "after", form, verified)
        except REFUSED:
            yield kind, False, None
            continue
        if after != before:
            yield kind, False, None
            continue
        if by_duckdb is not None:
            bytes_after |= release_duckdb(changed, folder / "duckdb", form)
        yield (
            kind,
            True,
            difference(bytes_before, bytes_after) and write(case, changed, folder, bytes_before, bytes_after),
        )


def attack_maintained(draw: random.Random, folder: Path) -> Iterator[tuple[str, bool, str | None]]:
    """The same for a release that is changed, version by version."""
    while True:
        case = draw_case(draw, maintained=True)
        case.plan["republish"] = draw.choice(["free", "free", "only-coarser", "cohorts", "gated"])
        script = draw_script(draw, case.records, case.plan["republish"])
        try:
            before, told = keep_current(case, folder / "before", script)
        except REFUSED:
            continue
        never = sorted(set(range(case.records)) - {int(key) for version in before for key in version})
        if never:
            break
    kind = f"maintained-{case.plan['republish']}"
    for _ in range(OF_VERSIONS):
        changed = case.changed(draw, never)
        try:
            after, told_after = keep_current(changed, folder / "after", script)
        except REFUSED:
            yield kind, False, None
            continue
        if after != before:
            yield kind, False, None
            continue
        yield kind, True, None if told == told_after else write(case, changed, folder, script=script)


def draw_script(draw: random.Random, records: int, republish: str) -> list[tuple[str, list[int]]]:
    """Draw what is done to a release: who is in it at first, who comes and who leaves."""
    order = draw.sample(range(records), records)
    first, coming = sorted(order[: records * 2 // 3]), order[records * 2 // 3 :]
    half = len(coming) // 2
    script = [("create", first), ("insert", sorted(coming[:half]))]
    if draw.random() < 0.7:
        script.append(("delete", sorted(draw.sample(first, draw.randint(1, 4)))))
    if republish == "free" and draw.random() < 0.5:
        script.append((draw.choice(["optimize", "restart"]), []))
    script.append(("insert", sorted(coming[half:])))
    return [(verb, who) for verb, who in script if who or verb in ("optimize", "restart")]


def difference(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """Name the files that differ."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return ", ".join(names) or None


def write(case: Case, changed: Case, folder: Path, *files: Any, **more: Any) -> str:
    """Keep a case that failed, to try it again; returns what differs."""
    told = {"plan": case.plan, "rows": case.rows, "changed": changed.rows, **more}
    (folder / "case.json").write_text(json.dumps(told, indent=1))
    return str(difference(*files)) if files else "a version"


CAMPAIGN = Campaign("interference", "changes of withheld records", batch)
