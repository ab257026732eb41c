"""Generate the assertions of an exported test, on the parts of a logged result that do not change."""

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

MAX = 8
"""The maximum number of assertions for one call."""
MAX_PIECES = 4
"""The maximum number of pieces of one text that are asserted."""
MAX_FAILURE_PIECES = 3
MAX_PIECE_LENGTH = 60
MIN_PIECE_LENGTH = 4

_REF = re.compile(r"(?<![^\s\[(])e[1-9]\d*(?![^\s\]),])|\[ref=[^\]\s]{0,20}\]?")
"""A ref, which identifies an element in one snapshot only."""
_CODE = re.compile(r'"code":\s*"(?P<quoted>\w+)"|^(?P<said>[A-Z][A-Z0-9_]{2,}): ')
"""The code of an error object, in the client's format or in that of older logs."""
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CHANGING = re.compile(r'(?<![A-Za-z0-9])[0-9a-f]{8,}(?![A-Za-z0-9])|\d+|"|(?:(?!\w)[^\x20-\x7e])+')
"""Volatile parts of an error that `normalize_text` does not replace: ids, numbers and non-ASCII symbols."""
MAX_LINE_LENGTH = 2_000
_CUT = re.compile(r"… \[\d+ chars\]\Z")
_HEADING = re.compile(
    r"#+ |```|\W{0,20}(?:error|exception|failed|failure|traceback \(most recent call last\))\W{0,20}\Z",
    re.IGNORECASE,
)
"""A heading or generic word, which is not specific to an error or a result."""


def assertions(result: Any, name: str) -> list[str]:
    """Return assertions on a result. `name` is the expression for the result.

    The whole result is asserted if it fits on a line and does not change between runs; otherwise, each value
    that does not change.
    """
    if result is None or is_summary(result):
        return []
    if isinstance(result, (bool, int, float)):
        # The log has the parsed value, but a handle returns the JSON text.
        return [f"assert json.loads({name}) {_equals(result)}"]
    found = list(leaves(result))
    if all(_stays(path, value) for path, value in found):
        whole = f"assert {name} {_equals(result)}"
        if _fits(whole):
            return [whole]
    lines = (line for path, value in found if _says_something(path) for line in _assertion(name, path, value))
    return [line for line, _ in zip(lines, range(MAX), strict=False)]


def _assertion(name: str, path: Path, value: Any) -> Iterator[str]:
    if not _stays(path, value):
        if isinstance(value, str) and not is_volatile_field(path, value, value):
            for piece in _pieces(value.split("\n"), MAX_PIECES):
                yield from _if_fits(f"assert {string(piece)} in {index_expression(name, path)}")
        return
    line = f"assert {index_expression(name, path)} {_equals(value)}"
    if _fits(line):
        yield line
    elif isinstance(value, str):
        yield from _if_fits(
            f"assert {index_expression(name, path)}.startswith({string(value[:MAX_PIECE_LENGTH])})"
        )


def _pieces(lines: Sequence[str], most: int) -> list[str]:
    """Return at most `most` pieces of the lines that do not change. Headings and short pieces are skipped."""
    found: list[str] = []
    for text in lines:
        line = _COLOUR.sub(CHANGES, text[:MAX_LINE_LENGTH])
        if _HEADING.match(line):
            continue
        for part in _REF.sub(CHANGES, normalize_text(line)).split(CHANGES):
            piece = part.strip()[:MAX_PIECE_LENGTH].strip()
            is_meaningful = (
                len(piece) >= MIN_PIECE_LENGTH and any(map(str.isalpha, piece)) and not _HEADING.match(piece)
            )
            if is_meaningful and piece not in found:
                found.append(piece)
            if len(found) == most:
                return found
    return found


def index_expression(name: str, path: Path) -> str:
    """Return the expression for the value at a path of a result."""
    return name + "".join(f"[{string(step) if isinstance(step, str) else step}]" for step in path)


def select_distinctive_parts(error: str) -> Sequence[str]:
    """Return the parts of an error's message that identify it: its code, or pieces that do not change.

    The first line is often the same for all errors of a server, so pieces of several lines are returned, the
    longest first.
    """
    if code := _CODE.search(error):
        return [code["quoted"] or code["said"]]
    plain = _COLOUR.sub(CHANGES, _CUT.sub("", error))
    lines = [_CHANGING.sub(CHANGES, normalize_text(line)) for line in plain.splitlines()]
    return sorted(_pieces(lines, MAX_FAILURE_PIECES), key=len, reverse=True)


def _stays(path: Path, value: Any) -> bool:
    if is_volatile_field(path, value, value):
        return False
    return not isinstance(value, str) or (
        "\n" not in value and CHANGES not in normalize_text(value) and not _REF.search(value)
    )


def _says_something(path: Path) -> bool:
    """Return whether a value is worth asserting. The success flag and observations of an action are not."""
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
