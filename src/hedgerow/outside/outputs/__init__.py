"""The one way in which anything is put in place: prepared in private, synced, then there all at once or not at all."""

from hedgerow.outside.outputs.file import PreparedFile, new_file, put_text
from hedgerow.outside.outputs.folder import check_free, new_folder
from hedgerow.outside.outputs.private import PrivateFolder, sweep
from hedgerow.outside.outputs.trouble import cannot_write

__all__ = [
    "PreparedFile",
    "PrivateFolder",
    "cannot_write",
    "check_free",
    "new_file",
    "new_folder",
    "put_text",
    "sweep",
]
