"""Full-text search over all steps.

Each word of the query, or a synonym, scores once, in the field with the highest weight: tool, screen, target,
test ids, or names and roles. Steps that match more words score higher. Among equal scores, the latest step is
first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeVar

from footlight.knowledge.index.index import Candidate, Index
from footlight.knowledge.index.indexing import Scope, make_facet, make_scoped_word
from footlight.knowledge.index.synonyms import MAX_PHRASE_LENGTH, find_stems, find_synonyms
from footlight.knowledge.index.words import STOP_WORDS, split_in_order, split_words
from footlight.knowledge.rows import UNKNOWN, StepRow, plain_tool_name, quote
from footlight.safe_text import replace_surrogates

__all__ = [
    "COVERAGE",
    "WEIGHTS",
    "Concept",
    "SearchHit",
    "SearchQuery",
    "find_concepts",
    "score_steps",
    "search",
]

WEIGHTS: Mapping[str, int] = {"tool": 10, "screen": 8, "target": 6, "ids": 3, "names": 2}
COVERAGE = 5
"""The points for a step that matches all words of the query."""

EXACT, INFLECTED, SYNONYM, PREFIX = 1.0, 0.9, 0.8, 0.7

STRONG: tuple[Scope, ...] = ("tool", "screen", "target")
WEAK: tuple[Scope, ...] = ("ids", "anywhere")
MORE_CANDIDATES = 10
MAX_CONCEPTS = 6
MAX_CROSSED = 5
"""Maximum number of words that are searched in combination. Other words only add to the score."""

MAX_PREFIXED = 16
MIN_PREFIX_LENGTH = 3
MAX_SHOWN = 4

Outcome = Literal["ok", "failed"]
Phrase = tuple[str, ...]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search query with its filters. The text is plain text without operators."""

    text: str
    limit: int = 20
    screen: str | None = None
    tool: str | None = None
    """The tool name, with or without its prefix."""

    outcome: Outcome | None = None
    session_id: str | None = None
    since: datetime | timedelta | None = None
    """A time, or a duration before now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A step that matches a query."""

    session_id: str
    timestamp: str
    tool: str
    screen: str
    ok: bool
    target: str
    snippet: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """Return the hit as JSON without empty values."""
        fields = {
            "sessionId": self.session_id,
            "timestamp": self.timestamp,
            "tool": self.tool,
            "screen": self.screen,
            "ok": self.ok,
            "target": self.target,
            "snippet": self.snippet,
            "score": self.score,
        }
        return {name: value for name, value in fields.items() if value != ""}


@dataclass(frozen=True)
class Concept:
    """A word or phrase of the query, with its alternatives and their quality, best first."""

    ways: tuple[tuple[Phrase, float], ...]

    def quality(self, text: str) -> float:
        """Return the quality of the best alternative in a text of space-separated words, or 0."""
        for way, quality in self._spaced:
            for word in way:
                if word not in text:
                    break
            else:
                return quality
        return 0.0

    def render_in_scope(self, scope: Scope) -> str:
        """Return the full-text expression for steps that have the concept in `scope`."""
        return _join_or(
            _join_and(f'"{make_scoped_word(scope, word)}"' for word in way) for way, _ in self.ways
        )

    @property
    def vocabulary(self) -> list[str]:
        """The words of all alternatives, escaped for a regular expression."""
        return [re.escape(word) for way, _ in self.ways for word in way]

    @cached_property
    def _spaced(self) -> list[tuple[Phrase, float]]:
        return [(tuple(f" {word} " for word in way), quality) for way, quality in self.ways]


