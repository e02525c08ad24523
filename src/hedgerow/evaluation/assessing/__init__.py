"""How much a table gives away as it stands, before anything is done to it, or after somebody else did.

``assessing.py`` is the verb; ``subsets.py`` finds out which combinations of columns single people out, ``choosing.py``
which columns are looked at, ``demands.py`` whether what somebody requires holds. No hierarchies are needed: values are
compared as they are written.

May import: what ``evaluation`` may. Start reading at ``assessing.py``.
"""

from hedgerow.evaluation.assessing.assessing import assess
from hedgerow.evaluation.assessing.assessment import Assessment

__all__ = ["Assessment", "assess"]
