"""The call log: two lines of JSON a call, which can be pasted to a model or replayed (R000-60 to R000-75).

```json
{"name":"echo","arguments":{"message":"hi"},"_phase":"before","_seq":3}
{"name":"echo","arguments":{"message":"hi"},"_phase":"after","_result":"hi","_ok":true,"_ms":2,"_seq":3}
```

To replay a log, keep the lines whose `_phase` is `before`, and leave out every field that begins with `_`.
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

from footlight.client.errors import MCPError
from footlight.client.results import ToolResult
from footlight.client.value import value_of

__all__ = ["Call", "CallLog", "Kept", "Redact", "create_logger", "kept_of", "message_of"]

logger = logging.getLogger(__name__)

THRESHOLD = 200
LONGEST_ERROR = 1_000

_UNFIT_FOR_A_FILE = re.compile(r"[^\w.-]")

_STEERING = {code: f"\\u{code:04x}" for code in range(128, 160)}
"""What a terminal may obey, and JSON need not escape."""

Entry = dict[str, Any]
Redact = Callable[[Entry], Entry]
"""Gets a line before it is written, its result whole, and gives back what may be written."""


@dataclass(frozen=True, slots=True)
class Call:
    """What went over the wire: the arguments with the session's key, which comes first."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A result, and what a file of its own would hold. A large one is never in the line."""

    shown: Any
    whole: str
    kind: str = "text"
    large: bool = False


@dataclass(eq=False)
class CallLog:
    """Made by `create_logger`. May be used by several tasks and threads; a line is written whole."""

    console: TextIO | bool = True
    file: Path | None = None
    directory: Path = Path(".mcp-log")
    sidecar: bool = False
    threshold: int = THRESHOLD
    redact: Redact | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1), init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _descriptor: int | None = field(default=None, init=False)

    def next_seq(self) -> int:
        """The number of the next call, from 1: taken when it is made, so that no two share it (R000-43)."""
        return next(self._numbers)

    def before(self, call: Call, seq: int) -> None:
        """Say what is about to be called.

        Raises:
            MCPError: the arguments cannot be written as JSON, or the file cannot be written to.
            Exception: what `redact` or the console raised.
        """
        self._write(self._redacted({**_head(call), "_phase": "before", "_seq": seq}))

    def after_success(self, call: Call, result: ToolResult, ms: float, seq: int) -> None:
        """What came of it. A line that cannot be written is a warning: the result counts more."""
        with _whatever_becomes_of_the_log(call):
            kept = kept_of(result)
            entry: Entry = {**_head(call), "_phase": "after"}
            if kept is not None:
                entry["_result"] = kept.shown
            entry |= {**_made(result), "_ok": True, "_ms": max(0, round(ms)), "_seq": seq}
            entry = self._redacted(entry)
            if kept is not None and "_result" in entry:
                self._shorten(entry, kept, call, seq)
            self._write(entry)

    def after_failure(self, call: Call, error: BaseException, ms: float, seq: int) -> None:
        """Why nothing came of it."""
        with _whatever_becomes_of_the_log(call):
            ended = {"_ok": False, "_ms": max(0, round(ms)), "_error": message_of(error), "_seq": seq}
            self._write(self._redacted({**_head(call), "_phase": "after", **ended}))

    def close(self) -> None:
        """Let the file go. A later line opens it again."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _redacted(self, entry: Entry) -> Entry:
        if self.redact is None:
            return entry
        # A copy: what the callback does to it must not reach the call itself.
        given = cast("object", self.redact(json.loads(_dumps(entry))))
        if not isinstance(given, dict):
            raise MCPError("redact: must give the line back", reason="invalid")
        # Without the phase, the end of a call would be replayed as another one.
        written = cast("Entry", given) | {"_phase": entry["_phase"], "_seq": entry["_seq"]}
        if written.get("arguments") != json.loads(_dumps(entry["arguments"])):
            written["_redacted"] = True
        *order, last = entry
        return {key: written[key] for key in (*order, "_redacted", last) if key in written} | written

    def _shorten(self, entry: Entry, kept: Kept, call: Call, seq: int) -> None:
        """A large result is told by its size, and may be put beside the log (R000-68 to R000-72)."""
        shown = entry["_result"]
        if not kept.large and len(_dumps(shown)) < self.threshold:
            return
        # What a callback let pass, and nothing that it did not see.
        whole = kept.whole if self.redact is None else shown if isinstance(shown, str) else _dumps(shown)
        size = f"{kept.kind} {len(whole)} chars"
        entry["_result"] = f"[{size}]"
        if self.sidecar:
            path = self.directory / f"{seq}-{_UNFIT_FOR_A_FILE.sub('_', call.name)}.txt"
            try:
                _write_beside(path, whole)
            except OSError as error:
                logger.warning(
                    "the result of %s could not be written to %s: %s", call.name, path, error.strerror
                )
            else:
                entry["_result"] = f"[{size} → {path.as_posix()}]"

    def _write(self, entry: Entry) -> None:
        line = _dumps(entry).translate(_STEERING) + "\n"
        with self._lock:
            stream = sys.stdout if self.console is True else self.console
            if stream:
                _print(stream, line)
            if self.file is not None:
                self._append(self.file, line.encode("utf-8", "backslashreplace"))

    def _append(self, file: Path, line: bytes) -> None:
        """In one write: a crash leaves a whole line or none, and other processes may write here too."""
        try:
            if self._descriptor is None:
                self._descriptor = _opened(file)
            if os.write(self._descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._let_go()
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
    """A log on the console (standard output, or the stream that is given), in a file, in both, or nowhere.

    A result of `threshold` characters of JSON or more is told by its size; with `sidecar` it is written whole
    to `directory`, as `<seq>-<tool>.txt`. `redact` gets each line before it is written: a line whose
    arguments it changes is marked `_redacted`, and is replayed only if they are given anew. The
    numbers of each log begin at 1: without a directory of its own, its results replace those of another.
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
def _whatever_becomes_of_the_log(call: Call) -> Generator[None]:
    try:
        yield
    except Exception:
        logger.exception("the end of the call of %s could not be logged", call.name)


