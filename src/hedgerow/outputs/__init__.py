"""The one way in which anything is put in place: prepared in private, synced, then there all at once or not at all."""

from hedgerow.outputs.file import PreparedFile, new_file, put_text
from hedgerow.outputs.folder import RELEASE_FILES, check_free, new_folder
from hedgerow.outputs.private import PrivateFolder, sweep
from hedgerow.outputs.trouble import cannot_write

__all__ = [
    "RELEASE_FILES",
    "PreparedFile",
    "PrivateFolder",
    "cannot_write",
    "check_free",
    "new_file",
    "new_folder",
    "put_text",
    "sweep",
]
