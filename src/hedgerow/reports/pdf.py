"""The page of a report as a PDF, by WeasyPrint: for who wants a file to sign, and has no browser at hand.

WeasyPrint and not a browser: it is a library that pip installs, it needs no sandbox of its own and starts no process,
it follows the page rules of CSS (running foot, page numbers), writes a PDF that screen readers can read (PDF/UA), and
the same page gives the same bytes, where a browser writes the time into each.
"""

from __future__ import annotations

import logging
from typing import Any

from hedgerow.errors import HedgerowError, Problem, how_to_install
from hedgerow.reports.charts.parts import written_out

INK = "#000000"


def check_available() -> None:
    """Refuse, before any work, where WeasyPrint or what it needs is not installed."""
    _weasyprint()


def page_to_pdf(page: str) -> bytes:
    """Print a page of ours; nothing is fetched."""
    weasyprint = _weasyprint()
    document = weasyprint.HTML(string=written_out(page, INK), url_fetcher=_refuse)
    return bytes(document.write_pdf(pdf_variant="pdf/ua-1"))


def _weasyprint() -> Any:
    try:
        import weasyprint
    except ImportError:
        message, hint = "A report is printed by WeasyPrint, which is not installed.", how_to_install("pdf")
        raise HedgerowError(Problem("usage", message, hint=f"{hint}, or print the page from a browser")) from None
    except OSError:  # its Python part is there, but a library of the system is not
        hint = "install Pango, for example with: apt-get install libpango-1.0-0 libpangoft2-1.0-0"
        raise HedgerowError(Problem("usage", "WeasyPrint does not find the library Pango.", hint=hint)) from None
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)  # it warns of rules for browsers, which it passes over
    return weasyprint


def _refuse(url: str, *_: object, **__: object) -> Any:
    raise ValueError("a report holds everything that it needs")
