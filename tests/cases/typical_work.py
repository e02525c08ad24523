"""What people do with Hedgerow, one thing after the other in one process; prints the warnings that our code caused.

Run in a process of its own: ``python -m tests.cases.typical_work FOLDER``. Only warnings that a newer Python or library will
turn into errors are printed, a line each: where we caused it, and what is said. A warning belongs to the line that it
is attributed to, and is ours if that line is.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import sys
import warnings
from pathlib import Path
from typing import Any

import hedgerow

OURS = Path(hedgerow.__file__).parent
RULES = {
    "rules": [{"attribute": "age", "keep_apart": [64, 65], "importance": 5}],
    "research_value": {"lambda": 0.5},
    "method": "utility",
}


def _run(*words: str | Path) -> None:
    """Run a command here, as :func:`hedgerow.cli.main` does, without its output."""
    from hedgerow.cli.run import run

    said = io.StringIO()
    ended: str | int | None = None
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            run([str(word) for word in words])
    except SystemExit as end:
        ended = end.code
    if ended:
        sys.exit(f"{' '.join(map(str, words))} ended with {ended}: {said.getvalue()}")


def _release_once(folder: Path) -> None:
    """All that is done with a table and a plan."""
    _run("demo", "-o", folder / "clinic")
    data, plan = folder / "clinic" / "patients.csv", folder / "clinic" / "plan.yaml"
    _run("inspect", data)
    _run("plan", "draft", data, "-o", folder / "drafted.yaml")
    _run("plan", "check", folder / "drafted.yaml")
    _run("plan", "to-arx", plan, "-o", folder / "arx", "--data", data)
    _run("plan", "limits", data, plan, "--columns", "age,city,income")
    _run("assess", data, plan, "-o", folder / "assessment.html")
    _run("weights", data, plan)
    _run("simulate", "--k", "3", "--attributes", "3", "--values", "2", "--repetitions", "5")
    _run("anonymize", data, plan, "-o", folder / "here", "--format", "parquet", "--link", folder / "link.csv")
    _run("verify", folder / "here", "--original", data, "--link", folder / "link.csv")
    _run("utility", folder / "here", "--original", data, "--json")
    _run("attack", folder / "here", "--original", data, "--people", "200", "-o", folder / "attack.html")
    _run("anonymize", data, plan, "-o", folder / "duck", "--engine", "duckdb")
    _run("report", folder / "duck", "--original", data, "-o", folder / "report.html")
    _run("report", folder / "duck", "--pdf", "-o", folder / "report.pdf")
    _run("report", folder / "duck", "--dcat", "-o", folder / "report.jsonld")
    _run("compare", data, plan, "--method", "cluster,bottom-up,quick", "--target", "diagnosis")

    asked = hedgerow.Plan.load(plan).to_dict()
    quick = {name: asked["attributes"][name] for name in ("age", "sex", "diagnosis")}
    for name, more in (
        ("lattice", {"privacy": {"k": 3, "p": 2}, "method": "lattice", "withhold": "5%"}),
        ("models", {"privacy": {"k": 3, "l": 2, "t": 0.9, "alpha": 0.9}}),
        ("rules", {"privacy": {"k": 3}, **RULES}),
    ):
        (folder / f"{name}.yaml").write_text(hedgerow.Plan.from_dict({"attributes": quick, **more}).to_yaml())
        _run("anonymize", data, folder / f"{name}.yaml", "-o", folder / name)
    _run("lattice", data, folder / "lattice.yaml")


def _release_frames(folder: Path) -> None:
    """The same from Python, on the frames that people have."""
    import pandas as pd
    import polars as pl

    from hedgerow.evaluation.synthetic import census, deaths

    plan = hedgerow.Plan.from_dict(
        {
            "attributes": {
                "age": {"role": "quasi-identifier", "intervals": "free"},
                "when": {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year"]}},
            },
            "privacy": {"k": 3},
        }
    )
    columns: dict[str, Any] = {"age": list(range(20, 50)), "when": pd.date_range("2024-01-01", periods=30).tolist()}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert len(hedgerow.anonymize(frame, plan).data) == 30
    for made in (census(records=300), deaths(records=300)):
        assert len(next(iter(made.columns.values()))) == 300


def _maintain(folder: Path) -> None:
    """A release that stays current."""
    plan = hedgerow.Plan.load(folder / "clinic" / "plan.yaml").to_dict()
    plan["attributes"].pop("patient_number")
    (folder / "kept.yaml").write_text(hedgerow.Plan.from_dict({**plan, "key": "patient_number"}).to_yaml())
    header, *rows = (folder / "clinic" / "patients.csv").read_text().splitlines(keepends=True)
    (folder / "january.csv").write_text(header + "".join(rows[:500]))
    (folder / "february.csv").write_text(header + "".join(rows[500:550]))
    store = ("--store", folder / "store")
    _run("release", "create", folder / "january.csv", folder / "kept.yaml", *store)
    _run("release", "insert", folder / "february.csv", *store)
    _run("release", "update", folder / "february.csv", *store)
    _run("release", "delete", folder / "february.csv", *store)
    _run("release", "optimize", *store)
    for word in ("history", "audit", "check"):
        _run("release", word, *store)
    _run("release", "diff", "1", "latest", *store)
    _run("release", "export", "latest", "-o", folder / "exported", *store)


def counts(category: type[Warning], filename: str) -> bool:
    """Whether a warning says that a line of ours will be refused by a newer Python or library.

    NumPy's own deprecations that everybody should see are no DeprecationWarning.
    """
    old = issubclass(category, DeprecationWarning | PendingDeprecationWarning | FutureWarning | SyntaxWarning)
    return Path(filename).is_relative_to(OURS) and (old or category.__name__ == "VisibleDeprecationWarning")


def main() -> None:
    """Do the work, and print what was warned of: one JSON list of texts."""
    caused: set[str] = set()

    def keep(message: Warning | str, category: type[Warning], filename: str, line: int, *_: Any) -> None:
        if counts(category, filename):
            caused.add(f"{Path(filename).relative_to(OURS.parent)}:{line}: {category.__name__}: {message}")

    warnings.simplefilter("always")
    warnings.showwarning = keep  # type: ignore[assignment]
    folder = Path(sys.argv[1])
    _release_once(folder)
    _release_frames(folder)
    _maintain(folder)
    for found in pkgutil.walk_packages([str(OURS)], "hedgerow."):  # what is loaded only with a server or a browser
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    print(json.dumps(sorted(caused)))


if __name__ == "__main__":
    main()
