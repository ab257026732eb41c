"""Write the call log, which has two lines of JSON for each call and can be replayed.

```json
{"name":"echo","arguments":{"message":"hi"},"_phase":"before","_seq":3}
{"name":"echo","arguments":{"message":"hi"},"_phase":"after","_result":"hi","_ok":true,"_ms":2,"_seq":3}
```

The calls of a log are the lines whose `_phase` is `before`, without the fields that begin with `_`.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult, value_of

__all__ = ["Call", "CallLog", "Redact", "ResultSummary", "create_logger", "error_text", "summarize_result"]

logger = logging.getLogger(__name__)

THRESHOLD = 200
MAX_ERROR = 1_000

_NOT_IN_FILE_NAMES = re.compile(r"[^\w.-]")

_CONTROL_ESCAPES = {code: f"\\u{code:04x}" for code in range(128, 160)}
"""Escapes for control characters that terminals interpret and JSON does not escape."""

Entry = dict[str, Any]
Redact = Callable[[Entry], Entry]
"""Receives each line before it is written, with the whole result, and returns the line to write."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it is sent. The first argument is the session's key, if the tool takes one."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ResultSummary:
    """A result for the log. `whole` is the text for a file beside the log.

    A `large` result is never written to the log itself.
    """

    value: Any
    whole: str
    kind: str = "text"
    large: bool = False


