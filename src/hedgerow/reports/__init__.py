"""Facts drawn for people: in the terminal, as a page to sign, as charts.

Facts themselves are made in ``release.facts``; here they are only shown. ``material`` is what a report is made of,
``wording`` the words and numbers that everything here shares. ``html``, ``terminal`` and ``charts`` draw: ``html`` uses
``charts``, and beyond that none of the three knows the others. All of them take plain data.

May import: ``maintenance``, ``evaluation`` and what is below. Start reading at ``reporting.py``.
"""
