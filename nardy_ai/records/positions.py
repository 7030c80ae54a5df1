"""Lists of positions, one a line, read as a match of games that begin and end with a position."""

from collections.abc import Sequence

from nardy_ai.errors import NardyError, NotationError
from nardy_ai.notation import read_position
from nardy_ai.records.game import Action, Fault, GameRecord, MatchRecord, Setup, Turn
from nardy_ai.rules import RuleSet

__all__ = ["read_position_list"]


def read_position_list(lines: Sequence[str], rules: RuleSet) -> MatchRecord:
    """One game for each position, in any format that `notation` reads, with the roll it names, if any, not yet played.

    The match has no length: what a position says of its own stands in its `Setup`. Lines that are blank or begin with #
    are skipped; one that is no position is a fault. Raises NotationError if none is one, with the fault of the first.
    """
    games: list[GameRecord] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            position = read_position(text, rules)
        except NardyError as error:
            faults.append(Fault(number, str(error)))
            continue
        side = position.row0_player
        actions: list[Action] = [Setup(side, position, line=number)]
        if position.dice is not None:
            actions.append(Turn(side, position.dice, None, line=number))
        scores = position.scores if side == 0 else position.scores[::-1]
        games.append(GameRecord(len(games) + 1, scores, tuple(actions), line=number))
    if not games:
        raise NotationError(f"holds no position: {faults[0]}" if faults else "is empty")
    return MatchRecord(
        names=("Player 0", "Player 1"), length=0, games=tuple(games), rules=rules.name, faults=tuple(faults)
    )
