"""A folder full of modules and files that say so if anything loads them."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGES = (
    *("hedgerow", "numpy", "numba", "llvmlite", "duckdb", "pyarrow", "pydantic", "pydantic_core", "yaml", "typer"),
    *("rich", "click", "shellingham", "pandas", "polars", "matplotlib", "nicegui", "fastapi", "uvicorn", "starlette"),
    *("socketio", "engineio", "orjson", "websockets", "httptools", "uvloop", "anyio", "h11", "jinja2", "dotenv"),
    *("pyspark", "py4j", "cloudpickle", "adbc_driver_manager", "adbc_driver_postgresql", "annotated_types"),
    *("typing_extensions", "sitecustomize", "usercustomize", "planted", "six", "dateutil", "pytz", "cuda", "icecream"),
)
NAMES = sorted({*sys.stdlib_module_names, *PACKAGES} - {"__main__", "this", "antigravity"})
MODULE = """import os
with open({marker!r}, "w") as file:
    file.write(__name__)
"""
OTHERS = {
    "matplotlibrc": "backend: module://planted\nfigure.dpi: nonsense\n",
    ".numba_config.yaml": "[not: yaml",
    ".duckdbrc": ".shell touch ran-duckdbrc\n",
    ".env": "HEDGEROW_CACHE=planted-cache\nUVICORN_APP=planted:app\n",
    "spark-defaults.conf": "spark.driver.extraJavaOptions -Dplanted\n",
    "setup.cfg": "[numba]\n",
    "pyvenv.cfg": "home = /nowhere\n",
    "planted.pth": "import planted\n",
}


def plant(folder: Path) -> Path:
    """Put a module for every name that could be imported into a folder; each leaves a mark when it is executed."""
    marks = folder / "marks"
    marks.mkdir(parents=True)
    for name in NAMES:
        (folder / f"{name}.py").write_text(MODULE.format(marker=str(marks / name)))
    for name, text in OTHERS.items():
        (folder / name).write_text(text)
    (folder / "studio").mkdir()
    return marks


def marks_in(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir()) + sorted(path.name for path in marks.parent.glob("ran-*"))
