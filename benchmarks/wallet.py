"""Compare the tools of the toolset `metamask` with plain Playwright.

Both show the home screen of the test wallet in their own browsers. To observe it, plain Playwright takes its
snapshot for models, and reads each test id and whether it is visible.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import TextContent
from playwright.async_api import Page, async_playwright

from benchmarks.servers import executable
from footlight.apps.metamask.fixtures import PASSWORD
from footlight.browser.launch.chromium_flags import NO_OWN_REQUESTS
from tests.apps.anvil_path import anvil_path
from tests.apps.wallet_folder import wallet

__all__ = ["compare_wallet"]

Call = Callable[[], Awaitable[Any]]
MENU = "account-options-menu-button"


async def compare_wallet(calls: int) -> None:
    print("\nTest wallet: medians in ms, and plain Playwright on the same screen")
    print(f"{'call':<26} {'footlight':>9} {'plain':>9} {'p95 ours':>9}")
    with tempfile.TemporaryDirectory(prefix="footlight-bench-") as name:
        root = Path(name)
        async with _serve_wallet(root) as tool, _open_plain(root / "dist/chrome", root) as page:
            rows: list[tuple[str, Call, Call]] = [
                ("describe screen", lambda: tool("mm_describe_screen"), lambda: _describe(page)),
                (
                    "click",
                    lambda: tool("mm_click", testId=MENU, observe="none"),
                    lambda: page.get_by_test_id(MENU).click(),
                ),
                ("click with observation", lambda: tool("mm_click", testId=MENU), lambda: _click(page)),
            ]
            for name, ours, plain in rows:
                await _print(name, ours, plain, calls)


async def _print(name: str, ours: Call, plain: Call, calls: int) -> None:
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(calls + 5):
        for call, samples in zip((ours, plain), times, strict=True):
            began = time.perf_counter()
            await call()
            if turn >= 5:
                samples.append((time.perf_counter() - began) * 1000)
    p95 = statistics.quantiles(times[0], n=20)[-1]
    print(f"{name:<26} {statistics.median(times[0]):9.1f} {statistics.median(times[1]):9.1f} {p95:9.1f}")


@asynccontextmanager
async def _serve_wallet(root: Path) -> AsyncGenerator[Callable[..., Awaitable[Any]]]:
    ports = {"anvil": _free_port(), "fixtureServer": _free_port()}
    folder = wallet(root / "source", fixture_port=ports["fixtureServer"], rpc_port=ports["anvil"])
    shutil.move(folder, root / "dist/chrome")
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "footlight", "serve", "--toolset", "metamask", "--repository", str(root)),
            *("--log-level", "error"),
        ],
        env={**os.environ, "PATH": f"{anvil_path().parent}{os.pathsep}{os.environ['PATH']}"},
    )
    async with Client(server) as client:

        async def tool(name: str, **arguments: Any) -> Any:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result
            [content] = result.content
            assert isinstance(content, TextContent)
            return json.loads(content.text)["result"]

        await tool("mm_launch", ports=ports)
        await tool("mm_type", testId="unlock-password", text=PASSWORD)
        await tool("mm_click", testId="unlock-submit")
        await tool("mm_wait_for", testId="account-menu-icon")
        yield tool
        await tool("mm_cleanup")


@asynccontextmanager
async def _open_plain(folder: Path, root: Path) -> AsyncGenerator[Page]:
    """Open the wallet with plain Playwright. It uses the services of the server, which must be running."""
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            root / "profile",
            executable_path=executable(headless=False) or None,
            headless=True,
            viewport={"width": 1280, "height": 800},
            args=[*NO_OWN_REQUESTS, f"--disable-extensions-except={folder}", f"--load-extension={folder}"],
            chromium_sandbox=os.geteuid() != 0,
        )
        worker = context.service_workers[0] if context.service_workers else None
        worker = worker or await context.wait_for_event("serviceworker")
        page = context.pages[0]
        await page.goto(worker.url.rsplit("/", 1)[0] + "/home.html")
        await page.get_by_test_id("unlock-password").fill(PASSWORD)
        await page.get_by_test_id("unlock-submit").click()
        await page.get_by_test_id("account-menu-icon").wait_for()
        yield page
        await context.close()


async def _describe(page: Page) -> None:
    await page.aria_snapshot(mode="ai")
    for element in await page.locator("[data-testid]").all():
        if await element.is_visible():
            await element.get_attribute("data-testid")
            await element.text_content()


async def _click(page: Page) -> None:
    await page.get_by_test_id(MENU).click()
    await _describe(page)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
