"""The process of a server, which is started without a shell, and stopped with its children in bounded time.

Its output is split into lines, and the lines that explain why it ended are kept.

The process leads a new process group, so that its children can be stopped, even after it has exited. Without
a call of `stop`, the group is killed when the object is garbage-collected or this process exits. If this
process is killed, the server's input is closed, but the server is not killed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

__all__ = ["ErrorOutputTail", "LineBuffer", "ServerProcess", "start_process"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""The time limit for the server to exit after its input is closed, and again after SIGTERM."""
LAST_SECONDS = 1.0
POLL_SECONDS = 0.02
MAX_TAIL_LINES = 20
MAX_TAIL_CHARACTERS = 1_000

_GROUP_MARGIN = re.compile(r" {2,}[|+] ?")
"""The margin of each line in the traceback of a Python exception group."""
_TRACE_HEADS = ("Traceback (most recent call last):", "Exception Group Traceback (most recent call last):")
_RUST_FRAME = re.compile(r"[0-9]+: ")

TakeBytes = Callable[[bytes], None]


async def start_process(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    on_stdout: TakeBytes,
    on_stderr: TakeBytes,
) -> ServerProcess:
    """Start a command, which is looked up in the PATH of `env`.

    Raises:
        OSError: the command cannot be started. `filename` is `cwd` if that folder is the reason.
        ValueError: an argument cannot be passed to a process, for example because it has a null byte.
    """
    _, process = await asyncio.get_running_loop().subprocess_exec(
        lambda: ServerProcess(on_stdout=on_stdout, on_stderr=on_stderr),
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        **_group_options(),
    )
    return process


