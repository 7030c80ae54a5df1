"""Small games solved once a run for all tests that need them: that takes seconds."""

from functools import cache

from nardy_ai.exact.solve import Solution, few_checkers, solve
from nardy_ai.rules import find_rules


@cache
def two_checkers() -> Solution:
    """Hyper nardy with two checkers a side, which has contact."""
    return solve(few_checkers(find_rules("hyper"), 2))
