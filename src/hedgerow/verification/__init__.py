"""The independent check of a release: reads what was written, and shares no code with what wrote it."""

from hedgerow.verification.check import verify_release
from hedgerow.verification.result import Promise, Verification

__all__ = ["Promise", "Verification", "verify_release"]
