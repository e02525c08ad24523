"""Releases of every kind, and their digests: the same bytes on every machine, and between two commits."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import hedgerow as hr

KEPT = Path(__file__).parent / "digests.json"
TREE = {"any": {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": {"plain": ["d", "e"]}}}
PLACE = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}
AGE = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}}
FREE = {"role": "quasi-identifier", "intervals": "free"}
CODE = {"role": "quasi-identifier", "hierarchy": {"prefix": [2, 0]}}
DAY = {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year"]}}
SET = {"role": "quasi-identifier", "publish": "set"}
RULES = [{"name": "of age", "attribute": "age", "keep_apart": [17, 18], "importance": 2}]
LATTICE = {"name": "lattice", "objective": "loss"}

PLANS: dict[str, dict[str, Any]] = {
    "cluster": {},
    "cluster-seed": {"seed": 7},
    "quick": {"method": {"name": "cluster", "improve": "quick"}},
    "thorough": {"method": {"name": "cluster", "improve": "thorough"}},
    "ncp": {"method": {"name": "cluster", "improve": "quick", "objective": "ncp"}},
    "bottom-up": {"method": "bottom-up"},
    "euclidean": {"method": "euclidean", "place": "other", "sex": "other", "code": "other", "day": "other"},
    "il-optimization": {"method": {"name": "cluster", "improve": "il-optimization"}},
    "steps": {"method": {"name": "cluster", "improve": "steps"}},
    "discernibility": {"method": {"name": "cluster", "objective": "discernibility", "improve": "steps"}},
    "group-size": {"method": {"name": "cluster", "objective": "group-size"}},
    "entropy": {"method": {"name": "cluster", "improve": "quick", "objective": "entropy"}},
    "partition": {"method": "partition"},
    "apart": {"method": {"name": "utility", "overlap": "forbidden"}, "age": FREE},
    "utility": {"method": "utility", "rules": RULES},
    "suppress": {"method": {"name": "utility", "suppress": True}, "missing": "matches-any", "age": FREE},
    "lattice-loss": {"method": LATTICE},
    "lattice-granularity": {"method": LATTICE | {"objective": "granularity"}},
    "lattice-entropy": {"method": LATTICE | {"objective": "entropy"}},
    "lattice-group-size": {"method": LATTICE | {"objective": "group-size"}},
    "lattice-discernibility": {"method": LATTICE | {"objective": "discernibility"}},
    "lattice-value": {"method": LATTICE | {"objective": "research-value"}},
    "free": {"age": FREE},
    "snap": {"age": FREE | {"snap": 5}},
    "width": {"age": FREE | {"limit": {"width": 15}}},
    "limits": {"place": PLACE | {"limit": {"level": 1}}},
    "limits-ignored": {"place": PLACE | {"limit": {"level": 1}}, "method": {"limits": "ignore"}},
    "sets": {"method": {"name": "cluster", "improve": "quick"}, "sex": SET, "place": SET},
    "mean": {"age": FREE | {"publish": "mean", "limit": {"width": 15}}},
    "sets-of-two": {"method": "partition", "place": SET | {"limit": {"values": 2}}},
    "weights": {"weights": "association"},
    "unit": {"unit": "name", "place": PLACE | {"limit": {"level": 2}}, "privacy": {"k": 2, "p": 2}},
    "person": {"person": "name", "privacy": {"k": 2}},
    "p": {"privacy": {"k": 3, "p": 2}},
    "l-distinct": {"privacy": {"k": 3, "l": 2}},
    "l-entropy": {"privacy": {"k": 4, "l": {"entropy": "1.5"}}},
    "l-recursive": {"privacy": {"k": 4, "l": {"recursive": [3, 2]}}},
    "t": {"privacy": {"k": 4, "t": "0.6"}},
    "alpha": {"privacy": {"k": 4, "alpha": "0.7"}},
    "beta": {"privacy": {"k": 4, "beta": "1.5"}},
    "delta": {"privacy": {"k": 4, "delta": "1.5"}},
}
ON_OTHER_ENGINES = ("cluster", "limits", "p", "lattice-loss", "sets", "mean")
"""Plans whose digest other engines must give, too."""


def people(first: int = 0, count: int = 160) -> pa.Table:
    rng = random.Random(f"golden {first}")
    rows = range(first, first + count)
    return pa.table(
        {
            "key": [f"K{i}" for i in rows],
            "name": [f"P{i % 120}" for i in rows],
            "sex": [rng.choice("FM") for _ in rows],
            "place": [rng.choice("abcde") for _ in rows],
            "age": [str(rng.randint(1, 80)) for _ in rows],
            "code": [f"{rng.randint(10, 39)}{rng.randint(0, 9)}" for _ in rows],
            "day": [f"{rng.randint(2019, 2021)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}" for _ in rows],
            "illness": [rng.choice(["flu", "cold", "gout", "strep"]) for _ in rows],
            "ward": [rng.choice(["north", "south"]) for _ in rows],
        }
    )


def plan_of(name: str, **more: Any) -> hr.Plan:
    asked = dict(PLANS[name])
    quasi = {"sex": "quasi-identifier", "place": PLACE, "age": AGE, "code": CODE, "day": DAY}
    attributes = {"name": "identifier", **{one: asked.pop(one, given) for one, given in quasi.items()}}
    attributes |= {"illness": "sensitive", "ward": "other", "key": "identifier"}
    return hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, "withhold": "60%", **asked, **more})


def digest(*paths: Path) -> str:
    """Digest files, and all that is in folders, with their names; the version of Hedgerow in them does not count."""
    found = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            content = file.read_bytes().replace(hr.__version__.encode(), b"0.1.0")
            found.update(f"{file.name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:32]


def release_digest(name: str, engine: str = "local") -> str:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.parquet"
        pq.write_table(people(), data)
        hr.anonymize(data, plan_of(name), Path(folder) / "release", engine=engine, format="csv")
        return digest(Path(folder) / "release")


def report_digest() -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "release"
        hr.anonymize(people(), plan_of("p"), made)
        hr.report(made, Path(folder) / "report.html", original=people())
        return digest(Path(folder) / "report.html")


def version_digests() -> Iterator[tuple[str, str]]:
    """Digest every version of a release that is kept current."""
    plan = plan_of("p", key="key")
    with (
        tempfile.TemporaryDirectory() as folder,
        hr.create_release(people(), plan, f"{folder}/kept.store") as release,
    ):
        release.insert(people(160, 20))
        release.delete(keys=[f"K{i}" for i in range(0, 30, 3)])
        release.update(people(160, 20).set_column(4, "age", [["50"] * 20]))
        release.optimize()
        release.restart()
        for number in range(1, release.head + 1):
            release.export(number, Path(folder) / f"version-{number}")
            yield f"version {number}", digest(Path(folder) / f"version-{number}")


def all_digests() -> dict[str, str]:
    found = {name: release_digest(name) for name in PLANS}
    return {**found, "report": report_digest(), **dict(version_digests())}


def main() -> None:
    """Write the digests anew: a change of any needs a line in CHANGELOG."""
    KEPT.write_text(json.dumps(all_digests(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