def search(index: Index, query: SearchQuery, *, now: datetime) -> list[SearchHit]:
    """Return the steps that match a query, best first."""
    index.refresh()
    asked = find_concepts(query.text, index.words_starting_with)
    if not asked:
        return []
    each = query.limit + MORE_CANDIDATES
    found = index.find_candidates(
        lambda find: _find_candidates(asked, _build_filter(query), each, find),
        since_ms=_since_ms(query.since, now),
        each=each,
    )
    scored = sorted(score_steps(asked, found), reverse=True)[: query.limit]
    rows = index.load_rows([id for _, id in scored])
    return [_make_hit(rows[id], points, asked) for points, id in scored if id in rows]


def find_concepts(text: str, words_starting_with: Callable[[str, int], Sequence[str]]) -> list[Concept]:
    """Return the concepts of a query. Stop words count only if there are no other words.

    `words_starting_with` returns known words with a prefix.
    """
    phrases = [*dict.fromkeys(_split_phrases(split_in_order(replace_surrogates(text))))]
    meaningful = [phrase for phrase in phrases if phrase[0] not in STOP_WORDS or len(phrase) > 1]
    return [_make_concept(phrase, words_starting_with) for phrase in (meaningful or phrases)[:MAX_CONCEPTS]]


def score_steps(asked: Sequence[Concept], steps: Iterable[Candidate]) -> Iterator[tuple[float, int]]:
    """Yield the score, as described in the docstring of this module, and the id of each step."""
    for id, tool, screen, target, ids, names in steps:
        columns = (
            (WEIGHTS["tool"], _space_words(plain_tool_name(tool))),
            (WEIGHTS["screen"], _space_words(screen) if screen != UNKNOWN else ""),
            (WEIGHTS["target"], f" {target} "),
            (WEIGHTS["ids"], f" {ids} "),
            (WEIGHTS["names"], f" {names} "),
        )
        points = [_best_points(concept, columns) for concept in asked]
        named = sum(1 for each in points if each)
        yield round(sum(points) + COVERAGE * named / len(asked), 1), id


def _best_points(concept: Concept, columns: Iterable[tuple[int, str]]) -> float:
    best = 0.0
    for weight, text in columns:
        if best >= weight:  # The remaining columns cannot score more.
            break
        best = max(best, weight * concept.quality(text))
    return best


@lru_cache(maxsize=8192)
def _space_words(text: str) -> str:
    return f" {' '.join(split_words(text))} "


def _split_phrases(parts: Sequence[str]) -> Iterator[Phrase]:
    """Yield words, and the longest phrases that have synonyms."""
    start = 0
    while start < len(parts):
        sizes = range(min(MAX_PHRASE_LENGTH, len(parts) - start), 1, -1)
        size = next((size for size in sizes if find_synonyms(tuple(parts[start : start + size]))), 1)
        yield tuple(parts[start : start + size])
        start += size


def _make_concept(phrase: Phrase, words_starting_with: Callable[[str, int], Sequence[str]]) -> Concept:
    ways: dict[Phrase, float] = {phrase: EXACT}
    if len(phrase) == 1:
        for stem in find_stems(phrase[0]):
            ways.setdefault((stem,), INFLECTED)
    for known in [*ways]:
        for other in find_synonyms(known):
            ways.setdefault(other, SYNONYM)
    if len(phrase) == 1 and len(phrase[0]) >= MIN_PREFIX_LENGTH:
        for word in words_starting_with(phrase[0], MAX_PREFIXED):
            ways.setdefault((word,), PREFIX)
    return Concept(tuple(sorted(ways.items(), key=lambda way: -way[1])))


