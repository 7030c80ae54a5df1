"""Plays as people type them at a prompt: what a text means among the legal plays of a roll.

`plays.parse_play` reads one form strictly; this reads many loosely, and what is left out is completed where that can
mean one result only. `8/5 6/5`, `8-5,6-5`, `85 65`, `8 5 6 5`, `6/5 8/5`, `31: 8/5 6/5`, `бар/22`, `6/вб` and `off`
are all read; a single number is a landing point. A text that leaves dice open is the beginning of a play. Meanings are
tested against whole legal turns, so that a move that is blocked, or that would waste a die, makes nothing ambiguous.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from nardy_ai.boards import BAR, HEAD, OFF, SLOTS, Boards
from nardy_ai.errors import NotationError
from nardy_ai.language import tr
from nardy_ai.notation.plays import MAX_MOVES, PASS_WORDS, Move, format_play

__all__ = ["SLOT_WORDS", "Reading", "Ways", "read_typed"]

Ways = tuple[tuple[Move, ...], ...]
"""All sets of single moves (one checker, one die) that lead to one result; the first is the one it is called by."""

NEAREST_SHOWN = 3

SLOT_WORDS = {"bar": BAR, "b": BAR, "бар": BAR, "б": BAR, "off": OFF, "o": OFF, "вб": OFF, "выброс": OFF, "снять": OFF}
"""Names of the bar and of off."""
_PASS_WORDS = PASS_WORDS | {"пас", "пасс", "нет хода"}
_ROLL = re.compile(r"\(?([1-6])[ -]?([1-6])\)? ?:")
_SEPARATOR = re.compile(r" ?[/\\–—→>-]+ ?")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"/?(?P<slots>[0-9]{1,10}\*?(?:/[0-9]{1,2}\*?)*)(?P<open>/?)(?:\((?P<times>[1-9])\))?")


class _Hop(NamedTuple):
    """A checker's way from slot to slot by one die or more; None where the text does not say."""

    source: int | None
    target: int | None


_Hops = tuple[_Hop, ...]


@dataclass(frozen=True)
class Reading:
    """What a text means; exactly one of `play`, `begun`, `meanings` and `nearest` says so.

    play: the index of the legal play. begun: the moves it names, where several plays go on from them, and `plays` are
    their indexes. meanings: the different moves or plays it may name. nearest: the names of legal plays near to a text
    that names none, and `reason` says what is wrong, as far as that can be said.
    """

    play: int | None = None
    begun: tuple[Move, ...] = ()
    plays: tuple[int, ...] = ()
    meanings: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    reason: str = ""


class _Meaning(NamedTuple):
    """Moves that a text may name, the plays that have them, and whether they are whole plays."""

    hops: _Hops
    plays: frozenset[int]
    whole: bool


def read_typed(text: str, board: Boards, legal: Sequence[Ways], dice: tuple[int, int]) -> Reading:
    """What `text` means for a roll.

    board: `int8[2, 26]` before the play, row 0 on roll. legal: for every distinct result of the roll `dice` (larger die
    first) its ways, as `movegen.reference.plays_with_ways` lists them. Moves that use all dice are the play that they
    are; fewer are completed where one result only is left. Marks of hits are not needed: a landing on a blot hits it,
    and where no landing is named none is hit if possible.
    Raises NotationError for a text that is no play at all, or that names another roll.
    """
    words = _split(text, dice)
    if words[0] in _PASS_WORDS:
        if len(legal) == 1 and not legal[0][0]:
            return Reading(play=0)
        return Reading(nearest=_names(legal, range(len(legal)))[:NEAREST_SHOWN], reason=tr("there is a legal play"))
    readings = _readings(words, text)
    standing = frozenset(np.flatnonzero(board[0]).tolist()) - {OFF}
    meanings = _meanings(readings, standing, legal) or _meanings(_longer_last_slot(words), standing, legal)
    if not meanings:
        return Reading(nearest=_nearest(readings, legal), reason=_reason(readings[0], standing, legal))
    plays = frozenset[int]().union(*(meaning.plays for meaning in meanings))
    if len(plays) == 1:
        return Reading(play=next(iter(plays)))
    first = meanings[0]
    if not first.whole and all(meaning.plays == first.plays for meaning in meanings):
        return Reading(begun=_as_moves(first.hops), plays=tuple(sorted(plays)))
    texts = [
        name
        for meaning in meanings
        for name in (_names(legal, meaning.plays) if meaning.whole else [format_play(_as_moves(meaning.hops))])
    ]
    return Reading(meanings=tuple(dict.fromkeys(texts)))


