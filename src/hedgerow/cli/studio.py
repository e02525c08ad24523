"""``hedgerow studio``: the same work on screens."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.printing import say
from hedgerow.errors import DataError, HedgerowError, Problem, how_to_install
from hedgerow.outside.outputs.moment import Interrupted

if TYPE_CHECKING:
    from hedgerow.studio.serving import Studio

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def studio(
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Table to start with.", show_default=False)
    ] = None,
    plan: Annotated[
        Path | None, typer.Argument(metavar="[PLAN]", help="Plan to start with.", show_default=False)
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The first free port from this one on; 0: any.")] = 8642,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any other than this machine needs --auth and TLS.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder whose files are offered. Default: this folder; none with --auth."),
    ] = None,
    upload_limit: Annotated[str, typer.Option(metavar="BYTES", help="Largest upload, such as 500M or 2G.")] = "2G",
    auth: Annotated[Path | None, typer.Option(metavar="FILE", help="File of users: people must sign in.")] = None,
    add_user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Add somebody to the file of --auth: asks for a password, then ends."),
    ] = None,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="TLS certificate (PEM).")] = None,
    private_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its private key (PEM).")] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST[:PORT]", help="Another name by which browsers reach the studio; may be repeated."),
    ] = None,
    databases: Annotated[
        bool | None, typer.Option(help="Whether people may open databases. Default: yes, but no with --auth.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append an audit log to this file: who did what, and when.")
    ] = None,
) -> None:
    """Open the studio: local web pages to set limits on a tree, make releases and look at them."""
    if add_user is not None:
        _add_user(auth, add_user)
        return
    try:
        from hedgerow.studio.serving import Studio, open_browser
    except ImportError:
        message = "The studio needs parts that are not installed."
        raise HedgerowError(Problem("usage", message, hint=how_to_install("studio"))) from None
    from hedgerow.studio.settings import Settings

    settings = Settings(
        host=host,
        port=port,
        names=tuple(name or ()),
        users=auth,
        certificate=certificate,
        private_key=private_key,
        folder=folder or (None if auth is not None else Path.cwd()),
        databases=auth is None if databases is None else databases,
        upload_bytes=_bytes(upload_limit),
        log=log,
        data=None if data is None else _checked(data),
        plan=plan,
    )
    opened = Studio(settings, _tell)

    def ready() -> None:
        if settings.team:
            _tell(f"The studio is at {opened.url} (Ctrl-C ends it).")
            return
        link = opened.link()
        shown = browser and open_browser(link, opened.sessions.folder)
        _tell(
            f"The studio is open in your browser. If it is not: {link}"
            if shown
            else f"Open this link; it works once: {link}"
        )
        _tell("Enter: another link. Ctrl-C: end, and remove everything that was uploaded.")
        if sys.stdin.isatty():
            threading.Thread(target=_more_links, args=(opened,), daemon=True).start()

    with contextlib.suppress(Interrupted):
        opened.serve(ready)
    _tell("The studio has ended. What was uploaded is removed.")


def _more_links(opened: Studio) -> None:
    for _ in sys.stdin:
        _tell(opened.link())


def _tell(text: str) -> None:
    say(text, flush=True)


def _checked(data: str) -> str:
    from hedgerow.outside.server import check_path, is_server

    check_path(data)
    if not is_server(data) and not Path(data).is_file():
        raise DataError(Problem("no-file", "There is no such file.", data, "check the path"))
    return data if is_server(data) else str(Path(data).absolute())


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)B?", text.strip().upper())
    if found is None or not int(found[1]):
        raise typer.BadParameter("must be a number of bytes, such as 500M or 2G", param_hint="--upload-limit")
    return int(found[1]) * SIZES[found[2]]


def _add_user(auth: Path | None, name: str) -> None:
    from hedgerow.studio.users import add_user

    if auth is None:
        raise typer.BadParameter("needs --auth FILE, the users file to add to", param_hint="--add-user")
    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    add_user(auth, name, password)
    _tell(f"{name} can sign in now.")
