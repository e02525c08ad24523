"""Attacks on Hedgerow: faults, kills, hostile bytes, canaries, tampering, interference.

Each module here has a :class:`~tests.robustness.campaign.Campaign`; ``make test`` runs a few cases of each, ``make
torture`` (``python -m tests.robustness``) runs them for hours, and keeps what fails.
"""
