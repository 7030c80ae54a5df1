"""The language in which answers are worded: English, which stands in the code, or Russian, from a catalogue.

Texts go through `tr`, which fills in values, so that a sentence is translated as a whole; numbers with their nouns go
through `tr_count`, which knows plural forms. A text that is kept as data is written as `marked("...")` and goes through
`tr` where it is shown. `russian.toml` is the catalogue, read when Russian is first spoken; there is nothing to build.

Data is never translated: JSON, files, notation of positions and plays, and names of bots, rules and options are the
same in every language.
"""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nardy_ai.errors import NardyError

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "RUSSIAN",
    "Catalogue",
    "current_language",
    "default_language",
    "marked",
    "read_catalogue",
    "speaking",
    "tr",
    "tr_count",
]

ENGLISH, RUSSIAN = LANGUAGES = ("en", "ru")

_LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)


@dataclass(frozen=True)
class Catalogue:
    """Russian texts by their English ones. counts: for 1, 2 and 5. contexts: by what tells equal English apart."""

    texts: Mapping[str, str]
    counts: Mapping[str, tuple[str, str, str]]
    contexts: Mapping[str, Mapping[str, str]]


def current_language() -> str:
    """One of LANGUAGES; English unless `speaking` says otherwise."""
    return _LANGUAGE.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """While open, texts are in `language`, one of LANGUAGES, in this thread."""
    assert language in LANGUAGES
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def default_language(environment: Mapping[str, str]) -> str:
    """The language that the environment asks for: NARDY_LANG, else the first of LC_ALL, LC_MESSAGES, LANG that is set.

    A locale of any language but Russian means English. Raises NardyError if NARDY_LANG is none of LANGUAGES.
    """
    chosen = environment.get("NARDY_LANG", "")
    if chosen:
        if chosen not in LANGUAGES:
            raise NardyError(f"NARDY_LANG={chosen}: expected {' or '.join(LANGUAGES)}")
        return chosen
    locale = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    is_russian = locale.replace(".", "_").replace("@", "_").split("_")[0].casefold() == RUSSIAN
    return RUSSIAN if is_russian else ENGLISH


def tr(text: str, /, *, context: str = "", **values: object) -> str:
    """`text` in the current language, with `values` in place of its `{fields}`.

    context: tells apart English texts that are equal and have different translations. What the catalogue lacks, such as
    a text of the user's own, stays as it is.
    """
    if _LANGUAGE.get() == RUSSIAN and text:
        catalogue = read_catalogue()
        text = (catalogue.contexts[context] if context else catalogue.texts).get(text, text)
    return text.format(**values) if values else text


def tr_count(one: str, many: str, n: int, /, **values: object) -> str:
    """What there are n of: `one` for 1 and `many` for other numbers in English, three forms in Russian.

    n and the values stand in place of `{n}` and of other fields.
    """
    form = one if n == 1 else many
    if _LANGUAGE.get() == RUSSIAN:
        forms = read_catalogue().counts.get(one)
        form = form if forms is None else forms[_russian_form(n)]
    return form.format(n=n, **values)


def marked(text: str) -> str:
    """The text itself, said to be in the catalogue; who shows it calls `tr`."""
    return text


@cache
def read_catalogue() -> Catalogue:
    """The Russian texts."""
    text = (Path(__file__).parent / "russian.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    counts = {one: (forms[0], forms[1], forms[2]) for one, forms in tables["counts"].items()}
    return Catalogue(tables["texts"], counts, tables["contexts"])


def _russian_form(n: int) -> int:
    """Which of the forms of 1, 2 and 5: by the plural rule of Unicode's CLDR for whole numbers."""
    if n % 10 == 1 and n % 100 != 11:
        return 0
    return 1 if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else 2
