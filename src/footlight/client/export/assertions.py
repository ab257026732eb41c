"""The assertions of an exported test: the parts of a logged result that are the same in every run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from footlight.client.codegen.python_text import LINE_LENGTH, string
from footlight.client.export.python_source import INDENT, flat, literal, width
from footlight.client.replay.json_paths import Path, leaves
from footlight.client.replay.logged_results import is_summary
from footlight.client.replay.volatile import CHANGES, is_volatile_field, normalize_text

__all__ = ["assertions", "index_expression", "select_distinctive_parts"]

MOST = 8
"""Lines for one call."""
MOST_PIECES = 4
"""Pieces of one text that are asserted."""
MOST_OF_A_FAILURE = 3
LONGEST_PIECE = 60
SHORTEST_PIECE = 4

_REF = re.compile(r"(?<![^\s\[(])e[1-9]\d*(?![^\s\]),])|\[ref=[^\]\s]{0,20}\]?")
"""The number of an element in one look at a page."""
_CODE = re.compile(r'"code":\s*"(?P<quoted>\w+)"|^(?P<said>[A-Z][A-Z0-9_]{2,}): ')
"""The code of an error that is an object, as a client formats it, or as older logs have it."""
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CHANGING = re.compile(r'(?<![A-Za-z0-9])[0-9a-f]{8,}(?![A-Za-z0-9])|\d+|"|[^\x20-\x7e]+')
"""Parts of an error that change, besides those that `normalize_text` replaces: ids, numbers, non-ASCII."""
LONGEST_LINE = 2_000
_CUT = re.compile(r"… \[\d+ chars\]\Z")
_HEADING = re.compile(
    r"#+ |```|\W{0,20}(?:error|exception|failed|failure|traceback \(most recent call last\))\W{0,20}\Z",
    re.IGNORECASE,
)
"""A line, or a piece of one, that every failure or answer of its server has."""


def assertions(result: Any, name: str) -> list[str]:
    """Yield assertions: the whole result if it fits and does not change between runs, else what does not
    change, place by place.
    """
    if result is None or is_summary(result):
        return []
    if isinstance(result, (bool, int, float)):
        # The log has the value of the JSON, and a handle returns the text.
        return [f"assert json.loads({name}) {_equals(result)}"]
    found = list(leaves(result))
    if found and all(_stays(path, value) for path, value in found):
        whole = f"assert {name} {_equals(result)}"
        if _fits(whole):
            return [whole]
    lines = (line for path, value in found if _says_something(path) for line in _assertion(name, path, value))
    return [line for line, _ in zip(lines, range(MOST), strict=False)]


def _assertion(name: str, path: Path, value: Any) -> Iterator[str]:
    if not _stays(path, value):
        if isinstance(value, str) and not is_volatile_field(path, value, value):
            for piece in _pieces(value.split("\n"), MOST_PIECES):
                yield from _if_fits(f"assert {string(piece)} in {index_expression(name, path)}")
        return
    line = f"assert {index_expression(name, path)} {_equals(value)}"
    if _fits(line):
        yield line
    elif isinstance(value, str):
        yield from _if_fits(
            f"assert {index_expression(name, path)}.startswith({string(value[:LONGEST_PIECE])})"
        )


def _pieces(lines: Sequence[str], most: int) -> list[str]:
    """Return the pieces of the lines that do not change, from the first informative line on."""
    found: list[str] = []
    for text in lines:
        line = _COLOUR.sub(CHANGES, text[:LONGEST_LINE])
        if _HEADING.match(line):
            continue
        for part in _REF.sub(CHANGES, normalize_text(line)).split(CHANGES):
            piece = part.strip()[:LONGEST_PIECE].strip()
            is_meaningful = (
                len(piece) >= SHORTEST_PIECE and any(map(str.isalpha, piece)) and not _HEADING.match(piece)
            )
            if is_meaningful and piece not in found:
                found.append(piece)
            if len(found) == most:
                return found
    return found


def index_expression(name: str, path: Path) -> str:
    """Return the expression for a place in a result."""
    return name + "".join(f"[{string(step) if isinstance(step, str) else step}]" for step in path)


def select_distinctive_parts(error: str) -> Sequence[str]:
    """Return the parts of an error's message that identify it: its code, or the texts that do not change.

    The first line is often the same for all failures of a server, so a part of each line is returned, the
    longest first.
    """
    if code := _CODE.search(error):
        return [code["quoted"] or code["said"]]
    plain = _COLOUR.sub(CHANGES, _CUT.sub("", error))
    lines = [_CHANGING.sub(CHANGES, normalize_text(line)) for line in plain.splitlines()]
    return sorted(_pieces(lines, MOST_OF_A_FAILURE), key=len, reverse=True)


def _stays(path: Path, value: Any) -> bool:
    if is_volatile_field(path, value, value):
        return False
    return not isinstance(value, str) or (
        "\n" not in value and CHANGES not in normalize_text(value) and not _REF.search(value)
    )


def _says_something(path: Path) -> bool:
    """Return whether a value is worth asserting. Success is not, nor are events beside the result of an
    action.
    """
    return path != ("success",) and path[:1] != ("observation",)


def _equals(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return f"is {value}"
    return f"== {flat(literal(value))}"


def _if_fits(line: str) -> Iterator[str]:
    if _fits(line):
        yield line


def _fits(line: str) -> bool:
    return width(f"{INDENT}{line}") <= LINE_LENGTH