class ServerProcess(asyncio.SubprocessProtocol):
    """A running process. `on_stdout` and `on_stderr` receive pieces of its output."""

    _transport: asyncio.SubprocessTransport
    _stdin: asyncio.WriteTransport
    _pid: int
    _kill_finalizer: weakref.finalize[..., ServerProcess]

    def __init__(self, *, on_stdout: TakeBytes, on_stderr: TakeBytes) -> None:
        self._outputs = {1: on_stdout, 2: on_stderr}
        self._write_lock = asyncio.Lock()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._output_closed = {1: asyncio.Event(), 2: asyncio.Event()}
        self._transport_closed = asyncio.Event()
        self.ended = asyncio.Event()
        """Set when the process has exited or closed its standard output."""

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, which is negative for a signal, and None while the process runs."""
        return self._transport.get_returncode()

    async def write(self, data: bytes) -> None:
        """Write all data, after other writes, when the buffer has room.

        If this is cancelled while it waits for room, nothing is written.

        Raises:
            BrokenPipeError: the input of the process is closed.
        """
        async with self._write_lock:
            await self._wait_writable()
            self._stdin.write(data)
            await self._wait_writable()

    async def _wait_writable(self) -> None:
        await self._writable.wait()
        if self._stdin.is_closing():
            raise BrokenPipeError

    def end_input(self) -> None:
        """Close the input. Waiting writes fail."""
        self._stdin.close()
        self._writable.set()

    async def read_to_end(self) -> None:
        """Wait until the exit code is known and all output has been read.

        The wait has a time limit, because a child process may keep the output open.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                for each in (*self._output_closed.values(), self._exited):
                    await each.wait()

    async def stop(self) -> None:
        """Stop the process group: close its input, then send SIGTERM, then SIGKILL.

        If this is cancelled, SIGKILL is sent at once.
        """
        try:
            self.end_input()
            await _wait_at_most(GRACE_SECONDS, self._exited.wait())
            if self._is_running():
                _terminate(self._pid)
                await _wait_at_most(GRACE_SECONDS, self._wait_group_ended())
        finally:
            if self._is_running():
                self._kill_finalizer()
            self._kill_finalizer.detach()
            await _wait_at_most(LAST_SECONDS, self._exited.wait())
            self._close()
            await _wait_at_most(LAST_SECONDS, self._transport_closed.wait())
            if not self._transport_closed.is_set():
                logger.warning("process %d is still running after it was killed", self._pid)

    def _close(self) -> None:
        if self._stdin.get_write_buffer_size():
            self._stdin.abort()  # Closing would wait until the buffer is read.
        self._transport.close()

    def _is_running(self) -> bool:
        return not self._exited.is_set() or _has_members(self._pid)

    async def _wait_group_ended(self) -> None:
        while self._is_running():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(POLL_SECONDS)

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._pid = self._transport.get_pid()
        self._kill_finalizer = weakref.finalize(self, _kill, self._pid, os.getpid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd](data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 0:
            self._writable.set()
            return
        self._output_closed[fd].set()
        if fd == 1:
            self.ended.set()

    def process_exited(self) -> None:
        self._exited.set()
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport_closed.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()


async def _wait_at_most(seconds: float, waiting: Awaitable[object]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await waiting


# Process groups

if sys.platform == "win32":

    def _group_options() -> Mapping[str, Any]:
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _terminate(pid: int) -> None:
        with suppress(OSError):
            os.kill(pid, signal.CTRL_BREAK_EVENT)

    def _kill(pid: int, starter: int) -> None:
        if os.getpid() == starter:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)

    def _has_members(_: int) -> bool:
        return False  # The group cannot be found after its leader has exited.

else:

    def _group_options() -> Mapping[str, Any]:
        return {"start_new_session": True}

    def _terminate(pid: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGTERM)

    def _kill(pid: int, starter: int) -> None:
        # A fork of this process must not kill the server when it exits.
        if os.getpid() == starter:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def _has_members(pid: int) -> bool:
        try:
            os.killpg(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class ErrorOutputTail:
    """Keeps the last lines that may explain why the server ended, without stack frames."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_TAIL_LINES)
        self._in_trace = False
        """True while indented lines belong to a stack trace."""

    def add(self, line: str) -> None:
        """Add the next line, without its line ending."""
        margin = _GROUP_MARGIN.match(line)
        content = line if margin is None else line[margin.end() :]
        if content.startswith(_TRACE_HEADS) or content.lstrip().startswith('File "'):
            self._in_trace = True
        elif not content[:1].isspace():
            self._in_trace = False
            if content and not (margin and _is_group_separator(content)):
                self._lines.append(content)
        elif not content.strip(" ^~"):
            if self._lines and self._lines[-1][:1].isspace():
                self._lines.pop()  # Remove the line of source code above the marker.
        elif not self._in_trace and not _is_stack_frame(content.strip()):
            self._lines.append(content)

    def text(self) -> str:
        """Return the last lines, limited to their last `MAX_TAIL_CHARACTERS` characters."""
        content = "\n".join(self._lines)
        return content if len(content) <= MAX_TAIL_CHARACTERS else "…" + content[-MAX_TAIL_CHARACTERS:]


def _is_group_separator(content: str) -> bool:
    """Return whether the line is a separator between exceptions of a group, such as `---- 1 ----`."""
    return "----" in content and not content.strip("-+. 0123456789")


def _is_stack_frame(content: str) -> bool:
    """Return whether the line is a stack frame of JavaScript, Java, Go or Rust."""
    return (
        content.startswith("at ")
        or (content.startswith("... ") and content.endswith(" more"))
        or ".go:" in content
        or _RUST_FRAME.match(content) is not None
    )


class LineBuffer:
    """Splits bytes into lines, in linear time. Lines are truncated to `limit` bytes."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.truncated = False

    def feed(self, data: bytes) -> list[bytes]:
        """Add a piece of data, and return the lines that it completes, without their line endings."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        self._add(rest)
        return lines

    def take(self) -> bytes:
        """Return and remove the incomplete line in the buffer."""
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line

    def _add(self, part: bytes) -> None:
        room = self._limit - self._size
        self.truncated = self.truncated or len(part) > room
        if part := part[:room]:
            self._parts.append(part)
            self._size += len(part)
