"""The facts of a release as records that machines read: DDI Codebook for archives, DCAT for catalogues.

Both take what the page takes, facts, plan and what its owner adds, and hold nothing else: no value of any record, and
nothing that was measured on the original. Start reading at ``described.py``.
"""
