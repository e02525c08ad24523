"""The kinds of hierarchies that a plan can name, one per module, each with its descriptor.

Start reading at ``prefix.py``.
"""
