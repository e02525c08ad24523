"""The way in and out: other people's bytes, child processes, files and folders put in place, servers, memory.

Whatever Hedgerow does with the world outside goes through here, with limits: ``intake`` opens files, ``sandbox`` runs a
function of ours on a stranger's bytes in a child process, ``children`` starts every process, ``outputs`` is the one way
to put a file or a folder in place, ``server`` knows addresses of databases. Nothing here knows tables or plans.

May import: ``errors``. Start reading at ``sandbox/__init__.py`` for what comes in, at ``outputs/__init__.py`` for what
goes out.
"""
