"""Arrays that travel together between kernels and their callers, by name.

Numba takes a named tuple as an argument and reads a field of it as fast as a variable. These modules load no numba, so
that callers stay light; ``signatures.py`` has the exact types. Scratch space is called a *desk*: a kernel writes to it
and expects nothing of it but its shape, and its caller keeps it.

Import from the modules, one for each family of kernels: compiled kernels are kept by the sources that they import, so a
change here compiles only those anew that it concerns.
"""
