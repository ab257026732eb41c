"""Modules for real servers: generated, checked, imported, and used for a real call."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from footlight.browser.launch.installation import find_browser
from footlight.client.codegen.generate import generate
from footlight.client.handles import create_logger
from footlight.config import BrowserSettings
from footlight.protocol.errors import ToolInvocationError
from tests.client.codegen.checking import errors_in
from tests.client.codegen.modules import import_module
from tests.client.peers import PLAYWRIGHT, SERVER_EVERYTHING, command_of
from tests.conftest import ENGINE, server_command
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

DEVTOOLS = (
    Path(__file__).parents[3] / ".peers/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
)
PAGE = "<title>Generated</title><h1>By its handle</h1>"


def footlight(folder: Path) -> str:
    return shlex.join(server_command("--tools", "all", "--state-directory", str(folder / "state")))


def szkrabok(folder: Path) -> str:
    if ENGINE != "chromium":
        pytest.skip("the szkrabok toolset is tested with Chromium alone")
    return shlex.join(server_command("--toolset", "szkrabok", "--sessions-dir", str(folder / "sessions")))


def metamask(folder: Path) -> str:
    if ENGINE != "chromium":
        pytest.skip("the metamask toolset is tested with Chromium alone")
    return shlex.join(server_command("--toolset", "metamask", "--repository", str(folder)))


def playwright(folder: Path) -> str:
    return shlex.join([*command_of(PLAYWRIGHT, "stdio", folder), "--output-dir", str(folder / "output")])


def everything(folder: Path) -> str:
    return shlex.join(command_of(SERVER_EVERYTHING, "stdio", folder))


def devtools(folder: Path) -> str:
    if not DEVTOOLS.exists():
        pytest.skip(
            "chrome-devtools-mcp is not installed: `npm ci` of peers/package-lock.json puts it into .peers"
        )
    browser = find_browser(BrowserSettings(), folder / "no-such-build").executable
    if ENGINE != "chromium" or not browser:
        pytest.skip("chrome-devtools-mcp needs a Chromium")
    flags = ["--headless", "--isolated", "--executablePath", str(browser), "--no-usage-statistics"]
    unsafe = ["--chromeArg=--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return shlex.join([str(compute_driver_executable()[0]), str(DEVTOOLS), *flags, *unsafe])


SERVERS: Mapping[str, Callable[[Path], str]] = {
    "footlight": footlight,
    "szkrabok": szkrabok,
    "metamask": metamask,
    "playwright": playwright,
    "everything": everything,
    "devtools": devtools,
}


async def use_footlight(mcp: Any, url: str) -> None:
    went = await mcp.root.navigate(url=url)
    reported = await mcp._root.get_text({"selector": "h1"}, timeout_ms=20_000)

    assert (went["data"]["finalUrl"], reported["data"]["text"]) == (url, "By its handle")


async def use_szkrabok(mcp: Any, url: str) -> None:
    await mcp.nav.goto(url=url)

    assert "By its handle" in await mcp.extract["text"]({"selector": "h1"})


async def use_metamask(mcp: Any, url: str) -> None:
    with pytest.raises(ToolInvocationError) as raised:
        await mcp.root.mm_get_state()
    last = await mcp.root.mm_knowledge_last(n=5)

    error = raised.value
    assert error.message == "MM_NO_ACTIVE_SESSION: MetaMask is not running"
    assert (error.data["code"], error.data["message"]) == tuple(error.message.split(": "))
    assert last["ok"] is True
    assert [(step["tool"], step["screen"]) for step in last["result"]["steps"]] == [
        ("mm_get_state", "unknown")
    ]


async def use_playwright(mcp: Any, url: str) -> None:
    assert "Page Title: Generated" in await mcp.root.browser_navigate(url=url)


async def use_everything(mcp: Any, url: str) -> None:
    weather = await mcp.root.get_structured_content(location="Chicago")

    assert await mcp.root["get-sum"]({"a": 2, "b": 3}) == "The sum of 2 and 3 is 5."
    assert sorted(weather) == ["conditions", "humidity", "temperature"]


async def use_devtools(mcp: Any, url: str) -> None:
    opened = await mcp.root.new_page(url=url)
    page = next(int(line.split(":")[0]) for line in opened.splitlines() if url in line and line[0].isdigit())

    assert "By its handle" in await mcp.root.take_snapshot(pageId=page)


USES: Mapping[str, Callable[[Any, str], Awaitable[None]]] = {
    "footlight": use_footlight,
    "szkrabok": use_szkrabok,
    "metamask": use_metamask,
    "playwright": use_playwright,
    "everything": use_everything,
    "devtools": use_devtools,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sample_parameters(SERVERS, "footlight"))
async def test_generated_module_calls_a_real_server(name: str, tmp_path: Path, site: Site) -> None:
    out = tmp_path / f"{name}_tools.py"
    await generate(SERVERS[name](tmp_path), out)
    module = import_module(out)
    log = tmp_path / "calls.jsonl"

    async with module.mcp_connect("generated", log=create_logger(console=False, file=log)) as mcp:
        await USES[name](mcp, site.page(PAGE))

    assert '"_ok":true' in log.read_text("utf-8").splitlines()[-1]


@pytest.mark.slow
async def test_modules_of_real_servers_have_no_type_errors(tmp_path: Path) -> None:
    """Of those servers that are installed."""
    left_out: list[str] = []
    for name, command in SERVERS.items():
        try:
            await generate(command(tmp_path), tmp_path / f"{name}_tools.py")
        except pytest.skip.Exception as reason:
            left_out.append(str(reason))

    found = errors_in(tmp_path)

    assert found == [], found
    if left_out:
        pytest.skip(f"the others have none; {'; '.join(left_out)}")
