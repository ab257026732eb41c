"""Parse a sequence or a call log into calls. This module does no I/O.

Each line of a sequence is `{"name", "arguments"}`. In a log, lines with the `_phase` `before` are calls, and
lines with `after` have their results. Fields that begin with `_` are not part of the call. A file may contain
lines of both kinds.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, cast

from footlight.client.replay.json_paths import DEEPEST, is_deep
from footlight.protocol.errors import MCPError

__all__ = ["LoggedCall", "LoggedOutcome", "brief", "read_calls"]

logger = logging.getLogger(__name__)

MAX_EXCERPT_LENGTH = 80
MAX_CALL_LENGTH = 200
MAX_NAMED = 5
"""The maximum number of line numbers in a warning."""
BOM = b"\xef\xbb\xbf"
CALL_START = b'{"name":'
"""The first bytes of each line of a log."""


@dataclass(frozen=True, slots=True)
class LoggedOutcome:
    """The outcome of a call in a log. `result` and `locator` are None if they were not logged."""

    ok: bool
    result: Any = None
    error: str = ""
    locator: Any = None


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call, the number of its line, and its outcome if it was logged.

    `raw`: the line is from a log, and has all arguments, including the session's key. `redacted`: some of the
    arguments were removed when it was logged.
    """

    line: int
    name: str
    arguments: Mapping[str, Any]
    outcome: LoggedOutcome | None = None
    raw: bool = False
    redacted: bool = False


class _Line(NamedTuple):
    """A line of the file. `whole`: it ends with a line feed."""

    number: int
    data: bytes
    whole: bool


class _LineError(Exception):
    """An error in a line. `ours`: the call log wrote the line, so skipping it would lose a call."""

    def __init__(self, message: str, *, ours: bool = False) -> None:
        super().__init__(message)
        self.ours = ours


class _LogEntry(NamedTuple):
    """A valid line. `phase` is None for a line of a sequence."""

    phase: str | None
    seq: str
    call: LoggedCall


def read_calls(data: bytes, *, name: str) -> tuple[LoggedCall, ...]:
    """Return the calls of a file, in order. Errors name the file as `name`.

    Blank lines are skipped. In a captured console log, other programs may have written whole lines, or text
    in front of a log line. Foreign lines and an incomplete last line are skipped with a warning. A sequence
    may contain only calls.

    Raises:
        MCPError: a line belongs neither to a sequence nor to a log, or is a broken line of a log. The message
            names the line and the error.
    """
    lines = [(line, _read(line)) for line in _lines(data)]
    is_log = any(isinstance(read, _LogEntry) and read.phase is not None for _, read in lines)
    calls: list[LoggedCall] = []
    waiting: dict[tuple[object, str], list[int]] = {}
    foreign: list[_Line] = []
    for line, read in lines:
        if isinstance(read, _LineError):
            cut_off = line is lines[-1][0] and not line.whole and isinstance(read.__cause__, ValueError)
            if is_log and cut_off:
                logger.warning("%s, line %d: left out, as it was cut off: %s", name, line.number, read)
            elif is_log and not read.ours:
                foreign.append(line)
            else:
                _refuse(name, line, read)
            continue
        seq, call = read.seq, read.call
        if read.phase != "after":
            if read.phase:
                waiting.setdefault((seq, call.name), []).append(len(calls))
            calls.append(call)
        elif places := waiting.get((seq, call.name)):
            # One file may contain several runs, each numbered from 1.
            order = reversed(range(len(places)))
            matching = (each for each in order if calls[places[each]].arguments == call.arguments)
            at = places.pop(next(matching, -1))
            calls[at] = replace(calls[at], outcome=call.outcome, redacted=calls[at].redacted or call.redacted)
    if foreign:
        description = (
            f"line{'s' * (len(foreign) > 1)} {', '.join(str(line.number) for line in foreign[:MAX_NAMED])}"
        )
        more = f" and {len(foreign) - MAX_NAMED} more" if len(foreign) > MAX_NAMED else ""
        first = _excerpt(foreign[0].data.decode("utf-8", "replace"))
        logger.warning("%s, %s%s: left out, as the log did not write it: %s", name, description, more, first)
    return tuple(calls)


def brief(call: LoggedCall) -> str:
    """Return a short form of the call for a message."""
    return f"{_excerpt(call.name)} {_excerpt(_dumps(call.arguments), MAX_CALL_LENGTH)}"


