"""Browsers that fail to start: the error, and what is left of them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import ENGINE, connect_browser, server_command
from tests.processes import descendants_of, line_of
from tests.site import Site
from tests.wire import Wire

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="the path of another engine is Playwright's own"),
]


def write_program(folder: Path, script: str) -> Path:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.slow
async def test_browser_that_hangs_at_start_is_ended_with_the_server(site: Site, tmp_path: Path) -> None:
    path = write_program(tmp_path, "sleep 300 &\nsleep 300")

    async with connect_browser(site, "--executable-path", str(path), "--timeout", "2000") as browser:
        error = await browser.refused("navigate", url=site.page("<p>Hello"))
        hanging = [each for each in descendants_of(psutil.Process()) if line_of(each) == ["sleep", "300"]]

    assert (error["code"], len(hanging)) == ("TIMEOUT", 2)
    message = rf"navigate timed out after 2000ms before it could begin: chromium \({path}\) has not answered "
    assert (waited := re.fullmatch(rf"{message}for (\d+)ms", error["message"]))
    assert int(waited[1]) >= 1_000
    assert error["suggestion"].startswith("Check that browser.executablePath (--executable-path) is a ")
    assert psutil.wait_procs(hanging, timeout=10)[1] == []


@pytest.mark.slow
async def test_invalid_browser_executable_is_named_with_its_setting(site: Site, tmp_path: Path) -> None:
    path = write_program(tmp_path, "echo 'not me' >&2; exit 3")

    async with connect_browser(site, "--executable-path", str(path)) as browser:
        error = await browser.refused("navigate", url=site.page("<p>Hello"))

    assert error == {
        "code": "BROWSER_NOT_INSTALLED",
        "message": f"chromium ({path}) did not start: it ended with exit code 3: not me",
        "details": {"browser": "chromium", "path": str(path)},
        "retryable": False,
        "suggestion": "Correct browser.executablePath (--executable-path), or leave it out.",
    }


@pytest.mark.slow
async def test_silent_cdp_endpoint_is_reported(site: Site) -> None:
    connected: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: connected.append(writer), "127.0.0.1", 0)
    endpoint = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}"

    async with silent:
        async with connect_browser(site, "--cdp-endpoint", endpoint, "--timeout", "2000") as browser:
            error = await browser.refused("navigate", url=site.page("<p>Hello"))
        for each in connected:
            each.close()

    assert error["code"] == "TIMEOUT"
    assert f"before it could begin: the browser at {endpoint} has not answered for " in error["message"]
    assert error["suggestion"].startswith("Check that browser.cdpEndpoint is the address of a Chromium")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--window-size=broad", "it ended with exit code 1: Malformed window size: broad"),
        ("--remote-debugging-port=x", "it ended with exit code 1: Invalid devtools server port: x"),
    ],
)
async def test_chromium_error_about_an_invalid_argument_is_reported(
    site: Site, argument: str, said: str
) -> None:
    async with connect_browser(site, FOOTLIGHT_BROWSER_ARGS=json.dumps([argument])) as browser:
        error: dict[str, Any] = await browser.refused("list_sessions")

    assert error["message"].endswith(f" did not start: {said}")
    assert error["suggestion"] == (
        "Correct browser.args, or leave them out: the browser was started with them."
    )


@pytest.mark.skipif(os.name == "nt", reason="needs ulimit")
@pytest.mark.parametrize(
    ("limit", "message", "suggestion"),
    [
        (
            "-f 40",  # The browser ends while it is launched, or a moment later.
            " did not start: ",
            "check the limits of the server's process (ulimit -a), and the memory and disk of the machine.",
        ),
        (
            "-n 100",
            "The server's process may have 100 files open (ulimit -n), and a browser needs 128",
            "Raise the limit before the server is started, for example with `ulimit -n 4096`.",
        ),
        (
            "-n 16",  # Not even the driver can start.
            "The server's process may have 16 files open (ulimit -n), and a browser needs 128",
            "Raise the limit before the server is started, for example with `ulimit -n 4096`.",
        ),
        (
            "-v 1000000",
            "The driver of the browsers did not start: ",
            "Check the limits of the server's process (ulimit -a), and the memory and disk of the machine. "
            "`footlight doctor` checks the other parts.",
        ),
    ],
    ids=["file size", "open files", "few open files", "memory"],
)
async def test_resource_limit_that_ends_the_browser_is_named(
    limit: str, message: str, suggestion: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *server_command()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wire = Wire(process)
    try:
        await wire.initialize()
        error = (await wire.call("list_sessions"))["structuredContent"]["error"]
    finally:
        await wire.close()

    assert message in error["message"]
    assert error["suggestion"].endswith(suggestion)
