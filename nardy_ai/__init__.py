"""Trains, evaluates and benchmarks bots for the nardy family of games.

The public names below are loaded when first used: `import nardy_ai` takes a few milliseconds and imports neither
numpy nor numba nor torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nardy_ai.analysis.match import analyse as analyse
    from nardy_ai.bots import best_afterstates as best_afterstates
    from nardy_ai.bots import load_bot as load_bot
    from nardy_ai.cube.state import CubeState as CubeState
    from nardy_ai.cubeful import CubeDecision as CubeDecision
    from nardy_ai.cubeful import Cubeful as Cubeful
    from nardy_ai.cubeful import cube_decision as cube_decision
    from nardy_ai.errors import NardyError as NardyError
    from nardy_ai.movegen.generate import Afterstates as Afterstates
    from nardy_ai.movegen.generate import afterstates as afterstates
    from nardy_ai.notation import parse_position as parse_position
    from nardy_ai.pictures import board_svg as board_svg
    from nardy_ai.records import read_record as read_record
    from nardy_ai.rollouts import RolloutReport as RolloutReport
    from nardy_ai.rollouts import rollout as rollout
    from nardy_ai.rules import MatchOptions as MatchOptions
    from nardy_ai.rules import RuleSet as RuleSet
    from nardy_ai.rules import find_rules as find_rules
    from nardy_ai.search import Lookahead as Lookahead

__version__ = "0.1.0"

_MODULES = {
    "Afterstates": "nardy_ai.movegen.generate",
    "CubeDecision": "nardy_ai.cubeful",
    "CubeState": "nardy_ai.cube.state",
    "Cubeful": "nardy_ai.cubeful",
    "Lookahead": "nardy_ai.search",
    "MatchOptions": "nardy_ai.rules",
    "NardyError": "nardy_ai.errors",
    "RolloutReport": "nardy_ai.rollouts",
    "RuleSet": "nardy_ai.rules",
    "afterstates": "nardy_ai.movegen.generate",
    "analyse": "nardy_ai.analysis.match",
    "best_afterstates": "nardy_ai.bots",
    "board_svg": "nardy_ai.pictures",
    "cube_decision": "nardy_ai.cubeful",
    "find_rules": "nardy_ai.rules",
    "load_bot": "nardy_ai.bots",
    "parse_position": "nardy_ai.notation",
    "read_record": "nardy_ai.records",
    "rollout": "nardy_ai.rollouts",
}

__all__ = [
    "Afterstates",
    "CubeDecision",
    "CubeState",
    "Cubeful",
    "Lookahead",
    "MatchOptions",
    "NardyError",
    "RolloutReport",
    "RuleSet",
    "__version__",
    "afterstates",
    "analyse",
    "best_afterstates",
    "board_svg",
    "cube_decision",
    "find_rules",
    "load_bot",
    "parse_position",
    "read_record",
    "rollout",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module at first use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
