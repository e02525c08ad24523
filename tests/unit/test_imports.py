"""What an import costs, and what the package shows."""

from __future__ import annotations

import subprocess
import sys

import hedgerow as hr

HEAVY = ("numba", "duckdb", "pyarrow", "pandas", "polars", "adbc_driver_manager", "pyspark", "nicegui", "jinja2")


def modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(' '.join(m for m in {HEAVY} if m in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_no_numba_driver_or_ui() -> None:
    assert modules_after("import hedgerow") == set()


def test_plans_load_no_numba_driver_or_ui() -> None:
    assert modules_after("import hedgerow; hedgerow.Plan; hedgerow.Hierarchy") == set()


def test_the_workflow_loads_numba_only_when_a_kernel_runs() -> None:
    assert "numba" not in modules_after("from hedgerow import anonymize, explain, verify")


def test_every_public_name_is_there() -> None:
    for name in hr.__all__:
        assert getattr(hr, name) is not None
    assert dir(hr) == sorted(hr.__all__)


def test_the_command_line_loads_no_plans_and_no_numpy_until_it_needs_them() -> None:
    code = "import sys, hedgerow.cli.app; print([m for m in ('numpy', 'pydantic', 'hedgerow.api') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_release_loads_nothing_of_servers_spark_or_comparisons() -> None:
    code = (
        "import sys, hedgerow.api; print([m for m in sys.modules if m.startswith(('hedgerow.evaluation.',"
        " 'hedgerow.release.stores', 'hedgerow.release.tables', 'hedgerow.anonymization.bounding', 'numpy.polynomial'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
