"""MCP over the standard streams of a process that the client starts: one JSON-RPC message per line."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import shlex
import signal
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from footlight.client.secret_words import mask_words
from footlight.client.tasks import wait_shielded
from footlight.client.transports.process import ErrorOutputTail, LineBuffer, ServerProcess, start_process
from footlight.client.transports.secret_mask import mask_answer, mask_secrets, secrets_in_words
from footlight.log import LimitedWarnings
from footlight.protocol.errors import (
    MCPConnectionError,
    MCPError,
    ServerNotAvailableError,
)
from footlight.protocol.messages import Message, encode, parse

if TYPE_CHECKING:
    from footlight.protocol.channel import Channel, Receiver

__all__ = ["MAX_LINE", "Stdio"]

logger = logging.getLogger("footlight.client.stdio")

MAX_LINE = 64 << 20
"""The maximum length of a line in bytes. A longer one closes the connection, because the request that it
answers is unknown.
"""
MAX_STDERR_LINE = 4_000
MAX_SHOWN = 200
EXIT_SECONDS = 1.0

_UNPRINTABLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True, repr=False)
class Stdio:
    """A command that starts a server. It is looked up in the server's PATH and run without a shell.

    `env` is the whole environment of the server, or None for a copy of this process's environment.
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Check the types, for callers without a type checker.

        Raises:
            MCPError: `command` is not a string, or `args` is not a sequence of strings (`invalid`).
        """
        if not isinstance(self.command, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise MCPError(
                "command: must be the name or path of one program; pass its arguments as args: "
                'Stdio("footlight", ["serve"])',
                reason="invalid",
            )
        args = cast("object", self.args)
        if (
            isinstance(args, str | bytes)
            or not isinstance(args, Sequence)
            or not all(isinstance(each, str) for each in cast("Sequence[object]", args))
        ):
            raise MCPError('args: must be a list of texts: Stdio("footlight", ["serve"])', reason="invalid")

    def __repr__(self) -> str:
        return f"Stdio({self.where!r})"

    @property
    def where(self) -> str:
        """Return the command line, with its secrets masked."""
        line = shlex.join(mask_words([self.command, *self.args]))
        return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"

    async def open(self, receiver: Receiver) -> Channel:
        """Start the process.

        Raises:
            ServerNotAvailableError: the process could not be started (`reason` is "spawn").
        """
        # Passed explicitly, because C libraries may have changed the environment of this process.
        env = dict(os.environ if self.env is None else self.env)
        channel = _StdioChannel(
            receiver, where=self.where, name=PurePath(self.command).name, args=self.args, env=env
        )
        cwd = None if self.cwd is None else os.fspath(self.cwd)
        try:
            process = await start_process(
                [self.command, *self.args],
                env=env,
                cwd=cwd,
                on_stdout=channel.take_stdout,
                on_stderr=channel.take_stderr,
            )
        except (OSError, ValueError) as error:
            raise ServerNotAvailableError(
                _describe_start_failure(error, command=self.command, cwd=cwd),
                reason="spawn",
                server_command=self.where,
            ) from None
        channel.run(process)
        return channel


def _describe_start_failure(error: OSError | ValueError, *, command: str, cwd: str | None) -> str:
    if isinstance(error, ValueError):
        return f"The server could not be started: {error}"
    if cwd is not None and error.filename == cwd:
        return f"The server's folder {cwd} does not exist, or is not a folder that can be entered"
    if isinstance(error, FileNotFoundError):
        return (
            f"The command {command!r} was not found: install it, give its full path, or give the server a "
            "PATH that has it (`env` is its whole environment)"
        )
    if isinstance(error, PermissionError):
        return f"The command {command!r} is not executable: make it so, or start it with its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"The command {command!r} is not a program for this system: start it with its interpreter"
    return f"The command {command!r} could not be started: {error.strerror}"


class _StdioChannel:
    cancels_by_closing = False

    _process: ServerProcess
    _running: asyncio.Task[None]

    def __init__(
        self, receiver: Receiver, *, where: str, name: str, args: Sequence[str], env: Mapping[str, str]
    ) -> None:
        self._receiver = receiver
        self._where = where
        self._name = name
        self._args = args
        self._env = env
        self._stdout = LineBuffer(limit=MAX_LINE)
        self._stderr = LineBuffer(limit=MAX_STDERR_LINE)
        self._error_output = ErrorOutputTail()
        self._warnings = LimitedWarnings(logger)
        self._failure: str | None = None
        self._explained = asyncio.Event()
        self._closed = False

    def run(self, process: ServerProcess) -> None:
        self._process = process
        self._running = asyncio.create_task(self._run(), name="footlight-stdio")

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        line = encode(message) + b"\n"
        try:
            await self._process.write(line)
        except BrokenPipeError:
            # The process has ended or will end soon. Wait for its exit, which explains the error better.
            with suppress(TimeoutError):
                async with asyncio.timeout(EXIT_SECONDS):
                    await self._explained.wait()
            raise self._error(self._failure or "The server closed its input") from None

    def use_version(self, version: str) -> None:
        pass

    async def close(self) -> None:
        self._closed = True
        self._explained.set()
        self._process.ended.set()
        await wait_shielded(self._running)

    async def _run(self) -> None:
        try:
            await self._process.ended.wait()
            if not self._closed and self._failure is None:
                await self._process.read_to_end()
            self._report_end()
        finally:
            self._closed = True
            await self._process.stop()

    def take_stdout(self, data: bytes) -> None:
        for line in self._stdout.feed(data):
            self._take_line(line)
        if self._stdout.truncated and self._failure is None:
            self._fail(f"The server sent a line of more than {MAX_LINE} bytes")

    def _take_line(self, line: bytes) -> bool:
        """Pass the message of a line to the receiver. Return whether the line was a message."""
        if self._failure is not None or self._closed or not line.strip():
            return False
        try:
            message = parse(line, unit="line")
        except MCPError:
            shown = mask_secrets(line[:MAX_STDERR_LINE].decode(errors="replace"), self._secrets)[:120]
            self._warnings.log("%s: skipped a line that is not a message: %.120r", self._name, shown)
            return False
        self._receiver.receive(mask_answer(message, self._secrets) if "error" in message else message)
        return True

    def take_stderr(self, data: bytes) -> None:
        for line in self._stderr.feed(data):
            text = _UNPRINTABLE.sub("", line.decode(errors="replace")).rstrip()
            if text:
                text = mask_secrets(text, self._secrets)
                self._error_output.add(text)
                logger.info("%s: %s", self._name, text)

    @cached_property
    def _secrets(self) -> Collection[str]:
        """Return the secrets in the environment and the arguments of the server."""
        variables = (f"{name}={value}" for name, value in self._env.items())
        return secrets_in_words([*variables, *self._args])

    def _report_end(self) -> None:
        if self._failure is not None or self._closed:
            return
        rest = self._stdout.take()
        incomplete = bool(rest.strip()) and not self._take_line(rest)
        self.take_stderr(b"\n")
        cut_off = " in the middle of a message" if incomplete else ""
        self._fail(f"{_describe_exit(self._process.exit_code)}{cut_off}{self._error_output_suffix()}")

    def _fail(self, why: str) -> None:
        self._failure = why
        self._explained.set()
        self._process.ended.set()
        self._receiver.on_connection_lost(self._error(why))

    def _error(self, why: str) -> MCPConnectionError:
        if self._closed and self._failure is None:
            return MCPConnectionError(
                "The connection was closed", reason="not_connected", server_command=self._where
            )
        return MCPConnectionError(why, server_command=self._where)

    def _error_output_suffix(self) -> str:
        """Return the last lines of the server's stderr for an error. Stack traces are only logged."""
        words = self._error_output.text()
        return f"; the end of its stderr: {words}" if words else ""


def _describe_exit(exit_code: int | None) -> str:
    if exit_code is None:
        return "The server closed its output"
    if exit_code >= 0:
        return f"The server ended with exit code {exit_code}"
    try:
        return f"The server was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"The server was ended by signal {-exit_code}"
