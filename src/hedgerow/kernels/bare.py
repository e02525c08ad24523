"""Views of arrays without a count of references, for loops in which the counting would take longer than the work.

Numba counts the references to an array, one atomic step up and one down, whenever a function is handed it or takes it
out of a tuple. It does not count references to arrays whose memory it does not own. A kernel that makes its arrays bare
before its loops does not count any more; its caller keeps the arrays until it returns.
"""

from __future__ import annotations

from numba.core import cgutils
from numba.extending import intrinsic

from hedgerow.kernels.compiling import inner


@intrinsic
def bare(_, array):
    """A view of an array without a count of references; it must not outlive the array."""

    def build(context, builder, _, arguments):
        view = context.make_array(array)(context, builder, value=arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), build


@inner
def bare_demands(asked):
    """What is asked of groups (see ``demands.py``), as bare views."""
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, lasts = asked
    a, b, c, d, e = models
    t, u, v, w, x = trees
    return (
        k, what, bare(person), bare(stamp), bare(sensitive), bare(value_start), bare(overall),
        (bare(a), bare(b), bare(c), bare(d), bare(e)), (bare(t), bare(u), bare(v), bare(w), bare(x)),
        bare(wanted), bare(histogram), bare(tally), lasts,
    )  # fmt: skip
