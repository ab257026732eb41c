"""MCP over the standard streams of a process that the client starts: one JSON-RPC message a line."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import shlex
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from footlight.client.errors import (
    SECRET_NAME,
    MCPConnectionError,
    MCPError,
    ServerNotAvailableError,
)
from footlight.client.messages import Message, encode, parse
from footlight.client.transports.closing import outlast
from footlight.client.transports.lines import Lines
from footlight.client.transports.process import Process, start

if TYPE_CHECKING:
    from footlight.client.channel import Channel, Receiver

__all__ = ["MAX_LINE", "Stdio"]

logger = logging.getLogger("footlight.client.stdio")

MAX_LINE = 64 << 20
"""Bytes. What a longer line answers cannot be known: it ends the connection."""
MAX_NOISE_LINE = 4_000
NOISE_LINES = 20
MAX_LAST_WORDS = 1_000
MAX_SHOWN = 200
EXPLANATION_SECONDS = 1.0

_UNPRINTABLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")
_TRACE = re.compile(r"\s|Traceback \(most recent call last\)")


@dataclass(frozen=True, slots=True)
class Stdio:
    """A command, which is started without a shell and looked up in the server's PATH (R004-31, R004-43).

    `env` is the whole environment of the server, or None for all of ours: what is added to a hidden choice of
    variables is what is missed later (a headed browser without DISPLAY), or got out unseen (a key).
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: str | os.PathLike[str] | None = None

    @property
    def where(self) -> str:
        """The command line, without the values of options whose names promise a secret."""
        line = shlex.join(_without_secrets([self.command, *self.args]))
        return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"

    async def open(self, receiver: Receiver) -> Channel:
        """Start the process.

        Raises:
            ServerNotAvailableError: it could not be started (`reason` is "spawn").
        """
        channel = _StdioChannel(receiver, where=self.where, name=PurePath(self.command).name)
        cwd = None if self.cwd is None else os.fspath(self.cwd)
        try:
            process = await start(
                [self.command, *self.args],
                # Said in full: what C libraries have added to theirs is not ours.
                env=os.environ if self.env is None else self.env,
                cwd=cwd,
                on_output=channel.take_output,
                on_noise=channel.take_noise,
            )
        except (OSError, ValueError) as error:
            raise ServerNotAvailableError(
                _why_not_started(error, command=self.command, cwd=cwd),
                reason="spawn",
                server_command=self.where,
            ) from None
        channel.live(process)
        return channel


def _without_secrets(line: Sequence[str]) -> list[str]:
    shown: list[str] = []
    follows = False
    for word in line:
        name = re.split("[=:]", word, maxsplit=1)[0]
        secret = SECRET_NAME.search(name) is not None
        given = len(word) > len(name)
        shown.append("***" if follows else f"{name}{word[len(name)]}***" if secret and given else word)
        follows = secret and not given and name.startswith("-")
    return shown


def _why_not_started(error: OSError | ValueError, *, command: str, cwd: str | None) -> str:
    if isinstance(error, ValueError):
        return f"The server could not be started: {error}"
    if cwd is not None and error.filename == cwd:
        return f"The server's folder {cwd} does not exist, or is no folder that can be entered"
    if isinstance(error, FileNotFoundError):
        return (
            f"The command {command!r} was not found: install it, give its full path, or give the server a "
            "PATH that has it (`env` is its whole environment)"
        )
    if isinstance(error, PermissionError):
        return f"The command {command!r} is not executable: make it so, or start it with its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"The command {command!r} is no program of this system: start it with its interpreter"
    return f"The command {command!r} could not be started: {error.strerror}"


class _StdioChannel:
    cancels_by_closing = False

    _process: Process
    _life: asyncio.Task[None]

    def __init__(self, receiver: Receiver, *, where: str, name: str) -> None:
        self._receiver = receiver
        self._where = where
        self._name = name
        self._output = Lines(limit=MAX_LINE)
        self._noise = Lines(limit=MAX_NOISE_LINE)
        self._last_words: deque[str] = deque(maxlen=NOISE_LINES)
        self._skipped = 0
        self._loss: str | None = None
        self._explained = asyncio.Event()
        self._closed = False

    def live(self, process: Process) -> None:
        self._process = process
        self._life = asyncio.create_task(self._live(), name="footlight-stdio")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        line = encode(message) + b"\n"
        try:
            await self._process.write(line)
        except BrokenPipeError:
            # It has ended, or is about to: how it ended says more than that it does not read.
            with suppress(TimeoutError):
                async with asyncio.timeout(EXPLANATION_SECONDS):
                    await self._explained.wait()
            raise self._error(self._loss or "The server closed its input") from None

    def negotiated(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        self._explained.set()
        self._process.ended.set()
        await outlast(self._life)

    async def _live(self) -> None:
        try:
            await self._process.ended.wait()
            if not self._closed and self._loss is None:
                await self._process.read_to_end()
            self._tell_end()
        finally:
            self._closed = True
            await self._process.stop()

    def take_output(self, data: bytes) -> None:
        for line in self._output.feed(data):
            self._take_line(line)
        if self._output.cut and self._loss is None:
            self._lose(f"The server sent a line of more than {MAX_LINE} bytes")

    def _take_line(self, line: bytes) -> bool:
        """Whether it was a message."""
        if self._loss is not None or self._closed or not line.strip():
            return False
        try:
            message = parse(line, unit="line")
        except MCPError:
            self._skipped += 1
            # Of a program that talks without end the first lines are enough.
            level = logging.WARNING if self._skipped <= NOISE_LINES else logging.DEBUG
            logger.log(level, "%s: skipped a line that is no message: %.120r", self._name, line[:120])
            return False
        self._receiver.receive(message)
        return True

    def take_noise(self, data: bytes) -> None:
        for line in self._noise.feed(data):
            text = _UNPRINTABLE.sub("", line.decode(errors="replace")).rstrip()
            if text:
                self._last_words.append(text)
                logger.info("%s: %s", self._name, text)

    def _tell_end(self) -> None:
        if self._loss is not None or self._closed:
            return
        rest = self._output.take()
        half = bool(rest.strip()) and not self._take_line(rest)
        self.take_noise(b"\n")
        self._lose(
            f"{_how(self._process.exit_code)}{' in the middle of a message' if half else ''}{self._said()}"
        )

    def _lose(self, why: str) -> None:
        self._loss = why
        self._explained.set()
        self._process.ended.set()
        self._receiver.lost(self._error(why))

    def _error(self, why: str) -> MCPConnectionError:
        if self._closed and self._loss is None:
            return MCPConnectionError(
                "The connection was closed", reason="not_connected", server_command=self._where
            )
        return MCPConnectionError(why, server_command=self._where)

    def _said(self) -> str:
        """Its last words, but no stack trace (R004-30): that is in the log."""
        words = "\n".join(line for line in self._last_words if not _TRACE.match(line))
        if not words:
            return ""
        return f"; its last words: {words if len(words) <= MAX_LAST_WORDS else '…' + words[-MAX_LAST_WORDS:]}"


def _how(exit_code: int | None) -> str:
    if exit_code is None:
        return "The server closed its output"
    if exit_code >= 0:
        return f"The server ended with exit code {exit_code}"
    try:
        return f"The server was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"The server was ended by signal {-exit_code}"