@dataclass(eq=False)
class CallLog:
    """A log that `create_logger` creates. Tasks and threads may share it, because lines are never mixed."""

    console: TextIO | bool = True
    file: Path | None = None
    directory: Path = Path(".mcp-log")
    sidecar: bool = False
    threshold: int = THRESHOLD
    redact: Redact | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _descriptor: int | None = field(default=None, init=False)
    _copy: int = field(default=1, init=False)
    """The suffix of result files. It is increased when a file with the same name exists."""

    def next_seq(self) -> int:
        """Return the number of the next call. Numbers start at 1."""
        return next(self._numbers)

    def before(self, call: Call, seq: int) -> None:
        """Log a call before it is sent.

        Raises:
            MCPError: the arguments cannot be written as JSON, or the file cannot be written to.
            Exception: any error of `redact` or of the console.
        """
        self._write(self._redact({**_call_entry(call), "_phase": "before", "_seq": seq}))

    def after_success(self, call: Call, result: ToolResult, ms: float, seq: int) -> None:
        """Log the result of a call. Errors are only logged, so that the caller still gets the result."""
        with _log_failures(call):
            summary = summarize_result(result)
            entry: Entry = {**_call_entry(call), "_phase": "after"}
            if summary is not None:
                entry["_result"] = summary.value
            entry |= {**_locator_entry(result), "_ok": True, "_ms": max(0, round(ms)), "_seq": seq}
            entry = self._redact(entry)
            if summary is not None and "_result" in entry:
                self._replace_large_result(entry, summary, call, seq)
            self._write(entry)

    def after_failure(self, call: Call, error: BaseException, ms: float, seq: int) -> None:
        """Log the failure of a call. Errors while logging are not raised."""
        with _log_failures(call):
            end = {"_ok": False, "_ms": max(0, round(ms)), "_error": error_text(error), "_seq": seq}
            self._write(self._redact({**_call_entry(call), "_phase": "after", **end}))

    def close(self) -> None:
        """Close the file. A later line opens it again."""
        with self._lock:
            self._close_file()

    def _close_file(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _redact(self, entry: Entry) -> Entry:
        if self.redact is None:
            return entry
        # Pass a copy, so that the callback cannot change the call itself.
        returned = cast("object", self.redact(json.loads(_dumps(entry))))
        if not isinstance(returned, dict):
            raise MCPError("redact: must return the line", reason="invalid")
        # Without its phase, the line would be replayed as another call.
        written = cast("Entry", returned) | {"_phase": entry["_phase"], "_seq": entry["_seq"]}
        if written.get("arguments") != json.loads(_dumps(entry["arguments"])):
            written["_redacted"] = True
        *order, last = entry
        return {key: written[key] for key in (*order, "_redacted", last) if key in written} | written

    def _replace_large_result(self, entry: Entry, summary: ResultSummary, call: Call, seq: int) -> None:
        """Replace a large result by its size. With `sidecar`, write it to a file beside the log."""
        value = entry["_result"]
        if not summary.large and len(_dumps(value)) < self.threshold:
            return
        # With `redact`, only text that the callback has returned may be written.
        whole = summary.whole if self.redact is None else value if isinstance(value, str) else _dumps(value)
        size = f"{summary.kind} {len(whole)} chars"
        entry["_result"] = f"[{size}]"
        if self.sidecar:
            name = f"{seq}-{_NOT_IN_FILE_NAMES.sub('_', call.name)}"
            try:
                path = self._write_result(name, whole)
            except OSError as error:
                place = self.directory / name
                logger.warning(
                    "the result of %s could not be written to %s: %s", call.name, place, error.strerror
                )
            else:
                entry["_result"] = f"[{size} → {path.as_posix()}]"

    def _write_result(self, name: str, text: str) -> Path:
        """Write a result to a new file and return its path. Existing files belong to another log."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._lock:
            while True:
                path = self.directory / f"{name}{f'-{self._copy}' if self._copy > 1 else ''}.txt"
                if _write_new(path, text):
                    return path
                self._copy += 1

    def _write(self, entry: Entry) -> None:
        line = _dumps(entry).translate(_CONTROL_ESCAPES) + "\n"
        with self._lock:
            stream = sys.stdout if self.console is True else self.console
            if stream:
                _print(stream, line)
            if self.file is not None:
                self._append(self.file, line.encode("utf-8", "backslashreplace"))

    def _append(self, file: Path, line: bytes) -> None:
        """Append a line with one write, because other processes may append to the same file."""
        try:
            if self._descriptor is None:
                self._descriptor = _open_file(file)
            if os.write(self._descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._close_file()
            raise MCPError(
                f"The call log {file} cannot be written: {error.strerror}", reason="invalid"
            ) from None


def create_logger(
    *,
    console: TextIO | bool = True,
    file: str | os.PathLike[str] | None = None,
    directory: str | os.PathLike[str] = ".mcp-log",
    sidecar: bool = False,
    threshold: int = THRESHOLD,
    redact: Redact | None = None,
) -> CallLog:
    """Create a log that is written to the console, to a file, to both, or to neither.

    `console` is True for standard output, or a stream. A result of `threshold` or more characters of JSON is
    replaced by its size. With `sidecar`, it is also written to a file in `directory`, `<seq>-<tool>.txt`, or
    `<seq>-<tool>-2.txt` if that exists. `redact` receives each line before it is written. A line whose
    arguments it changes is marked `_redacted`. It can be replayed only if the arguments are supplied again.
    """
    return CallLog(
        console=console,
        file=None if file is None else Path(file),
        directory=Path(directory),
        sidecar=sidecar,
        threshold=threshold,
        redact=redact,
    )


@contextlib.contextmanager
def _log_failures(call: Call) -> Generator[None]:
    try:
        yield
    except Exception:
        logger.exception("the end of the call of %s could not be logged", call.name)


def _call_entry(call: Call) -> Entry:
    return {"name": call.name, "arguments": call.arguments}


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(f"arguments: cannot be written as JSON: {error}", reason="invalid") from None


def _print(stream: TextIO, line: str) -> None:
    try:
        stream.write(line)
    except UnicodeEncodeError:  # The console's encoding lacks a character.
        stream.write(json.dumps(json.loads(line), separators=(",", ":")) + "\n")
    stream.flush()


def summarize_result(result: ToolResult) -> ResultSummary | None:
    """Return a result in the form for the log, or None if it is empty."""
    other = [part for part in result.content if part.type != "text"]
    if other:
        parts = [part.raw for part in result.content]
        kinds = {part.type for part in other}
        return ResultSummary(parts, _dumps(parts), kinds.pop() if len(kinds) == 1 else "content", large=True)
    value = value_of(result)
    if value == "":
        return None
    if isinstance(value, str):
        value = _json_or_text(value)
    try:
        written = _dumps(value)
    except MCPError:  # A number that JSON does not have, such as 1e999.
        value = written = result.text or str(value)
    return ResultSummary(value, result.text or written)


def _json_or_text(text: str) -> Any:
    """Return the value of a JSON text, or else the text. The text `42` is logged as a number."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _locator_entry(result: ToolResult) -> Entry:
    """Return the entry for the locator that the server used, which exported tests use, if it is known."""
    locator = result.meta.get("footlight/locator")
    return {} if locator is None else {"_locator": locator}


def error_text(error: BaseException) -> str:
    """Return the text of an error for the log, shortened to `MAX_ERROR` characters."""
    text = str(error) or type(error).__name__
    return text if len(text) <= MAX_ERROR else f"{text[:MAX_ERROR]}… [{len(text)} chars]"


def _open_file(file: Path) -> int:
    """Open the file for appending.

    Only its owner may read it, because it contains the text that was typed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        if size := os.fstat(descriptor).st_size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            # If the file has grown, another process is writing a line, which is not complete yet.
            if os.read(descriptor, 1) != b"\n" and os.fstat(descriptor).st_size == size:
                os.write(descriptor, b"\n")  # End an incomplete line of a writer that was stopped.
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _write_new(path: Path, text: str) -> bool:
    """Write a new file, and remove it if that fails. Return False if the file exists already."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    return True
