"""The analysis of a record: questions asked of a judge, many at once, and the answers put together and added up."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nardy_ai import __version__
from nardy_ai.analysis.cache import Answer, AnswerCache, Question, answer_key, answer_of, context_of, text_of
from nardy_ai.analysis.judge import CubeAnswer, CubeQuestion, Judge, PlayAnswer, PlayQuestion, RolloutOptions
from nardy_ai.analysis.result import (
    CLOSE,
    CUBE,
    MARKS,
    PHASES,
    PR_SCALE,
    AnalysisSettings,
    Choice,
    CubeDecision,
    GameAnalysis,
    MatchAnalysis,
    PhaseTotal,
    PlayDecision,
    SideTotal,
)
from nardy_ai.boards import BAR, HOME, Boards, finished, is_race
from nardy_ai.cube.equity import has_shipped_table
from nardy_ai.cube.state import CubeState, state_of_position
from nardy_ai.errors import CubeError, NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.notation import board_text, format_play, write_position, xgid_or_none
from nardy_ai.records import (
    CubeAction,
    Fault,
    MatchRecord,
    Moment,
    ReplayedGame,
    Setup,
    Turn,
    replay_match,
)
from nardy_ai.rules import MatchOptions, RuleSet, start_boards

__all__ = ["TOP", "WORST", "Progress", "analyse", "cube_is_in_play"]

TOP = 5
"""Plays that are listed with each decision, besides the one that was played."""

WORST = 10
"""Decisions that are listed as the dearest of a match."""

OPENING_TURNS = 3

EQUAL = 1e-6
"""Equities no further apart are the same, as far as single precision knows."""

Progress = Callable[[int, int], None]
"""Told how many questions are answered, of how many."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question, and where in the match it stands. kind: of a cube question, as `CubeDecision.kind`."""

    game: ReplayedGame
    moment: Moment
    question: Question
    kind: str = ""
    action: str = ""
    turn_of_side: int = 0


def cube_is_in_play(record: MatchRecord, rules: RuleSet, options: MatchOptions) -> bool:
    """Whether a match is judged with the cube if nobody says otherwise.

    It is if a cube was offered or shows a stake anywhere, or if the options of the rule set have one. Of games that
    match equities are published for it also is in matches of several points, and where a position is asked about before
    its roll. By a header `CubeLimit` of 1 there is none.
    """
    if any(name.casefold() == "cubelimit" and value.strip() == "1" for name, value in record.tags):
        return False
    actions = [action for game in record.games for action in game.actions]
    positions = [action.position for action in actions if isinstance(action, Setup)]
    if any(isinstance(action, CubeAction) for action in actions) or options.cube != "none":
        return True
    if any(position.cube_value > 1 or position.double_offered for position in positions):
        return True
    if not has_shipped_table(rules, "geometric"):
        return False
    asked = any(game.actions and isinstance(game.actions[-1], Setup) for game in record.games)
    return asked or max([record.length, *(position.match_length for position in positions)]) > 1


