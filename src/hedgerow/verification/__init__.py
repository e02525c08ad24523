"""The independent check of a release: reads what was written, and shares no code with what wrote it."""

from hedgerow.verification.check import verify_release
from hedgerow.verification.in_place import verify_in_place, verify_release_in_place
from hedgerow.verification.places import CountedLink, InDatabase, InFile, Lender, Where
from hedgerow.verification.result import Promise, Verification

__all__ = [
    "CountedLink",
    "InDatabase",
    "InFile",
    "Lender",
    "Promise",
    "Verification",
    "Where",
    "verify_in_place",
    "verify_release",
    "verify_release_in_place",
]
