"""Drafting a plan for a table that has none."""

from hedgerow.drafting.draft import draft_plan

__all__ = ["draft_plan"]
