"""The options of a test run, from the command line or the ini file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["Options", "add_options", "owns_server", "read_options"]

ADAPTERS = ("szkrabok", "browser", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options. Relative paths are relative to the folder of the ini file, or to the working directory."""

    server: str | None = field(default=None, repr=False)  # With --full-trace, pytest shows the options.
    """A command line or a URL. Default: the server of the module, or else `footlight serve`."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The headers for a server with a URL."""
    folder: Path
    """The working directory of a server that is started by a command."""
    module: str | Path | None = None
    session: str | None = None
    adapter: str | None = None
    headed: bool = False
    log_dir: Path | None = None


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("footlight", "tests with a browser, or another MCP server")
    for name, metavar, help in (
        ("server", "COMMAND", "MCP server: a command or a URL. Default: footlight serve"),
        ("module", "MODULE", "module or file that `footlight codegen` wrote; `mcp` is then its typed handle"),
        ("session", "NAME", "session of `mcp`. Default: a new session, named after the test"),
        ("log-dir", "DIR", "folder for call logs of tests, and snapshots and screenshots of failed tests"),
    ):
        group.addoption(f"--mcp-{name}", metavar=metavar, help=help)
        parser.addini(f"mcp_{name.replace('-', '_')}", help)
    help = "send NAME:VALUE to a server with a URL; ${VARIABLE} is read from the environment. Repeatable"
    group.addoption("--mcp-header", metavar="HEADER", action="append", help=help)
    parser.addini("mcp_header", f"{help}: one per line", type="linelist")
    help = "how the server names its sessions. Default: detected from its tools"
    group.addoption("--mcp-adapter", choices=ADAPTERS, help=help)
    parser.addini("mcp_adapter", f"{help} ({', '.join(ADAPTERS)})")
    help = "start a server for each test instead of one for each process"
    group.addoption("--mcp-own-server", action="store_true", default=None, help=help)
    parser.addini("mcp_own_server", help, type="bool", default=False)
    help = "show the browser"
    group.addoption("--mcp-headed", action="store_true", default=None, help=help)
    parser.addini("mcp_headed", help, type="bool", default=False)
    group.addoption("--footlight-report", metavar="FILE", help="write the results of the tests as JSON")


def read_options(config: pytest.Config) -> Options:
    """Return the options of the command line and the ini file.

    Raises:
        pytest.UsageError: the adapter does not exist, or a header is not NAME:VALUE.
    """
    adapter = _read_option(config, "mcp_adapter")
    if adapter is not None and adapter not in ADAPTERS:
        raise pytest.UsageError(f"mcp_adapter: {adapter!r} is not one of {', '.join(ADAPTERS)}")
    module = _read_option(config, "mcp_module")
    log_dir = _read_option(config, "mcp_log_dir")
    headed = config.getoption("mcp_headed")
    return Options(
        server=_read_option(config, "mcp_server"),
        headers=_parse_headers(config.getoption("mcp_header") or config.getini("mcp_header")),
        folder=_find_option_folder(config, "mcp_server"),
        module=_find_option_folder(config, "mcp_module") / module
        if module and module.endswith(".py")
        else module,
        session=_read_option(config, "mcp_session"),
        adapter=adapter,
        headed=bool(config.getini("mcp_headed")) if headed is None else headed,
        log_dir=_find_option_folder(config, "mcp_log_dir") / log_dir if log_dir else None,
    )


def owns_server(config: pytest.Config) -> bool:
    """Return True if each test starts its own server."""
    option = config.getoption("mcp_own_server")
    return bool(config.getini("mcp_own_server")) if option is None else option


def _parse_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers. Error messages do not contain values, which may be tokens."""
    headers: dict[str, str] = {}
    for header in lines:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise pytest.UsageError("--mcp-header must be NAME:VALUE")
        headers[name.strip()] = re.sub(r"\$\{(\w+)\}", _read_variable, value.strip())
    return headers


def _read_variable(variable: re.Match[str]) -> str:
    if variable[1] not in os.environ:
        raise pytest.UsageError(f"--mcp-header: the environment variable {variable[1]} is not set")
    return os.environ[variable[1]]


def _read_option(config: pytest.Config, name: str) -> str | None:
    return config.getoption(name) or config.getini(name) or None


def _find_option_folder(config: pytest.Config, name: str) -> Path:
    return config.invocation_params.dir if config.getoption(name) else config.rootpath
