"""From microdata and a plan to groups: the methods, what limits cost, who is withheld, and the compiled kernels.

``withholding.settle`` goes round by round until nothing depends on a withheld record; each round asks
``solving.solve``, which calls a method of ``clustering/`` or ``lattice/``; these run on ``kernels/``. ``explanation``
says what limits cost before anything is run.

May import: ``privacy``, ``measures`` and what is below. Start reading at ``withholding.py``.
"""