def _split(text: str, dice: tuple[int, int]) -> list[str]:
    """The words of a text in one spelling: slots as numbers, `/` between them, `*` for a hit, no roll in front.

    A text that says that nothing can be played is one word. Raises NotationError.
    """
    folded = " ".join(text.casefold().split())
    roll = _ROLL.match(folded)
    if roll:
        high, low = sorted(map(int, roll.groups()), reverse=True)
        if (high, low) != dice:
            other, rolled = f"{high}-{low}", f"{dice[0]}-{dice[1]}"
            raise NotationError(
                tr("play {text} is for {other}, but the roll is {roll}", text=repr(text), other=other, roll=rolled)
            )
        folded = folded[roll.end() :]
    folded = folded.strip(" ,;.")
    if folded in _PASS_WORDS:
        return [folded]
    folded = _SEPARATOR.sub("/", re.sub(r"(?<=[0-9])[xх](?![^\W\d_])", "*", folded))
    folded = re.sub(r"(?<=[0-9*])(?=[^\W\d_])|(?<=[^\W\d_])(?=[0-9])", "/", folded)
    folded = _LETTERS.sub(lambda found: str(_slot_of_word(found[0], text)), folded)
    folded = re.sub(r" ?\( ?([0-9]+) ?\)", r"(\1)", folded.replace(" *", "*"))
    words = [word for word in re.split(r"[ ,;]+", folded) if word]
    if not words:
        raise NotationError(
            tr("play {text} names no move; expected one such as 8/5 6/5, bar/22 or 6/off(2)", text=repr(text))
        )
    joined = words[:1]
    for word in words[1:]:
        from_bar = joined[-1] == str(BAR) and re.fullmatch(r"[0-9]{1,2}\*?", word)
        joined[-1:] = [f"{joined[-1]}/{word}"] if from_bar else [joined[-1], word]
    return joined


def _slot_of_word(word: str, text: str) -> int:
    """The bar or off by one of their names, or by the beginning of one. Raises NotationError."""
    slots = {slot for name, slot in SLOT_WORDS.items() if name.startswith(word)}
    if word not in SLOT_WORDS and len(slots) != 1:
        raise NotationError(
            tr(
                "play {text}: {word} is neither bar (бар) nor off (вб); expected such as bar/22, 6/off",
                text=repr(text),
                word=repr(word),
            )
        )
    return SLOT_WORDS.get(word, next(iter(slots), OFF))


def _readings(words: Sequence[str], text: str) -> list[_Hops]:
    """Every list of moves that the words may be, legal or not; at least one. Raises NotationError."""
    found = [
        tuple(hop for hops in choice for hop in hops) for choice in product(*(_of_word(word, text) for word in words))
    ]
    slots = [int(word.rstrip("*")) for word in words if re.fullmatch(r"[0-9]{1,2}\*?", word)]
    if len(slots) == len(words) and len(slots) % 2 == 0:
        pairs = tuple(_Hop(*slots[i : i + 2]) for i in range(0, len(slots), 2))
        if all(_goes_down(pair) for pair in pairs):
            found.append(pairs)
    short = [hops for hops in found if len(hops) <= MAX_MOVES]
    if not short:
        raise NotationError(
            tr("play {text} has {n} moves; a turn has at most {most}", text=repr(text), n=len(found[0]), most=MAX_MOVES)
        )
    return short


