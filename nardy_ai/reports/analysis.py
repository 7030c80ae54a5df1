"""The page of an analysed match: totals, games, what cost most, luck, and every decision with its board."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nardy_ai.analysis.result import (
    BLUNDER,
    CUBE,
    DOUBTFUL,
    ERROR,
    MARKS,
    PHASES,
    PR_DEFINITION,
    CubeDecision,
    GameAnalysis,
    MatchAnalysis,
    PhaseTotal,
    PlayDecision,
    SideTotal,
    luck_word,
)
from nardy_ai.cube.decision import action_text
from nardy_ai.errors import NardyError
from nardy_ai.language import marked, tr, tr_count
from nardy_ai.notation import Move, parse_play
from nardy_ai.pictures import board_svg
from nardy_ai.reports.render import render
from nardy_ai.reports.tables import Cell, Table

__all__ = ["ChanceColumns", "analysis_page"]

_MARKS_OF_MANY = {"doubtful": marked("doubtful"), "error": marked("errors"), "blunder": marked("blunders")}

_WORST = 10
_EXTREME_ROLLS = 5


@dataclass(frozen=True)
class ChanceColumns:
    """How chances of a choice are shown: the headings, and the cells of a choice's exclusive outcomes."""

    header: tuple[str, ...]
    cells: Callable[[Sequence[float]], Sequence[str]]


@dataclass(frozen=True)
class _Shown:
    """One decision as the page shows it. key: its anchor. did: what was done. rank: of its mark in MARKS."""

    key: str
    decision: PlayDecision | CubeDecision
    player: str
    did: str
    loss: str
    rank: int
    luck: str
    luck_word: str
    board: str
    table: Table
    notes: tuple[str, ...]

    @property
    def is_cube(self) -> bool:
        return isinstance(self.decision, CubeDecision)

    @property
    def luck_value(self) -> float | None:
        return self.decision.luck if isinstance(self.decision, PlayDecision) else None


def analysis_page(analysis: MatchAnalysis, chances: ChanceColumns, *, settings: str) -> str:
    """The page as text; the same analysis gives the same text.

    settings: all that is needed to get the same numbers again, on one line.
    """
    shown = [
        _show(f"d{number}", decision, analysis, chances)
        for number, decision in enumerate((one for game in analysis.games for one in game.decisions), start=1)
    ]
    worst = [next(one for one in shown if one.decision == dear) for dear in analysis.worst[:_WORST]]
    return render(
        "analysis.html.j2",
        title=f"{analysis.names[0]} \u2013 {analysis.names[1]}",
        analysis=analysis,
        settings=settings,
        summary=[_summary(analysis), _phases(analysis)],
        games=_games(analysis.games, analysis.names),
        worst=_worst(worst),
        luck=_luck(shown),
        decisions=shown,
        any_counts=any(one.decision.counts for one in shown),
        marks=MARKS,
        definition=tr(PR_DEFINITION),
        limits={"doubtful": DOUBTFUL, "error": ERROR, "blunder": BLUNDER},
    )


def _pr(pr: float | None) -> str:
    return "" if pr is None else f"{pr:.2f}"


def _summary(analysis: MatchAnalysis) -> Table:
    lines: list[tuple[str, Callable[[SideTotal], str]]] = [
        ("PR", lambda total: _pr(total.pr)),
        (tr("decisions that count"), lambda total: str(total.decisions)),
        (tr("equity lost"), lambda total: f"{total.lost:.3f}"),
        *((tr(_MARKS_OF_MANY[mark]), _count_of(mark)) for mark in reversed(MARKS[1:])),
        (tr("turns"), lambda total: str(total.turns)),
        (tr("forced"), lambda total: str(total.forced)),
        (tr("luck"), lambda total: _signed(total.luck)),
    ]
    if any(total.winning_lost is not None for total in analysis.totals):
        lines.insert(3, (tr("chances of the match lost"), lambda total: _percent(total.winning_lost)))
    rows = [[heading, *(value(total) for total in analysis.totals)] for heading, value in lines]
    return Table.of_texts(tr("the match"), ["", *analysis.names], rows)


