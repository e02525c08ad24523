"""Arguments and options that several commands share, and how JSON is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or Arrow file.")]
PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="Default: all processors. Does not change the result.")]


def print_json(value: Any) -> None:
    """Print plain data as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=float))
