"""A search over all steps: words in, the steps that fit best out.

Each word of the question, or what is said for the same thing, scores once, where it counts most: the tool,
the screen, what the tool acted on, the test ids that were seen, or the names and roles. What names more of
the question scores more. Among equals the latest comes first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeVar

from footlight.knowledge.index import Candidate, Index
from footlight.knowledge.indexing import Scope, facet, within
from footlight.knowledge.rows import UNKNOWN, Row, quoted, verb
from footlight.knowledge.synonyms import LONGEST_PHRASE, inflections, synonyms
from footlight.knowledge.words import STOP_WORDS, in_order, words
from footlight.steering import clean

__all__ = ["COVERAGE", "WEIGHTS", "Concept", "Hit", "Query", "concepts", "score", "search"]

WEIGHTS: Mapping[str, int] = {"tool": 10, "screen": 8, "target": 6, "ids": 3, "names": 2}
COVERAGE = 5
"""What naming all of the question is worth."""

EXACT, INFLECTED, SYNONYM, PREFIX = 1.0, 0.9, 0.8, 0.7

STRONG: tuple[Scope, ...] = ("tool", "screen", "target")
WEAK: tuple[Scope, ...] = ("ids", "anywhere")
MORE_CANDIDATES = 10
MOST_CONCEPTS = 6
MOST_CROSSED = 5
"""So many words are looked for together; the others add to the score."""

MOST_PREFIXED = 16
SHORTEST_PREFIX = 3
MOST_SHOWN = 4

Outcome = Literal["ok", "failed"]
Phrase = tuple[str, ...]
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked for, and what it is narrowed to. Any text is plain text: there are no operators."""

    text: str
    limit: int = 20
    screen: str | None = None
    tool: str | None = None
    """With its prefix or without."""

    outcome: Outcome | None = None
    session_id: str | None = None
    since: datetime | timedelta | None = None
    """A time, or how long ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A step that was found."""

    session_id: str
    timestamp: str
    tool: str
    screen: str
    ok: bool
    target: str
    snippet: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """Without what is empty."""
        told = {
            "sessionId": self.session_id,
            "timestamp": self.timestamp,
            "tool": self.tool,
            "screen": self.screen,
            "ok": self.ok,
            "target": self.target,
            "snippet": self.snippet,
            "score": self.score,
        }
        return {name: value for name, value in told.items() if value != ""}


@dataclass(frozen=True)
class Concept:
    """A word or phrase of the question: all that it is found by, the best first, and how good each is."""

    ways: tuple[tuple[Phrase, float], ...]

    def quality(self, text: str) -> float:
        """Of the best way that is all in there, 0 where none is. The text is words, each between spaces."""
        for way, quality in self._spaced:
            for word in way:
                if word not in text:
                    break
            else:
                return quality
        return 0.0

    def within(self, scope: Scope) -> str:
        """The full-text expression for steps that have it there."""
        return _any(_all(f'"{within(scope, word)}"' for word in way) for way, _ in self.ways)

    @property
    def vocabulary(self) -> list[str]:
        """As regular expressions."""
        return [re.escape(word) for way, _ in self.ways for word in way]

    @cached_property
    def _spaced(self) -> list[tuple[Phrase, float]]:
        return [(tuple(f" {word} " for word in way), quality) for way, quality in self.ways]


def search(index: Index, query: Query, *, now: datetime) -> list[Hit]:
    """The best first."""
    index.refresh()
    asked = concepts(query.text, index.starting_with)
    if not asked:
        return []
    each = query.limit + MORE_CANDIDATES
    found = index.candidates(
        lambda find: _candidates(asked, _narrowing(query), each, find),
        since_ms=_since_ms(query.since, now),
        each=each,
    )
    scored = sorted(_scored(asked, found), reverse=True)[: query.limit]
    rows = index.of_ids([id for _, id in scored])
    return [_hit(rows[id], points, asked) for points, id in scored if id in rows]


def concepts(text: str, starting_with: Callable[[str, int], Sequence[str]]) -> list[Concept]:
    """Of a question. `starting_with` lists known words. Only stop words: those are asked for then."""
    phrases = [*dict.fromkeys(_phrases(in_order(clean(text))))]
    telling = [phrase for phrase in phrases if phrase[0] not in STOP_WORDS or len(phrase) > 1]
    return [_concept(phrase, starting_with) for phrase in (telling or phrases)[:MOST_CONCEPTS]]


def score(asked: Sequence[Concept], step: Candidate) -> float:
    """See the module."""
    return next(_scored(asked, [step]))[0]


def _scored(asked: Sequence[Concept], steps: Iterable[Candidate]) -> Iterator[tuple[float, int]]:
    """Points and id of each."""
    for id, tool, screen, target, ids, names in steps:
        columns = (
            (WEIGHTS["tool"], _spaced(verb(tool))),
            (WEIGHTS["screen"], _spaced(screen) if screen != UNKNOWN else ""),
            (WEIGHTS["target"], f" {target} "),
            (WEIGHTS["ids"], f" {ids} "),
            (WEIGHTS["names"], f" {names} "),
        )
        points = [_points(concept, columns) for concept in asked]
        named = sum(1 for each in points if each)
        yield round(sum(points) + COVERAGE * named / len(asked), 1), id


def _points(concept: Concept, columns: Iterable[tuple[int, str]]) -> float:
    best = 0.0
    for weight, text in columns:
        if best >= weight:  # What counts less adds nothing, and need not be looked at.
            break
        best = max(best, weight * concept.quality(text))
    return best


