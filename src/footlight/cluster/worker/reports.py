"""What a worker tells the servers. Ray sends these values between machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.server.answers.answer import Answer
    from footlight.watch.watchers import WatchState

__all__ = ["WORKER", "Heard", "Load", "Progress", "WatchedWorker", "WorkerReply", "WorkerStatus"]

WORKER = "worker-"
"""The names of worker actors begin so. The rest is the worker's name."""
Progress = tuple[float, float | None, str | None]
Heard = dict[str, float]
"""Watchers, with the seconds since they were heard of."""


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
