"""A sequence or a call log becomes calls: pure, no I/O (R000-67, R000-79).

A line of a sequence is `{"name", "arguments"}`. Of a log, the lines whose `_phase` is `before` are the calls,
and those with `after` say what came of them; every field that begins with `_` is left out of the call. Both
kinds of lines may stand in one file.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, cast

from footlight.client.errors import MCPError
from footlight.client.replay.leaves import DEEPEST, is_deep

__all__ = ["LoggedCall", "Outcome", "brief", "read_calls"]

logger = logging.getLogger(__name__)

LONGEST_EXCERPT = 80
LONGEST_CALL = 200
BOM = b"\xef\xbb\xbf"

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a log says of a call. `result` and `locator` are None where it says nothing of them."""

    ok: bool
    result: Any = None
    error: str = ""
    locator: Any = None


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call, the number of its line, and what came of it, where the file says so.

    `raw`: it was written by a log, with the session's key and all. `redacted`: not with the arguments it had.
    """

    line: int
    name: str
    arguments: Mapping[str, Any]
    outcome: Outcome | None = None
    raw: bool = False
    redacted: bool = False


class _Line(NamedTuple):
    """`whole`: it has its end."""

    number: int
    data: bytes
    whole: bool


class _Bad(Exception):
    """What is wrong with a line."""


def read_calls(data: bytes, *, name: str) -> tuple[LoggedCall, ...]:
    """The calls of a file, in order. `name` is what errors call it.

    Blank lines do not count. The last line of a log that has no end and is no JSON was cut off with its
    writer; it is left out with a warning.

    Raises:
        MCPError: a line is neither of a sequence nor of a log; says which, and what is wrong with it.
    """
    calls: list[LoggedCall] = []
    waiting: dict[tuple[object, str], list[int]] = {}
    is_log = False
    for line in _lines(data):
        try:
            entry = _entry(line.data)
        except _Bad as error:
            if is_log and not line.whole and isinstance(error.__cause__, ValueError):
                logger.warning("%s, line %d: left out, as it was cut off: %s", name, line.number, error)
                break
            _refuse(name, line, error)
        try:
            phase, call = _call(line.number, entry)
        except _Bad as error:
            _refuse(name, line, error)
        is_log = is_log or phase is not None
        seq = repr(entry.get("_seq")), call.name
        if phase != "after":
            if phase:
                waiting.setdefault(seq, []).append(len(calls))
            calls.append(call)
        elif places := waiting.get(seq):
            # Several runs may stand in one file, each counted from 1.
            order = reversed(range(len(places)))
            alike = (each for each in order if calls[places[each]].arguments == call.arguments)
            at = places.pop(next(alike, -1))
            calls[at] = replace(calls[at], outcome=call.outcome, redacted=calls[at].redacted or call.redacted)
    return tuple(calls)


def brief(call: LoggedCall) -> str:
    """The call in a few words, for a message."""
    return f"{_excerpt(call.name)} {_excerpt(_dumps(call.arguments), LONGEST_CALL)}"


def _lines(data: bytes) -> Iterator[_Line]:
    """Ended by a line feed, and by nothing else: JSON may have U+2028 and its like in a string."""
    *whole, last = data.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(whole, 1):
        if line.strip():
            yield _Line(number, line.strip(), True)
    if last.strip():
        yield _Line(len(whole) + 1, last.strip(), False)


def _entry(line: bytes) -> Entry:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Bad(f"it is not UTF-8, at byte {error.start + 1}") from error
    try:
        value: Any = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _Bad(f"it is not JSON: {error.msg}, at character {error.colno}") from error
    except ValueError as error:
        raise _Bad(f"it is not JSON: {error}") from error
    except RecursionError:
        raise _Bad(_TOO_DEEP) from None
    if not isinstance(value, dict):
        raise _Bad(f'it is {_kind(value)}, not an object with "name" and "arguments"')
    if is_deep(value):
        raise _Bad(_TOO_DEEP)
    return cast("Entry", value)


_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _call(line: int, entry: Entry) -> tuple[str | None, LoggedCall]:
    """With its phase, which a line of a sequence has not."""
    phase: Any = entry.get("_phase")
    if "_phase" in entry and phase not in ("before", "after"):
        raise _Bad(f'_phase is "before" or "after", not {_excerpt(_dumps(phase))}')
    if "name" not in entry:
        raise _Bad('"name" is missing')
    name, arguments = entry["name"], entry.get("arguments", {})
    if not isinstance(name, str) or not name:
        raise _Bad(f'"name" is {_kind(name)}, not the name of a tool')
    if not isinstance(arguments, dict):
        raise _Bad(f'"arguments" is {_kind(arguments)}, not an object')
    for field in entry:
        if field not in ("name", "arguments") and not field.startswith("_"):
            raise _Bad(f'it has "{_excerpt(field)}"; a call has "name" and "arguments"')
    outcome = _outcome(entry) if phase == "after" else None
    redacted = entry.get("_redacted") is True
    return phase, LoggedCall(line, name, cast("Entry", arguments), outcome, phase is not None, redacted)


def _outcome(entry: Entry) -> Outcome:
    ok, error = entry.get("_ok"), entry.get("_error", "")
    if not isinstance(ok, bool):
        raise _Bad(f'"_ok" is {_kind(ok)}, not true or false')
    if not isinstance(error, str):
        raise _Bad(f'"_error" is {_kind(error)}, not a text')
    return Outcome(ok, entry.get("_result"), error, entry.get("_locator"))


def _kind(value: Any) -> str:
    match value:
        case None:
            return "missing or null"
        case bool():
            return str(value).lower()
        case int() | float():
            return "a number"
        case str():
            return "a text" if value else "an empty text"
        case list():
            return "an array"
        case _:
            return "an object"


def _excerpt(text: str, longest: int = LONGEST_EXCERPT) -> str:
    """Short, and without what a terminal would obey."""
    shown = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in shown)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(name: str, line: _Line, error: _Bad) -> NoReturn:
    excerpt = _excerpt(line.data.decode("utf-8", "replace"))
    raise MCPError(f"{name}, line {line.number}: {error}: {excerpt}", reason="invalid") from None
