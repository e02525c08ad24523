"""What explains the mutants that no test notices is about code that is there."""

from __future__ import annotations

from tests.robustness.mutants import find_mutants, modules, read_explained


def test_every_explained_mutant_is_one_of_the_verifier() -> None:
    mutants = [mutant for module in modules() for mutant in find_mutants(module)]
    starred = {mutant.name.replace(f" | {mutant.change} | ", " | * | ", 1) for mutant in mutants}
    assert read_explained() <= {mutant.name for mutant in mutants} | starred
