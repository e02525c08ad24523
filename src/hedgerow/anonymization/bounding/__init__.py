"""How far from the best possible a release is at most: a lower bound on what any grouping of its records loses.

Start reading at ``certificate.py``.
"""

from hedgerow.anonymization.bounding.certificate import Certificate, certify, overlooked

__all__ = ["Certificate", "certify", "overlooked"]
