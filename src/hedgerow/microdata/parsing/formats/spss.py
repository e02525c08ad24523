"""Files of SPSS: system files and portable files."""

from __future__ import annotations

from pathlib import Path

from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.statistical import open_statistical
from hedgerow.microdata.parsing.texts import TextTable, parsing
from hedgerow.plan.formats import FormatDescriptor

SYSTEM_FILE = (b"$FL2", b"$FL3")


def open_spss(path: Path, form: Form) -> TextTable:
    """Open a file, of either kind as its first bytes tell."""
    with parsing(form):
        import pyreadstat

        with path.open("rb") as file:
            system = file.read(4) in SYSTEM_FILE
    if system:
        return open_statistical(path, form, pyreadstat.read_sav, {"user_missing": True})
    return open_statistical(path, form, pyreadstat.read_por, {})


DESCRIPTOR = FormatDescriptor(
    name="spss",
    title="SPSS",
    help="labels become cells; user-defined missing values are missing, and a column says of which kind",
    order=50,
    endings=(".sav", ".zsav", ".por"),
    opened=open_spss,
    options=("labels",),
    tells_extent=True,
    ending="sav",
    needs=("pyreadstat", "pandas"),
    writer="hedgerow.engines.statistical_export:SPSS",
    density=4,
)
