"""Write `tests/data/perft.json`: how many plays lie ahead of the start, for every preset, counted by the reference.

    python scripts/make_perft.py            # about two minutes on one core

Depth 1 is the number of distinct results, summed over the 21 rolls. Each further depth sums the same over every
result of the depth before, a result counted as often as it is reached. Finished games have nothing below them.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from nardy_ai.boards import SLOTS, finished
from nardy_ai.dice import ROLLS
from nardy_ai.movegen.reference import plays
from nardy_ai.rules import RuleSet, find_rules, preset_names, same_game, start_boards

TABLE = Path(__file__).parent.parent / "tests" / "data" / "perft.json"
MOST_BOARDS = 1500
"""Boards a further depth may expand: 21 rolls each at about a millisecond a roll."""


def count_plays(rules: RuleSet) -> list[int]:
    """Plays at depth 1, 2 and as far as at most `MOST_BOARDS` different boards must be expanded, at least to 2."""
    counts: list[int] = []
    reached = Counter({start_boards(rules)[0].tobytes(): 1})
    while len(counts) < 2 or len(reached) <= MOST_BOARDS:
        following: Counter[bytes] = Counter()
        for key, times in reached.items():
            board = np.frombuffer(key, dtype=np.int8).reshape(2, SLOTS)
            if not finished(board[None])[0]:
                for dice in ROLLS:
                    for play in plays(board, dice, rules):
                        following[play.afterstate.tobytes()] += times
        counts.append(following.total())
        reached = following
    return counts


def main() -> int:
    """Count every preset once; presets with the same play rules share the work."""
    done: dict[str, list[int]] = {}
    for name in preset_names():
        rules = find_rules(name)
        twin = next((other for other in done if same_game(rules, find_rules(other))), None)
        done[name] = done[twin] if twin else count_plays(rules)
        print(f"{name}: {done[name]}", file=sys.stderr)
    TABLE.write_text(json.dumps({"plays_by_depth": done}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
