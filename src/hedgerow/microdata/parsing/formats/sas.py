"""Files of SAS: data sets and transport files. Their value labels lie in a catalogue beside them, which is not read."""

from __future__ import annotations

from pathlib import Path

from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.statistical import open_statistical
from hedgerow.microdata.parsing.texts import TextTable, parsing
from hedgerow.plan.formats import FormatDescriptor

TRANSPORT = b"HEADER RECORD*******"


def open_sas(path: Path, form: Form) -> TextTable:
    """Open a file, of either kind as its first bytes tell."""
    with parsing(form):
        import pyreadstat

        with path.open("rb") as file:
            transport = file.read(len(TRANSPORT)) == TRANSPORT
    if transport:
        return open_statistical(path, form, pyreadstat.read_xport, {})
    return open_statistical(path, form, pyreadstat.read_sas7bdat, {"user_missing": True})


DESCRIPTOR = FormatDescriptor(
    name="sas",
    title="SAS",
    help="data sets and transport files; value labels lie in another file, which is not read",
    order=70,
    endings=(".sas7bdat", ".xpt"),
    opened=open_sas,
    ending="xpt",
    needs=("pyreadstat",),
    density=8,
)