def analyse(
    record: MatchRecord,
    bot: Bot,
    *,
    source: str = "",
    options: MatchOptions | None = None,
    cube: bool | None = None,
    rollouts: RolloutOptions | None = None,
    cache: Path | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> MatchAnalysis:
    """Judge every play, every cube action and every roll of a record by a bot.

    source: what to call the file. options: of the rule set, for how games open and the cube grows, and for Jacoby and
    beavers in money play, which also hold if the file says so. cube: None leaves it to `cube_is_in_play`. cache: the
    file in which answers are looked for and kept. workers: threads; they change the time and nothing else. stop: asked
    after every few questions; once it says yes, the decisions judged by then make the analysis. Raises BotError,
    CubeError.
    """
    if workers < 1:
        raise NardyError(f"workers = {workers}; expected 1 or more")
    rules = bot.rules
    match = options or MatchOptions()
    with_cube = cube_is_in_play(record, rules, match) if cube is None else cube
    if not record.length:
        record = replace(record, jacoby=record.jacoby or match.jacoby, beavers=record.beavers or match.beavers)
    growth = "arithmetic" if match.cube == "arithmetic" else "geometric"
    games = replay_match(record, rules, arithmetic=growth == "arithmetic")
    faults = [*record.faults, *(fault for game in games for fault in game.faults)]
    asked = list(_questions(games, match.opening, growth if with_cube else None, faults))
    longest = record.length if with_cube else 0
    judge = Judge(bot, longest=longest, rollouts=rollouts)
    context = context_of(bot.name, judge.probe(_probe_boards(rules)), rules, rollouts, longest)
    answers, note = _answered(judge, asked, context, cache, workers, progress, stop)
    if note:
        faults.append(Fault(0, note))
    analysed = tuple(_game_analysis(game, record, asked, answers, rules) for game in games)
    decisions = [decision for game in analysed for decision in game.decisions]
    costly = [(decision.loss, decision) for decision in decisions if decision.loss and decision.counts]
    costly.sort(key=lambda pair: -pair[0])
    return MatchAnalysis(
        source=source,
        rules=rules,
        settings=AnalysisSettings(
            version=__version__,
            bot=bot.name,
            rules=rules.name,
            cube=with_cube,
            rollout_games=0 if rollouts is None else rollouts.games,
            rollout_within=0.0 if rollouts is None else rollouts.within,
            seed=None if rollouts is None else rollouts.seed,
        ),
        names=record.names,
        length=record.length,
        games=analysed,
        totals=_totals(record.names, decisions),
        worst=tuple(decision for _, decision in costly[:WORST]),
        faults=tuple(str(fault) for fault in sorted(faults, key=lambda fault: fault.line)),
        complete=None not in answers,
    )


def _questions(
    games: Sequence[ReplayedGame], opening: str, growth: str | None, faults: list[Fault]
) -> Iterator[_Asked]:
    """All questions in the order in which they arose. States that are none are added to `faults`.

    opening: `MatchOptions.opening`. growth: of the cube; None without one.
    """
    for game in games:
        turns = [0, 0]
        for moment in game.moments:
            action, offer = moment.action, moment.position.offer
            state = None
            if growth is not None:
                try:
                    state = state_of_position(moment.position, growth=growth)
                except CubeError as error:
                    faults.append(Fault(action.line, str(error)))
            if state is not None and not finished(moment.position.board[None])[0]:
                cube = CubeQuestion(moment.position.board, state)
                if offer == "double" and isinstance(action, CubeAction | Setup):
                    yield _Asked(game, moment, cube, "take", action.kind if isinstance(action, CubeAction) else "")
                elif offer == "none" and isinstance(action, CubeAction):
                    yield _Asked(game, moment, cube, "double", "double")
                elif offer == "none" and _may_double(state) and isinstance(action, Setup):
                    yield _Asked(game, moment, cube, "double", "")
                elif offer == "none" and _may_double(state) and isinstance(action, Turn):
                    if not (moment.first or moment.board is None):
                        yield _Asked(game, moment, cube, "double", "no double")
            if isinstance(action, Turn):
                turns[action.side] += 1
                yield _Asked(game, moment, _play_question(moment, state, opening), turn_of_side=turns[action.side])


def _may_double(state: CubeState) -> bool:
    """Whether row 0 may double, and could gain by it; else there is no need to ask."""
    return state.owner != 1 and not state.crawford and (state.away is None or state.value < state.away[0])


def _play_question(moment: Moment, state: CubeState | None, opening: str) -> PlayQuestion:
    assert isinstance(moment.action, Turn)
    played = None if moment.play is None else next(i for i, play in enumerate(moment.legal) if play is moment.play)
    high, low = moment.action.dice
    return PlayQuestion(
        board=moment.position.board,
        dice=(high, low),
        after=np.stack([play.afterstate for play in moment.legal]),
        state=state,
        played=played,
        opening=moment.first and opening == "use_dice" and high != low,
    )


def _probe_boards(rules: RuleSet) -> Boards:
    """A few boards by which bots of one name are told apart: the start, and each side alone a little on its way."""
    boards = start_boards(rules, 3)
    for i in (1, 2):
        slot = int(np.flatnonzero(boards[i, i - 1])[0])
        boards[i, i - 1, slot] -= 1
        boards[i, i - 1, slot - 1] += 1
    return boards


def _answered(
    judge: Judge,
    asked: Sequence[_Asked],
    context: bytes,
    cache: Path | None,
    workers: int,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> tuple[list[Answer | None], str]:
    """The answers in the order of the questions, None where it was stopped before; and why none are kept, if so."""
    questions = [one.question for one in asked]
    answers: list[Answer | None] = [None] * len(questions)
    kept = None if cache is None else AnswerCache(cache)
    keys = [] if kept is None else [answer_key(context, question) for question in questions]
    try:
        if kept is not None:
            found = kept.find(keys)
            for i, (key, question) in enumerate(zip(keys, questions, strict=True)):
                if key in found:
                    answers[i] = answer_of(found[key], question)
        missing = [i for i, answer in enumerate(answers) if answer is None]
        done = len(questions) - len(missing)
        for places, part in _judged(judge, questions, missing, workers, stop):
            for i, answer in zip(places, part, strict=True):
                answers[i] = answer
            if kept is not None:
                kept.keep([(keys[i], text_of(answer)) for i, answer in zip(places, part, strict=True)])
            done += len(places)
            if progress is not None:
                progress(done, len(questions))
    finally:
        if kept is not None:
            kept.close()
    return answers, "" if kept is None else kept.note


def _judged(
    judge: Judge, questions: Sequence[Question], places: Sequence[int], workers: int, stop: Callable[[], bool] | None
) -> Iterator[tuple[Sequence[int], Sequence[Answer]]]:
    """Parts of the questions at `places` with their answers, as they are ready; once stopped, those that are begun."""
    parts: list[list[int]] = []
    for kind in (PlayQuestion, CubeQuestion):
        of_kind = [i for i in places if isinstance(questions[i], kind)]
        parts += [of_kind[i : i + judge.batch] for i in range(0, len(of_kind), judge.batch)]
    parts.sort(key=lambda part: part[0])

    def answer(part: Sequence[int]) -> Sequence[Answer]:
        plays = [question for i in part if isinstance(question := questions[i], PlayQuestion)]
        cubes = [question for i in part if isinstance(question := questions[i], CubeQuestion)]
        return judge.plays(plays) if plays else judge.cubes(cubes)

    with ThreadPoolExecutor(workers) as pool:
        waiting: dict[Future[Sequence[Answer]], list[int]] = {}
        rest = iter(parts)
        try:
            while True:
                if stop is not None and stop():
                    rest = iter(())
                    waiting = {future: part for future, part in waiting.items() if not future.cancel()}
                for part in rest:
                    waiting[pool.submit(answer, part)] = part
                    if len(waiting) > workers:
                        break
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()


def _game_analysis(
    game: ReplayedGame, record: MatchRecord, asked: Sequence[_Asked], answers: Sequence[Answer | None], rules: RuleSet
) -> GameAnalysis:
    decisions = [
        _decision(one, answer, rules)
        for one, answer in zip(asked, answers, strict=True)
        if one.game is game and answer is not None
    ]
    known = [decision for decision in decisions if decision is not None]
    return GameAnalysis(
        number=game.record.number,
        scores=game.record.scores,
        crawford=game.crawford,
        winner=game.winner,
        points=game.points,
        ending=game.ending,
        decisions=tuple(known),
        totals=_totals(record.names, known),
    )


def _decision(one: _Asked, answer: Answer, rules: RuleSet) -> PlayDecision | CubeDecision | None:
    if isinstance(answer, PlayAnswer):
        return _play_decision(one, answer, rules)
    return _cube_decision(one, answer, rules)


def _play_decision(one: _Asked, answer: PlayAnswer, rules: RuleSet) -> PlayDecision:
    moment, question = one.moment, one.question
    action = moment.action
    assert isinstance(action, Turn)
    assert isinstance(question, PlayQuestion)
    order = sorted(range(len(answer.values)), key=lambda i: -answer.values[i])
    losses = [_loss(answer.values[order[0]], value) for value in answer.values]

    def choice(i: int) -> Choice:
        return Choice(
            play=format_play(moment.legal[i].moves),
            after=board_text(moment.legal[i].afterstate),
            equity=answer.values[i],
            loss=losses[i],
            outcomes=answer.chances[i],
            error=answer.errors[i],
        )

    played = question.played
    loss = None if played is None else losses[played]
    return PlayDecision(
        game=one.game.record.number,
        turn=moment.row,
        line=action.line,
        side=action.side,
        position=moment.position,
        position_id=write_position(moment.position, rules),
        xgid=xgid_or_none(moment.position, rules),
        dice=question.dice,
        phase=_phase(moment.position.board, rules, one.game.from_start and one.turn_of_side <= OPENING_TURNS),
        legal=len(moment.legal),
        choices=tuple(choice(i) for i in order[:TOP]),
        played=None if played is None else choice(played),
        rank=None if played is None else order.index(played) + 1,
        loss=loss,
        luck=answer.luck,
        winning_loss=None if loss is None or answer.winning is None else loss * answer.winning,
        note=moment.note,
        comment=action.comment,
    )


def _loss(best: float, value: float) -> float:
    """What a value loses to the best; nothing where single precision cannot tell."""
    return best - value if best - value > EQUAL else 0.0


def _cube_decision(one: _Asked, answer: CubeAnswer, rules: RuleSet) -> CubeDecision | None:
    """The decision; None where there was none, because the side on roll could gain nothing by a double."""
    if answer.double_take is None:
        return None
    verdict, moment = answer.verdict, one.moment
    costs = {
        "no double": verdict.cost_no_double,
        "double": verdict.cost_double,
        "take": verdict.cost_take,
        "pass": verdict.cost_pass,
        "beaver": verdict.cost_beaver or 0.0,
    }
    loss = costs.get(one.action, 0.0)
    doubled = min(answer.double_take, answer.double_pass)
    apart = answer.no_double - doubled if one.kind == "double" else answer.double_take - answer.double_pass
    return CubeDecision(
        game=one.game.record.number,
        turn=moment.row,
        line=moment.action.line,
        side=moment.action.side,
        position=moment.position,
        position_id=write_position(moment.position, rules),
        xgid=xgid_or_none(moment.position, rules),
        kind=one.kind,
        no_double=answer.no_double,
        double_take=answer.double_take,
        double_pass=answer.double_pass,
        action=one.action,
        best=verdict.action,
        loss=loss,
        close=abs(apart) < CLOSE,
        beaver=answer.beaver,
        winning_loss=None if answer.winning is None else loss * answer.winning,
    )


def _phase(board: Boards, rules: RuleSet, is_opening: bool) -> str:
    if is_race(board[None], rules.board)[0]:
        return "bearoff" if not board[0, HOME + 1 : BAR + 1].any() else "race"
    return "opening" if is_opening else "contact"


def _totals(names: tuple[str, str], decisions: Sequence[PlayDecision | CubeDecision]) -> tuple[SideTotal, SideTotal]:
    first, second = (_total(name, [one for one in decisions if one.side == side]) for side, name in enumerate(names))
    return first, second


def _total(name: str, decisions: Sequence[PlayDecision | CubeDecision]) -> SideTotal:
    """A side's totals, from its own decisions."""
    plays = [one for one in decisions if isinstance(one, PlayDecision)]
    counted = [one for one in decisions if one.counts]
    losses: dict[str, list[float]] = {phase: [] for phase in (*PHASES, CUBE)}
    for one in counted:
        losses[one.phase if isinstance(one, PlayDecision) else CUBE].append(one.loss or 0.0)
    whole = _phase_total([loss for several in losses.values() for loss in several])
    winning = [one.winning_loss for one in counted if one.winning_loss is not None]
    rolls = [one.luck for one in plays if one.luck is not None]
    return SideTotal(
        name=name,
        turns=len(plays),
        forced=sum(one.forced for one in plays),
        decisions=whole.decisions,
        lost=whole.lost,
        pr=whole.pr,
        phases={phase: _phase_total(several) for phase, several in losses.items()},
        marks={mark: sum(one.mark == mark for one in counted) for mark in MARKS[1:]},
        luck=sum(rolls),
        rolls=len(rolls),
        winning_lost=sum(winning) if winning else None,
    )


def _phase_total(losses: Sequence[float]) -> PhaseTotal:
    lost = sum(losses)
    return PhaseTotal(len(losses), lost, PR_SCALE * lost / len(losses) if losses else None)