def _signed(points: float) -> str:
    """To a thousandth; what rounds to nothing has a plus."""
    return f"{round(points, 3) + 0:+.3f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def _count_of(mark: str) -> Callable[[SideTotal], str]:
    return lambda total: str(total.marks.get(mark, 0))


def _phases(analysis: MatchAnalysis) -> Table:
    rows = [
        [tr(phase), *(text for total in analysis.totals for text in _phase_cells(total.phases[phase]))]
        for phase in (*PHASES, CUBE)
        if any(total.phases[phase].decisions for total in analysis.totals)
    ]
    columns = (tr("decisions"), "PR")
    header = [tr("phase"), *(f"{name}: {what}" for name in analysis.names for what in columns)]
    return Table.of_texts(tr("by phase"), header, rows)


def _phase_cells(total: PhaseTotal) -> tuple[str, str]:
    return str(total.decisions), _pr(total.pr)


def _games(games: Sequence[GameAnalysis], names: Sequence[str]) -> Table:
    header = [tr("game"), tr("before"), tr("winner"), tr("points"), tr("ending")]
    header += [f"{name}: {what}" for name in names for what in ("PR", tr("luck"))]
    rows = [
        [
            str(game.number),
            "-".join(map(str, game.scores)) + (f" ({tr('Crawford')})" if game.crawford else ""),
            "" if game.winner is None else names[game.winner],
            str(game.points),
            tr(game.ending, context="ending"),
            *(text for total in game.totals for text in (_pr(total.pr), _signed(total.luck))),
        ]
        for game in games
    ]
    return Table.of_texts(tr("games"), header, rows)


def _worst(shown: Sequence[_Shown]) -> Table:
    rows = tuple(
        (
            Cell(str(place)),
            Cell(one.player),
            _where(one),
            Cell(one.did),
            Cell(one.loss),
            Cell(tr(MARKS[one.rank])),
        )
        for place, one in enumerate(shown, start=1)
    )
    caption = tr_count("the {n} that cost most", "the {n} that cost most", len(rows))
    return Table(caption, ("", tr("player"), tr("where"), tr("done"), tr("loss"), tr("mark")), rows)


def _where(one: _Shown) -> Cell:
    """Where a decision is, as a link to it."""
    return Cell(tr("game {game}, turn {turn}", game=one.decision.game, turn=one.decision.turn), link=one.key)


def _luck(shown: Sequence[_Shown]) -> list[Table]:
    """The luckiest and the unluckiest rolls."""
    known = [(round(one.luck_value, 3), one) for one in shown if one.luck_value is not None]
    lucky = [one for luck, one in sorted(known, key=lambda pair: -pair[0]) if luck > 0]
    unlucky = [one for luck, one in sorted(known, key=lambda pair: pair[0]) if luck < 0]
    return [
        Table(
            caption,
            (tr("player"), tr("where"), tr("roll", context="noun"), tr("luck")),
            tuple(
                (
                    Cell(one.player),
                    _where(one),
                    Cell("-".join(map(str, one.decision.position.dice or ()))),
                    Cell(one.luck),
                )
                for one in rolls[:_EXTREME_ROLLS]
            ),
        )
        for caption, rolls in ((tr("luckiest rolls"), lucky), (tr("unluckiest rolls"), unlucky))
        if rolls
    ]


def _show(key: str, decision: PlayDecision | CubeDecision, analysis: MatchAnalysis, chances: ChanceColumns) -> _Shown:
    did = _cube_done(decision) if isinstance(decision, CubeDecision) else _play_done(decision)
    luck = None if isinstance(decision, CubeDecision) else decision.luck
    notes = []
    if decision.winning_loss:
        notes.append(tr("It cost {share} of the match.", share=_percent(decision.winning_loss)))
    notes += [decision.position_id, *([decision.xgid] if decision.xgid else [])]
    if decision.line:
        notes.append(tr("line {n} of the file", n=decision.line))
    arrows: list[tuple[Move, ...]] = []
    if isinstance(decision, CubeDecision):
        table = _cube_table(decision)
    else:
        table, arrows = _play_table(decision, chances)
    return _Shown(
        key=key,
        decision=decision,
        player=analysis.names[decision.side],
        did=did,
        loss=f"{decision.loss:.3f}" if decision.counts and decision.loss else "",
        rank=MARKS.index(decision.mark),
        luck="" if luck is None else _signed(luck),
        luck_word=tr(luck_word(luck)),
        board=_board(decision, analysis, arrows),
        table=table,
        notes=tuple(notes),
    )


