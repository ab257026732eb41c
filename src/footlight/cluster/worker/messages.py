"""The values that servers and workers exchange. Ray sends them between machines."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer
    from footlight.watch.watchers import WatchState

__all__ = [
    "Heard",
    "HelpInvitation",
    "HelpMessage",
    "HelpQuestion",
    "HelpStep",
    "HelpTerms",
    "Load",
    "Progress",
    "RemoteCall",
    "WatchedWorker",
    "WorkerRefusal",
    "WorkerReply",
    "WorkerStatus",
]

Progress = tuple[float, float | None, str | None]
Heard = dict[str, float]
"""Watchers, with the seconds since they were heard of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCall:
    """A call that a server sends to a worker."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    caller: Caller
    files: str | None = None
    """The URL below which the server serves large files."""
    may_ask: bool = False
    """Whether the server can ask the person behind the client."""
    has_progress: bool = False
    """Whether the client asked for progress."""

    def pack(self) -> bytes:
        """Return it as bytes, which cost Ray less to send than objects."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)

    @staticmethod
    def unpack(packed: bytes) -> RemoteCall:
        return pickle.loads(packed)


@dataclass(frozen=True, slots=True)
class Load:
    """The number of sessions that a worker has, and its maximum. A draining worker gets no more."""

    sessions: int
    max_sessions: int
    is_draining: bool


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The answer of a call, and the worker's load after it."""

    answer: Answer | None
    """None if this worker is draining and the session is not open here. Another worker must run the call."""
    load: Load

    def pack(self) -> bytes:
        """Return it as bytes, as a call."""
        return pickle.dumps(self, pickle.HIGHEST_PROTOCOL)

    @staticmethod
    def unpack(packed: bytes) -> WorkerReply:
        return pickle.loads(packed)


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The state of a worker, as it reports it. `build` identifies its version, its tools and its settings."""

    build: str
    node: str
    """The name of its machine."""
    node_id: str
    """The id that Ray gave the node."""
    process_id: int
    load: Load
    secret_names: tuple[str, ...] | None
    failure: str | None = None
    """Why it cannot start its browsers. Then it has no `build`, and tries again whenever it is asked."""


@dataclass(frozen=True, slots=True)
class WatchedWorker:
    """What people may see of a worker's sessions. `origin` names the process, and its revisions and calls."""

    origin: str
    state: WatchState


@dataclass(frozen=True, slots=True)
class WorkerRefusal:
    """Why a worker refuses a request for a resource or of a watcher, with an HTTP status.

    It is a value, because a pickled exception depends on the constructor of its class in another build.
    """

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class HelpInvitation:
    """A tool invites the person behind the client. `HelpTerms` are the reply."""

    session_id: str
    hand_backs: int
    seconds: float
    """How long the call waits."""


@dataclass(frozen=True, slots=True)
class HelpTerms:
    """The terms of an invitation, which may have been made for an earlier call."""

    hand_backs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class HelpQuestion:
    """A tool asks the person. The reply is that of the person, or a step where the client must call again."""

    reason: str


HelpStep = Literal["withdrawn", "complete", "input required"]
"""A question is withdrawn, the help is complete, or the client must ask its person and call again."""
HelpMessage = HelpInvitation | HelpQuestion | HelpStep
