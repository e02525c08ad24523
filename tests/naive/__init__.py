"""Plain reference implementations that the compiled code is held against, group by group.

Standard library only, nothing from ``hedgerow``: a mistake there cannot hide here. Everything is the
shortest correct loop; nothing is fast. Papers are cited by tags::

    CKA   Miller, Campan and Truta 2008, Constrained k-Anonymity: Privacy with Generalization Boundaries
    CPKA  Campan, Truta and Cooper 2010, P-Sensitive K-Anonymity with Generalization Constraints
    PS    Truta and Vinay 2006, Privacy Protection: p-Sensitive k-Anonymity Property
    INC   Truta and Campan 2007, K-Anonymization Incremental Maintenance and Optimization Techniques
    RV    Morton 2013, An Improved Utility Driven Approach Towards K-Anonymity Using Data Constraint Rules

===================  ==================================================================
``trees``            hierarchies: common ancestor, height, limits
``attributes``       tree and free-interval quasi-identifiers over coded values
``costs``            integer costs of boxes and distances of records
``k_member``         greedy k-member clustering with its tie-breaking
``cells``            cells and OUT
``tightening``       limits proposed from the data by steps, and the best of all limits
``widths``           runs within a greatest width: dynamic programme and brute force
``constrained``      GreedyCKA
``measures``         losses and scores of a partition, count of limit breaks
``adult``            the column of k alone of CPKA Table 6
``privacy``          models of attribute disclosure, what a group lacks, disclosures
``risks``            risks of being found, record by record
``conditions``       the two necessary conditions, Algorithms 1 and 2
``diverse``          GreedyPKClustering and GreedyCPKA, for any combination of models
``lattice``          full-domain generalization by looking at every node
``printed``          hierarchies as tables of papers print them, and what they publish
``research_value``   spans, rules, and the value of levels, groups and releases
``association``      how closely columns go together, and weights from it
``research_search``  exhaustive, global, local, hybrid and divided search
``utility``          utility-driven clustering and its baselines
``patterns``         decision trees, range queries, distances of distributions
``reach``            chance of reaching k, exactly
``partition``        recursive cuts, and splitting large cells
``improving``        total cost by any objective, and the best of all groupings
``maintenance``      insert, delete, split, dissolve, borrow, IL_Optimization
``audit``            what holders of several versions can learn, by trying all assignments
===================  ==================================================================
"""
