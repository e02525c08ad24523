"""From a solution to a release that may be shown: facts and rows, a folder or a table, and the check before."""

from hedgerow.publishing.checking import is_large, verify_before_publishing, where_found
from hedgerow.publishing.folders import check_targets, publish, publish_link, verify_privately, write_release
from hedgerow.publishing.making import make_release, self_contained
from hedgerow.publishing.tables import check_table, publish_table, read_table, verify_table

__all__ = [
    "check_table",
    "check_targets",
    "is_large",
    "make_release",
    "publish",
    "publish_link",
    "publish_table",
    "read_table",
    "self_contained",
    "verify_before_publishing",
    "verify_privately",
    "verify_table",
    "where_found",
    "write_release",
]
