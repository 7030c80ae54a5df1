"""The texts that the package words in two languages, found by walking its sources."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nardy_ai

PACKAGE = Path(nardy_ai.__file__).parent


@dataclass(frozen=True)
class Message:
    """A text in the sources. many: its plural where it is counted. where: file and line. width: that of a heading."""

    text: str
    many: str | None
    context: str
    where: str
    width: int | None = None


@cache
def messages() -> tuple[Message, ...]:
    """All of them."""
    return tuple(_messages())


def _messages() -> Iterator[Message]:
    """Every literal that goes through `tr`, `tr_count`, `marked` or `heading`, and in templates through `tr`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield from _of_call(node, f"{path.relative_to(PACKAGE)}:{node.lineno}")
    for path in sorted(PACKAGE.rglob("*.j2")):
        yield from _of_template(path)


def _of_call(node: ast.Call, where: str) -> Iterator[Message]:
    name = getattr(node.func, "id", "")
    if name not in ("tr", "tr_count", "marked", "heading"):
        return
    texts = [_text(argument) for argument in node.args[: 2 if name == "tr_count" else 1]]
    contexts = [_text(keyword.value) for keyword in node.keywords if keyword.arg == "context"]
    if texts[0] is not None:
        many = texts[1] if name == "tr_count" else None
        width = ast.literal_eval(node.args[1]) if name == "heading" else None
        yield Message(texts[0], many, contexts[0] or "" if contexts else "", where, width)


def _of_template(path: Path) -> Iterator[Message]:
    from jinja2 import Environment, nodes

    tree = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        name = getattr(call.node, "name", "")
        if name in ("tr", "tr_count"):
            texts = [one.value for one in call.args if isinstance(one, nodes.Const)]
            if texts:
                yield Message(texts[0], texts[1] if name == "tr_count" else None, "", f"{path.name}:{call.lineno}")


def _text(node: ast.expr) -> str | None:
    """A literal, also one of several literals side by side or of two by a condition."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
