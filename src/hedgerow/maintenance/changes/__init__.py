"""Clusters before and records after a change give clusters after it; pure functions that know no store and no history.

Start reading at ``change.py``.
"""
