"""The targets that a client accepts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from footlight.client.target import transport_for, transport_from_config
from footlight.client.transports.http import StreamableHTTP
from footlight.client.transports.memory import InMemory
from footlight.client.transports.stdio import Stdio
from footlight.client.transports.websocket import WebSocket
from footlight.protocol.errors import MCPError
from tests.client.channels import Place


async def serve(read: Any, write: Any) -> None:
    """Serve a pair of streams."""


PLACE = Place()


@pytest.mark.parametrize(
    ("target", "transport"),
    [
        ("http://127.0.0.1:1/mcp", StreamableHTTP("http://127.0.0.1:1/mcp")),
        ("HTTPS://host/mcp", StreamableHTTP("HTTPS://host/mcp")),
        (" http://127.0.0.1:1/mcp\n", StreamableHTTP("http://127.0.0.1:1/mcp")),
        ("ws://127.0.0.1:1/", WebSocket("ws://127.0.0.1:1/")),
        ("wss://host", WebSocket("wss://host")),
        ("server", Stdio("server")),
        ("npx -y '@playwright/mcp' --name \"a b\"", Stdio("npx", ("-y", "@playwright/mcp", "--name", "a b"))),
        ("server --url=http://host", Stdio("server", ("--url=http://host",))),
        ("server http://host", Stdio("server", ("http://host",))),
        (["server", "--name", "a b", ""], Stdio("server", ("--name", "a b", ""))),
        (("server",), Stdio("server")),
        (["/a b/server"], Stdio("/a b/server")),
        (PLACE, PLACE),
        (serve, InMemory(serve)),
    ],
)
def test_target_selects_its_transport(target: object, transport: object) -> None:
    assert transport_for(target) == transport


def test_options_are_passed_to_the_matching_transport() -> None:
    headers = {"X-Team": "a"}

    assert transport_for("http://host", headers=headers) == StreamableHTTP("http://host", headers=headers)
    assert transport_for("ws://host", headers=headers) == WebSocket("ws://host", headers=headers)
    assert transport_for("server", env={"A": "1"}, cwd="/") == Stdio("server", env={"A": "1"}, cwd="/")


def test_footlight_command_is_found_outside_its_active_environment(tmp_path: Path) -> None:
    elsewhere = {"PATH": str(tmp_path)}
    started = transport_for("footlight serve --headed", env=elsewhere)
    assert started == Stdio(sys.executable, ("-m", "footlight", "serve", "--headed"), env=elsewhere)

    (tmp_path / "footlight").write_text("#!/bin/sh\n")
    (tmp_path / "footlight").chmod(0o755)
    assert transport_for("footlight serve", env=elsewhere) == Stdio("footlight", ("serve",), env=elsewhere)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("", {}, "target: the command is empty; give a command line or a URL"),
        ("  ", {}, "target: the command is empty; give a command line or a URL"),
        ([], {}, "target: the command is empty; give a command line or a URL"),
        (["", "a"], {}, "target: the command is empty; give a command line or a URL"),
        ('server "a', {}, "target: No closing quotation in the command line"),
        ("ftp://host", {}, "target: ftp:// is not supported"),
        ("file:///etc/passwd", {}, "target: file:// is not supported"),
        ("http://", {}, "The URL has no host, or no valid port"),
        ("http://host:port", {}, "The URL has no host, or no valid port"),
        ("http://host", {"env": {}}, "env: a URL has none; leave it out"),
        ("http://host", {"cwd": "/"}, "cwd: a URL has none; leave it out"),
        ("ws://host", {"auth": object()}, "auth: a WebSocket has none; leave it out"),
        ("server", {"headers": {}}, "headers: a command has none; leave it out"),
        (["server"], {"auth": object()}, "auth: a command has none; leave it out"),
        (PLACE, {"env": {}}, "env: a transport has none; leave it out"),
        (b"server", {}, "target: the words of a command must be strings"),
        (["server", 1], {}, "target: the words of a command must be strings"),
        (42, {}, "target: a int is not supported"),
        ({"command": "server"}, {}, "target: a dict is not supported"),
        ({"mcpServers": {}}, {}, "server: name one of those in `mcpServers`: none"),
        ({"mcpServers": {"a": {"command": "a"}}}, {"env": {}}, "env: a transport has none; leave it out"),
        (Path("server"), {}, "target: a PosixPath is not supported"),
    ],
)
def test_invalid_target_is_refused(target: object, options: dict[str, Any], message: str) -> None:
    with pytest.raises(MCPError) as refused:
        transport_for(target, **options)

    assert refused.value.message.startswith(message)
    assert refused.value.reason == "invalid"


def test_a_password_in_a_url_is_not_reported() -> None:
    with pytest.raises(MCPError) as refused:
        transport_for("http://me:hunter2@:0/")

    assert "hunter2" not in refused.value.message
    assert "hunter2" not in repr(transport_for("http://me:hunter2@host/"))
    assert transport_for("http://me:hunter2@host/mcp?token=x").where == "http://host/mcp"


# Configurations

SERVERS: dict[str, Any] = {
    "files": {"command": "npx", "args": ["-y", "files", "${HOME}"], "cwd": "${HOME}/x", "timeout": 5},
    "other": {"type": "stdio", "command": "other", "env": {"KEY": "${KEY}", "MODE": "${MODE:-fast}"}},
    "web": {"url": "https://host/${PATHNAME:-mcp}", "headers": {"Authorization": "Bearer ${env:KEY}"}},
    "typed": {"type": "streamable-http", "url": "http://host/mcp"},
    "socket": {"type": "ws", "url": "wss://host/mcp"},
    "empty": {"command": "server", "args": ["${EMPTY}", "${EMPTY:-x}", "$HOME", "${", "${a b}"]},
}
ENVIRON = {"HOME": "/home/me", "KEY": "k3y", "EMPTY": ""}


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("files", Stdio("npx", ("-y", "files", "/home/me"), cwd="/home/me/x")),
        ("other", Stdio("other", env={**ENVIRON, "MODE": "fast"})),
        ("web", StreamableHTTP("https://host/mcp", headers={"Authorization": "Bearer k3y"})),
        ("typed", StreamableHTTP("http://host/mcp")),
        ("socket", WebSocket("wss://host/mcp")),
        ("empty", Stdio("server", ("", "x", "$HOME", "${", "${a b}"))),
    ],
)
@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_configuration_entry_selects_its_transport(key: str, name: str, transport: object) -> None:
    assert transport_from_config({key: SERVERS}, name, environ=ENVIRON) == transport


def test_only_enabled_configuration_entry_is_the_default() -> None:
    config = {"mcpServers": {"off": {"command": "off", "disabled": True}, "on": {"command": "on"}}}

    assert transport_from_config(config) == transport_for(config) == Stdio("on")
    assert transport_from_config(config, "off") == Stdio("off")


@pytest.mark.parametrize(
    ("config", "name", "message"),
    [
        ({}, None, "config: must have an object `mcpServers`"),
        ({"mcpServers": []}, None, "config: must have an object `mcpServers`"),
        ({"mcpServers": SERVERS}, None, "server: name one of those in `mcpServers`: 'files', 'other', "),
        ({"mcpServers": SERVERS}, "none", "server: there is no 'none' in `mcpServers`, only: 'files', "),
        ({"mcpServers": {"a": "x"}}, "a", "server: there is no 'a' in `mcpServers`, only: 'a'"),
        ({"mcpServers": {"a": {}}}, "a", "a: command: an entry has either a command or a url"),
        (
            {"mcpServers": {"a": {"command": "x", "url": "http://h"}}},
            "a",
            "a: command: an entry has either a command or a url",
        ),
        ({"mcpServers": {"a": {"command": 1}}}, "a", "a: command: must be text"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "a", "a: args: must be a list of texts"),
        ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "a", "a: args: must be text"),
        ({"mcpServers": {"a": {"command": "x", "env": []}}}, "a", "a: env: must map names to texts"),
        ({"mcpServers": {"a": {"command": "x", "env": {"P": 1}}}}, "a", "a: env.P: must be text"),
        (
            {"mcpServers": {"a": {"command": "x", "args": ["${NOT_THERE}"]}}},
            "a",
            "a: args: the environment variable NOT_THERE is not set",
        ),
        (
            {"mcpServers": {"a": {"url": "http://h", "headers": {"K": "${input:key}"}}}},
            "a",
            "a: headers.K: asks for an input of an editor; name an environment variable instead",
        ),
        (
            {"mcpServers": {"a": {"type": "sse", "url": "http://h/sse"}}},
            "a",
            "a: type: the transport sse, of 2024, is not supported; give the URL of Streamable HTTP",
        ),
        (
            {"mcpServers": {"a": {"type": "http", "command": "x"}}},
            "a",
            "a: type: 'http' does not fit the rest of the entry",
        ),
        ({"mcpServers": {"a": {"command": ""}}}, "a", "target: the command is empty; "),
        ({"mcpServers": {"a": {"url": "server"}}}, "a", "a: url: must be a URL"),
    ],
)
def test_configuration_without_a_usable_server_is_refused(
    config: dict[str, Any], name: str | None, message: str
) -> None:
    with pytest.raises(MCPError) as refused:
        transport_from_config(config, name, environ=ENVIRON)

    assert refused.value.message.startswith(message)
    assert refused.value.reason == "invalid"
