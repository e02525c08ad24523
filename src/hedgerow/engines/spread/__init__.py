"""A table whose records stay on the executors of Spark: what comes to the driver are values, blocks and sums.

Start reading at ``rounds.py``: it goes through the steps of a release as :mod:`hedgerow.anonymization.withholding` does
for a table that is here. ``coded.py`` and ``tasks.py`` are what tasks do; ``summed.py`` has what is known of a release
of which only sums are here.
"""
