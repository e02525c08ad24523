"""Attacking a release: how often somebody who knows some columns finds a person, or guesses what is sensitive.

Start reading at ``attacker.py``. ``known.py`` has the release as an attacker sees it, ``linking.py`` and
``guessing.py`` the attacks, ``rates.py`` how often they are right, and how sure that is.
"""

from hedgerow.evaluation.attacking.attacker import Attack, attack

__all__ = ["Attack", "attack"]
