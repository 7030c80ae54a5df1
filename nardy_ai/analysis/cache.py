"""Answers kept on disk, so that an analysis that was stopped, or is asked for again, need not judge anew.

One SQLite file in the cache folder. A key is a hash of everything that an answer depends on: format, bot and what it
thinks of some boards, rules, question. A file that cannot be used is done without.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from nardy_ai.analysis.judge import CubeAnswer, CubeQuestion, PlayAnswer, PlayQuestion, RolloutOptions
from nardy_ai.cube.decision import Verdict
from nardy_ai.rules import RuleSet, rules_to_dict

__all__ = ["AnswerCache", "answer_key", "answer_of", "context_of", "text_of"]

FORMAT = 1
"""Raised when answers or their meaning change."""

Answer = PlayAnswer | CubeAnswer
Question = PlayQuestion | CubeQuestion


def context_of(bot: str, probe: bytes, rules: RuleSet, rollouts: RolloutOptions | None, longest: int) -> bytes:
    """What all questions of an analysis have in common, hashed. longest: of the match, which decides its equities."""
    about = {
        "format": FORMAT,
        "bot": bot,
        "rules": rules_to_dict(rules),
        "rollouts": None if rollouts is None else asdict(rollouts),
        "longest": longest,
    }
    return hashlib.sha256(probe + json.dumps(about, sort_keys=True).encode()).digest()


def answer_key(context: bytes, question: Question) -> bytes:
    """The key of a question's answer."""
    state = None if question.state is None else asdict(question.state)
    parts: list[object] = [state]
    if isinstance(question, PlayQuestion):
        parts += [question.dice, question.played, question.opening]
    text = json.dumps(parts, sort_keys=True).encode()
    return hashlib.sha256(context + text + question.board.tobytes()).digest()


def text_of(answer: Answer) -> str:
    """An answer as text, to the last bit."""
    return json.dumps(asdict(answer))


def answer_of(text: str, question: Question) -> Answer:
    """The answer that `text_of` wrote."""
    data = json.loads(text)
    if isinstance(question, PlayQuestion):
        chances = tuple(tuple(row) for row in data.pop("chances"))
        values, errors = tuple(data.pop("values")), tuple(data.pop("errors"))
        return PlayAnswer(values=values, chances=chances, errors=errors, **data)
    return CubeAnswer(verdict=Verdict(**data.pop("verdict")), **data)


class AnswerCache:
    """The file of answers. note: why it cannot be used, else empty; then nothing is found and nothing kept."""

    def __init__(self, path: Path) -> None:
        self.note = ""
        self._file: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=10)
            self._file.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            self._give_up(path, error)

    def find(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """The texts of those keys that have one."""
        found: dict[bytes, str] = {}
        if self._file is None:
            return found
        try:
            for key in keys:
                row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = row[0]
        except sqlite3.Error as error:
            self._give_up(None, error)
        return found

    def keep(self, answers: Iterable[tuple[bytes, str]]) -> None:
        """Put answers into the file, all of them or none."""
        if self._file is None:
            return
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", answers)
        except sqlite3.Error as error:
            self._give_up(None, error)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _give_up(self, path: Path | None, error: Exception) -> None:
        self.note = f"answers are not kept: {f'{path}: ' if path else ''}{error}"
        self.close()
