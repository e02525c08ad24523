"""Views of arrays without a count of references, for loops in which the counting would take longer than the work.

Numba counts the references to an array, one atomic step up and one down, whenever a function is handed it or takes it
out of a tuple. It does not count references to arrays whose memory it does not own. A kernel that makes its arrays bare
before its loops does not count any more; its caller keeps the arrays until it returns. Whole tuples are made bare in
one step, which also compiles faster than one step for every array.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def bare(_, whole):
    """A view of an array without a count of references, or of all arrays of a tuple; it must not outlive them."""

    def build(context, builder, _, arguments):
        return _bared(context, builder, whole, arguments[0])

    return whole(whole), build


def _bared(context, builder, kind, value):
    if isinstance(kind, types.BaseTuple):
        members = [
            _bared(context, builder, member, builder.extract_value(value, i)) for i, member in enumerate(kind.types)
        ]
        return context.make_tuple(builder, kind, members)
    if not isinstance(kind, types.Array):
        return value
    view = context.make_array(kind)(context, builder, value=value)
    view.meminfo = cgutils.get_null_value(view.meminfo.type)
    view.parent = cgutils.get_null_value(view.parent.type)
    return view._getvalue()
