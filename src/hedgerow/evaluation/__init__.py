"""Looking and weighing before anything is published: nothing here makes a release that is kept.

``drafting/`` looks at a table and proposes a plan, ``tightening/`` its limits; ``comparison`` measures methods side by
side, with the decision trees and queries of ``patterns/``; ``analysing/`` estimates from a release; ``exploration``
shows the whole lattice; ``limit_effects`` the same release with and without each limit; ``reach/`` the chance that k is
within reach; ``synthetic/`` makes up tables to try things on.

May import: ``release`` and what is below, not ``maintenance``. Start reading at ``comparison.py``.
"""
