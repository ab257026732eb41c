"""A server's process with all that it starts: no shell, ended in bounded time, never left behind.

It leads a group of its own, so that its children can be ended with it, those too which outlive it. Whoever
forgets to stop it, closes the loop over it or just exits, leaves nothing behind either: the group is killed
with the object. Against the sudden death of this process there is only the end of the server's input.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

__all__ = ["Process", "start"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""Twice: to end when the input does, and on SIGTERM."""
LAST_SECONDS = 1.0
LOOK_SECONDS = 0.02

Take = Callable[[bytes], None]


async def start(
    command: Sequence[str], *, env: Mapping[str, str], cwd: str | None, on_output: Take, on_noise: Take
) -> Process:
    """Start a command, which is looked up in the PATH of `env`.

    Raises:
        OSError: it cannot be started; `filename` says whether it is the folder that is missing.
        ValueError: no command can have such an argument.
    """
    _, process = await asyncio.get_running_loop().subprocess_exec(
        lambda: Process(on_output=on_output, on_noise=on_noise),
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        **_in_own_group(),
    )
    return process


class Process(asyncio.SubprocessProtocol):
    """`on_output` and `on_noise` take what is written on stdout and stderr, piece by piece."""

    _transport: asyncio.SubprocessTransport
    _stdin: asyncio.WriteTransport
    _pid: int
    _killing: weakref.finalize[..., Process]

    def __init__(self, *, on_output: Take, on_noise: Take) -> None:
        self._takers = {1: on_output, 2: on_noise}
        self._turn = asyncio.Lock()
        self._room = asyncio.Event()
        self._room.set()
        self._exited = asyncio.Event()
        self._read = {1: asyncio.Event(), 2: asyncio.Event()}
        self._gone = asyncio.Event()
        self.ended = asyncio.Event()
        """It exited, or closed its output."""

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; None while it runs."""
        return self._transport.get_returncode()

    async def write(self, data: bytes) -> None:
        """Write all of it, once nobody else is writing and there is room. Cancelled while it waits: nothing.

        Raises:
            BrokenPipeError: its input is closed.
        """
        async with self._turn:
            await self._has_room()
            self._stdin.write(data)
            await self._has_room()

    async def _has_room(self) -> None:
        await self._room.wait()
        if self._stdin.is_closing():
            raise BrokenPipeError

    def end_input(self) -> None:
        """Those that still wait to write hear that it is closed."""
        self._stdin.close()
        self._room.set()

    async def read_to_end(self) -> None:
        """Once it ended: until the exit code is known, and all that was written is taken.

        Not for ever, because a child may hold the output open.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                for each in (*self._read.values(), self._exited):
                    await each.wait()

    async def stop(self) -> None:
        """End the whole group: its input ends, then SIGTERM, then SIGKILL. Cancelled: SIGKILL at once."""
        try:
            self.end_input()
            await _within(GRACE_SECONDS, self._exited.wait())
            if self._lives():
                _terminate(self._pid)
                await _within(GRACE_SECONDS, self._emptied())
        finally:
            if self._lives():
                self._killing()
            self._killing.detach()
            await _within(LAST_SECONDS, self._exited.wait())
            self._close()
            await _within(LAST_SECONDS, self._gone.wait())
            if not self._gone.is_set():
                logger.warning("process %d does not end, not even when it is killed", self._pid)

    def _close(self) -> None:
        if self._stdin.get_write_buffer_size():
            self._stdin.abort()  # It would wait for a reader.
        self._transport.close()

    def _lives(self) -> bool:
        return not self._exited.is_set() or _has_members(self._pid)

    async def _emptied(self) -> None:
        while self._lives():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(LOOK_SECONDS)

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._pid = self._transport.get_pid()
        self._killing = weakref.finalize(self, _kill, self._pid, os.getpid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._takers[fd](data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 0:
            self._room.set()
            return
        self._read[fd].set()
        if fd == 1:
            self.ended.set()

    def process_exited(self) -> None:
        self._exited.set()
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._gone.set()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()


async def _within(seconds: float, waiting: Awaitable[object]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await waiting


# Groups, which every system has another kind of

if sys.platform == "win32":

    def _in_own_group() -> Mapping[str, Any]:
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _terminate(pid: int) -> None:
        with suppress(OSError):
            os.kill(pid, signal.CTRL_BREAK_EVENT)

    def _kill(pid: int, starter: int) -> None:
        if os.getpid() == starter:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)

    def _has_members(_: int) -> bool:
        return False  # Without its leader it cannot be found.

else:

    def _in_own_group() -> Mapping[str, Any]:
        return {"start_new_session": True}

    def _terminate(pid: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGTERM)

    def _kill(pid: int, starter: int) -> None:
        # A fork of ours that exits has nothing to end here.
        if os.getpid() == starter:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def _has_members(pid: int) -> bool:
        try:
            os.killpg(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True
