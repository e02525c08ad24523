"""Keeping a release current: changes, less loss, and what holders of several versions could learn."""