def _head(call: Call) -> Entry:
    return {"name": call.name, "arguments": call.arguments}


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(f"arguments: cannot be written as JSON: {error}", reason="invalid") from None


def _print(stream: TextIO, line: str) -> None:
    try:
        stream.write(line)
    except UnicodeEncodeError:  # A console that has no such characters.
        stream.write(json.dumps(json.loads(line), separators=(",", ":")) + "\n")
    stream.flush()


def kept_of(result: ToolResult) -> Kept | None:
    """None where there is nothing to tell."""
    other = [part for part in result.content if part.type != "text"]
    if other:
        parts = [part.raw for part in result.content]
        kinds = {part.type for part in other}
        return Kept(parts, _dumps(parts), kinds.pop() if len(kinds) == 1 else "content", large=True)
    value = value_of(result)
    if value == "":
        return None
    try:
        written = _dumps(value)
    except MCPError:  # A number that only Python can read, as 1e999.
        value = written = result.text or str(value)
    return Kept(value, result.text or written)


def _made(result: ToolResult) -> Entry:
    """What was really used to find an element, where the server says so: an exported test uses that."""
    locator = result.meta.get("footlight/locator")
    return {} if locator is None else {"_locator": locator}


def message_of(error: BaseException) -> str:
    """As `_error` has it."""
    told = str(error) or type(error).__name__
    return told if len(told) <= LONGEST_ERROR else f"{told[:LONGEST_ERROR]}… [{len(told)} chars]"


def _opened(file: Path) -> int:
    """For its owner alone: what is typed stands in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        if size := os.fstat(descriptor).st_size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            # Unless it is being written now: then the file has grown, and its line ends by itself.
            if os.read(descriptor, 1) != b"\n" and os.fstat(descriptor).st_size == size:
                os.write(descriptor, b"\n")  # A writer ended within a line.
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _write_beside(path: Path, text: str) -> None:
    """Whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
        unfinished.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
