"""Server-sent events: the bytes of a stream in, its events out. No I/O.

It keeps to the rules of the HTML standard (R001-10 to 12), but for the last event of a stream: it counts
without the blank line that should follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from footlight.client.errors import MCPError

__all__ = ["MAX_EVENT_SIZE", "ServerSentEvent", "SseDecoder"]

MAX_EVENT_SIZE = 64 << 20

_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: str
    event: str = "message"
    id: str | None = None
    """Its own. One without goes under the last before it."""


class SseDecoder:
    """The chunks may be cut anywhere, also inside a character or between CR and LF.

    `last_event_id` is where to resume, `retry_ms` how long the server wants us to wait before that.
    """

    def __init__(self, *, last_event_id: str | None = None, max_event_size: int = MAX_EVENT_SIZE) -> None:
        self.last_event_id = last_event_id
        self.retry_ms: int | None = None
        self._max_event_size = max_event_size
        self._at_start = True
        self._after_cr = False
        self._unfinished: list[bytes] = []
        self._unfinished_size = 0
        self._begin_event()

    def _begin_event(self) -> None:
        self._data: list[bytes] = []
        self._name = b""
        self._id: str | None = None
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that are complete with this chunk.

        Raises:
            MCPError: an event is too large.
        """
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\n" not in chunk and b"\r" not in chunk:
            self._hold(chunk)
            return []
        lines = b"".join((*self._unfinished, chunk)).splitlines()
        self._release()
        if not chunk.endswith((b"\n", b"\r")):
            self._hold(lines.pop())
        return self._events_of(lines)

    def end(self) -> list[ServerSentEvent]:
        """The last event, where the stream ended without a blank line after it."""
        line = b"".join(self._unfinished)
        self._release()
        return self._events_of([line, b""] if line else [b""])

    def _hold(self, part: bytes) -> None:
        """The line goes on in the next chunk. Joined once, at its end, a long one costs no more."""
        self._unfinished.append(part)
        self._unfinished_size += len(part)
        self._check_size()

    def _release(self) -> None:
        self._unfinished.clear()
        self._unfinished_size = 0

    def _events_of(self, lines: list[bytes]) -> list[ServerSentEvent]:
        return [event for line in lines if (event := self._event_after(line)) is not None]

    def _event_after(self, line: bytes) -> ServerSentEvent | None:
        """The event that this line completes."""
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._complete()
        if not line.startswith(b":"):
            self._size += len(line)
            self._check_size()
            self._take_field(line)
        return None

    def _take_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry_ms = int(value)

    def _complete(self) -> ServerSentEvent | None:
        data, name, identifier = self._data, self._name, self._id
        self._begin_event()
        if identifier is not None:
            self.last_event_id = identifier or None
        if not data:
            return None
        return ServerSentEvent(
            data=b"\n".join(data).decode(errors="replace"),
            event=name.decode(errors="replace") or "message",
            id=identifier or None,
        )

    def _check_size(self) -> None:
        if self._size + self._unfinished_size > self._max_event_size:
            raise MCPError(
                f"The server sent an event of more than {self._max_event_size} bytes", reason="protocol"
            )
