"""A worker as a server of the cluster knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.cluster.ray_api import RemoteActor
    from footlight.cluster.worker import Load, WorkerStatus
    from footlight.cluster.worker.call_channel import CallChannel

__all__ = ["KnownWorker"]


@dataclass(eq=False, slots=True)
class KnownWorker:
    """A worker actor, and what it last reported. `reserved` sessions are being created."""

    name: str
    actor: RemoteActor
    status: WorkerStatus | None = None
    """None as long as it does not answer."""
    load: Load | None = None
    channel: CallChannel | None = None
    """The connection to its process. While there is none, its calls go through Ray."""
    reserved: int = 0
    is_lost: bool = False
    """Whether its process has ended. Ray may start it again."""
    is_silent: bool = False
    """Whether its process cannot be reached, although nothing says that it has ended."""
    empty_since: float | None = None
    """Since when it has had no session, in seconds of the monotonic clock."""

    @property
    def process_id(self) -> int | None:
        return self.status.process_id if self.status else None

    @property
    def failure(self) -> str | None:
        """Return why it cannot start its browsers."""
        return self.status.failure if self.status else None

    @property
    def is_draining(self) -> bool:
        return self.load is not None and self.load.is_draining

    @property
    def has_left(self) -> bool:
        """Return whether it is draining and empty: a call that does not reach it has no session there."""
        return self.load is not None and self.load.is_draining and self.load.sessions == 0

    @property
    def is_starting(self) -> bool:
        return self.status is None and not self.is_silent

    @property
    def takes_sessions(self) -> bool:
        return self.load is not None and not self.is_draining and not self.is_lost and not self.failure

    @property
    def has_room(self) -> bool:
        return self.takes_sessions and self.load is not None and self.used < self.load.max_sessions

    @property
    def used(self) -> int:
        return (self.load.sessions if self.load else 0) + self.reserved
