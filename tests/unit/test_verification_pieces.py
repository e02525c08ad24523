"""Small pieces of the check, each by itself."""

from __future__ import annotations