def _lines(data: bytes) -> Iterator[_Line]:
    """Yield the lines that are not blank. Only a line feed ends a line: a JSON string may contain U+2028."""
    *whole, last = data.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(whole, 1):
        if line.strip():
            yield _Line(number, line.strip(), True)
    if last.strip():
        yield _Line(len(whole) + 1, last.strip(), False)


def _read(line: _Line) -> _LogEntry | _LineError:
    """Return the content of a line, or the error in it."""
    try:
        entry = _entry(line.data)
    except _LineError as error:
        # Another program may have written text without a line feed in front of the line.
        begins = line.data.find(CALL_START)
        try:
            entry = _entry(line.data[begins:]) if begins > 0 else None
        except _LineError:
            entry = None
        if entry is None or "_phase" not in entry:
            error.ours = begins >= 0 and not _is_of_others(line.data[begins:])
            return error
    try:
        phase, call = _call(line.number, entry)
    except _LineError as error:
        error.ours = "_phase" in entry and "name" in entry
        return error
    return _LogEntry(phase, repr(entry.get("_seq")), call)


def _is_of_others(line: bytes) -> bool:
    """Return whether an invalid line is JSON from another program, which has no `_phase`."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, dict) or "_phase" not in value


def _entry(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _LineError(f"it is not UTF-8, at byte {error.start + 1}") from error
    constants: list[str] = []

    def read_constant(constant: str) -> str:
        constants.append(constant)
        return constant

    try:
        value: Any = json.loads(text, parse_constant=read_constant)
    except json.JSONDecodeError as error:
        raise _LineError(f"it is not JSON: {error.msg}, at character {error.colno}") from error
    except ValueError as error:
        raise _LineError(f"it is not JSON: {error}") from error
    except RecursionError:
        raise _LineError(_TOO_DEEP) from None
    if not isinstance(value, dict):
        raise _LineError(f'it is {_kind(value)}, not an object with "name" and "arguments"')
    if is_deep(value):
        raise _LineError(_TOO_DEEP)
    entry = cast("dict[str, Any]", value)
    # Some programs write NaN into a result. Footlight's log has the server's text instead.
    if constants and entry.get("_phase") != "after":
        raise _LineError(f"it is not JSON: {constants[0]} is not a JSON number")
    return entry


_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"


def _call(line: int, entry: dict[str, Any]) -> tuple[str | None, LoggedCall]:
    """Return a call and its phase, which is None for a line of a sequence."""
    phase: Any = entry.get("_phase")
    if "_phase" in entry and phase not in ("before", "after"):
        raise _LineError(f'_phase is "before" or "after", not {_excerpt(_dumps(phase))}')
    if "name" not in entry:
        raise _LineError('"name" is missing')
    name, arguments = entry["name"], entry.get("arguments", {})
    # A log may have a call with an empty name, which the server refused.
    if not isinstance(name, str) or not (name or phase):
        raise _LineError(f'"name" is {_kind(name)}, not the name of a tool')
    if not isinstance(arguments, dict):
        raise _LineError(f'"arguments" is {_kind(arguments)}, not an object')
    for field in entry:
        if field not in ("name", "arguments") and not field.startswith("_"):
            raise _LineError(f'it has "{_excerpt(field)}"; a call has "name" and "arguments"')
    outcome = _outcome(entry) if phase == "after" else None
    redacted = entry.get("_redacted") is True
    return phase, LoggedCall(
        line, name, cast("dict[str, Any]", arguments), outcome, phase is not None, redacted
    )


def _outcome(entry: dict[str, Any]) -> LoggedOutcome:
    ok, error = entry.get("_ok"), entry.get("_error", "")
    if not isinstance(ok, bool):
        raise _LineError(f'"_ok" is {_kind(ok)}, not true or false')
    if not isinstance(error, str):
        raise _LineError(f'"_error" is {_kind(error)}, not a text')
    return LoggedOutcome(ok, entry.get("_result"), error, entry.get("_locator"))


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


def _excerpt(text: str, longest: int = MAX_EXCERPT_LENGTH) -> str:
    """Return the beginning of a text, with unprintable characters escaped."""
    excerpt = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in excerpt)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(name: str, line: _Line, error: _LineError) -> NoReturn:
    excerpt = _excerpt(line.data.decode("utf-8", "replace"))
    raise MCPError(f"{name}, line {line.number}: {error}: {excerpt}", reason="invalid") from None
