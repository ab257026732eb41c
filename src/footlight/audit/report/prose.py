"""Parse a model's text: a small part of Markdown, without anything that loads or runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

__all__ = ["CODE_SPAN", "Block", "Span", "parse_blocks"]

CODE_SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text. `cite` looks like an id of evidence, which may not exist."""

    text: str
    style: Literal["plain", "strong", "em", "code", "cite"] = "plain"


@dataclass(frozen=True, slots=True)
class Block:
    """A block. A list has a row for each item, every other block has one row."""

    kind: Literal["heading", "paragraph", "bullets", "numbers"]
    rows: Sequence[Sequence[Span]]


_LINE = re.compile(
    r"\s*(?:(?P<heading>#{1,6}\s+)|(?P<bullets>[-*+•]\s+)|(?P<numbers>\d{1,3}[.)]\s+)|(?P<fence>```.*))?"
)
_SPAN = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*\s][^*]*)\*|(?P<cite>\b[A-Z]\d{1,4}\b)"
)


def parse_blocks(text: str) -> Sequence[Block]:
    return [
        block for kind, lines in groupby(_parse_lines(text), _kind) for block in _make_blocks(kind, lines)
    ]


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each line. Lines that separate blocks have no kind."""
    for line in text.splitlines():
        found = _LINE.match(line)
        kind = (found and found.lastgroup) or ("paragraph" if line.strip() else "")
        yield ("", "") if kind == "fence" else (kind, line[found.end() if found else 0 :].rstrip())


def _kind(line: tuple[str, str]) -> str:
    return line[0]


def _make_blocks(kind: str, lines: Iterable[tuple[str, str]]) -> Iterator[Block]:
    rows = [_parse_spans(line) for _, line in lines]
    match kind:
        case "bullets" | "numbers":
            yield Block(kind, rows)
        case "heading":
            yield from (Block(kind, [row]) for row in rows)
        case "paragraph":
            yield Block(kind, [[each for row in rows for each in (Span(" "), *row)][1:]])
        case _:
            pass


def _parse_spans(line: str) -> Sequence[Span]:
    found: list[Span] = []
    end = 0
    for match in _SPAN.finditer(line):
        found.append(Span(line[end : match.start()]))
        style = match.lastgroup
        assert style in ("code", "strong", "em", "cite")
        found.append(Span(match[style], style))
        end = match.end()
    found.append(Span(line[end:]))
    return [span for span in found if span.text]
