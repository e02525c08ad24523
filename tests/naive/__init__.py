"""Plain reference implementations that the compiled code is held against, group by group.

Standard library only, nothing from ``hedgerow``: a mistake there cannot hide here. Everything is the
shortest correct loop; nothing is fast. Sections cited are those of the specification (SPEC).

===================  ==================================================================
``trees``            hierarchies: common ancestor, height, limits (SPEC 2)
``attributes``       tree and free-interval quasi-identifiers over coded values (SPEC 2-3)
``costs``            integer costs of boxes and distances of records (SPEC 3)
``k_member``         greedy k-member clustering with its tie-breaking (SPEC 4)
``cells``            cells and OUT (SPEC 4)
``widths``           runs within a greatest width: dynamic programme and brute force (SPEC 2)
``constrained``      GreedyCKA (SPEC 4)
``measures``         losses and scores of a partition, count of limit breaks (SPEC 2-3)
``adult``            the CKA column of CPKA Table 6 (SPEC 6 and appendix)
``privacy``          models of attribute disclosure, what a group lacks, disclosures (SPEC 5-6)
``risks``            risks of being found, record by record
``conditions``       the two necessary conditions, Algorithms 1 and 2 (SPEC 5)
``diverse``          GreedyPKClustering and GreedyCPKA, for any combination of models (SPEC 6)
``lattice``          full-domain generalization by looking at every node (SPEC 5)
``research_value``   spans, rules, and the value of levels, groups and releases (SPEC 7)
``association``      how closely columns go together, and weights from it (SPEC 7)
``research_search``  exhaustive, global, local, hybrid and divided search (SPEC 7)
``utility``          utility-driven clustering and its baselines (SPEC 7)
``patterns``         decision trees, range queries, distances of distributions (SPEC 7)
``reach``            chance of reaching k, exactly (SPEC 7)
``partition``        recursive cuts, and splitting large cells
``improving``        total cost by any objective, and the best of all groupings
``maintenance``      insert, delete, split, dissolve, borrow, IL_Optimization (SPEC 8)
``audit``            what holders of several versions can learn, by trying all assignments
===================  ==================================================================
"""
