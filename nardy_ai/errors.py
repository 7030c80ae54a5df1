"""The exceptions of the package.

Every one is a `ValueError` whose text names what was given, what was expected and what to do. The command
line prints that text in one line and exits with status 2.
"""


class NardyError(ValueError):
    """Something given to the package is wrong."""


class BoardError(NardyError):
    """An array is no board, or a board that no game can show."""


class NotationError(NardyError):
    """A text is no position, play or roll."""


class RulesError(NardyError):
    """A rule set is unknown or contradicts itself."""


class ConfigError(NardyError):
    """A training config has an unknown key or an impossible value."""


class BotError(NardyError):
    """A bot's name is unknown, or its file is damaged or of another kind."""


class CubeError(NardyError):
    """A cube's state is impossible, or a match equity table is damaged or too short."""
