"""What holders of several versions of a release could learn.

The audit does not know how groups were made: it sees groups, places and values, as a reader with all versions and the
publisher's map would. Start reading at ``audit.py``.
"""
