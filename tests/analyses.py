"""A small analysed match, made by hand, for tests of what shows analyses."""

from nardy_ai.analysis.result import (
    CUBE,
    PHASES,
    AnalysisSettings,
    Choice,
    CubeDecision,
    GameAnalysis,
    MatchAnalysis,
    PhaseTotal,
    PlayDecision,
    SideTotal,
    mark_of,
)
from nardy_ai.notation import read_position, write_position
from nardy_ai.rules import find_rules

RULES = find_rules("short")
NOTHING = PhaseTotal(0, 0.0, None)
CHANCES = (0.5, 0.1, 0.0, 0.3, 0.1, 0.0)


def play_decision(
    turn: int,
    side: int,
    text: str,
    plays: dict[str, float],
    *,
    played: str | None,
    luck: float | None = 0.0,
    note: str = "",
    comment: str = "",
) -> PlayDecision:
    """plays: the choices with their equities, the best first; the one played may be none of them if it is illegal."""
    position = read_position(text, RULES)
    best = max(plays.values())
    choices = tuple(Choice(name, "", equity, best - equity, CHANCES) for name, equity in plays.items())
    made = next((one for one in choices if one.play == played), None)
    assert position.dice is not None
    return PlayDecision(
        game=1,
        turn=turn,
        line=turn + 3,
        side=side,
        position=position,
        position_id=write_position(position, RULES),
        xgid=write_position(position, RULES, format="xgid"),
        dice=position.dice,
        phase="opening",
        legal=len(plays),
        choices=choices[:3],
        played=made,
        rank=None if made is None else 1 + choices.index(made),
        loss=None if made is None else made.loss,
        luck=luck,
        note=note,
        comment=comment,
    )


def cube_decision(turn: int, side: int, kind: str, action: str, loss: float) -> CubeDecision:
    """A double not made has the roll that followed."""
    rest = " offer=double" if kind == "take" else " dice=64" if action == "no double" else ""
    position = read_position(f"6:10 5:5 / 6:10 5:5{rest}", RULES)
    return CubeDecision(
        game=1,
        turn=turn,
        line=turn + 3,
        side=side,
        position=position,
        position_id=write_position(position, RULES),
        xgid=write_position(position, RULES, format="xgid"),
        kind=kind,
        no_double=0.7,
        double_take=0.9,
        double_pass=1.0,
        action=action,
        best="double, take",
        loss=loss,
        close=True,
    )


def side_total(name: str, decisions: list[PlayDecision | CubeDecision]) -> SideTotal:
    counted = [one for one in decisions if one.counts]
    lost = sum(one.loss or 0.0 for one in counted)
    pr = 500 * lost / len(counted) if counted else None
    marks = [mark_of(one.loss) for one in counted]
    plays = [one for one in decisions if isinstance(one, PlayDecision)]
    return SideTotal(
        name=name,
        turns=len(plays),
        forced=sum(one.forced for one in plays),
        decisions=len(counted),
        lost=lost,
        pr=pr,
        phases=dict.fromkeys((*PHASES, CUBE), NOTHING) | {"opening": PhaseTotal(len(counted), lost, pr)},
        marks={mark: marks.count(mark) for mark in ("doubtful", "error", "blunder")},
        luck=sum(one.luck or 0.0 for one in plays),
        rolls=len(plays),
    )


def small_match(names: tuple[str, str] = ("Anna", "Boris"), *, note: str = "", comment: str = "") -> MatchAnalysis:
    """One game: a right play, a blunder not among the best three, a doubtful play, a forced one, an illegal one, a cube
    turned rightly and passed wrongly."""
    plays = {"8/5 6/5": 0.15, "24/23 13/10": -0.01, "24/20": -0.02, "13/9": -0.05}
    start = "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5"
    decisions: list[PlayDecision | CubeDecision] = [
        play_decision(1, 0, f"{start} dice=31", plays, played="8/5 6/5", luck=0.75),
        play_decision(1, 1, f"{start} dice=31", plays, played="13/9", luck=-0.5, comment=comment),
        play_decision(2, 0, "6:2 3:1 / 24:2 dice=21", {"6/4 6/5": 0.1, "6/3": 0.07}, played="6/3"),
        play_decision(2, 1, "bar:1 6:2 / 24:2 6:2 5:2 4:2 3:2 2:2 1:2 dice=66", {"pass": -1.0}, played="pass"),
        play_decision(3, 0, f"{start} dice=43", {"24/20 13/10": 0.0, "13/9 24/21": 0.0}, played=None, note=note),
        cube_decision(4, 1, "double", "double", 0.0),
        cube_decision(4, 0, "take", "pass", 0.1),
    ]
    totals = tuple(side_total(names[side], [one for one in decisions if one.side == side]) for side in (0, 1))
    worst = sorted((one for one in decisions if one.counts and one.loss), key=lambda one: -(one.loss or 0.0))
    game = GameAnalysis(1, (2, 0), True, 1, 1, "pass", tuple(decisions), (totals[0], totals[1]))
    return MatchAnalysis(
        source="match.mat",
        rules=RULES,
        settings=AnalysisSettings(version="0", bot="short@1ply", rules="short", cube=True),
        names=names,
        length=7,
        games=(game,),
        totals=(totals[0], totals[1]),
        worst=tuple(worst),
        faults=("line 7: no play",),
    )
