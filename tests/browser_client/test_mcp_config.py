"""The configuration of a Playwright client: defaults, limits, environment, and the command it makes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from footlight.browser_client.mcp_config import MCPConfig
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import MCPError, ServerNotAvailableError


def refusal(**fields: Any) -> str:
    with pytest.raises(MCPError) as caught:
        MCPConfig(**fields)
    assert caught.value.reason == "invalid"
    return caught.value.message


def command(config: MCPConfig) -> list[str]:
    transport = config.transport()
    return [transport.command, *transport.args]


def test_default_config_starts_playwright_mcp() -> None:
    assert MCPConfig() == MCPConfig(
        server_command="npx",
        server_args=("@playwright/mcp@latest",),
        browser="chrome",
        headless=True,
        timeout=30_000,
    )


@pytest.mark.parametrize("timeout", [1_000, 300_000])
def test_timeouts_within_the_limits_are_accepted(timeout: int) -> None:
    assert MCPConfig(timeout=timeout).timeout == timeout


@pytest.mark.parametrize("timeout", [999, 300_001, True, 1_000.5, "30000"])
def test_timeouts_beyond_the_limits_are_refused(timeout: Any) -> None:
    assert refusal(timeout=timeout) == "timeout must be a whole number from 1000 to 300000"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"browser": "chromium"}, "browser must be one of chrome, firefox, webkit, msedge"),
        ({"browser": "Chrome"}, "browser must be one of chrome, firefox, webkit, msedge"),
        ({"headless": "true"}, "headless must be true or false"),
        ({"server_command": ""}, "server_command must not be empty"),
        ({"server_command": "  "}, "server_command must not be empty"),
        ({"server_command": "npx; rm"}, "server_command must not hold ';': no shell reads it"),
        ({"server_command": None}, "server_command must hold strings"),
        ({"server_args": "serve --headless"}, "server_args must be a list of words, not one string"),
        ({"server_args": ["a", 1]}, "server_args must hold strings"),
        *[
            (
                {"server_args": ["ok", f"x{character}y"]},
                f"server_args must not hold {character!r}: no shell reads it",
            )
            for character in "\0\n\r;&|<>`$"
        ],
    ],
)
def test_invalid_field_is_refused_by_name(fields: Mapping[str, Any], message: str) -> None:
    assert refusal(**fields) == message


def test_arguments_may_contain_special_characters() -> None:
    args = (
        "C:\\Program Files (x86)\\x.js",
        "--caps=vision,pdf",
        "--viewport-size=1280,720",
        "~/a b",
        "größe",
        "",
    )

    assert MCPConfig(server_args=list(args)).server_args == args


def test_secrets_in_arguments_are_not_shown() -> None:
    config = MCPConfig(server_command="footlight", server_args=("serve", "--token", "s3cret"))

    assert repr(config) == (
        "MCPConfig(server_command='footlight', server_args=('serve', '--token', '***'), "
        "browser='chrome', headless=True, timeout=30000)"
    )


def test_the_environment_overrides_the_defaults() -> None:
    environ = {
        "MCP_SERVER_COMMAND": "bunx",
        "MCP_BROWSER": "firefox",
        "MCP_HEADLESS": "False",
        "MCP_TIMEOUT": "5000",
        "MCP_OTHER": "x",
    }

    assert MCPConfig.from_environment(environ) == MCPConfig(
        server_command="bunx", browser="firefox", headless=False, timeout=5_000
    )


def test_command_variable_may_include_arguments() -> None:
    environ = {"MCP_SERVER_COMMAND": "'/opt/my tools/footlight' serve --tools all"}

    assert MCPConfig.from_environment(environ) == MCPConfig(
        server_command="/opt/my tools/footlight", server_args=("serve", "--tools", "all")
    )


@pytest.mark.parametrize("environ", [{}, {"MCP_TIMEOUT": "", "MCP_BROWSER": " "}])
def test_empty_variables_keep_the_defaults(environ: Mapping[str, str]) -> None:
    assert MCPConfig.from_environment(environ) == MCPConfig()


@pytest.mark.parametrize(
    ("variable", "written", "message"),
    [
        ("MCP_BROWSER", "opera", "browser must be one of chrome, firefox, webkit, msedge"),
        ("MCP_HEADLESS", "maybe", "must be true or false"),
        ("MCP_TIMEOUT", "999", "timeout must be a whole number from 1000 to 300000"),
        ("MCP_TIMEOUT", "30s", "must be a whole number of milliseconds"),
        ("MCP_TIMEOUT", "-1", "must be a whole number of milliseconds"),
        ("MCP_TIMEOUT", "1e4", "must be a whole number of milliseconds"),
        ("MCP_TIMEOUT", "９０００", "must be a whole number of milliseconds"),
        ("MCP_SERVER_COMMAND", "npx 'x", "No closing quotation"),
        ("MCP_SERVER_COMMAND", "npx $(x)", "server_args must not hold '$': no shell reads it"),
    ],
)
def test_invalid_variable_is_named(variable: str, written: str, message: str) -> None:
    with pytest.raises(MCPError) as caught:
        MCPConfig.from_environment({variable: written})

    assert (caught.value.message, caught.value.reason) == (f"{variable}: {message}", "invalid")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (MCPConfig(), ["npx", "@playwright/mcp@latest", "--browser", "chrome", "--headless"]),
        (
            MCPConfig(browser="msedge", headless=False),
            ["npx", "@playwright/mcp@latest", "--browser", "msedge"],
        ),
        (
            MCPConfig("node", ("cli.js", "--browser=webkit", "--headless")),
            ["node", "cli.js", "--browser=webkit", "--headless"],
        ),
        (
            MCPConfig("footlight", ("serve",)),
            ["footlight", "serve", "--browser", "chromium", "--channel", "chrome", "--headless"],
        ),
        (
            MCPConfig("/opt/bin/footlight", ("serve",), browser="firefox", headless=False),
            ["/opt/bin/footlight", "serve", "--browser", "firefox", "--headed"],
        ),
        (
            MCPConfig("python3", ("-m", "footlight", "serve", "--executable-path", "/x")),
            ["python3", "-m", "footlight", "serve", "--executable-path", "/x", "--headless"],
        ),
        (
            MCPConfig("footlight", ("serve", "--browser", "chromium", "--headed")),
            ["footlight", "serve", "--browser", "chromium", "--headed"],
        ),
    ],
)
def test_browser_settings_become_server_flags(config: MCPConfig, words: list[str]) -> None:
    """What the arguments say already stays."""
    assert command(config) == words


def test_server_environment_and_folder_come_from_the_caller() -> None:
    transport = MCPConfig("x", ()).transport(env={"A": "b"}, cwd="/somewhere")

    assert transport == Stdio("x", ("--browser", "chrome", "--headless"), env={"A": "b"}, cwd="/somewhere")


def test_command_with_a_path_is_found() -> None:
    assert MCPConfig(sys.executable, ("x",)).ensure_command() == sys.executable


def test_command_in_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "serve-something"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert MCPConfig("serve-something", ()).ensure_command() == str(program)


def test_missing_or_non_executable_command_is_refused(tmp_path: Path) -> None:
    """A missing file and a file that is not executable are refused."""
    (tmp_path / "text").touch(mode=0o644)

    for name in ("no-such-command", str(tmp_path / "text")):
        with pytest.raises(ServerNotAvailableError) as caught:
            MCPConfig(name, ()).ensure_command()
        assert caught.value.to_dict() == {
            "name": "ServerNotAvailableError",
            "code": "SERVER_NOT_AVAILABLE",
            "message": f"{name} is neither an executable file nor in the PATH; install it",
            "reason": "spawn",
            "rpcCode": -32001,
            "serverCommand": name,
        }
