"""The one place where a cube decision gets its name, and what each mistake in it costs.

All numbers are of row 0, the side that may double, on any scale on which more is better for it.

Equal values are told apart by a second key: he who may double keeps the cube unless the other would pass, since a game
won is won; he who is doubled takes, since a game given up is lost; nobody beavers or raccoons for nothing.
"""

from dataclasses import dataclass

from nardy_ai.language import marked, tr

__all__ = ["NO_CUBE_ACTION", "BeaverWorth", "Verdict", "action_text", "verdict"]

EQUAL = 1e-7
"""Values no further apart are equal: what formulas and tables are good for is less."""

NO_CUBE_ACTION = "no cube action"


ACTION_WORDS = (
    marked("no cube action"),
    marked("no double"),
    marked("no redouble"),
    marked("double"),
    marked("redouble"),
    marked("too good to double"),
    marked("too good to redouble"),
    marked("take"),
    marked("pass"),
    marked("drop"),
    marked("beaver"),
    marked("raccoon"),
    marked("play on"),
    marked("roll"),
)
"""What the names of cube actions consist of, between commas."""


def action_text(action: str) -> str:
    """The name of a cube action, such as `double, take`, in the current language."""
    return ", ".join(tr(word) for word in action.split(", "))


@dataclass(frozen=True)
class BeaverWorth:
    """What a beaver leads to: row 0 plays on, drops, or raccoons, after which the other plays on or drops.

    raccoon, raccoon_dropped: None where no raccoon is allowed, or the stake cannot rise so far.
    """

    played: float
    dropped: float
    raccoon: float | None = None
    raccoon_dropped: float | None = None

    @property
    def replies(self) -> dict[str, float]:
        """What row 0 may do, with its worth."""
        worths = {"play on": self.played, "drop": self.dropped}
        if self.raccoon is not None and self.raccoon_dropped is not None:
            worths["raccoon"] = min(self.raccoon, self.raccoon_dropped)
        return worths

    @property
    def reply(self) -> str:
        """The best of `replies`: `play on`, `drop` or `raccoon`; of equals the first."""
        best = max(self.replies.values())
        return next(name for name, worth in self.replies.items() if worth >= best - EQUAL)

    @property
    def last_answer(self) -> str | None:
        """What row 1 does with a raccoon: `play on` or `drop`; of equals the first. None where there is none."""
        if self.raccoon is None or self.raccoon_dropped is None:
            return None
        return "play on" if self.raccoon <= self.raccoon_dropped + EQUAL else "drop"

    @property
    def worth(self) -> float:
        """What the beaver leaves row 0 if it replies well."""
        return max(self.replies.values())


@dataclass(frozen=True)
class Verdict:
    """The right action of both sides.

    action: both in words, such as `double, take`. double: whether row 0 should double. too_good: it should not because
    playing on is worth more than the stake. answer: `take`, `pass` or `beaver` to a double, None where there is none.
    The costs are what each wrong action loses to the side that errs, 0 for the right one and where there is none.
    """

    action: str
    double: bool
    too_good: bool
    answer: str | None
    cost_no_double: float
    cost_double: float
    cost_take: float
    cost_pass: float
    cost_beaver: float


def verdict(
    no_double: float,
    double_take: float | None,
    double_pass: float,
    *,
    beaver: BeaverWorth | None = None,
    redouble: bool = False,
) -> Verdict:
    """Name a decision. double_take: None where row 0 may not double, or could gain nothing by it.

    beaver: where one is allowed. redouble: whether row 0 owns the cube.
    """
    if double_take is None:
        return Verdict(NO_CUBE_ACTION, False, False, None, 0.0, 0.0, 0.0, 0.0, 0.0)
    answers = {"take": double_take, "pass": double_pass}
    answer = "take" if double_take <= double_pass + EQUAL else "pass"
    if beaver is not None:
        answers["beaver"] = beaver.worth
        if beaver.worth < answers[answer] - EQUAL:
            answer = "beaver"
    doubled = answers[answer]
    double = doubled > no_double + EQUAL or (answer == "pass" and doubled >= no_double - EQUAL)
    too_good = not double and no_double > double_pass + EQUAL
    word = "redouble" if redouble else "double"
    offer = word if double else f"too good to {word}" if too_good else f"no {word}"
    costs = {name: 0.0 if name == answer else max(worth - doubled, 0.0) for name, worth in answers.items()}
    return Verdict(
        action=f"{offer}, {answer}",
        double=double,
        too_good=too_good,
        answer=answer,
        cost_no_double=max(doubled - no_double, 0.0) if double else 0.0,
        cost_double=0.0 if double else max(no_double - doubled, 0.0),
        cost_take=costs["take"],
        cost_pass=costs["pass"],
        cost_beaver=costs.get("beaver", 0.0),
    )
