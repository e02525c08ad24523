"""Numbers by which models of attribute disclosure are known to the kernels, and the slack that both sides grant.

Models say here what they are, and ``anonymize/kernels/diverse.py`` reads it; ``privacy`` stands below ``anonymize``, so
the numbers lie on this side. This module imports nothing, because compiled kernels are kept by its source too: see
``anonymize/kernels/keeping.py``.
"""

from __future__ import annotations

DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, ALPHA, BETA, ENHANCED, DELTA = range(10)
SLACK = 1e-12  # what rounding may add to a computed share, distance or entropy
