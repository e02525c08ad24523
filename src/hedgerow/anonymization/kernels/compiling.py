"""How kernels are compiled, and what keeps that short.

Three decorators: :data:`kernel` for what Python calls, kept on disk; :data:`inner` for what only kernels call, which
gets no way in from Python (taking apart tuples of arrays is most of the code of a short function); :data:`part` for a
large function that a kernel calls from one place, and which becomes a part of it: otherwise everything below it is
optimized and turned into machine code once more for its own sake.

Numba compiles a function anew for every combination of types it is called with, and what numpy offers inside kernels is
compiled too, into every process. Measured with numba 0.68, in seconds of one core:

========================================================== =======================================================
what costs                                                 instead
========================================================== =======================================================
2.3  ``a[:] = b`` or ``a - b`` of arrays: a message about  a loop; ``a[:] = 0`` is fine
     shapes that differ is put together from text
1.4  ``np.sort``, ``np.argsort``                           ``sorting.py``
0.8  ``np.diff``, ``np.unique``, ``np.searchsorted``       a loop, ``sorting.py``
0.3+ ``f(…, 0)``, ``f(…, True)``: a type of its own for    ``f(…, np.int64(0))``, ``f(…, np.bool_(True))``
     each literal, hence ``f`` once more
0.3+ ``f`` of arrays of int32 here and of int64 there      one type throughout
========================================================== =======================================================
"""

from __future__ import annotations

from typing import Any

import numba as nb

_KERNEL: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}  # nobody calls them from C
_INNER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True}

kernel = nb.njit(cache=True, **_KERNEL)
inner = nb.njit(**_INNER)
part = nb.njit(inline="always", **_INNER)
