"""``hedgerow report``: what there is to say about a release, on one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from hedgerow.cli.options import JsonOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar
from hedgerow.cli.run import ExitCode
from hedgerow.errors import HedgerowError, Problem


def report(
    release: Annotated[
        str,
        typer.Argument(
            metavar="DIR|TABLE", help="Release folder, or table: postgresql://user@host/database?table=schema.name."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write. Default: DIR-report.html, beside DIR."),
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="The table the release was made from: checks against it, and measures what each limit cost and saved.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="The store the release was exported from: also tells what holders of all versions could learn.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="The highest acceptable risk; 0.33, 0.2, 0.09 and 0.05 are common. Default: the plan's."
        ),
    ] = None,
    audience: Annotated[
        Literal["public", "internal"] | None,
        typer.Option(
            "--for",
            help="public: holds nothing that is not in the release. internal: for its owner. Default: public, but "
            "internal with --original or --store.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What the release is called. Default: the name of its folder.")] = "",
    organisation: Annotated[str, typer.Option(help="Who releases it.")] = "",
    source: Annotated[str, typer.Option(help="The table it was made from.")] = "",
    period: Annotated[
        str, typer.Option(metavar="FROM/TO", help="Period that the records cover, such as 2019/2023.")
    ] = "",
    version: Annotated[str, typer.Option("--version", help="Version of the release.")] = "",
    contact: Annotated[str, typer.Option(help="E-mail or web address for questions.")] = "",
    purpose: Annotated[str, typer.Option(help="What the release is for.")] = "",
    legal_basis: Annotated[str, typer.Option(help="The legal ground on which it is released.")] = "",
    recipients: Annotated[str, typer.Option(help="Who gets it.")] = "",
    approver: Annotated[str, typer.Option(help="Who approves the release.")] = "",
    role: Annotated[str, typer.Option(help="The approver's role.")] = "",
    date: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Date of the approval.")] = "",
    review_by: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Date by which to review the release.")] = "",
    assume: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A further assumption about attackers; may be repeated.")
    ] = None,
    catalogue: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=TEXT", help="Something else that catalogues ask for, such as access=public; may be repeated."
        ),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="Write a PDF (extra pdf).")] = False,
    ddi: Annotated[bool, typer.Option("--ddi", help="Write the facts as a DDI Codebook 2.5 record.")] = False,
    dcat: Annotated[
        bool, typer.Option("--dcat", help="Write the facts as a DCAT record with HealthDCAT-AP, in JSON-LD.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Print the report here; write a page only with -o.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier report.")] = False,
    key: Annotated[
        Path | None, typer.Option(metavar="PUB", help="Public key of the publisher: checks the signature.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report on a release: one page to read offline, print and sign.

    --pdf writes a PDF; --ddi and --dcat write only the facts, as a record for archives and catalogues.

    The release is verified again. If a promise is broken, the page says so at the top, and the exit code is 1.
    """
    from hedgerow.outside.server import is_server
    from hedgerow.reports.records.dcat import missing
    from hedgerow.reports.reporting import FORMS, name_of, report
    from hedgerow.reports.sign_off import SignOff
    from hedgerow.reports.terminal.release import verdict_banner
    from hedgerow.reports.terminal.report import report_summary, risk_summary

    form = _form(pdf, ddi, dcat)
    sign_off = SignOff(
        purpose=purpose,
        recipients=recipients,
        approver=approver,
        role=role,
        date=date,
        review_by=review_by,
        assumptions=tuple(assume or ()),
        title=title,
        organisation=organisation,
        source=source,
        period=period,
        version=version,
        legal_basis=legal_basis,
        contact=contact,
        catalogue=dict(map(_told, catalogue or ())),
    )
    if output is None and not terminal and not as_json:
        folder = Path() if is_server(release) else Path(os.path.abspath(release)).parent  # noqa: PTH100
        output = folder / f"{name_of(release).replace('/', '_')}{FORMS[form][0]}"
    with ProgressBar() as progress:
        made = report(
            release,
            output,
            original=original,
            store=store,
            sign_off=sign_off,
            threshold=threshold,
            replace=replace,
            key=key,
            audience=audience,
            form=form,
            progress=progress,
        )
    if as_json:
        print_json(made.to_dict())
    else:
        if terminal:
            show(report_summary, made.to_dict())
        else:
            show(risk_summary, made.facts, made.risks)
            tell("")
            show(verdict_banner, made.verdict.to_dict())
        if made.kept:
            tell("\nmeets {} under the assumptions in the report", ", ".join(made.demands))
        if output is not None:
            what = FORMS[form][1].removeprefix("the ")
            tell("{} written to [bold]{}[/]", what, _short(output))
            left = missing(sign_off) if form == "dcat" else []
            if left:
                tell("HealthDCAT-AP also asks for {}: give them with --catalogue KEY=TEXT", ", ".join(left))
    if not made.kept:
        raise ExitCode(1)  # the page is written all the same


def _form(pdf: bool, ddi: bool, dcat: bool) -> Literal["page", "pdf", "ddi", "dcat"]:
    if pdf + ddi + dcat > 1:
        message = "One file is written at a time."
        raise HedgerowError(Problem("usage", message, hint="give one of --pdf, --ddi and --dcat"))
    return "pdf" if pdf else "ddi" if ddi else "dcat" if dcat else "page"


def _told(text: str) -> tuple[str, str]:
    key, equals, said = text.partition("=")
    if not equals:
        message = f"What catalogues are told must be KEY=TEXT. Got {text[:40]!r} instead."
        raise HedgerowError(Problem("usage", message, hint="for example --catalogue access=public"))
    return key.strip(), said.strip()


def _short(path: Path) -> str:
    """Write a path as people would: from where they are, if it lies there."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)