def _of_word(word: str, text: str) -> list[_Hops]:
    """What one word may be. Raises NotationError if it can be nothing."""
    found = _WORD.fullmatch(word)
    if not found:
        raise NotationError(
            tr(
                "play {text}: {word} is no move; expected one such as 8/5, 85, bar/22* or 6/off(2)",
                text=repr(text),
                word=repr(word),
            )
        )
    names = found["slots"].replace("*", "").split("/")
    times = int(found["times"] or 1)
    if len(names) == 1 and not found["open"]:
        paths = _paths_in_digits(names[0])
        hops = [_hops_of(path) for path in paths] + _lone_slot(names[0])
    else:
        slots = tuple(map(int, names))
        hops = [(*_hops_of(slots), _Hop(slots[-1], None))[: None if found["open"] else -1]]
    hops = [one for one in hops if one and all(_goes_down(hop) for hop in one)]
    if not hops:
        raise NotationError(
            tr(
                "play {text}: {word} does not move down from bar (25) or 24..1 towards off (0)",
                text=repr(text),
                word=repr(word),
            )
        )
    return [one * times for one in hops]


def _paths_in_digits(digits: str) -> list[tuple[int, ...]]:
    """Falling slots that are written one after the other without a mark between them, as 1310 may be 13/10."""
    paths: list[tuple[int, ...]] = []
    for size in (1, 2):
        head, rest = digits[:size], digits[size:]
        if not rest or int(head) > BAR or (size == 2 and head[0] == "0"):
            continue
        tails = _paths_in_digits(rest) + [(int(rest),)] * (len(rest) <= 2 and str(int(rest)) == rest)
        paths += [(int(head), *tail) for tail in tails if tail[0] < int(head)]
    return paths


def _lone_slot(digits: str) -> list[_Hops]:
    """A single slot: a landing point, or the bar, which is only left."""
    slot = int(digits)
    if slot == BAR:
        return [(_Hop(BAR, None),)]
    return [(_Hop(None, slot),)] if slot <= HEAD else []


def _hops_of(path: Sequence[int]) -> _Hops:
    return tuple(_Hop(source, target) for source, target in pairwise(path))


def _goes_down(hop: _Hop) -> bool:
    source, target = hop
    return (source is None or 0 < source <= BAR) and (target is None or source is None or target < source)


def _longer_last_slot(words: Sequence[str]) -> list[_Hops]:
    """Readings of a text whose last landing point is typed in part: 24/2 for 24/20 to 24/23."""
    found = re.fullmatch(r"(.*/)([12])", words[-1])
    if not found:
        return []
    numbers = range(10 * int(found[2]), min(10 * int(found[2]) + 9, HEAD) + 1)
    readings = []
    for number in numbers:
        try:
            readings += _readings([*words[:-1], f"{found[1]}{number}"], words[-1])
        except NotationError:  # not downwards
            continue
    return readings


def _meanings(readings: Sequence[_Hops], standing: frozenset[int], legal: Sequence[Ways]) -> list[_Meaning]:
    """The different moves that the readings can be in some legal play, each with the plays that have them.

    standing: where own checkers stand before the roll. Of the plays that have the moves those count that have no
    others, if there are any, and of these the ones that hit the fewest blots on landings that are not named.
    """
    matches: dict[_Hops, dict[int, tuple[bool, int]]] = {}
    for hops in readings:
        from_slots = standing | {hop.target for hop in hops if hop.target is not None and hop.source is not None}
        for i, ways in enumerate(legal):
            for way in ways:
                hits = {move.target for move in way if move.hit}
                for found, passed, rest in _matches(hops, way, from_slots):
                    unnamed = hits.intersection(passed) - {hop.target for hop in found}
                    fit = (bool(rest), len(unnamed))
                    of_these = matches.setdefault(tuple(sorted(found, reverse=True)), {})
                    of_these[i] = min(fit, of_these.get(i, fit))
    meanings = []
    for hops, fits in matches.items():
        best = min(fits.values())
        meanings.append(_Meaning(hops, frozenset(i for i, fit in fits.items() if fit == best), whole=not best[0]))
    return meanings


