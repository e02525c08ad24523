"""``python -m hedgerow``: the command line where the program ``hedgerow`` is not on the path.

Python itself looks into the working folder first when it is started like this, before any of our code runs. Where a
stranger's files may lie, say ``python -P -m hedgerow``, or use the program.
"""

from hedgerow.cli import main

if __name__ == "__main__":
    main()
