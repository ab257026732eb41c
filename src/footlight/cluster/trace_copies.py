"""Copy traces from workers, so that the watch page can open them."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections import deque
from pathlib import Path

from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker
from footlight.watch.watchers import WatchRequestError

__all__ = ["TraceCopies"]

MAX_TRACES = 50
MAX_TRACE_BYTES = 1 << 30
COPY_SECONDS = 120.0
"""How long the copy of a trace may take."""
PART_BYTES = 1 << 20


class TraceCopies:
    """The latest traces that were copied, in a temporary folder, which is created when it is needed."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._copies: deque[Path] = deque()

    async def add(self, worker: KnownWorker, trace: Path) -> Path:
        """Copy a trace of a worker, and return the copy. The latest `MAX_TRACES` are kept.

        Raises:
            WatchRequestError: the trace no longer exists, is too large, or is not sent in time.
        """
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="footlight-traces-"))
        copy = await _copy(worker, trace, self._folder)
        self._copies.append(copy)
        if len(self._copies) > MAX_TRACES:
            self._copies.popleft().unlink(missing_ok=True)
        return copy

    async def remove(self) -> None:
        """Remove all copies."""
        folder, self._folder = self._folder, None
        self._copies.clear()
        if folder is not None:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _copy(worker: KnownWorker, trace: Path, folder: Path) -> Path:
    """Copy a trace of a worker into a new file in a folder of this machine."""
    copy = folder / f"{secrets.token_hex(8)}-{trace.name}"
    try:
        async with asyncio.timeout(COPY_SECONDS):
            await _copy_parts(worker, trace, copy)
    except BaseException as error:
        copy.unlink(missing_ok=True)
        if isinstance(error, ActorLostError):
            raise _missing_trace(trace) from None
        if isinstance(error, TimeoutError):
            raise WatchRequestError(503, f"Worker {worker.name} does not send the trace in time.") from None
        raise
    return copy


async def _copy_parts(worker: KnownWorker, trace: Path, copy: Path) -> None:
    size = 0
    with copy.open("wb") as file:
        while part := await worker.actor.call(Worker.read_trace, trace, size, PART_BYTES):
            size += len(part)
            if size > MAX_TRACE_BYTES:
                limit = f"{MAX_TRACE_BYTES >> 20} MB"
                raise WatchRequestError(413, f"The trace {trace.name} is larger than {limit}.")
            await asyncio.to_thread(file.write, part)
    if part is None:
        raise _missing_trace(trace)


def _missing_trace(trace: Path) -> WatchRequestError:
    return WatchRequestError(410, f"The file {trace.name} no longer exists.")
