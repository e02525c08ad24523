"""The privacy models, one per file, each with the descriptor by which plans, checks, studio and reports find it.

Start reading at ``p_sensitive.py``.
"""
