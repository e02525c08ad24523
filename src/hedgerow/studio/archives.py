"""Archives of releases, to be downloaded."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Archives hold no times, so the same release gives the same bytes."""


def pack(folder: Path, target: Path) -> None:
    """Put the files of a release into an archive that only its owner can read."""
    target.touch(mode=0o600, exist_ok=False)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(path.name, LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            with path.open("rb") as file, archive.open(entry, "w", force_zip64=True) as inside:
                shutil.copyfileobj(file, inside, 1 << 20)
