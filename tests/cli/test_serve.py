"""The command `footlight serve`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.commands import run
from tests.processes import wait_until_gone
from tests.site import Site
from tests.wire import wired

pytestmark = pytest.mark.anyio


def test_the_commands_are_listed() -> None:
    done = run("--help")

    assert done.status == 0
    for command in ("serve", "doctor", "demo"):
        assert command in done.out


def test_the_flags_are_explained() -> None:
    done = run("serve", "--help")

    assert done.status == 0
    for flag in (
        "--config",
        "--headed",
        "--browser",
        "--executable-path",
        "--cdp-endpoint",
        "--allow-domain",
    ):
        assert flag in done.out
    assert done.err == ""


def test_the_version_is_printed() -> None:
    from importlib.metadata import version

    assert run("--version").out == f"footlight, version {version('footlight')}\n"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ('{"pool": {"maxBrowser": 3}}', "unknown setting 'pool.maxBrowser'"),
        ('{"pool": {"maxBrowsers": "3"}}', "setting 'pool.maxBrowsers': Input should be a valid integer"),
        ("{", "not valid JSON"),
    ],
)
def test_invalid_configuration_file_is_named(tmp_path: Path, content: str, part: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)

    done = run("serve", "--config", str(file))

    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith(f"footlight: {file}: ")
    assert part in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "environment", "part"),
    [
        (["--config", "missing.json"], {}, "missing.json: the configuration cannot be read"),
        ([], {"FOOTLIGHT_POOL_MAX_BROWSERS": "x"}, "environment variable FOOTLIGHT_POOL_MAX_BROWSERS: "),
        (["--max-sessions", "0"], {}, "flag for session.maxSessions: setting 'session.maxSessions'"),
        (["--browser", "opera"], {}, "Invalid value for '--browser'"),
        (["--fly"], {}, "No such option"),
        (["--log-file", "/dev/null/log"], {}, "/dev/null/log"),
        ([], {"FOOTLIGHT_TRANSPORT": "pigeon"}, "setting 'transport': Input should be 'stdio', 'http' or"),
        (["--transport", "http", "--host", "0.0.0.0"], {}, "so a token is required"),
        (["--prompts", "missing"], {}, "setting 'prompts.directory': missing cannot be read"),
    ],
)
def test_invalid_setting_prevents_the_start(
    tmp_path: Path, arguments: list[str], environment: dict[str, str], part: str
) -> None:
    done = run("serve", *arguments, cwd=tmp_path, **environment)

    assert done.status == 2
    assert done.out == ""
    assert part in done.err
    assert "Traceback" not in done.err


async def test_flags_without_an_effect_are_reported(tmp_path: Path) -> None:
    flags = ("--port", "9", "--idle-exit", "5", "--sessions-dir", "sessions", "--strict-002")
    async with wired(*flags, cwd=tmp_path) as wire:
        await wire.initialize()
        assert await wire.end() == 0
        warnings = [json.loads(line) for line in wire.log.lines if '"warning"' in line]

    assert [each["message"] for each in warnings] == [
        "--port has no effect with the transport stdio; it requires --transport http or websocket",
        "--idle-exit has no effect with the transport stdio; it requires --transport http",
        "--sessions-dir has no effect with the toolset browser; it requires --toolset szkrabok",
        "--strict-002 has no effect with the toolset browser; it requires --toolset metamask",
    ]


async def test_flags_override_variables_and_variables_override_the_file(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"name": "from the file", "version": "3", "session": {"maxSessions": 1}}))
    flags = ("--config", str(file), "--max-sessions", "2")
    async with wired(*flags, cwd=tmp_path, FOOTLIGHT_VERSION="4", FOOTLIGHT_SESSION_MAX_SESSIONS="1") as wire:
        hello = (await wire.initialize())["result"]
        made = [(await wire.call("create_session"))["isError"] for _ in range(3)]

    assert hello["serverInfo"] == {"name": "from the file", "title": "Footlight", "version": "4"}
    assert made == [False, False, True]


@pytest.mark.slow
async def test_missing_browser_is_reported_at_the_first_call(tmp_path: Path) -> None:
    """The server starts; the first call that needs a browser says it."""
    missing = tmp_path / "nothing"
    async with wired("--executable-path", str(missing), cwd=tmp_path) as wire:
        await wire.initialize()
        assert len((await wire.ask("tools/list"))["result"]["tools"]) == 56
        for _ in range(2):
            answer = (await wire.call("navigate", url="http://127.0.0.1"))["structuredContent"]
            assert answer["error"] == {
                "code": "BROWSER_NOT_INSTALLED",
                "message": f"The configured browser {missing} is not an executable file",
                "details": {"executablePath": str(missing)},
                "retryable": False,
                "suggestion": "Correct browser.executablePath (--executable-path), or leave it out.",
            }
        assert await wire.end() == 0


@pytest.mark.slow
async def test_failed_browser_start_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    words = "chromium: error while loading shared libraries: libnss3.so: cannot open shared object file"
    broken.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 127\n")
    broken.chmod(0o700)
    async with wired("--executable-path", str(broken), cwd=tmp_path) as wire:
        await wire.initialize()
        answer = (await wire.call("navigate", url="http://127.0.0.1"))["structuredContent"]

    assert answer["error"]["code"] == "BROWSER_NOT_INSTALLED"
    assert answer["error"]["message"].endswith(
        f"({broken}) did not start: it ended with exit code 127: {words}"
    )
    assert "playwright install-deps chromium" in answer["error"]["suggestion"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script and a named pipe")
async def test_hanging_browser_start_ends_with_the_server(tmp_path: Path) -> None:
    silent, pipe = tmp_path / "silent", tmp_path / "pid"
    os.mkfifo(pipe)
    silent.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec sleep 1000\n")
    silent.chmod(0o700)
    async with wired("--executable-path", str(silent), cwd=tmp_path) as wire:
        await wire.initialize()
        started = psutil.Process(int(await asyncio.to_thread(pipe.read_text)))
        assert await wire.end() == 0

    await wait_until_gone([started])


@pytest.mark.slow
async def test_browser_installed_after_the_start_is_used(site: Site, tmp_path: Path) -> None:
    from footlight.browser.launch.installation import find_browser
    from footlight.config import BrowserSettings

    late = tmp_path / "late"
    async with wired("--executable-path", str(late), cwd=tmp_path) as wire:
        await wire.initialize()
        assert (await wire.call("get_cookies"))["isError"]
        late.symlink_to(find_browser(BrowserSettings(), Path("/nowhere")).path)

        assert not (await wire.call("navigate", url=site.page("<p>x</p>")))["isError"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "text"])
async def test_log_destination_and_format_follow_the_flags(tmp_path: Path, form: str) -> None:
    log = tmp_path / "logs" / "footlight.log"
    flags = ("--log-file", str(log), "--log-format", form, "--log-level", "info")
    async with wired(*flags, cwd=tmp_path) as wire:
        await wire.initialize()
        await wire.call("get_cookies")
        await wire.end()
        assert wire.log.lines == ["Playwright MCP Server running on stdio"]

    written = log.read_text("utf-8")
    if form == "json":
        lines: list[dict[str, Any]] = [json.loads(line) for line in written.splitlines()]
        (call,) = [line for line in lines if line["message"] == "call"]
        assert (call["tool"], call["outcome"], call["level"]) == ("get_cookies", "ok", "info")
    else:
        assert "footlight.server.calls.dispatcher: call tool=get_cookies" in written


@pytest.mark.slow
async def test_log_level_limits_the_log(tmp_path: Path) -> None:
    async with wired("--log-level", "error", cwd=tmp_path) as wire:
        await wire.initialize()
        await wire.call("get_cookies")
        await wire.end()
        assert wire.log.lines == ["Playwright MCP Server running on stdio"]


async def test_settings_disable_tools(site: Site, tmp_path: Path) -> None:
    config = {"security": {"enableFileUpload": False, "maxScreenshotSize": 100}}
    (tmp_path / "settings.json").write_text(json.dumps(config))
    async with wired("--config", "settings.json", cwd=tmp_path) as wire:
        await wire.initialize()
        await wire.call("navigate", url=site.page("<input type=file>"))
        refused = [
            (await wire.call(tool, **arguments))
            for tool, arguments in (
                ("upload_file", {"selector": "input", "files": ["settings.json"]}),
                ("evaluate", {"script": "1"}),
                ("screenshot", {}),
            )
        ]

    for result in refused:
        assert result["structuredContent"]["error"]["code"] == "PERMISSION_DENIED"
        assert [each["type"] for each in result["content"]] == ["text"]
