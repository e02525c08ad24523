"""``hedgerow release``: a release that stays current, and its history."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console, RenderableType

from hedgerow.cli.described import DescribedGroup, command, completing, export_forms, one_of
from hedgerow.cli.options import DataArgument, JsonOption, LinkOption, PlanArgument, ThreadsOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar
from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import read_bytes
from hedgerow.outside.outputs.moment import Interrupted, done
from hedgerow.types import Improve

if TYPE_CHECKING:
    from hedgerow.maintenance import MaintainedRelease
    from hedgerow.maintenance.store import VersionRow

MOST_PASSES = 1000
MOST_KEYS = 256 << 20  # bytes
ANY_WORDS = {"allow_extra_args": True}  # stray words may be keys: the parser would repeat them in its message
STRICT = ("gated", "cohorts")  # rules under which a leak is a broken promise

release_app = typer.Typer(
    name="release",
    help="Keep a release current as people come, leave and change. Every version is verified, audited and kept.",
    no_args_is_help=True,
    cls=DescribedGroup,
)

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="S",
        envvar="HEDGEROW_STORE",
        help="Where the history is kept: a file, or postgresql://user@host/database?schema=name.",
        show_default=False,
    ),
]
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="{files} file of records, or a table on a server: postgresql://user@host/database?table=schema.name.",
    ),
]
SamePlanOption = Annotated[
    Path | None,
    typer.Option("--plan", metavar="PLAN", help="Refuse unless the release was created with this plan."),
]
KeysOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…",
        help="Keys, separated by commas. They end up in your shell's history and in the list of processes; with "
        "--keys-from they do not.",
    ),
]
KeysFromOption = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Text file with one key per line; - reads standard input."),
]
FullCheckOption = Annotated[
    bool,
    typer.Option(
        "--full-check",
        help="Check all of the new version. By default, of a large release, only what changed and a part of the rest "
        "is checked, and everything with every tenth version.",
    ),
]
VersionArgument = Annotated[
    str, typer.Argument(metavar="VERSION", help="Number of a version, or latest.", show_default=False)
]


# ---- changes ---------------------------------------------------------------------------------------------------------


@command(release_app, "hedgerow release create patients.csv plan.yaml --store clinic.db")
def create(
    data: DataArgument,
    plan: PlanArgument,
    store: StoreOption,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the first version and start the store that keeps its history. The plan names the 'key' of the records."""
    from hedgerow.maintenance import create_release
    from hedgerow.reports.terminal.maintained import change_summary

    with ProgressBar() as progress, create_release(data, plan, store, threads=threads, progress=progress) as release:
        found = _change_facts(release, release.history()[-1], changed=bool(done())) | {"asked": "create"}
    _show(found, change_summary, as_json)