def _cube_done(decision: CubeDecision) -> str:
    return action_text(decision.action) if decision.action else f"{action_text(decision.kind)}?"


def _play_done(decision: PlayDecision) -> str:
    unknown = tr("not legal") if decision.note else "?"
    play = unknown if decision.played is None else decision.played.play
    return f"{decision.dice[0]}-{decision.dice[1]}: {play}"


def _board(decision: PlayDecision | CubeDecision, analysis: MatchAnalysis, arrows: Sequence[Sequence[Move]]) -> str:
    """The board from the view of the side on roll, side 0 with the light checkers throughout.

    A decision about the cube comes before the roll, though the position may have the roll that followed.
    """
    position, row0 = decision.position, decision.side
    if isinstance(decision, CubeDecision):
        position = replace(position, dice=None)
        row0 = 1 - decision.side if decision.kind == "take" else decision.side
    first, *others = arrows or [()]
    return board_svg(
        replace(position, row0_player=1 - row0),
        analysis.rules,
        names=(analysis.names[row0], analysis.names[1 - row0]),
        cube=analysis.settings.cube,
        moves=first,
        others=others,
        style=False,
    )


def _play_table(decision: PlayDecision, chances: ChanceColumns) -> tuple[Table, list[tuple[Move, ...]]]:
    """The choices and the play that was made, and the arrows of each; those of the play made come first.

    A play that cannot be made has no row of numbers and no arrows: the note says what is wrong with it.
    """
    choices = list(decision.choices)
    played = decision.played
    made = next((i for i, one in enumerate(choices) if played is not None and one.play == played.play), None)
    ranks = [str(i) for i in range(1, len(choices) + 1)]
    if made is None and played is not None and decision.rank is not None:
        made = len(choices)
        choices.append(played)
        ranks.append(str(decision.rank))
    with_chances = bool(choices) and all(one.outcomes for one in choices)
    header = ["", tr("play"), tr("equity"), tr("loss")]
    header += [heading.strip() for heading in chances.header] if with_chances else []
    rows = []
    for i, one in enumerate(choices):
        error = "" if one.error is None else f"+- {one.error:.4f}"
        row = [
            Cell(ranks[i]),
            Cell(one.play, below=tr("played") if i == made else ""),
            Cell(f"{one.equity:+.4f}", error),
        ]
        row += [Cell(f"{one.loss:.4f}")]
        row += [Cell(text.strip()) for text in chances.cells(one.outcomes)] if with_chances else []
        rows.append(tuple(row))
    order = sorted(range(len(choices)), key=lambda i: (i != made, i))
    try:
        arrows = [parse_play(choices[i].play) for i in order]
    except NardyError:
        return Table(tr("choices"), tuple(header), tuple(rows)), []
    place = {i: at for at, i in enumerate(order)}
    table = Table(tr("choices"), tuple(header), tuple(rows), 1, tuple(place[i] for i in range(len(choices))))
    return table, arrows


def _cube_table(decision: CubeDecision) -> Table:
    """What each course is worth to the side that may double."""
    rows = [
        [action_text("no double"), f"{decision.no_double:+.4f}"],
        [action_text("double, take"), f"{decision.double_take:+.4f}"],
        [action_text("double, pass"), f"{decision.double_pass:+.4f}"],
    ]
    if decision.beaver is not None:
        rows.append([action_text("double, beaver"), f"{decision.beaver:+.4f}"])
    caption = tr("right is {action}", action=action_text(decision.best))
    return Table.of_texts(caption, [tr("course"), tr("equity of the side that may double")], rows)
