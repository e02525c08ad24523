"""Serving the studio: the doors, the files, the screens behind the guard, and the server itself."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from starlette.requests import ClientDisconnect

from hedgerow.errors import HedgerowError, Problem, kind_and_place
from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.files import TooManyFiles
from hedgerow.studio.guard import Guard, Rules
from hedgerow.studio.memory import settle_in
from hedgerow.studio.sessions import Session, Sessions
from hedgerow.studio.settings import Settings
from hedgerow.studio.sockets import bind_sockets
from hedgerow.studio.users import Door, read_users

NO_ROOM = (
    "There is no room for this file: you, or all who use this studio together, have brought as much as it keeps. "
    "What a session brought is removed when it ends."
)
SOCKET_BYTES = 4 << 20
"""Greatest message that a page may send."""
MOST_CONNECTIONS = 400
SIGN_IN_AT_ONCE = 2


class Studio:
    """A studio that is ready to be served.

    Parameters
    ----------
    settings
        How it is run.
    tell
        Called with lines for the person who started it.
    """

    def __init__(self, settings: Settings, tell: Callable[[str], None] = print) -> None:
        self.settings, self._tell = settings, tell
        self._door = None if settings.users is None else Door(read_users(settings.users))
        self._at_the_door = asyncio.Semaphore(SIGN_IN_AT_ONCE)
        self._socket = _listen(settings.host, settings.port)
        self.port = self._socket.getsockname()[1]
        self.log = AuditLog(settings.log)
        self.sessions = Sessions(settings, self.log)
        names = [settings.host if ":" not in settings.host else f"[{settings.host}]"]
        if settings.loopback:
            names += ["localhost", "127.0.0.1"]
        usual = {"http": 80, "https": 443}[settings.scheme]
        hosts = {name.lower() if self.port == usual else f"{name.lower()}:{self.port}" for name in names}
        hosts |= {name.lower() for name in settings.names}
        origins = frozenset(f"{settings.scheme}://{host}" for host in hosts)
        safe = "__Host-" if settings.scheme == "https" else ""  # over TLS no other port can set it
        rules = Rules(frozenset(hosts), origins, settings.upload_bytes, f"{safe}hedgerow-{self.port}", settings.team)
        self.url = f"{settings.scheme}://{names[0]}:{self.port}"
        self._cookie = rules.cookie
        self.app = Guard(self._build(), rules, self.sessions, self.log)

    def link(self) -> str:
        """Return an address that lets one browser in, once."""
        return f"{self.url}/enter?token={self.sessions.new_token()}"

    def serve(self, opened: Callable[[], None] | None = None) -> None:
        """Serve until the process is asked to end; calls ``opened`` when it is ready."""
        config = uvicorn.Config(
            self.app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws_max_size=SOCKET_BYTES,
            timeout_graceful_shutdown=3,
            limit_concurrency=MOST_CONNECTIONS,
            ssl_certfile=self.settings.certificate,
            ssl_keyfile=None if self.settings.private_key is None else str(self.settings.private_key),
        )
        quiet_logs()
        os.umask(0o077)
        server = uvicorn.Server(config)
        self.sessions.prepare()
        settle_in()
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            # sent when the terminal is closed
            signal.signal(signal.SIGHUP, lambda *_: setattr(server, "should_exit", True))
        if opened is not None:
            threading.Thread(target=_when_started, args=(server, opened), daemon=True).start()
        try:
            asyncio.run(server.serve(sockets=[self._socket]))
        finally:
            self.close()

    def close(self) -> None:
        """End all sessions and remove their files."""
        self.sessions.close()
        self.log.close()
        self._socket.close()

    # -- what is served ------------------------------------------------------------------------------------------------

    def _build(self) -> FastAPI:
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        app.get("/enter")(self._enter)
        app.get("/sign-in")(self._ask_who)
        app.post("/sign-in")(self._sign_in)
        app.post("/sign-out")(self._sign_out)
        app.post("/files")(self._upload)
        app.get("/files/{number}")(self._download)
        os.environ["NICEGUI_STORAGE_PATH"] = str(
            self.sessions.folder / "unused"
        )  # the toolkit's own storage is not used
        _add_screens(app)
        bind_sockets(self.sessions, self.log)
        return app

    async def _enter(self, request: Request, token: str = "") -> Response:
        if self._door is not None or not self.sessions.redeem(token):
            self.log.write("refused", reason="token")
            return PlainTextResponse(
                "This link was used, or is not one of this studio. Press Enter where it was started for another one.",
                401,
            )
        (self.sessions.folder / "enter.html").unlink(missing_ok=True)
        self._tell(f"A browser has entered. For another one: {self.link()}")
        # A page, not a redirect: browsers do not show the cookie after a redirect from a link that lay elsewhere.
        return self._begin("owner", HTMLResponse(ENTERED, headers={"cache-control": "no-store"}))

    def _begin(self, user: str, answer: Response) -> Response:
        if self.sessions.full():
            self.log.write("refused", reason="too many sessions")
            return PlainTextResponse("Too many sessions are open.", 503)
        secret, session = self.sessions.begin(user)
        self.log.write("entered", session)
        if self.settings.data is not None:
            session.opening = (self.settings.data, self.settings.plan)
        safe = self.settings.scheme == "https"
        answer.set_cookie(self._cookie, secret, httponly=True, samesite="strict", secure=safe)
        return answer

    async def _ask_who(self, wrong: bool = False) -> Response:
        if self._door is None:
            return RedirectResponse("/data", 303)
        return HTMLResponse(SIGN_IN.replace("{wrong}", WRONG if wrong else ""), headers={"cache-control": "no-store"})

    async def _sign_in(self, request: Request) -> Response:
        try:
            given = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        except ValueError:
            return PlainTextResponse("This is not what the form sends.", 400)
        name, password = (given.get(key, [""])[0] for key in ("name", "password"))
        if self._door is None or not await self._opens(self._door, name, password):
            known = self._door is not None and self._door.knows(name)
            self.log.write("refused", reason="password", tried=name if known else None)
            return RedirectResponse("/sign-in?wrong=true", 303)
        return self._begin(name, RedirectResponse("/data", 303))

    async def _opens(self, door: Door, name: str, password: str) -> bool:
        async with self._at_the_door:  # each try takes a processor and some memory for a moment
            return await asyncio.to_thread(door.opens, name, password)

    async def _sign_out(self, request: Request) -> Response:
        session: Session = request.state.session
        self.log.write("left", session)
        await asyncio.to_thread(self.sessions.end, session)
        answer = RedirectResponse("/sign-in" if self._door is not None else "/data", 303)
        answer.delete_cookie(self._cookie)
        return answer

    async def _upload(self, request: Request, name: str = "") -> Response:
        session: Session = request.state.session
        try:
            stored = await session.files.receive(name, request.stream())
        except ClientDisconnect:
            return Response(status_code=400)
        except TooManyFiles as error:
            return PlainTextResponse(str(error), 429)
        except OSError:
            return PlainTextResponse(NO_ROOM, 507)
        self.log.write("uploaded", session, bytes=stored.path.stat().st_size)
        return JSONResponse({"id": stored.id, "name": stored.name})

    async def _download(self, request: Request, number: str) -> Response:
        session: Session = request.state.session
        stored = session.files.find(number)
        if stored is None or not stored.path.is_file():
            return PlainTextResponse("There is no such file.", 404)
        self.log.write("downloaded", session, kind=stored.path.suffix, bytes=stored.path.stat().st_size)
        headers = {"cache-control": "no-store"}
        return FileResponse(stored.path, filename=stored.name, media_type="application/octet-stream", headers=headers)


def _add_screens(app: FastAPI) -> None:
    """Put the screens into the application."""
    from nicegui import app as screens
    from nicegui import ui

    from hedgerow.studio.pages import data, limits, promise, releases, result, run

    for page in (data, limits, promise, run, result, releases):
        ui.page(page.PATH)(page.show)

    @ui.page("/")
    def start() -> RedirectResponse:
        return RedirectResponse("/data")

    def failed(error: Exception) -> None:
        ui.label(f"Internal error ({kind_and_place(error)}).").classes("text-h6")
        ui.link("Back to the data", "/data")

    screens.on_page_exception(failed)
    screens.config.quasar_config["loadingBar"]["skipHijack"] = True  # a bar that says nothing to who cannot see it
    icon = Path(__file__).parent / "hedgerow.svg"
    ui.run_with(app, title="Hedgerow", favicon=icon, dark=None, show_welcome_message=False, reconnect_timeout=20)


# -- the server --------------------------------------------------------------------------------------------------------


def _listen(host: str, port: int) -> socket.socket:
    """Take the port, or the next free one of a few; port 0 is any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in (port,) if port == 0 else range(port, port + 20):
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, number))
        except OSError:
            opened.close()
            continue
        return opened
    message = f"The studio cannot listen at this address, at port {port} or those after it."
    raise HedgerowError(Problem("usage", message, hint="check --host, or name a free --port"))


