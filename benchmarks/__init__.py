"""Benchmarks: each compares, in one run, with the naive method or a named peer, and prints ratios."""
