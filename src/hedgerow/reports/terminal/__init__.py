"""Summaries for a terminal, as Rich draws them: each takes what ``--json`` prints, and returns something to print.

``release`` has facts, explanations, checks and lattices; ``report``, ``comparison``, ``tree``, ``reach`` and
``maintained`` what their commands show; ``parts`` the tables and bars of all of them. May import the words of reports,
nothing of the page.
"""
