"""The server that a Playwright client starts, and its options."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Literal, NoReturn, get_args

from footlight.browser_client.validation import (
    DEFAULT_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    MIN_TIMEOUT_MS,
    is_timeout_ms,
)
from footlight.client.secret_words import mask_words
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import MCPError, ServerNotAvailableError

__all__ = ["BrowserType", "MCPConfig"]

BrowserType = Literal["chrome", "firefox", "webkit", "msedge"]

_UNSAFE = "\0\r\n;&|<>`$"
"""Characters that only a shell would need. The command is never run by a shell, so they are a mistake or an
attack.
"""
_TRUTHS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
_CHANNELS = ("chrome", "msedge")


@dataclass(frozen=True, slots=True, repr=False)
class MCPConfig:
    """`timeout` limits each call, in milliseconds.

    Use trusted settings only: text from a tool or a model must never become a command.

    Raises:
        MCPError: a setting is not valid (`invalid`).
    """

    server_command: str = "npx"
    server_args: Sequence[str] = ("@playwright/mcp@latest",)
    browser: BrowserType = "chrome"
    headless: bool = True
    timeout: int = DEFAULT_TIMEOUT_MS

    def __post_init__(self) -> None:
        _check_word("server_command", self.server_command)
        if not self.server_command.strip():
            _refuse("server_command", "must not be empty")
        if isinstance(self.server_args, str):
            _refuse("server_args", "must be a list of words, not one string")
        object.__setattr__(self, "server_args", tuple(self.server_args))
        for word in self.server_args:
            _check_word("server_args", word)
        if self.browser not in get_args(BrowserType):
            _refuse("browser", f"must be one of {', '.join(get_args(BrowserType))}")
        if not _is_bool(self.headless):
            _refuse("headless", "must be true or false")
        if not is_timeout_ms(self.timeout):
            _refuse("timeout", f"must be a whole number from {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS}")

    def __repr__(self) -> str:
        """Return the settings, with the secrets in the arguments masked."""
        command, *arguments = mask_words([self.server_command, *self.server_args])
        return (
            f"MCPConfig(server_command={command!r}, server_args={tuple(arguments)!r}, "
            f"browser={self.browser!r}, headless={self.headless!r}, timeout={self.timeout!r})"
        )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> MCPConfig:
        """Return the defaults with MCP_SERVER_COMMAND, MCP_BROWSER, MCP_HEADLESS and MCP_TIMEOUT applied.

        An empty variable counts as absent. If the command has arguments, they replace the default ones.

        Raises:
            MCPError: a variable is not valid; the message names it (`invalid`).
        """
        settings: dict[str, Any] = {}
        for variable, read in _VARIABLES.items():
            if not (written := environ.get(variable, "").strip()):
                continue
            try:
                settings |= read(written)
                cls(**settings)
            except ValueError as error:
                raise MCPError(f"{variable}: {error}", reason="invalid") from None
            except MCPError as error:
                raise MCPError(f"{variable}: {error.message}", reason="invalid") from None
        return cls(**settings)

    def ensure_command(self) -> str:
        """Return the path of the command.

        Raises:
            ServerNotAvailableError: it is not an executable file, and not in the PATH.
        """
        found = shutil.which(self.server_command)
        if found is None:
            raise ServerNotAvailableError(
                f"{self.server_command} is neither an executable file nor in the PATH; install it",
                reason="spawn",
                server_command=self.server_command,
            )
        return found

    def transport(self, *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Stdio:
        """Return a transport that starts the server, with flags for the browser unless the arguments have
        them.
        """
        return Stdio(self.server_command, (*self.server_args, *self._flags()), env=env, cwd=cwd)

    def _flags(self) -> Iterator[str]:
        if self._is_footlight():
            yield from self._footlight_flags()
            return
        if not self._has("--browser"):
            yield from ("--browser", self.browser)
        if self.headless and not self._has("--headless"):
            yield "--headless"

    def _footlight_flags(self) -> Iterator[str]:
        if not self._has("--browser", "--channel", "--executable-path", "--cdp-endpoint"):
            if self.browser in _CHANNELS:
                yield from ("--browser", "chromium", "--channel", self.browser)
            else:
                yield from ("--browser", self.browser)
        if not self._has("--headless", "--headed"):
            yield "--headless" if self.headless else "--headed"

    def _is_footlight(self) -> bool:
        words = (PurePath(self.server_command).stem, *self.server_args)
        return words[0] == "footlight" or any(pair == ("-m", "footlight") for pair in pairwise(words))

    def _has(self, *flags: str) -> bool:
        return any(word.partition("=")[0] in flags for word in self.server_args)


def _command(written: str) -> dict[str, Any]:
    command, *arguments = shlex.split(written)
    return {"server_command": command, **({"server_args": tuple(arguments)} if arguments else {})}


def _truth(written: str) -> dict[str, Any]:
    if written.lower() not in _TRUTHS:
        raise ValueError("must be true or false")
    return {"headless": _TRUTHS[written.lower()]}


def _milliseconds(written: str) -> dict[str, Any]:
    if not (written.isascii() and written.isdecimal()):
        raise ValueError("must be a whole number of milliseconds")
    return {"timeout": int(written)}


_VARIABLES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "MCP_SERVER_COMMAND": _command,
    "MCP_BROWSER": lambda written: {"browser": written},
    "MCP_HEADLESS": _truth,
    "MCP_TIMEOUT": _milliseconds,
}


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _check_word(name: str, word: object) -> None:
    if not isinstance(word, str):
        _refuse(name, "must hold strings")
    if found := next((character for character in word if character in _UNSAFE), None):
        _refuse(name, f"must not hold {found!r}: no shell reads it")


def _refuse(name: str, way_out: str) -> NoReturn:
    raise MCPError(f"{name} {way_out}", reason="invalid")
