"""The page for people who use R can be followed, where there is an R with reticulate."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

PAGE = ROOT / "docs" / "how-to" / "use-from-r.md"
CODE = re.compile(r"^```r\n(.*?)^```", re.MULTILINE | re.DOTALL)


def has_reticulate() -> bool:
    program = shutil.which("Rscript")
    asked = [program or "", "-e", "quit(status = !requireNamespace('reticulate', quietly = TRUE))"]
    return program is not None and subprocess.run(asked, capture_output=True, check=False).returncode == 0


def test_the_page_can_be_followed_in_r(demo: Path, tmp_path: Path) -> None:
    if not has_reticulate():
        pytest.skip("needs R with reticulate, for example: apt-get install r-base-core r-cran-reticulate")
    folder = tmp_path / "demo"
    shutil.copytree(demo, folder)
    blocks = [block.replace("~/hedgerow-python/bin/python", sys.executable) for block in CODE.findall(PAGE.read_text())]
    assert len(blocks) >= 3
    more = [
        "stopifnot(hr$verify('from-r', patients)$kept, nrow(released) == release$facts$released)",
        "stopifnot(found$k == 1L, found$records == nrow(patients))",
        "patients$sex <- factor(patients$sex); patients$admitted <- as.Date(patients$admitted)",
        "stopifnot(hr$assess(patients, columns = c('sex', 'admitted'))$records == nrow(patients))",
        "said <- tryCatch(hr$anonymize(patients, 'nothing.yaml'), error = conditionMessage)",
        "stopifnot(grepl('The plan file does not exist', said, fixed = TRUE))",
        "stopifnot(length(hr$compare(patients, 'plan.yaml', k = list(3L, 5L), methods = list('plan'))$runs) == 2)",
    ]
    script = folder / "page.R"
    script.write_text("\n".join([*blocks, *more]), encoding="utf-8")
    ran = subprocess.run(
        ["Rscript", script], cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
