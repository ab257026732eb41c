"""Decode server-sent events from the bytes of a stream. No I/O is done.

As in the HTML standard, a blank line ends an event, and its id takes effect then. As an exception, the last
event of a stream is also returned without a blank line, but its id has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from footlight.protocol.errors import MCPError

__all__ = ["MAX_EVENT_SIZE", "MAX_ID_SIZE", "ServerSentEvent", "SseDecoder"]

MAX_EVENT_SIZE = 64 << 20
MAX_ID_SIZE = 1_000
"""The maximum size of an id in bytes. A longer id is ignored, because a reader stores many ids."""

_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: str
    event: str = "message"
    id: str | None = None
    """The id in the event itself. The id of an earlier event is not inherited."""


class SseDecoder:
    """Decodes chunks, which may be split anywhere, even within a character or between CR and LF.

    `last_event_id` is the id to resume from, that of the last complete event with an id. `retry_ms` is the
    pause before a new connection that the server has requested.
    """

    def __init__(self, *, last_event_id: str | None = None, max_event_size: int = MAX_EVENT_SIZE) -> None:
        self.last_event_id = last_event_id
        self.retry_ms: int | None = None
        self._max_event_size = max_event_size
        self._at_start = True
        self._after_cr = False
        self._partial_line: list[bytes] = []
        self._partial_size = 0
        self._reset_event()

    def _reset_event(self) -> None:
        self._data: list[bytes] = []
        self._name = b""
        self._id: str | None = None
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that this chunk completes.

        Raises:
            MCPError: an event has more than `max_event_size` bytes.
        """
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\n" not in chunk and b"\r" not in chunk:
            self._buffer(chunk)
            return []
        lines = b"".join((*self._partial_line, chunk)).splitlines()
        self._clear_buffer()
        if not chunk.endswith((b"\n", b"\r")):
            self._buffer(lines.pop())
        return self._parse_lines(lines)

    def end(self) -> list[ServerSentEvent]:
        """Return the last event, if no blank line ended it.

        The event may be incomplete, so `last_event_id` and `retry_ms` do not change.
        """
        line = b"".join(self._partial_line)
        self._clear_buffer()
        if line.startswith((b"data", _BOM)):
            self._parse_line(line)
        last = self._build_event()
        self._reset_event()
        return [] if last is None else [last]

    def _buffer(self, part: bytes) -> None:
        """Store a part of a line.

        The parts are joined only at the end of the line, which takes linear time.
        """
        self._partial_line.append(part)
        self._partial_size += len(part)
        self._check_size()

    def _clear_buffer(self) -> None:
        self._partial_line.clear()
        self._partial_size = 0

    def _parse_lines(self, lines: list[bytes]) -> list[ServerSentEvent]:
        return [event for line in lines if (event := self._parse_line(line)) is not None]

    def _parse_line(self, line: bytes) -> ServerSentEvent | None:
        """Parse a line. Return the event that it completes, or None."""
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._finish_event()
        if not line.startswith(b":"):
            self._size += len(line)
            self._check_size()
            self._parse_field(line)
        return None

    def _parse_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif name == b"id" and len(value) <= MAX_ID_SIZE and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry_ms = int(value)

    def _finish_event(self) -> ServerSentEvent | None:
        event = self._build_event()
        if self._id is not None:
            self.last_event_id = self._id or None
        self._reset_event()
        return event

    def _build_event(self) -> ServerSentEvent | None:
        """Return the event since the last blank line, or None if it has no data."""
        if not self._data:
            return None
        return ServerSentEvent(
            data=b"\n".join(self._data).decode(errors="replace"),
            event=self._name.decode(errors="replace") or "message",
            id=self._id or None,
        )

    def _check_size(self) -> None:
        if self._size + self._partial_size > self._max_event_size:
            raise MCPError(
                f"The server sent an event of more than {self._max_event_size} bytes", reason="protocol"
            )
