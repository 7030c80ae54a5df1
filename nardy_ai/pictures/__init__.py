"""Pictures: boards as SVG, and charts of training and benchmarks. They need no browser and are the same every time."""

from nardy_ai.pictures.board import BOARD_STYLE, board_svg
from nardy_ai.pictures.words import board_words

__all__ = ["BOARD_STYLE", "board_svg", "board_words"]
