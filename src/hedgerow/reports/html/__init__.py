"""The page of a release: :func:`~hedgerow.reports.html.page.report_html`, where to start reading.

``page`` lists the sections; ``asked``, ``lost``, ``limits``, ``risks`` and ``proof`` tell what their templates need,
and ``templates`` has one for each, by its key. Prose stands in the templates. ``markup`` has the only pieces of markup
that Python makes. May import the charts and the words of reports, nothing of the terminal.
"""
