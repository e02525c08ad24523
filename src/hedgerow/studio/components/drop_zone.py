"""A place to drop a file, or to pick one: it is sent as it is and kept in the session's folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui.element import Element

from hedgerow.studio.files import StoredFile
from hedgerow.studio.theme import safely, the_session


class DropZone(Element, component="drop_zone.js"):
    """Calls ``taken`` with the file when it has arrived."""

    def __init__(
        self,
        label: str,
        taken: Callable[[StoredFile], Awaitable[None]],
        *,
        hint: str = "drop it here, or press to choose one",
        accept: str = "",
        testid: str = "upload",
    ) -> None:
        super().__init__()
        self._props.update({"label": label, "hint": hint, "accept": accept, "testid": testid})
        session = the_session()

        async def sent(event: Any) -> None:
            stored = session.files.find(str(event.args.get("id", "")))
            if stored is not None:
                await taken(stored)

        self.on("sent", safely(sent))
