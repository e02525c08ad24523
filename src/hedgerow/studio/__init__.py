"""The studio: a local web page over the same verbs as the command line. Everything done in it is a plan file.

May import: everything but ``cli``. Start reading at ``serving.py``, then ``pages/``.
"""

import os

os.environ["MATPLOTLIB"] = "false"  # NiceGUI would load one that is there, with settings from the working folder
