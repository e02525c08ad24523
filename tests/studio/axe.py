"""axe-core, which ships with a package of the index: what it finds wrong on a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

GRAVE = ("serious", "critical")
RUN = """() => axe.run(document, { resultTypes: ["violations"] }).then(found => found.violations.map(one =>
  ({ id: one.id, impact: one.impact, nodes: one.nodes.slice(0, 4).map(node => node.html.slice(0, 160)) })))"""


def violations(page: Any, *, all_kinds: bool = False) -> list[dict[str, Any]]:
    """Return what axe-core finds on a page that is serious, or all that it finds.

    It is evaluated, not put into the page as a script, which the content policy of the studio forbids.
    """
    package = pytest.importorskip("axe_playwright_python")
    page.evaluate(files(package).joinpath("axe.min.js").read_text(encoding="utf-8") + "; undefined")
    found: list[dict[str, Any]] = page.evaluate(RUN)
    return [one for one in found if all_kinds or one["impact"] in GRAVE]
