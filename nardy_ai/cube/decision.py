"""The one place where a cube decision gets its name, and what each mistake in it costs.

All numbers are of row 0, the side that may double, on any scale on which more is better for it.

Equal values are told apart by a second key: he who may double keeps the cube unless the other would pass, since a game
won is won; he who is doubled takes, since a game given up is lost; nobody beavers for nothing.
"""

from dataclasses import dataclass

__all__ = ["NO_CUBE_ACTION", "Verdict", "verdict"]

EQUAL = 1e-7
"""Values no further apart are equal: what formulas and tables are good for is less."""

NO_CUBE_ACTION = "no cube action"


@dataclass(frozen=True)
class Verdict:
    """The right action of both sides.

    action: both in words, such as `double, take`. double: whether row 0 should double. too_good: it should not because
    playing on is worth more than the stake. answer: `take`, `pass` or `beaver` to a double, None where there is none.
    The costs are what each wrong action loses to the side that errs, 0 for the right one.
    """

    action: str
    double: bool
    too_good: bool
    answer: str | None
    cost_no_double: float
    cost_double: float
    cost_take: float
    cost_pass: float
    cost_beaver: float | None


def verdict(
    no_double: float,
    double_take: float | None,
    double_pass: float,
    *,
    beaver: float | None = None,
    redouble: bool = False,
) -> Verdict:
    """Name a decision. double_take: None where row 0 may not double. beaver: its worth where one is allowed.

    redouble: whether row 0 owns the cube.
    """
    if double_take is None:
        return Verdict(NO_CUBE_ACTION, False, False, None, 0.0, 0.0, 0.0, 0.0, None)
    answers = {"take": double_take, "pass": double_pass}
    answer = "take" if double_take <= double_pass + EQUAL else "pass"
    if beaver is not None:
        answers["beaver"] = beaver
        if beaver < answers[answer] - EQUAL:
            answer = "beaver"
    doubled = answers[answer]
    double = doubled > no_double + EQUAL or (answer == "pass" and doubled > no_double - EQUAL)
    too_good = not double and no_double > double_pass + EQUAL
    word = "redouble" if redouble else "double"
    offer = word if double else f"too good to {word}" if too_good else f"no {word}"
    best = max(no_double, doubled)
    return Verdict(
        action=f"{offer}, {answer}",
        double=double,
        too_good=too_good,
        answer=answer,
        cost_no_double=0.0 if not double else best - no_double,
        cost_double=0.0 if double else best - doubled,
        cost_take=0.0 if answer == "take" else max(double_take - doubled, 0.0),
        cost_pass=0.0 if answer == "pass" else max(double_pass - doubled, 0.0),
        cost_beaver=None if beaver is None else 0.0 if answer == "beaver" else max(beaver - doubled, 0.0),
    )
