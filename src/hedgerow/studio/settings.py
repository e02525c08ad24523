"""How a studio is run: where it listens, who may enter, what may be opened."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.server import check_path, is_server
from hedgerow.plan.formats import table_endings

UPLOAD_BYTES = 2 << 30
PORT = 8642


@dataclass(frozen=True)
class Settings:
    """How a studio is run.

    Attributes
    ----------
    host, port
        Where it listens; port 0 is any that is free.
    names
        Further names under which browsers reach it, such as ``studio.example:8642``.
    users
        Users file: people sign in; without it, the studio prints a link that works once.
    certificate, private_key
        For TLS.
    folder
        Files that can be picked without uploading them, and the place of stores.
    databases
        Whether tables of databases may be opened.
    upload_bytes
        Greatest upload.
    log
        Audit log to append to.
    data, plan
        What a session begins with.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    users: Path | None = None
    certificate: Path | None = None
    private_key: Path | None = None
    folder: Path | None = None
    databases: bool = True
    upload_bytes: int = UPLOAD_BYTES
    log: Path | None = None
    data: str | None = None
    plan: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.private_key is None):
            raise _usage("TLS needs a certificate and its private key.", "give both --certificate and --private-key")
        if not self.loopback and (self.users is None or self.certificate is None):
            message = "Other machines can reach this address, so people must sign in, over TLS."
            raise _usage(message, "give --auth, --certificate and --private-key, or leave --host out")
        if self.users is not None and self.data is not None:
            message = "Where people sign in, everybody opens a table of their own."
            raise _usage(message, "leave DATA out; --folder DIR offers files to all of them")

    @property
    def loopback(self) -> bool:
        """Tell whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def team(self) -> bool:
        """Tell whether several people use it: they open what they bring, and what the folder offers."""
        return self.users is not None

    @property
    def scheme(self) -> str:
        """``https`` with a certificate."""
        return "http" if self.certificate is None else "https"

    def check_place(self, place: str) -> str:
        """Return a place that a person typed, if it may be opened.

        A studio of one person opens what that person could open anyway. That of a team keeps to its folder.
        """
        if is_server(place):
            if not self.databases:
                raise DataError(Problem("no-right", "This studio does not open databases.", hint="ask who runs it"))
            return place
        check_path(place)
        base = self.folder or Path.cwd()
        path = (base / Path(place).expanduser()).resolve()
        if self.team and (self.folder is None or not path.is_relative_to(self.folder.resolve())):
            raise DataError(Problem("no-right", "This studio opens files of its own folder only.", hint="upload it"))
        return str(path)

    def check_store(self, place: str, user: str) -> str:
        """Return the place of a store that a person typed; in a team everybody's stores are apart."""
        if is_server(place) or not self.team:
            return self.check_place(place)
        own = self.stores(user)
        if own is None:
            raise DataError(Problem("no-right", "This studio has no folder to keep stores in.", hint="ask who runs it"))
        path = (own / place).resolve()
        if path.parent != own.resolve():
            raise DataError(Problem("no-right", "A store is named by a plain name.", hint="such as clinic.store"))
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(path)

    def stores(self, user: str) -> Path | None:
        """Return the folder of somebody's stores; None if there is none."""
        if self.folder is None:
            return None
        return self.folder / ".stores" / user if self.team else self.folder

    def offered(self) -> list[Path]:
        """Files of the folder that can be opened: tables, by name."""
        if self.folder is None:
            return []
        endings = table_endings()
        try:
            found = [path for path in self.folder.iterdir() if path.suffix.lower() in endings and path.is_file()]
        except OSError:
            return []
        return sorted(found)[:200]


def _usage(message: str, hint: str) -> HedgerowError:
    return HedgerowError(Problem("usage", message, hint=hint))
