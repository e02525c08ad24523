"""Rows, groups, histograms: everything that is counted, and the evidence that promises are judged on.

Start at ``evidence``: what was published, the original and the link, brought together, row by row (``row_evidence``) or
by counts (``counted_evidence``, on ``sources``, ``distinct_rows`` and ``counted_link``). The others count arrays of
whole numbers, and know no table. Imports ``reading`` and ``values``.
"""
