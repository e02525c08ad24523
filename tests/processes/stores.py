"""A store of objects, and one that renames, for Spark: folders of this machine behind Hadoop's own interface.

They are written in Scala, whose compiler is part of Spark, so that no Java compiler is needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("object_store.scala")
OBJECTS, RENAMING = "s3a", "hdfs"
CLASSES = {OBJECTS: "hedgerow.tests.ObjectStore", RENAMING: "hedgerow.tests.RenamingStore"}


def class_folder() -> Path:
    """Where the compiled classes go; the folder is there from the start, as Java looks for it then."""
    text = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"hedgerow-tests-{os.getuid()}-{text}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def compile_stores() -> None:
    """Compile the stores, once for a machine."""
    import pyspark

    folder, jars = class_folder(), Path(pyspark.__file__).parent / "jars"
    done = folder / "done"
    if done.exists():
        return
    with tempfile.TemporaryDirectory() as made:
        words = ["-classpath", f"{jars}/*", "scala.tools.nsc.Main", "-usejavacp", "-d", made, str(SOURCE)]
        subprocess.run(["java", "-XX:TieredStopAtLevel=1", *words], check=True)
        for path in Path(made).rglob("*.class"):
            target = folder / path.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    done.touch()


def settings() -> dict[str, str]:
    """Settings of a session for which ``s3a:`` and ``hdfs:`` lead to this machine's own folders."""
    found: dict[str, str] = {}
    for scheme, name in CLASSES.items():
        found |= {f"fs.{scheme}.impl": name, f"fs.{scheme}.impl.disable.cache": "true"}
    return found


def address(scheme: str, path: Path) -> str:
    """The address of a path in a store."""
    return f"{scheme}://bucket{path}"


@contextlib.contextmanager
def with_stores(spark: Any) -> Iterator[Any]:
    """Let a session have the stores; yields what counts their steps, and makes them fail."""
    compile_stores()
    given = settings()
    for key, value in given.items():
        spark.conf.set(key, value)
    work = spark._jvm.hedgerow.tests.Work
    work.start(1 << 30)
    try:
        yield work
    finally:
        work.start(1 << 30)
        for key in given:
            spark.conf.unset(key)
