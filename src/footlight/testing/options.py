"""What a test run was told, on its command line or in its ini file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["Options", "add_options", "options_of"]

ADAPTERS = ("szkrabok", "browser", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Paths are absolute: in the ini file they begin at its folder, on the command line where we are."""

    server: str | None = None
    """A command line or a URL; without it the module's server, or ours."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """For a server with a URL."""
    folder: Path
    """Where a command is started."""
    module: str | Path | None = None
    session: str | None = None
    adapter: str | None = None
    headed: bool = False
    log_dir: Path | None = None


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("footlight", "a browser, or another MCP server, for tests")
    for name, metavar, help in (
        ("server", "COMMAND", "the MCP server: a command or a URL. Default: footlight serve"),
        ("module", "MODULE", "a module or file that `footlight codegen` wrote: `mcp` has its types"),
        ("session", "NAME", "the session of `mcp`. Default: a new one, named after the test"),
        ("log-dir", "DIR", "keep a log of the calls of each test here, and pictures of failures"),
    ):
        group.addoption(f"--mcp-{name}", metavar=metavar, help=help)
        parser.addini(f"mcp_{name.replace('-', '_')}", help)
    help = "send NAME:VALUE to a server with a URL; ${NAME} is a variable of the environment. Repeatable"
    group.addoption("--mcp-header", metavar="HEADER", action="append", help=help)
    parser.addini("mcp_header", f"{help}: one to a line", type="linelist")
    help = "how the server names its sessions. Default: found out by its tools"
    group.addoption("--mcp-adapter", choices=ADAPTERS, help=help)
    parser.addini("mcp_adapter", f"{help} ({', '.join(ADAPTERS)})")
    help = "show the browser"
    group.addoption("--mcp-headed", action="store_true", default=None, help=help)
    parser.addini("mcp_headed", help, type="bool", default=False)
    group.addoption("--footlight-report", metavar="FILE", help="write how the tests ended as JSON")


def options_of(config: pytest.Config) -> Options:
    """
    Raises:
        pytest.UsageError: there is no such adapter, or a header is none.
    """
    adapter = _given(config, "mcp_adapter")
    if adapter is not None and adapter not in ADAPTERS:
        raise pytest.UsageError(f"mcp_adapter: there is no {adapter!r}; there are {', '.join(ADAPTERS)}")
    module = _given(config, "mcp_module")
    log_dir = _given(config, "mcp_log_dir")
    headed = config.getoption("mcp_headed")
    return Options(
        server=_given(config, "mcp_server"),
        headers=_headers(config.getoption("mcp_header") or config.getini("mcp_header")),
        folder=_folder(config, "mcp_server"),
        module=_folder(config, "mcp_module") / module if module and module.endswith(".py") else module,
        session=_given(config, "mcp_session"),
        adapter=adapter,
        headed=bool(config.getini("mcp_headed")) if headed is None else headed,
        log_dir=_folder(config, "mcp_log_dir") / log_dir if log_dir else None,
    )


def _headers(given: Sequence[str]) -> dict[str, str]:
    """What is wrong with one is told without its value, which may be a token."""
    headers: dict[str, str] = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise pytest.UsageError("--mcp-header is NAME:VALUE")
        headers[name.strip()] = re.sub(r"\$\{(\w+)\}", _of_environment, value.strip())
    return headers


def _of_environment(variable: re.Match[str]) -> str:
    if variable[1] not in os.environ:
        raise pytest.UsageError(f"--mcp-header: the environment has no {variable[1]}")
    return os.environ[variable[1]]


def _given(config: pytest.Config, name: str) -> str | None:
    return config.getoption(name) or config.getini(name) or None


def _folder(config: pytest.Config, name: str) -> Path:
    return config.invocation_params.dir if config.getoption(name) else config.rootpath
