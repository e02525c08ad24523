"""What a cell means: numbers and ranges, trees and the bands of a ladder, dates, limits; read from the plan alone.

``columns`` judges the labels of one quasi-identifier, and is the place to start; ``trees``, ``bands`` and ``dates`` are
the kinds of hierarchy that it stands on. ``sensitive`` says which sensitive values count as different. Imports the
plan, and nothing else of the verifier.
"""
