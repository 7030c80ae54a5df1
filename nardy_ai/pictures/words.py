"""A position said in words, for whoever cannot see the picture of it."""

from collections.abc import Sequence

from nardy_ai.boards import BAR, CONTRARY, HEAD, OFF, Boards, finished, pip_counts
from nardy_ai.notation import Move, Position, format_play
from nardy_ai.notation.draw import cube_note
from nardy_ai.rules import RuleSet


def board_title(position: Position, rules: RuleSet, labels: Sequence[str]) -> str:
    """One line: the game, who is on roll and what there is to do."""
    if finished(position.board[None])[0]:
        winner = 0 if position.board[0, OFF] == rules.checkers else 1
        return f"{rules.name} nardy: {labels[winner]} has won"
    if position.playing and position.to_act != 0:
        return f"{rules.name} nardy: {labels[1]} to answer"
    if position.dice:
        return f"{rules.name} nardy: {labels[0]} to play {position.dice[0]}-{position.dice[1]}"
    return f"{rules.name} nardy: {labels[0]} on roll"


def board_words(
    position: Position, rules: RuleSet, labels: Sequence[str], *, cube: bool = True, moves: Sequence[Move] = ()
) -> str:
    """All that a picture of `position` shows, each side's points in its own numbers.

    labels: what the side on roll and the other are called. cube: whether the picture shows it. moves: those marked.
    """
    sentences = [
        f"{label}, {role}, {_places(position.board, side)}; {int(pip_counts(position.board)[side])} pips."
        for side, (label, role) in enumerate(zip(labels, ("on roll", "the other side"), strict=True))
    ]
    way = "against each other" if rules.board == CONTRARY else "the same way round"
    sentences.append(f"Each side's points are in its own numbers; the sides move {way}, from {HEAD} down to 1 and off.")
    if position.match_length:
        sentences.append(
            f"Match to {position.match_length} points, {labels[0]} {position.scores[0]}, {labels[1]}"
            f" {position.scores[1]}."
        )
    elif any(position.scores):
        sentences.append(f"Score {labels[0]} {position.scores[0]}, {labels[1]} {position.scores[1]}.")
    if cube:
        note = cube_note(position, labels)
        sentences.append(f"{note[0].upper()}{note[1:]}.")
    if moves:
        sentences.append(f"Arrows show the play {format_play(moves)}.")
    return " ".join(sentences)


def _places(board: Boards, side: int) -> str:
    row = board[side].tolist()
    names = {BAR: "the bar"}
    places = [f"{row[slot]} on {names.get(slot, slot)}" for slot in range(BAR, OFF, -1) if row[slot]]
    return ", ".join([*places, f"{row[OFF]} off"] if row[OFF] else places)
