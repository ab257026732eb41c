"""Read source maps: find the place in the original source for a place in a script.

No I/O. A page can send any source map, so everything is validated and limited, and the work grows with the
length of the map and not with its content.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["MAX_MAP_BYTES", "OriginalPlace", "find_map_url", "find_places"]

MAX_MAP_BYTES = 16_000_000
MAX_MAPPINGS = 8_000_000
"""The maximum length of the mappings of a map, in characters. Longer ones take seconds to decode."""
MAX_SECTIONS = 1_000
MAX_SEGMENT = 70
"""The maximum length of a segment, in characters: five numbers of 64 bits. Valid maps have shorter ones."""
MAX_NAME = 300
MAX_LINE = 200
MAX_TAIL = 20_000_000
"""The length of the end of a script that is searched for its source map. A data URL may be that long."""

_DIGITS = {
    digit: value
    for value, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

Position = tuple[int, int]
"""A line and a column of a script, both from 0."""


@dataclass(frozen=True, slots=True)
class OriginalPlace:
    """A place in the original source; `line` and `column` count from 1. `text` is that line, if known."""

    source: str
    line: int
    column: int
    name: str = ""
    text: str = ""


def find_map_url(script: str) -> str | None:
    """Return the value of the last `sourceMappingURL` in a script, or None."""
    tail = script[-MAX_TAIL:]
    for mark in ("//# sourceMappingURL=", "//@ sourceMappingURL="):
        at = tail.rfind(mark)
        if at >= 0:
            end = tail.find("\n", at)
            value = tail[at + len(mark) : end if end >= 0 else None].strip()
            if value and " " not in value and '"' not in value:
                return value
    return None


def find_places(data: bytes, positions: Sequence[Position]) -> dict[Position, OriginalPlace]:
    """Return the original places of these positions, without positions that the map does not contain.

    Raises:
        ValueError: it is not a source map, or it is too large.
    """
    if len(data) > MAX_MAP_BYTES:
        raise ValueError(f"it has more than {MAX_MAP_BYTES:,} bytes")
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if text.startswith(")]}"):  # A line that prevents scripts of other sites from reading it as JSON.
        text = text.partition("\n")[2]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    fields = cast("dict[str, Any]", document)
    if "sections" in fields:
        return _find_in_sections(fields["sections"], positions)
    return _find_in_map(fields, positions)


def _find_in_sections(sections: object, positions: Sequence[Position]) -> dict[Position, OriginalPlace]:
    parts = cast("list[Any]", sections)[:MAX_SECTIONS] if isinstance(sections, list) else []
    read: list[tuple[Position, dict[str, Any]]] = []
    for part in parts:
        match part:
            case {"offset": {"line": int(line), "column": int(column)}, "map": {**inner}}:
                read.append(((line, column), cast("dict[str, Any]", inner)))
            case _:
                raise ValueError("a section has no offset or no map")
    read.sort(key=lambda each: each[0])
    by_part: dict[int, dict[Position, Position]] = {}
    for position in positions:
        index = bisect_right([offset for offset, _ in read], position) - 1
        if index >= 0:
            (line, column), _ = read[index]
            inner = (position[0] - line, position[1] - (column if position[0] == line else 0))
            by_part.setdefault(index, {})[inner] = position
    found: dict[Position, OriginalPlace] = {}
    for index, inner in by_part.items():
        places = _find_in_map(read[index][1], list(inner))
        found |= {inner[position]: place for position, place in places.items()}
    return found


def _find_in_map(document: Mapping[str, Any], positions: Sequence[Position]) -> dict[Position, OriginalPlace]:
    mappings = document.get("mappings")
    if document.get("version") != 3 or not isinstance(mappings, str):
        raise ValueError("it is not a source map of version 3")
    if len(mappings) > MAX_MAPPINGS:
        raise ValueError(f"its mappings have more than {MAX_MAPPINGS:,} characters")
    segments = _find_segments(mappings, positions)
    return {
        position: place
        for position, numbers in segments.items()
        if (place := _make_place(document, numbers)) is not None
    }


def _find_segments(mappings: str, positions: Sequence[Position]) -> dict[Position, tuple[int, ...]]:
    """Return the last segment at or before each position: source, line, column and name."""
    wanted: dict[int, list[int]] = {}
    for line, column in positions:
        wanted.setdefault(line, []).append(column)
    last_line = max(wanted, default=-1)
    found: dict[Position, tuple[int, ...]] = {}
    known: dict[str, tuple[int, ...]] = {}
    source = line = column = name = 0
    for generated_line, segments in enumerate(mappings.split(";", last_line + 1)[: last_line + 1]):
        generated = 0
        columns = wanted.get(generated_line, ())
        for segment in segments.split(",") if segments else ():
            numbers = known.get(segment)
            if numbers is None:
                numbers = known[segment] = _decode(segment)
            generated += numbers[0]
            place: tuple[int, ...] = ()
            if len(numbers) >= 4:
                source, line, column = source + numbers[1], line + numbers[2], column + numbers[3]
                if len(numbers) >= 5:
                    name += numbers[4]
                if columns:
                    place = (source, line, column, *((name,) if len(numbers) >= 5 else ()))
            for each in columns:
                if generated <= each:
                    found[generated_line, each] = place
    return {position: place for position, place in found.items() if place}


def _decode(segment: str) -> tuple[int, ...]:
    """Return the numbers of a segment, which is encoded as base64 VLQ.

    Raises:
        ValueError: it is not a segment.
    """
    if len(segment) > MAX_SEGMENT:
        raise ValueError("a segment is too long")
    numbers: list[int] = []
    value = shift = 0
    for character in segment:
        digit = _DIGITS.get(character)
        if digit is None:
            raise ValueError("its mappings have a character that is not base64")
        value |= (digit & 31) << shift
        if digit & 32:
            shift += 5
        else:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if shift or len(numbers) not in (1, 4, 5):
        raise ValueError("a segment is incomplete")
    return tuple(numbers)


def _make_place(document: Mapping[str, Any], numbers: tuple[int, ...]) -> OriginalPlace | None:
    source, line, column = numbers[:3]
    path = _text_at(document.get("sources"), source)
    if path is None or line < 0 or column < 0:
        return None
    root = document.get("sourceRoot")
    prefix = f"{root.rstrip('/')}/" if isinstance(root, str) and root else ""
    name = _text_at(document.get("names"), numbers[3]) if len(numbers) > 3 else None
    content = _text_at(document.get("sourcesContent"), source)
    return OriginalPlace(
        source=f"{prefix}{path}"[:MAX_NAME],
        line=line + 1,
        column=column + 1,
        name=(name or "")[:MAX_NAME],
        text=_line_of(content or "", line).strip()[:MAX_LINE],
    )


def _text_at(texts: object, index: int) -> str | None:
    """Return the text at this index of a list that a page has sent, or None."""
    if not isinstance(texts, list):
        return None
    each = cast("list[object]", texts)
    text = each[index] if 0 <= index < len(each) else None
    return text if isinstance(text, str) else None


def _line_of(content: str, line: int) -> str:
    lines = content.split("\n", line + 1)
    return lines[line] if line < len(lines) else ""
