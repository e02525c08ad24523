"""A release that stays current: created once, then changed by inserts, deletes and updates, every version verified.

The history lies in a store (one SQLite file, or a PostgreSQL schema). A change reads the newest version, works out the
next one, checks it as any release is checked, audits what holders of all versions could learn, and appends it in one
transaction: all of it, or nothing.
"""

from hedgerow.maintained.release import MaintainedRelease, create_release, open_release

__all__ = ["MaintainedRelease", "create_release", "open_release"]
