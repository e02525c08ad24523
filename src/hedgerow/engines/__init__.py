"""Where tables lie: in memory, in DuckDB, on a server, in Spark. Read collapsed, run, apply, write.

Everything in between knows nothing of engines, and a release does not depend on the one that made it.

May import: ``anonymization`` and what is below, not ``verification``. Start reading at ``base.py``, then at
``opening.py``.
"""
