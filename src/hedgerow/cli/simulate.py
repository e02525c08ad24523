"""``hedgerow simulate``: whether k is within reach at all."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def simulate(
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="A table that you have; needs a plan.", show_default=False)
    ] = None,
    plan: Annotated[Path | None, typer.Argument(metavar="PLAN", help="Plan file (YAML).", show_default=False)] = None,
    k: Annotated[
        str | None,
        typer.Option("--k", metavar="K", help="How many records every group needs; for a table also several: 3,5,10."),
    ] = None,
    attributes: Annotated[int | None, typer.Option(metavar="N", help="Number of attributes.")] = None,
    values: Annotated[
        str | None, typer.Option(metavar="N", help="How many values every attribute has, or each: 2,2,5. Default: 2.")
    ] = None,
    records: Annotated[
        str | None, typer.Option(metavar="N", help="How many records there are: 30000, or several: 30000,100000.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(metavar="N", help="Also draw the records this many times, and count.")
    ] = None,
    chance: Annotated[str | None, typer.Option(metavar="P", help="Probability to plan for. Default: 95%.")] = None,
    empty_allowed: Annotated[
        bool, typer.Option("--empty-allowed", help="Also accept combinations that nobody has.")
    ] = False,
    frequencies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="How often the values of an attribute occur, as shares (0.5,0.3,0.2) or counts. Give it once per "
            "attribute, once for all --attributes, or name a file with a line per attribute.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the draws. Default: 0.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the probabilities and the records needed into this file, .svg."),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(metavar="P", help="Share of records in smaller groups to tolerate. Default: the plan's, or 5%."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Tell whether k is within reach: the probability for made-up attributes, or what stands in its way in a table."""
    made_up: dict[str, Any] = {
        "--attributes": attributes,
        "--values": values,
        "--records": records,
        "--repetitions": repetitions,
        "--chance": chance,
        "--empty-allowed": empty_allowed or None,
        "--frequencies": frequencies or None,
        "--seed": seed,
        "--plot": plot,
    }
    if data is None:
        _refuse({"--share": share}, "goes with DATA and PLAN only")
        found, draw = _made_up(k, made_up)
    else:
        if plan is None:
            raise typer.BadParameter("a table needs a plan: hedgerow simulate DATA PLAN", param_hint="PLAN")
        _refuse(made_up, "does not go with DATA and PLAN")
        found, draw = _table(data, plan, k, share)
    if as_json:
        print_json(found)
    else:
        show(draw, found, highlight=False)
        if plot is not None:
            tell("\nplot written to [bold]{}[/]", plot)


def _made_up(k: str | None, options: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    from hedgerow.evaluation.reach import simulate
    from hedgerow.reports.charts.plots import check_plot
    from hedgerow.reports.charts.reach import reach_plot
    from hedgerow.reports.terminal.reach import reach_summary

    if k is None:
        raise typer.BadParameter("say how many records every combination needs", param_hint="--k")
    wanted = _numbers("--k", k)
    if len(wanted) > 1:
        raise typer.BadParameter("several only go with DATA and PLAN", param_hint="--k")
    sizes = _numbers("--values", options["--values"] or "2")
    attributes = options["--attributes"]
    if options["--plot"] is not None:
        check_plot(options["--plot"])
    likely = _frequencies(options["--frequencies"])
    if likely is not None and options["--values"] is not None:
        raise typer.BadParameter("does not go with --frequencies, which tell how many there are", param_hint="--values")
    if attributes is None and options["--values"] is None and likely is None:
        raise typer.BadParameter("say how many there are, or name DATA and PLAN", param_hint="--attributes")
    if attributes is not None and attributes < 1:
        raise typer.BadParameter("must be 1 or more", param_hint="--attributes")
    if attributes is not None and len(sizes) not in (1, attributes):
        raise typer.BadParameter(f"lists {len(sizes)} attributes, not {attributes}", param_hint="--values")
    with ProgressBar() as progress:
        found = simulate(
            attributes if likely is not None or (len(sizes) == 1 and attributes is not None) else None,
            sizes[0] if len(sizes) == 1 and attributes is not None else sizes,
            frequencies=likely,
            k=wanted[0],
            records=() if options["--records"] is None else _numbers("--records", options["--records"]),
            repetitions=options["--repetitions"],
            seed=options["--seed"] or 0,
            chance=0.95 if options["--chance"] is None else _share("--chance", options["--chance"]),
            empty_allowed=bool(options["--empty-allowed"]),
            progress=lambda done, total: progress("drawing", done, total),
        )
        if options["--plot"] is not None:
            progress("records needed by attributes", 0, 0)
            grown = [asdict(one) for one in found.growth()]
            reach_plot({**found.to_dict(), "growth": grown}, options["--plot"])
            return {**found.to_dict(), "growth": grown}, reach_summary
    return found.to_dict(), reach_summary


def _frequencies(given: list[str] | None) -> list[list[str]] | None:
    """Read frequencies as they were typed, or from the file that was named."""
    from hedgerow.evaluation.reach.frequencies import read_frequencies

    if given is None:
        return None
    found: list[list[str]] = []
    for text in given:
        typed = bool(text) and all(character in "0123456789.,eE-+ " for character in text)
        found += [text.split(",")] if typed else read_frequencies(text)
    return found


def _table(data: str, plan: Path, k: str | None, share: str | None) -> tuple[dict[str, Any], Any]:
    from hedgerow.engines.opening import read_microdata
    from hedgerow.evaluation.reach import reach_of_table, tolerated_share
    from hedgerow.plan import Plan
    from hedgerow.reports.terminal.reach import table_reach_summary

    asked = Plan.load(plan).settled()
    wanted = [asked.privacy.k] if k is None else _numbers("--k", k)
    tolerated = tolerated_share(asked) if share is None else _share("--share", share)
    with ProgressBar() as progress:
        progress("reading", 0, 0)
        microdata, _ = read_microdata(data, asked)
        found = reach_of_table(
            microdata, wanted, tolerated, lambda done, total: progress("dropping columns", done, total)
        )
    return found.to_dict(), table_reach_summary


def _refuse(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            "must be whole numbers with commas between, such as 3,5,10", param_hint=option
        ) from None


def _share(option: str, text: str) -> float:
    """Read ``95%`` or ``0.95``."""
    try:
        number = Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        raise typer.BadParameter("must be a share such as 5% or 0.05", param_hint=option) from None
    return float(number / 100 if text.strip().endswith("%") else number)
