"""A position said in words, for whoever cannot see the picture of it."""

from collections.abc import Sequence

from nardy_ai.boards import BAR, CONTRARY, HEAD, OFF, Boards, finished, pip_counts
from nardy_ai.language import tr, tr_count
from nardy_ai.notation import Move, Position, format_play
from nardy_ai.notation.draw import cube_note
from nardy_ai.rules import RuleSet


def board_title(position: Position, rules: RuleSet, labels: Sequence[str]) -> str:
    """One line: the game, who is on roll and what there is to do."""
    if finished(position.board[None])[0]:
        winner = 0 if position.board[0, OFF] == rules.checkers else 1
        return tr("{rules} nardy: {who} has won", rules=rules.name, who=labels[winner])
    if position.playing and position.to_act != 0:
        return tr("{rules} nardy: {who} to answer", rules=rules.name, who=labels[1])
    if position.dice:
        dice = "{}-{}".format(*position.dice)
        return tr("{rules} nardy: {who} to play {dice}", rules=rules.name, who=labels[0], dice=dice)
    return tr("{rules} nardy: {who} on roll", rules=rules.name, who=labels[0])


def board_words(
    position: Position, rules: RuleSet, labels: Sequence[str], *, cube: bool = True, moves: Sequence[Move] = ()
) -> str:
    """All that a picture of `position` shows, each side's points in its own numbers.

    labels: what the side on roll and the other are called. cube: whether the picture shows it. moves: those marked.
    """
    sentences = [
        tr(
            "{who}, {role}, {places}; {pips}.",
            who=label,
            role=role,
            places=_places(position.board, side),
            pips=tr_count("{n} pips", "{n} pips", int(pip_counts(position.board)[side])),
        )
        for side, (label, role) in enumerate(zip(labels, (tr("on roll"), tr("the other side")), strict=True))
    ]
    if rules.board == CONTRARY:
        way = tr("the sides move against each other, from {head} down to 1 and off.", head=HEAD)
    else:
        way = tr("the sides move the same way round, from {head} down to 1 and off.", head=HEAD)
    sentences.append(tr("Each side's points are in its own numbers; {way}", way=way))
    score = ", ".join(f"{label} {points}" for label, points in zip(labels, position.scores, strict=True))
    if position.match_length:
        sentences.append(tr("Match to {length} points, {score}.", length=position.match_length, score=score))
    elif any(position.scores):
        sentences.append(tr("Score {score}.", score=score))
    if cube:
        note = cube_note(position, labels)
        sentences.append(f"{note[0].upper()}{note[1:]}.")
    if moves:
        sentences.append(tr("Arrows show the play {play}.", play=format_play(moves)))
    return " ".join(sentences)


def _places(board: Boards, side: int) -> str:
    row = board[side].tolist()
    places = [tr("{n} on the bar", n=row[BAR])] if row[BAR] else []
    places += [tr("{n} on {point}", n=row[point], point=point) for point in range(HEAD, OFF, -1) if row[point]]
    if row[OFF]:
        places.append(tr("{n} off", n=row[OFF]))
    return ", ".join(places)
