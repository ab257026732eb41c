"""Failure drills with extensions in the browsers: nothing is left behind, and the server keeps working."""

from __future__ import annotations

import functools
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.apps.wallet_folder import READER
from tests.conftest import ENGINE
from tests.processes import descendants_of, line_of, wait_until, wait_until_gone
from tests.side_by_side import run_in_folders
from tests.wire import Wire, wired

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals"),
    pytest.mark.skipif(ENGINE != "chromium", reason="extensions are Chromium's alone"),
]

GONE_SECONDS = 10.0
"""How long anything of ours may outlive its owner, on a busy machine."""


@asynccontextmanager
async def serve(tmp_path: Path, config: dict[str, Any] | None = None) -> AsyncGenerator[Wire]:
    """Yield a server with the reading list, whose temporary files are in `tmp_path`."""
    temporary, file = tmp_path / "temporary", tmp_path / "config.json"
    temporary.mkdir(exist_ok=True)
    file.write_text(json.dumps(config or {}))
    flags = ("--config", str(file), "--extension", str(READER), "--observe", "none", "--timeout", "60000")
    async with wired(*flags, TMPDIR=str(temporary), DISPLAY="", WAYLAND_DISPLAY="") as wire:
        await wire.initialize()
        yield wire


async def data(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    content = (await wire.call(tool, **arguments))["structuredContent"]
    assert content["success"], content
    return content["data"]


async def begin_launch(wire: Wire) -> None:
    """Send a call without waiting for its answer."""
    request: dict[str, Any] = {"name": "create_session", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": "launch", "method": "tools/call", "params": request}
    await wire.send(json.dumps(call).encode() + b"\n")


def ours_below(wire: Wire) -> list[psutil.Process]:
    """Return browsers and displays, without the driver, which lives as long as the server."""
    found = descendants_of(psutil.Process(wire.process.pid))
    return [each for each in found if Path((line_of(each) or [""])[0]).name.startswith(("chrom", "Xvfb"))]


def browser_below(wire: Wire) -> psutil.Process:
    """Return the main process of the browser: it alone gets extensions to load, and has no type."""
    return next(
        each
        for each in ours_below(wire)
        if any(part.startswith("--load-extension=") for part in line_of(each))
        and not any(part.startswith("--type=") for part in line_of(each))
    )


def folders_of(pid: int, tmp_path: Path) -> list[Path]:
    """Return the profile folders. A browser refuses a long path, so they may be elsewhere."""
    return [
        folder
        for root in (tmp_path / "temporary", Path("/tmp"))
        for folder in root.glob(f"footlight-run-{pid}-*")
    ]


def profiles_of(wire: Wire, tmp_path: Path) -> list[Path]:
    return [each for folder in folders_of(wire.process.pid, tmp_path) for each in folder.glob("profile-*")]


@pytest.mark.slow
async def test_closed_session_leaves_no_process_or_profile(tmp_path: Path) -> None:
    async with serve(tmp_path) as wire:
        made = await data(wire, "create_session")
        processes = ours_below(wire)
        assert (len(processes) > 2, len(profiles_of(wire, tmp_path))) == (True, 1)

        await data(wire, "close_session", sessionId=made["sessionId"])

        assert ours_below(wire) == []
        assert profiles_of(wire, tmp_path) == []


@pytest.mark.slow
async def test_killed_browser_leaves_nothing_and_is_replaced(tmp_path: Path) -> None:
    async with serve(tmp_path, {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}) as wire:
        await data(wire, "navigate", url="about:blank")
        processes = ours_below(wire)

        browser_below(wire).kill()

        await wait_until_gone(processes)
        await wait_until(lambda: not profiles_of(wire, tmp_path))
        answer = (await wire.call("navigate", url="about:blank"))["structuredContent"]
        assert answer["error"]["code"] == "BROWSER_CRASHED"
        await data(wire, "navigate", url="about:blank")
        [session] = (await data(wire, "list_sessions"))["sessions"]
        await data(wire, "navigate", url=session["extensions"][0]["pages"]["popup"])
        assert await data(wire, "get_text", selector="h1") == {"text": "Reading list"}


@pytest.mark.slow
async def test_expired_session_leaves_no_process_or_profile(tmp_path: Path) -> None:
    async with serve(tmp_path, {"session": {"idleTimeout": 500}}) as wire:
        await data(wire, "create_session")
        await wait_until(lambda: not ours_below(wire) and not profiles_of(wire, tmp_path))

        assert (await data(wire, "list_sessions"))["sessions"] == []


@pytest.mark.slow
async def test_ended_server_leaves_no_process_or_profile(tmp_path: Path) -> None:
    """What one that was killed kept in temporary files is removed by the next one."""
    ways = ("closed input", "SIGTERM", "SIGKILL")
    await run_in_folders(tmp_path, *(functools.partial(end_with_sessions, how) for how in ways))


async def end_with_sessions(how: str, tmp_path: Path) -> None:
    async with serve(tmp_path) as wire:
        await data(wire, "create_session")
        await data(wire, "create_session")
        processes, ended = ours_below(wire), wire.process.pid

        if how == "closed input":
            await wire.end()
        else:
            wire.process.send_signal(getattr(signal, how))
            await wire.exit()

        await wait_until_gone(processes)
    if how == "SIGKILL":
        async with serve(tmp_path) as wire:
            await data(wire, "list_sessions")
            await wire.end()
    assert folders_of(ended, tmp_path) == []


@pytest.mark.slow
async def test_server_ended_during_a_launch_leaves_nothing(tmp_path: Path) -> None:
    async with serve(tmp_path) as wire:
        await begin_launch(wire)
        await wait_until(lambda: profiles_of(wire, tmp_path))
        await wait_until(lambda: ours_below(wire))
        processes = ours_below(wire)

        await wire.end()

        await wait_until_gone(processes)
        assert folders_of(wire.process.pid, tmp_path) == []


@pytest.mark.slow
async def test_call_cancelled_during_a_launch_leaves_nothing(tmp_path: Path) -> None:
    async with serve(tmp_path) as wire:
        await begin_launch(wire)
        await wait_until(lambda: ours_below(wire))
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": "launch"}}
        await wire.send(json.dumps({"jsonrpc": "2.0", **cancelled}).encode() + b"\n")

        await wait_until(lambda: not ours_below(wire) and not profiles_of(wire, tmp_path))
