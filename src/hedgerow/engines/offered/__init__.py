"""The engines, one per module, by the descriptors of which they are found; the code is loaded when one is opened.

Start reading at ``local.py``.
"""
