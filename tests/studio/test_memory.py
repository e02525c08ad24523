"""What pages take of the server's memory comes back; runs are added to this by ``make bench``."""

from __future__ import annotations

from pathlib import Path

from tests.studio.loops import run
from tests.studio.servers import Served, serving
from tests.studio.visitors import Visitor, request

SCREENS = ("data", "limits", "promise", "run", "result", "releases")
KEPT, LOADS = 24, 200
"""Pages after which as many are open as a session may have, and those that come after them."""


def test_200_pages_take_no_more_than_the_first(made_up: tuple[Path, Path], tmp_path: Path) -> None:
    with serving(folder=tmp_path) as served:
        first, last = run(_visit(served, made_up[0].read_bytes()))
    assert last <= 1.3 * first


async def _visit(served: Served, table: bytes) -> tuple[float, float]:
    somebody = Visitor(served, served.enter())
    await somebody.open("/data")
    await somebody.bring("upload", "patients.csv", table)
    await somebody.until(lambda: somebody.find("records"))
    found = []
    for many in (KEPT, LOADS):
        for number in range(many):
            status, _, _ = await request(served, "GET", f"/{SCREENS[number % len(SCREENS)]}", somebody.headers)
            assert status == 200
        found.append(served.held)
    await somebody.close()
    return found[0], found[1]
