"""A worker as a server of the cluster knows it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker
from footlight.cluster.worker.call_channel import CallChannel

if TYPE_CHECKING:
    from footlight.cluster.ray_api import RemoteActor
    from footlight.cluster.worker import Load, WorkerStatus

__all__ = ["KnownWorker"]

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
CONNECT_SECONDS = 1.0
"""How long a worker may take to accept a connection for its calls. This is tried again each second."""


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

    async def ask_status(self, method: Callable[[Worker], Coroutine[Any, Any, WorkerStatus]]) -> None:
        """Ask for the status with a method of the worker, and note it, or that there is no answer."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                status = await self.actor.call(method)
        except (ActorLostError, TimeoutError) as error:
            was_answering, self.status = self.status is not None, None
            if was_answering:
                logger.warning("worker %s does not answer", self.name)
            if isinstance(error, ActorLostError):
                self.is_lost = True
                self.disconnect()
            self.is_silent = (self.is_silent or was_answering) and not self.is_lost
            return
        except Exception:
            self.is_silent = True
            logger.exception("worker %s cannot start", self.name)
            self.status = None
            return
        if status.failure and status.failure != self.failure:
            logger.error("worker %s on %s cannot start: %s", self.name, status.node, status.failure)
        if self.channel is not None and self.channel.process_id != status.process_id:
            self.disconnect()  # It leads to an earlier process.
        self.status, self.is_lost, self.is_silent = status, False, False
        self.note_load(status.load)

    def note_load(self, load: Load) -> None:
        self.load = load
        if load.sessions:
            self.empty_since = None
        elif self.empty_since is None:
            self.empty_since = time.monotonic()

    async def connect(self) -> None:
        """Connect to the process, if it has started and there is no open connection."""
        if self.status is None or self.failure or (self.channel is not None and self.channel.is_open):
            return
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                address = await self.actor.call(Worker.find_call_address)
                self.channel = None if address is None else await CallChannel.connect(address)
        except Exception:  # A firewall is between them, it has ended, or it is of another version.
            logger.debug("calls of worker %s go through Ray", self.name, exc_info=True)

    def disconnect(self) -> None:
        if self.channel is not None:
            self.channel.close()
            self.channel = None
