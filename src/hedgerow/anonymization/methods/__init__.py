"""The methods by which releases are made, one per file, each with the descriptor by which everybody finds it.

A clustering is made here and run inside blocks by :mod:`hedgerow.anonymization.solving`, which also searches the
lattice. Start reading at ``cluster.py``.
"""
