"""The one test that fails when a newer Python or library warns that it will no longer take what our code does.

All other tests let such warnings pass (``filterwarnings`` in pyproject.toml): one line of ours is one failure, not one
for every test that happens to run it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cases.typical_work import OURS, counts

ROOT = Path(__file__).parents[2]


def test_no_library_warns_that_it_will_refuse_what_we_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.cases.typical_work", str(tmp_path)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    if found:
        pytest.fail("newer versions will refuse what these lines of ours do:\n  " + "\n  ".join(found), pytrace=False)


@pytest.mark.parametrize("category", [DeprecationWarning, FutureWarning, np.exceptions.VisibleDeprecationWarning])
def test_a_warning_counts_if_the_line_is_ours(category: type[Warning]) -> None:
    assert counts(category, str(OURS / "synthetic" / "clinic.py"))
    assert not counts(category, np.__file__)
    assert not counts(UserWarning, str(OURS / "synthetic" / "clinic.py"))