def _matches(
    hops: _Hops, moves: tuple[Move, ...], from_slots: frozenset[int]
) -> Iterator[tuple[_Hops, tuple[int, ...], tuple[Move, ...]]]:
    """Each way to find `hops` among `moves`: as found, the slots passed on the way, the moves that are left."""
    if not hops:
        yield (), (), moves
        return
    source, target = hops[0]
    if target is None:
        ends = {move.target for move in moves if move.source == source}
        found = [(source, end) for end in ends]
    else:
        found = [(start, target) for start in (from_slots if source is None else {source})]
    for start, end in found:
        assert start is not None
        for passed, rest in _paths(moves, start, end):
            for others, passed_by_others, left in _matches(hops[1:], rest, from_slots):
                yield (_Hop(start, end), *others), passed + passed_by_others, left


def _paths(moves: tuple[Move, ...], start: int, end: int) -> Iterator[tuple[tuple[int, ...], tuple[Move, ...]]]:
    """Each way to go from `start` to `end` by some of `moves`: the slots between, the moves that are left."""
    for move in dict.fromkeys(moves):
        if move.source != start or move.target < end:
            continue
        at = moves.index(move)
        rest = moves[:at] + moves[at + 1 :]
        if move.target == end:
            yield (), rest
        else:
            for between, left in _paths(rest, move.target, end):
                yield (move.target, *between), left


def _as_moves(hops: _Hops) -> tuple[Move, ...]:
    return tuple(Move(hop.source, hop.target) for hop in hops if hop.source is not None and hop.target is not None)


def _names(legal: Sequence[Ways], indexes: Iterable[int]) -> tuple[str, ...]:
    return tuple(format_play(legal[i][0]) for i in sorted(indexes))


def _nearest(readings: Sequence[_Hops], legal: Sequence[Ways]) -> tuple[str, ...]:
    """The legal plays that leave the fewest checkers elsewhere than a reading does."""

    def distance(i: int) -> int:
        return min(_distance(hops, legal[i][0]) for hops in readings)

    return tuple(format_play(legal[i][0]) for i in sorted(range(len(legal)), key=distance)[:NEAREST_SHOWN])


def _distance(hops: _Hops, moves: tuple[Move, ...]) -> int:
    net = [0] * SLOTS
    for source, target in hops:
        if source is not None:
            net[source] -= 1
        if target is not None:
            net[target] += 1
    for move in moves:
        net[move.source] += 1
        net[move.target] -= 1
    return sum(map(abs, net))


def _reason(hops: _Hops, standing: frozenset[int], legal: Sequence[Ways]) -> str:
    """What is wrong with moves that are in no legal play; empty if only their company is."""
    targets = frozenset(hop.target for hop in hops if hop.target is not None)
    if not legal[0][0]:
        return tr("nothing can be played")
    for hop in hops:
        if hop.source is not None and hop.source not in standing | targets:
            if hop.source == BAR:
                return tr("nothing stands on the bar")
            return tr("no checker of yours on {point}", point=hop.source)
    if BAR in standing and all(hop.source not in (BAR, None) for hop in hops):
        return tr("the bar comes first")
    for hop in hops:
        if not _meanings([(hop,)], standing | targets, legal):
            whole = hop.source is not None and hop.target is not None
            if whole:
                return tr("{move} is not possible with this roll", move=format_play(_as_moves((hop,))))
            return tr("a move to {slot} is not possible with this roll", slot=hop.target or "off")
    return ""