def _find_candidates(
    asked: Sequence[Concept], narrowing: str, each: int, find: Callable[[str], Sequence[int]]
) -> Iterator[Sequence[int]]:
    """Yield lists of ids of steps to score. `find` returns the latest `each` steps for an expression.

    Scoring all steps with a common word would take too long. The best steps have several words of the query,
    or one word in a field with a high weight, so only the latest steps of each such kind are scored. Steps
    that are missed have a lower score and are older. A list with fewer than `each` ids is complete.
    """
    anywhere: list[str] = []
    common: list[tuple[int, str]] = []
    for concept in asked:
        lists = [find(_join_and((concept.render_in_scope(scope), narrowing))) for scope in STRONG]
        if not any(lists):
            lists = [find(_join_and((concept.render_in_scope(scope), narrowing))) for scope in WEAK]
        if any(len(some) == each for some in lists[: len(STRONG)]) and len(lists) == len(STRONG):
            common.append((len(anywhere), concept.render_in_scope("strong")))
        if any(lists):
            anywhere.append(concept.render_in_scope("anywhere"))
        yield from lists
    if anywhere:
        yield find(_join_and((_join_or(anywhere), narrowing)))
        yield from _combine(anywhere[:MAX_CROSSED], common[:MAX_CROSSED], narrowing, each, find)


def _combine(
    anywhere: Sequence[str],
    common: Sequence[tuple[int, str]],
    narrowing: str,
    each: int,
    find: Callable[[str], Sequence[int]],
) -> Iterator[Sequence[int]]:
    """Yield lists of steps with several words. `common` has the words with more than `each` steps."""
    rows_with_all = find(_join_and((*anywhere, narrowing)))
    yield rows_with_all
    for (_, one), (_, other) in itertools.combinations(common, 2):
        yield find(_join_and((one, other, narrowing)))
    if len(rows_with_all) < each or not common:
        return
    yield find(_join_and((*(strong for _, strong in common), narrowing)))
    for number, strong in common:
        rest = (word for other, word in enumerate(anywhere) if other != number)
        yield find(_join_and((strong, *rest, narrowing)))


def _build_filter(query: SearchQuery) -> str:
    facets = {
        "screen": query.screen,
        "tool": query.tool,
        "outcome": query.outcome,
        "session": query.session_id,
    }
    return _join_and(f'"{make_facet(kind, value)}"' for kind, value in facets.items() if value is not None)


def _join_and(parts: Iterable[str]) -> str:
    return " AND ".join(_bracket(parts))


def _join_or(parts: Iterable[str]) -> str:
    return f"({' OR '.join(_bracket(parts))})"


def _bracket(parts: Iterable[str]) -> list[str]:
    return [f"({part})" for part in parts if part]


def _since_ms(since: datetime | timedelta | None, now: datetime) -> int | None:
    if since is None:
        return None
    return max(0, round((now - since if isinstance(since, timedelta) else since).timestamp() * 1000))


def _make_hit(row: StepRow, points: float, asked: Sequence[Concept]) -> SearchHit:
    return SearchHit(
        session_id=row.session_id,
        timestamp=row.timestamp,
        tool=row.tool,
        screen=row.screen,
        ok=row.ok,
        target=row.target.description if row.target else "",
        snippet=_snippet(row, asked),
        score=points,
    )


def _snippet(row: StepRow, asked: Sequence[Concept]) -> str:
    """Return the test ids and nodes of a step that match the query best, and its error."""
    some = re.compile(" (?:{}) ".format("|".join(word for concept in asked for word in concept.vocabulary)))

    def fit(text: str) -> float:
        spaced = _space_words(text)
        return sum(concept.quality(spaced) for concept in asked) if some.search(spaced) else 0.0

    ids = [(fit(seen.test_id), seen.test_id) for seen in row.look.test_ids]
    nodes = [(fit(f"{node.role} {node.name}"), node) for node in row.look.nodes]
    matches = {
        "test ids": _pick_best(ids),
        "seen": [f"{node.role} {quote(node.name)}" for node in _pick_best(nodes)],
    }
    descriptions = [f"{kind}: {', '.join(dict.fromkeys(best))}" for kind, best in matches.items() if best]
    return "; ".join([*([f"{row.code}: {quote(row.message)}"] if row.code else []), *descriptions])


def _pick_best(found: Iterable[tuple[float, Item]]) -> list[Item]:
    fitting = sorted((each for each in found if each[0]), key=lambda each: -each[0])
    return [thing for _, thing in fitting][:MAX_SHOWN]
