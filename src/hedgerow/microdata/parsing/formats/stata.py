"""Files of Stata."""

from __future__ import annotations

from pathlib import Path

from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.statistical import open_statistical
from hedgerow.microdata.parsing.texts import TextTable, parsing
from hedgerow.plan.formats import FormatDescriptor


def open_stata(path: Path, form: Form) -> TextTable:
    """Open a file."""
    with parsing(form):
        import pyreadstat
    return open_statistical(path, form, pyreadstat.read_dta, {"user_missing": True})


DESCRIPTOR = FormatDescriptor(
    name="stata",
    title="Stata",
    help="labels become cells; .a to .z are missing, and a column says which",
    order=60,
    endings=(".dta",),
    opened=open_stata,
    options=("labels",),
    tells_extent=True,
    ending="dta",
    needs=("pyreadstat", "pandas"),
    writer="hedgerow.engines.statistical_export:STATA",
    density=4,
)
