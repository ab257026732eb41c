"""The rights of watchers, and the interface for the requests of the watch page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from starlette.datastructures import Headers

from footlight.transports.network.access import AccessControl, Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.browser.recording.live_picture import LiveFrame

__all__ = [
    "PagePicture",
    "Visitor",
    "WatchBackend",
    "WatchRequestError",
    "WatchState",
    "WatchedItem",
    "find_oldest_of_most",
    "refuse_sender",
]


class WatchRequestError(Exception):
    """A request that failed, with an HTTP status and a message for the page."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)  # With both arguments, the error can be pickled.
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Visitor:
    """The sender of a request. It may see the sessions of `owner`, or all if None, or only `session_id`."""

    owner: str | None = None
    session_id: str | None = None

    def may_see(self, session_id: str | None, owner: str) -> bool:
        return self.owner in (None, owner) and self.session_id in (None, session_id)


@dataclass(frozen=True, slots=True)
class WatchedItem:
    """A session, an ended session or a call, in the form for the page, with its owner."""

    view: Mapping[str, Any]
    owner: str
    session_id: str | None
    person: str = ""
    """The watcher that controls the session, or ""."""

    def is_for(self, visitor: Visitor) -> bool:
        return visitor.may_see(self.session_id, self.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """The sessions, and the calls that have changed. `revision` is incremented by every change."""

    revision: int
    captures: int
    """The number of started captures, for tests and measurements."""
    sessions: Sequence[WatchedItem]
    ended: Sequence[WatchedItem]
    calls: Sequence[WatchedItem]


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A frame of a page with its number, or no frame if there is no newer one."""

    page: str
    number: int = 0
    frame: LiveFrame | None = None


class WatchBackend(Protocol):
    """Answers the requests of the watch page, for the sessions of this process or of a cluster.

    All methods except the first two raise `WatchRequestError` if the visitor may not see the session, or
    if the request fails.
    """

    def note_watcher(self, watcher: str) -> None:
        """Note that a watcher is present."""
        ...

    async def read_state(self, after: int, seconds: float) -> WatchState:
        """Return the state and the calls that have changed after a revision.

        Wait up to `seconds` for a change.
        """
        ...

    async def read_picture(
        self, session_id: str, page_id: str | None, after: int, visitor: Visitor
    ) -> PagePicture: ...

    async def read_still(self, call: str, visitor: Visitor) -> bytes:
        """Return the picture of the page after a call."""
        ...

    async def make_report(self, session_id: str, visitor: Visitor) -> str: ...

    async def find_trace(self, session_id: str | None, call: str | None, visitor: Visitor) -> Path:
        """Return the trace that a call has written, or the last one of a session."""
        ...

    async def take(self, session_id: str, watcher: str, visitor: Visitor) -> None: ...

    async def give_back(self, session_id: str, watcher: str, note: str, visitor: Visitor) -> None: ...

    async def act(self, session_id: str, watcher: str, events: Sequence[Any], visitor: Visitor) -> None: ...


def find_oldest_of_most(owners: Mapping[str, str]) -> str:
    """Return the first key of the owner with the most keys, so that nobody displaces the keys of others."""
    most = Counter(owners.values()).most_common(1)[0][0]
    return next(key for key, owner in owners.items() if owner == most)


def refuse_sender(access_control: AccessControl, headers: Headers) -> Refusal | None:
    """Refuse requests from pages of other sites, even on this machine. Return None to accept a request."""
    host, origin = headers.get("host", ""), headers.get("origin")
    is_foreign = origin is not None and origin.lower().partition("://")[2] != host.lower()
    if is_foreign or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return Refusal(403, "Pages of other sites may not watch this server.")
    return access_control.check_sender({"host": host})