@command(release_app, "hedgerow release insert march.csv --store clinic.db")
def insert(
    file: FileArgument,
    store: StoreOption,
    plan: SamePlanOption = None,
    full_check: FullCheckOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the records in FILE. Their keys must be new."""
    _change("insert", store, threads, as_json, lambda release: release.insert(file, plan, full_check=full_check))


@command(release_app, "hedgerow release delete --keys-from left.txt --store clinic.db", context_settings=ANY_WORDS)
def delete(
    context: typer.Context,
    store: StoreOption,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Table with the key column: a file, or a table on a server.",
            show_default=False,
        ),
    ] = None,
    keys: KeysOption = None,
    keys_from: KeysFromOption = None,
    full_check: FullCheckOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove records. Earlier versions keep them: see 'erase'."""
    if context.args or sum(given is not None for given in (file, keys, keys_from)) != 1:
        _usage("Name the records in one way: one FILE, or --keys, or --keys-from.", "give exactly one of them")
    if file is not None:
        _change("delete", store, threads, as_json, lambda release: release.delete(file, full_check=full_check))
    else:
        named = _keys(keys, keys_from)
        _change("delete", store, threads, as_json, lambda release: release.delete(keys=named, full_check=full_check))


@command(release_app, "hedgerow release update moved.csv --store clinic.db")
def update(
    file: FileArgument,
    store: StoreOption,
    plan: SamePlanOption = None,
    full_check: FullCheckOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace records by those in FILE that have the same keys: whole records, all columns."""
    _change("update", store, threads, as_json, lambda release: release.update(file, plan, full_check=full_check))


@command(release_app, "hedgerow release optimize --store clinic.db")
def optimize(
    store: StoreOption,
    passes: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_PASSES,
            help="How often the local search goes over all groups after the published algorithm; 0: not at all.",
        ),
    ] = 5,
    improve: Annotated[
        Improve | None,
        typer.Option(help="Search further and regroup most people. Default: as the plan's method says."),
    ] = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Regroup the same people so that less is lost. Holders of earlier versions may learn from it: see 'audit'."""
    _change("optimize", store, threads, as_json, lambda release: release.optimize(passes, improve))


@command(release_app, "hedgerow release restart --store clinic.db")
def restart(store: StoreOption, threads: ThreadsOption = None, as_json: JsonOption = False) -> None:
    """Start over: group the same people as if you created the release today. The history goes on."""
    _change("restart", store, threads, as_json, lambda release: release.restart())


@command(release_app, "hedgerow release erase --keys-from left.txt --store clinic.db", context_settings=ANY_WORDS)
def erase(
    context: typer.Context,
    store: StoreOption,
    keys: KeysOption = None,
    keys_from: KeysFromOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase people from the private tables of every version. This cannot be undone.

    Their records, and which groups they were in, are removed from all versions.

    People who are still in the release are deleted from it first, which makes a new version.

    What was published stays published. Versions they were in can no longer be exported.
    """
    if context.args or (keys is None) == (keys_from is None):
        _usage("Name the people in one way: --keys A,B,… or --keys-from FILE.", "give exactly one of them")
    named = _keys(keys, keys_from)
    if not yes:
        _ask(len(named), keys_from == "-")
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.maintained import erasure_summary

    with ProgressBar() as progress, open_release(store, threads=threads, progress=progress) as release:
        before = release.head
        rows = release.erase(named)
        newest = release.history()[-1]
        deletion = _change_facts(release, newest, changed=True) if newest.number > before else None
    found = {"people": len(named), "rows": rows, "version": newest.number, "deletion": deletion}
    _show(found, erasure_summary, as_json)


# ---- looking ---------------------------------------------------------------------------------------------------------


@command(release_app, "hedgerow release export latest --store clinic.db -o march")
def export(
    version: VersionArgument,
    store: StoreOption,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder to create. It appears whole and verified, or not at all."
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            metavar="{export forms}",
            callback=one_of(export_forms, "--format"),
            autocompletion=completing(export_forms),
            help="Format of the released rows.",
        ),
    ] = "csv",
    replace: Annotated[bool, typer.Option("--replace", help="Replace DIR if it exists.")] = False,
    link: LinkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a version to a folder as 'hedgerow anonymize' would, and verify it once more."""
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.release import release_summary
    from hedgerow.reports.verdict import verdict_on

    number = _version(version)
    with ProgressBar() as progress, open_release(store, progress=progress) as release:
        progress("exporting", 0, 0)
        shown = release.head if number is None else number
        made = release.export(shown, output, format=format, replace=replace, link=link)
    if as_json:
        print_json({**made.facts, "verdict": verdict_on(made).to_dict()})
        return
    show(release_summary, made.told, verdict_on(made).to_dict())
    tell("\nversion {} [green]verified[/] and written to [bold]{}[/]", shown, output)
    if link is not None:
        tell("private link table: {} — never share it", link)


@command(release_app, "hedgerow release history --store clinic.db")
def history(
    store: StoreOption,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the loss of the versions into this file, .svg.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the versions: what was done, how many came and left, what is lost, how far that is from a fresh release."""
    from hedgerow.maintenance import open_release
    from hedgerow.reports.charts.plots import check_plot, drift_plot
    from hedgerow.reports.terminal.maintained import history_summary

    if plot is not None:
        check_plot(plot)
    with open_release(store) as release:
        versions = [_version_facts(row) for row in release.history()]
        found = {"republish": release.plan.republish, "advise_above": _threshold(release), "versions": versions}
    if plot is not None:
        drift_plot(versions, plot)
    if as_json:
        print_json(found)
        return
    show(history_summary, found, highlight=False)
    if plot is not None:
        tell("\nplot written to [bold]{}[/]", plot)


@command(release_app, "hedgerow release diff 1 2 --store clinic.db")
def diff(
    old: Annotated[str, typer.Argument(metavar="V1", help="Number of a version, or latest.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="V2", help="Number of a version, or latest.", show_default=False)],
    store: StoreOption,
    as_json: JsonOption = False,
) -> None:
    """Count what changed from one version to another: people, groups, loss."""
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.maintained import diff_summary

    versions = [_version(text) for text in (old, new)]
    with open_release(store) as release:
        first, second = (release.head if number is None else number for number in versions)
        found = release.diff(first, second)
    _show(found, diff_summary, as_json)


@command(release_app, "hedgerow release audit --store clinic.db")
def audit(
    store: StoreOption,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 if too much could be learned about anybody.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what somebody who holds all versions could learn about people.

    Exit code 1 for a leak with --strict, or under 'republish: gated' or 'cohorts'; otherwise 0, whatever is found.
    """
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.maintained import audit_summary

    with ProgressBar() as progress, open_release(store, progress=progress) as release:
        rule = release.plan.republish
        found = {"republish": rule, **release.audit().to_dict()}
    _show(found, audit_summary, as_json)
    if found["leaks"] and (strict or rule in STRICT):
        raise typer.Exit(1)


@command(release_app, "hedgerow release check --store clinic.db")
def check(store: StoreOption, as_json: JsonOption = False) -> None:
    """Check that nobody tampered with the store and that its newest version keeps its promises. Exit code 1 if not."""
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.maintained import check_summary

    with ProgressBar() as progress, open_release(store, progress=progress) as release:
        progress("checking", 0, 0)
        found = release.check()
    _show(found, check_summary, as_json)
    if not (found["chain"] and found["verification"]["kept"]):
        raise typer.Exit(1)


# ---- shared ----------------------------------------------------------------------------------------------------------


def _change(
    verb: str, store: str, threads: int | None, as_json: bool, change: Callable[[MaintainedRelease], VersionRow]
) -> None:
    """Make a new version, and say what came of it."""
    from hedgerow.maintenance import open_release
    from hedgerow.reports.terminal.maintained import change_summary

    with ProgressBar() as progress, open_release(store, threads=threads, progress=progress) as release:
        before = release.head
        version = change(release)
        found = _change_facts(release, version, changed=version.number > before) | {"asked": verb}
    _show(found, change_summary, as_json)


def _change_facts(release: MaintainedRelease, version: VersionRow, changed: bool) -> dict[str, Any]:
    """What is to be said of a version that was just made, as plain data."""
    before = next((row for row in release.history() if row.number == version.parent), None)
    drift, threshold = version.scores["drift"], _threshold(release)
    return {
        "changed": changed,
        **_version_facts(version),
        "before": None if before is None else {"counts": before.counts, "ntil": before.scores["ntil"]},
        "republish": release.plan.republish,
        "advise_above": threshold,
        "start_over": drift is not None and threshold is not None and drift > threshold,
    }


def _version_facts(row: VersionRow) -> dict[str, Any]:
    """A version as plain data; its facts are in what 'export' writes."""
    said = dataclasses.asdict(row)
    number, verification = said.pop("number"), said.pop("verification")
    del said["facts"]
    covered = verification.get("covered", {"how": "full"})  # earlier Hedgerows checked all of every version
    return {"version": number, **said, "verified": bool(verification.get("kept")), "covered": covered}


def _threshold(release: MaintainedRelease) -> float | None:
    return None if release.plan.drift is None else release.plan.drift.share


def _show(found: dict[str, Any], draw: Callable[[dict[str, Any]], RenderableType], as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        show(draw, found, highlight=False)


def _version(text: str) -> int | None:
    """Read a version; None is the newest."""
    if text == "latest":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= sys.maxsize):
        raise typer.BadParameter("must be the number of a version, such as 3, or latest", param_hint="VERSION")
    return int(text)


def _keys(keys: str | None, source: str | None) -> list[str]:
    """Read keys from an option, or line by line from a file; none of them is ever shown."""
    parts = (keys or "").split(",") if source is None else _lines(source)
    named = [part.strip() for part in parts if part.strip()]
    if not named:
        _usage("No key was given.", "name at least one record by its key")
    return named


def _lines(source: str) -> list[str]:
    place = "standard input" if source == "-" else source
    raw = sys.stdin.buffer.read(MOST_KEYS + 1) if source == "-" else read_bytes(source, MOST_KEYS, "The list of keys")
    if len(raw) > MOST_KEYS:
        message = f"The keys take more than {MOST_KEYS >> 20} MiB."
        raise DataError(Problem("too-much", message, place, "name fewer at once"))
    try:
        return raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        message = "The keys are not text in UTF-8."
        raise DataError(Problem("encoding", message, place, "save the file as UTF-8")) from None


def _ask(people: int, reads_input: bool) -> None:
    """Ask before people are erased; nothing is done unless the answer is yes."""
    if reads_input or not sys.stdin.isatty():
        _usage("Erasing cannot be undone, and there is nobody to ask.", "add --yes if it is meant")
    from hedgerow.reports.terminal.maintained import erasure_warning

    Console(stderr=True, emoji=False).print(erasure_warning(people), markup=False, highlight=False)
    if not typer.confirm("Erase?", err=True):
        raise Interrupted


def _usage(message: str, hint: str) -> NoReturn:
    raise DataError(Problem("usage", message, hint=hint))