@lru_cache(maxsize=8192)
def _spaced(text: str) -> str:
    return f" {' '.join(words(text))} "


def _phrases(parts: Sequence[str]) -> Iterator[Phrase]:
    """Words, and phrases that have synonyms, the longest."""
    start = 0
    while start < len(parts):
        sizes = range(min(LONGEST_PHRASE, len(parts) - start), 1, -1)
        size = next((size for size in sizes if synonyms(tuple(parts[start : start + size]))), 1)
        yield tuple(parts[start : start + size])
        start += size


def _concept(phrase: Phrase, starting_with: Callable[[str, int], Sequence[str]]) -> Concept:
    ways: dict[Phrase, float] = {phrase: EXACT}
    if len(phrase) == 1:
        for stem in inflections(phrase[0]):
            ways.setdefault((stem,), INFLECTED)
    for known in [*ways]:
        for other in synonyms(known):
            ways.setdefault(other, SYNONYM)
    if len(phrase) == 1 and len(phrase[0]) >= SHORTEST_PREFIX:
        for word in starting_with(phrase[0], MOST_PREFIXED):
            ways.setdefault((word,), PREFIX)
    return Concept(tuple(sorted(ways.items(), key=lambda way: -way[1])))


def _candidates(
    asked: Sequence[Concept], narrowing: str, each: int, find: Callable[[str], Sequence[int]]
) -> Iterator[Sequence[int]]:
    """Lists of the latest steps of a kind. `find` takes a full-text expression, and gives so many of `each`.

    Scoring all that has a common word would take long. The best steps have several words, or one where it
    counts most, so the latest of each such kind are scored. What may be missed is further down, and older.
    A list that is shorter than `each` has all of its kind.
    """
    anywhere: list[str] = []
    common: list[tuple[int, str]] = []
    for concept in asked:
        lists = [find(_all((concept.within(scope), narrowing))) for scope in STRONG]
        if not any(lists):
            lists = [find(_all((concept.within(scope), narrowing))) for scope in WEAK]
        if any(len(some) == each for some in lists[: len(STRONG)]) and len(lists) == len(STRONG):
            common.append((len(anywhere), concept.within("strong")))
        if any(lists):
            anywhere.append(concept.within("anywhere"))
        yield from lists
    if anywhere:
        yield find(_all((_any(anywhere), narrowing)))
        yield from _crossed(anywhere[:MOST_CROSSED], common[:MOST_CROSSED], narrowing, each, find)


def _crossed(
    anywhere: Sequence[str],
    common: Sequence[tuple[int, str]],
    narrowing: str,
    each: int,
    find: Callable[[str], Sequence[int]],
) -> Iterator[Sequence[int]]:
    """Steps with several of the words. `common` are those, by number, of which not all steps are listed."""
    together = find(_all((*anywhere, narrowing)))
    yield together
    for (_, one), (_, other) in itertools.combinations(common, 2):
        yield find(_all((one, other, narrowing)))
    if len(together) < each or not common:
        return
    yield find(_all((*(strong for _, strong in common), narrowing)))
    for number, strong in common:
        rest = (word for other, word in enumerate(anywhere) if other != number)
        yield find(_all((strong, *rest, narrowing)))


def _narrowing(query: Query) -> str:
    wanted = {
        "screen": query.screen,
        "tool": query.tool,
        "outcome": query.outcome,
        "session": query.session_id,
    }
    return _all(f'"{facet(kind, value)}"' for kind, value in wanted.items() if value is not None)


def _all(parts: Iterable[str]) -> str:
    return " AND ".join(_bracketed(parts))


def _any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(_bracketed(parts))})"


def _bracketed(parts: Iterable[str]) -> list[str]:
    return [f"({part})" for part in parts if part]


def _since_ms(since: datetime | timedelta | None, now: datetime) -> int | None:
    if since is None:
        return None
    return max(0, round((now - since if isinstance(since, timedelta) else since).timestamp() * 1000))


def _hit(row: Row, points: float, asked: Sequence[Concept]) -> Hit:
    return Hit(
        session_id=row.session_id,
        timestamp=row.timestamp,
        tool=row.tool,
        screen=row.screen,
        ok=row.ok,
        target=row.target.told if row.target else "",
        snippet=_snippet(row, asked),
        score=points,
    )


def _snippet(row: Row, asked: Sequence[Concept]) -> str:
    """What was seen that has words of the question, the best of it."""
    some = re.compile(" (?:{}) ".format("|".join(word for concept in asked for word in concept.vocabulary)))

    def fit(text: str) -> float:
        spaced = _spaced(text)
        return sum(concept.quality(spaced) for concept in asked) if some.search(spaced) else 0.0

    ids = [(fit(seen.test_id), seen.test_id) for seen in row.look.test_ids]
    nodes = [(fit(f"{node.role} {node.name}"), node) for node in row.look.nodes]
    shown = {
        "test ids": _best(ids),
        "seen": [f"{node.role} {quoted(node.name)}" for node in _best(nodes)],
    }
    told = [f"{kind}: {', '.join(dict.fromkeys(best))}" for kind, best in shown.items() if best]
    return "; ".join([*([f"{row.code}: {quoted(row.message)}"] if row.code else []), *told])


def _best(found: Iterable[tuple[float, Shown]]) -> list[Shown]:
    fitting = sorted((each for each in found if each[0]), key=lambda each: -each[0])
    return [thing for _, thing in fitting][:MOST_SHOWN]
