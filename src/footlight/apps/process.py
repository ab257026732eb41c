"""Run a program beside the app, log its output, and stop all of its processes at the end.

The program runs under a keeper (`keeper`), which leads a new process group:

- On exit from the block, the whole group is stopped, including children that outlive the program.
- A cancellation, also during the start, stops the group before it propagates.
- If this process ends, even by SIGKILL, the keeper's input ends, and the keeper kills the group.

A process that leaves the group, such as a daemon, is not stopped.
"""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import anyio

from footlight.safe_text import escape_control_characters

__all__ = ["SupervisedProcess", "run_process"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
LAST_SECONDS = 1.0
LOOK_SECONDS = 0.02
LAST_LINES = 40
LINE_CHARACTERS = 2_000
PIECE_BYTES = 250
"""The maximum number of bytes that are logged at once. Each may be a line, and logging blocks the loop."""

_KEEPER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")))
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@asynccontextmanager
async def run_process(
    command: Sequence[str], *, name: str, cwd: Path | None = None
) -> AsyncGenerator[SupervisedProcess]:
    """Start a command and log its output under `name`. The command and its children are stopped on exit."""
    process = await _start(command, name=name, cwd=cwd)
    try:
        yield process
    finally:
        # Shielded: a cancelled caller must still not leave a process behind.
        with anyio.CancelScope(shield=True):
            await process.stop()


class SupervisedProcess(asyncio.SubprocessProtocol):
    """A started program. `ended` is set when it has ended, even if children are still running."""

    _transport: asyncio.SubprocessTransport
    _group: int

    def __init__(self, name: str) -> None:
        self.ended = asyncio.Event()
        self._lines = _OutputLines(name)
        self._pieces = deque[bytes]()
        """Output that is not logged yet.

        Reading is paused until it is, so that a fast program has to wait.
        """
        self._is_at_end = False
        self._read = asyncio.Event()
        self._has_exited = asyncio.Event()
        self._empty = False

    @property
    def output(self) -> str:
        """Return the last lines of the output."""
        return self._lines.last

    async def wait(self) -> int:
        """Wait until the program has ended, and return its exit code, which is 128 + N for signal N."""
        await self.ended.wait()
        # The wait is limited, because a child may keep the output open.
        await _wait_at_most(LAST_SECONDS, self._read.wait())
        while self._pieces:
            await _wait_at_most(LAST_SECONDS, self._read.wait())
        code = self._transport.get_returncode()
        assert code is not None
        return code

    async def stop(self) -> None:
        """Stop the whole group with SIGTERM, then SIGKILL. When cancelled, send SIGKILL at once."""
        try:
            self._signal(signal.SIGTERM)
            await _wait_at_most(GRACE_SECONDS, self._wait_until_empty())
        finally:
            self._signal(signal.SIGKILL)
            await _wait_at_most(LAST_SECONDS, self._wait_until_empty())
            self._transport.close()
            await _wait_at_most(LAST_SECONDS, self._has_exited.wait())
            if not self._has_exited.is_set():
                logger.warning("process group %d is still running after SIGKILL", self._group)

    async def _wait_until_empty(self) -> None:
        await self.ended.wait()
        while self._signal(0) and _has_members(self._group):  # noqa: ASYNC110 - a group has no event
            await asyncio.sleep(LOOK_SECONDS)

    def _signal(self, number: int) -> bool:
        """Signal the group and return whether it has members. The id of an empty group may be reused."""
        if not self._empty:
            try:
                os.killpg(self._group, number)
            except (ProcessLookupError, PermissionError):
                self._empty = self.ended.is_set()
        return not self._empty

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._group = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - there is only one pipe
        self._set_reading(False)
        self._pieces.extend(data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES))
        self._log_piece()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 1:
            self._is_at_end = True
            if not self._pieces:
                self._end_output()

    def _log_piece(self) -> None:
        self._lines.take(self._pieces.popleft())
        if self._pieces:
            asyncio.get_running_loop().call_soon(self._log_piece)
        elif self._is_at_end:
            self._end_output()
        else:
            self._set_reading(True)

    def _set_reading(self, reads: bool) -> None:
        pipe = cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))
        if reads:
            pipe.resume_reading()
        else:
            pipe.pause_reading()

    def _end_output(self) -> None:
        self._lines.end()
        self._read.set()

    def process_exited(self) -> None:
        self.ended.set()
        self._signal(0)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._has_exited.set()


async def _start(command: Sequence[str], *, name: str, cwd: Path | None) -> SupervisedProcess:
    starting = asyncio.create_task(_spawn(command, name=name, cwd=cwd))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await (await starting).stop()
        raise


async def _spawn(command: Sequence[str], *, name: str, cwd: Path | None) -> SupervisedProcess:
    _, process = await asyncio.get_running_loop().subprocess_exec(
        lambda: SupervisedProcess(name),
        *_KEEPER,
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=cwd,
    )
    return process


def _has_members(group: int) -> bool:
    """Return whether a process group has running members. Zombies do not count."""
    import psutil

    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False


async def _wait_at_most(seconds: float, waiting: Awaitable[object]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await waiting


class _OutputLines:
    """Splits output into lines, logs each line, and keeps the last lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._last = deque[str](maxlen=LAST_LINES)

    @property
    def last(self) -> str:
        return "\n".join(self._last)

    def take(self, piece: bytes) -> None:
        *lines, self._begun = (self._begun + self._decoder.decode(piece)).split("\n")
        for line in lines:
            self._log_line(line)
        if len(self._begun) > LINE_CHARACTERS:
            self.end()

    def end(self) -> None:
        if self._begun:
            self._log_line(self._begun)
        self._begun = ""

    def _log_line(self, line: str) -> None:
        visible_text = line.rstrip("\r").rpartition("\r")[2]  # A progress bar overwrites its line.
        text = escape_control_characters(_COLOUR.sub("", visible_text))
        text = text if len(text) <= LINE_CHARACTERS else f"{text[:LINE_CHARACTERS]}…"
        self._last.append(text)
        logger.info("%s: %s", self._name, text)
