"""One file for each promise or family of promises: each takes the evidence, and returns what was asked and found.

Start at ``groups``, which is k itself. ``models`` has one entry for each privacy model. Promises do not know
each other; they import ``counting``, ``reading`` and ``values``.
"""