def _when_started(server: uvicorn.Server, opened: Callable[[], None]) -> None:
    import time

    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.05)
    opened()


def open_browser(url: str, folder: Path) -> bool:
    """Open a browser if there is a screen; a text browser in the terminal would do no good.

    The link is in a file that only we can read: everybody on this machine sees what programs are started with.
    """
    has_screen = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if not has_screen:
        return False
    page = folder / "enter.html"
    page.touch(0o600)
    page.write_text(f'<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">Enter</a>', encoding="utf-8")
    return webbrowser.open(page.as_uri())


class _Discreet(logging.Formatter):
    """Writes what went wrong and where, never the text of an error: it may hold values of records."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else record.msg if isinstance(record.msg, BaseException) else None
        if error is not None:
            return f"hedgerow studio: internal error ({kind_and_place(error)})"
        if not record.name.startswith("hedgerow"):
            return f"hedgerow studio: {record.levelname.lower()} at {record.module}:{record.lineno}"
        return f"hedgerow studio: {record.getMessage()}"


def _worth_telling(record: logging.LogRecord) -> bool:
    """Leave out what a browser causes that goes to another page before the last one is there."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, RuntimeError) and str(error) == "No response returned.")


def quiet_logs() -> None:
    """Let errors of the toolkit and the server be told in our own words only."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Discreet())
    handler.addFilter(_worth_telling)
    logging.basicConfig(handlers=[handler], level=logging.ERROR, force=True)
    for name in list(logging.root.manager.loggerDict):  # some libraries print by themselves, such as engineio.server
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.ERROR)


ENTERED = (
    '<!doctype html><title>Hedgerow</title><meta http-equiv="refresh" content="0; url=/data"><a href="/data">Enter</a>'
)
WRONG = '<p role="alert" class="wrong">Name and password do not fit, or there were too many tries. Wait a minute.</p>'
SIGN_IN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in · Hedgerow</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light dark; }
body { font: 1rem system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; }
form { display: grid; gap: .9rem; width: min(20rem, 90vw); } h1 { font-size: 1.4rem; margin: 0; }
label { display: grid; gap: .25rem; } input { font: inherit; padding: .5rem; } .wrong { color: #c0392b; margin: 0; }
button { font: inherit; padding: .6rem; background: #2b6b3f; color: #fff; border: 0; border-radius: .4rem; }
</style></head><body><form method="post" action="/sign-in"><h1>Hedgerow</h1>{wrong}
<label>Name <input name="name" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form></body></html>"""
