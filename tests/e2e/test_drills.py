"""Failure drills: nothing is left behind, and the server keeps working."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import ENGINE, connect_browser, server_command
from tests.processes import (
    children_of,
    descendants_of,
    kill_all,
    line_of,
    wait_until,
    wait_until_gone,
)
from tests.side_by_side import run_in_folders
from tests.site import Site, serve_site
from tests.wire import Wire, wired

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals"),
    pytest.mark.skipif(ENGINE != "chromium", reason="looks for Chromium's processes"),
]

GONE_SECONDS = 15.0
"""How long anything of ours may outlive its owner."""


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all processes below it."""
    process = psutil.Process(pid)
    return [process, *descendants_of(process)]


def browsers_of(pid: int) -> list[psutil.Process]:
    """Return the browsers' main processes, without the shells that some systems start them in."""
    found = {
        process.pid: process
        for process in descendants_of(psutil.Process(pid))
        if (line := line_of(process))
        and Path(line[0]).name.startswith("chrom")
        and any(part.startswith("--remote-debugging-") for part in line)
        and not any(part.startswith("--type=") for part in line)
    }
    # A child of a browser is called as it is, until it becomes what it is for.
    return [process for process in found.values() if parent_of(process) not in found]


def parent_of(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def renderers_of(browser: psutil.Process) -> list[psutil.Process]:
    return [process for process in descendants_of(browser) if "--type=renderer" in line_of(process)]


@asynccontextmanager
async def serve(
    site: Site, tmp_path: Path, *flags: str, config: dict[str, Any] | None = None
) -> AsyncGenerator[Wire]:
    """Yield a server whose temporary files are in `tmp_path`, with a page open."""
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
        flags = ("--config", str(tmp_path / "config.json"), *flags)
    async with wired(*flags, "--enable-script-evaluation", cwd=tmp_path, TMPDIR=str(temporary)) as wire:
        await wire.initialize()
        yield wire


def list_left(tmp_path: Path) -> list[str]:
    return sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "temporary").rglob("*"))


async def data(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    content = (await wire.call(tool, **arguments))["structuredContent"]
    assert content["success"], content
    return content["data"]


async def error(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    content = (await wire.call(tool, **arguments))["structuredContent"]
    assert not content["success"], content
    return content["error"]


# Nothing left behind


CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
for method, params in (("initialize", hello), ("tools/call", {"name": "get_cookies", "arguments": {}})):
    request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\\n")
    server.stdin.flush()
    server.stdout.readline()
print(server.pid, flush=True)
server.wait()
"""


@pytest.mark.slow
async def test_killed_client_leaves_no_process_or_file(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CLIENT, *server_command()),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert client.stdout is not None
    try:
        async with asyncio.timeout(30):
            server = int(await client.stdout.readline())
        assert browsers_of(server)
        processes = family(server)
        assert list_left(tmp_path)
    finally:
        client.kill()

    await client.wait()
    await wait_until_gone(processes)
    assert list_left(tmp_path) == []


@pytest.mark.slow
async def test_server_leaves_nothing_after_a_shutdown_request(site: Site, tmp_path: Path) -> None:
    ways = ("closed input", "SIGTERM", "SIGINT", "SIGHUP")
    await run_in_folders(tmp_path, *(functools.partial(shut_down, site, how) for how in ways))


async def shut_down(site: Site, how: str, tmp_path: Path) -> None:
    async with serve(site, tmp_path) as wire:
        await data(wire, "navigate", url=site.page("<p>x</p>"))
        processes = family(wire.process.pid)
        assert len(processes) > 3

        if how == "closed input":
            assert wire.process.stdin is not None
            wire.process.stdin.close()
        else:
            wire.process.send_signal(getattr(signal, how))

        began = time.monotonic()
        assert await wire.exit() == 0
        await wait_until_gone(processes)
        assert time.monotonic() - began < GONE_SECONDS
        assert list_left(tmp_path) == []


@pytest.mark.slow
async def test_server_shuts_down_during_a_call(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path) as wire:
        await data(wire, "navigate", url=site.page("<p>x</p>"))
        request = {"name": "evaluate", "arguments": {"script": "for (;;);"}}
        await wire.send(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": request}).encode()
            + b"\n"
        )
        await wire.ask("ping")
        processes = family(wire.process.pid)

        assert await wire.end() == 0

        await wait_until_gone(processes)
        assert list_left(tmp_path) == []


@pytest.mark.slow
async def test_killed_server_leaves_no_browser(site: Site, tmp_path: Path) -> None:
    """What it kept in temporary files is removed by the next one."""
    async with serve(site, tmp_path) as wire:
        await data(wire, "navigate", url=site.page("<p>x</p>"))
        processes = family(wire.process.pid)

        wire.process.kill()
        await wait_until_gone(processes)

    async with serve(site, tmp_path) as wire:
        await data(wire, "get_cookies")
        assert await wire.end() == 0
    assert list_left(tmp_path) == []


@pytest.mark.slow
async def test_server_shuts_down_during_startup(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    async with wired(TMPDIR=str(temporary)) as wire:
        await wait_until(lambda: children_of(psutil.Process(wire.process.pid)))
        processes = family(wire.process.pid)

        await wire.end()

        await wait_until_gone(processes)
    assert list_left(tmp_path) == []


# Crashes


@pytest.mark.slow
async def test_killed_browser_is_reported_once(site: Site, tmp_path: Path) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with serve(site, tmp_path, config=config) as wire:
        page = site.page("<p>x</p>")
        await data(wire, "navigate", url=page)
        (browser,) = browsers_of(wire.process.pid)

        began = site.page("begun")
        script = f"fetch('{began}').then(() => new Promise(() => {{}}))"
        calling = asyncio.create_task(error(wire, "evaluate", script=script))
        await wait_until(lambda: ("GET", began.removeprefix(site.url)) in site.requests)
        browser.kill()
        reported = await calling

        assert reported == {
            "code": "BROWSER_CRASHED",
            "message": "The browser crashed; the session is created again at its next use",
            "details": {"sessionId": "default", "dispatched": "unknown"},
            "retryable": False,  # The script may have done what it was for.
            "suggestion": "Look at the page before you repeat the call: its action may have been done.",
        }
        await data(wire, "navigate", url=page)
        assert await data(wire, "get_text", selector="p") == {"text": "x"}
        assert browsers_of(wire.process.pid) != [browser]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_text", {"selector": "p"}),
        ("get_cookies", {}),
        ("save_state", {"sessionId": "default"}),
        ("block_resource", {"resourceType": "image"}),
        ("set_offline", {"offline": True}),
        ("screenshot", {}),
        ("navigate", {"url": "about:blank"}),
    ],
)
async def test_any_first_call_reports_a_crashed_browser(
    crashing: Wire, site: Site, tool: str, arguments: dict[str, Any]
) -> None:
    """Whichever comes first after the crash, and none after it."""
    await data(crashing, "navigate", url=site.page("<p>x</p>"))
    kill_all(browsers_of(crashing.process.pid))

    message = await error(crashing, tool, **arguments)

    assert message["code"] == "BROWSER_CRASHED"
    await data(crashing, "navigate", url=site.page("<p>again</p>"))
    assert await data(crashing, "get_text", selector="p") == {"text": "again"}


@pytest.fixture(scope="module")
async def crashing(
    anyio_backend: str, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Wire]:
    """One server for browsers that are killed."""
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}}
    async with serve(site, tmp_path_factory.mktemp("crashing"), config=config) as wire:
        yield wire


@pytest.mark.slow
async def test_new_session_does_not_use_a_crashed_browser(crashing: Wire, site: Site) -> None:
    await data(crashing, "get_cookies")
    kill_all(browsers_of(crashing.process.pid))

    made = await data(crashing, "create_session")

    await data(crashing, "navigate", url=site.page("<p>x</p>"), sessionId=made["sessionId"])
    await data(crashing, "close_session", sessionId=made["sessionId"])
    await crashing.call("get_cookies")
    await data(crashing, "get_cookies")


@pytest.mark.slow
async def test_session_keeps_its_options_after_a_crash(crashing: Wire, site: Site) -> None:
    made = await data(crashing, "create_session", userAgent="Lamp/7", viewport={"width": 300, "height": 200})
    page = site.page("<p>x</p>")
    await data(crashing, "navigate", url=page, sessionId=made["sessionId"])
    kill_all(browsers_of(crashing.process.pid))
    message = await error(crashing, "get_text", selector="p", **made)
    assert message["code"] == "BROWSER_CRASHED"

    await data(crashing, "navigate", url=page, **made)

    looks = await data(crashing, "evaluate", script="[navigator.userAgent, innerWidth, innerHeight]", **made)
    assert looks == {"result": ["Lamp/7", 300, 200]}
    await data(crashing, "close_session", **made)
    await crashing.call("get_cookies")


@pytest.mark.slow
async def test_crashed_page_is_reported_and_replaced(site: Site, tmp_path: Path) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with serve(site, tmp_path, config=config) as wire:
        page = site.page("<p>x</p>")
        await data(wire, "set_cookies", cookies=[{"name": "a", "value": "1", "url": site.url}])
        await data(wire, "navigate", url=page)
        (browser,) = browsers_of(wire.process.pid)
        refused = await error(wire, "navigate", url="chrome://crash")
        assert refused["code"] == "PERMISSION_DENIED"

        kill_all(renderers_of(browser))
        message = await error(wire, "get_text", selector="p")

        assert message["code"] == "BROWSER_CRASHED"
        assert message["message"] == "The page crashed"
        await data(wire, "navigate", url=page)
        assert await data(wire, "get_text", selector="p") == {"text": "x"}
        assert browsers_of(wire.process.pid) == [browser]
        cookies = (await data(wire, "get_cookies"))["cookies"]
        assert [cookie["name"] for cookie in cookies] == ["a"]


@pytest.mark.slow
async def test_script_in_a_crashing_page_reports_the_crash(crashing: Wire, site: Site) -> None:
    asked = asyncio.Event()

    async def ask(_: Request) -> Response:
        asked.set()
        return Response()

    url = site.route(ask)
    await data(crashing, "navigate", url=site.page("<p>x</p>"))
    script = f"fetch('{url}').then(() => new Promise(() => {{}}))"
    call = asyncio.create_task(error(crashing, "evaluate", script=script))
    async with asyncio.timeout(10):
        await asked.wait()

    for browser in browsers_of(crashing.process.pid):
        kill_all(renderers_of(browser))

    reported = await call
    assert (reported["code"], reported["message"]) == ("BROWSER_CRASHED", "The page crashed")


# Limits


@pytest.mark.slow
async def test_closed_sessions_leave_no_process_or_file_descriptor(site: Site, tmp_path: Path) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}, "session": {"maxSessions": 60}}
    page = site.page("<p>x</p>")
    async with serve(site, tmp_path, config=config) as wire:

        async def open_and_close(times: int) -> None:
            for _ in range(times):
                made = await data(wire, "create_session")
                await data(wire, "navigate", url=page, **made)
                await data(wire, "close_session", **made)

        server = psutil.Process(wire.process.pid)
        await open_and_close(5)
        (browser,) = browsers_of(server.pid)
        driver = server.children()[0]
        handles = {process: process.num_fds() for process in (server, driver, browser)}
        processes = len(descendants_of(server))

        await open_and_close(20)

        await wait_until(lambda: len(descendants_of(server)) <= processes + 1)
        for process, before in handles.items():
            assert process.num_fds() <= before + 5, process.name()
        assert (await data(wire, "list_sessions"))["sessions"] == []


@pytest.mark.slow
async def test_session_limit_is_enforced(site: Site, tmp_path: Path) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}}
    async with serve(site, tmp_path, "--max-sessions", "3", config=config) as wire:
        made = [await data(wire, "create_session") for _ in range(3)]

        message = await error(wire, "create_session")

        assert message == {
            "code": "RESOURCE_EXHAUSTED",
            "message": "All 3 sessions are in use",
            "details": {"maxSessions": 3},
            "retryable": True,
            "suggestion": "Close a session that is not needed with close_session, then try again.",
        }
        assert (await error(wire, "get_cookies"))["code"] == "RESOURCE_EXHAUSTED"
        await data(wire, "close_session", **made[0])
        await data(wire, "get_cookies")
        assert len(browsers_of(wire.process.pid)) == 2


@pytest.mark.slow
async def test_concurrent_session_creation_respects_the_limit(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, "--max-sessions", "3", cwd=tmp_path) as browser:
        answers: list[bool] = []

        async def make() -> None:
            answers.append(not (await browser.answer("create_session")).is_error)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(make)

        assert sorted(answers) == [False] * 5 + [True] * 3
        assert len((await browser.call("list_sessions"))["sessions"]) == 3


@pytest.mark.slow
async def test_full_browser_pool_reports_exhaustion(tmp_path: Path) -> None:
    from footlight.browser.driver.pending_starts import PendingStarts
    from footlight.browser.driver.playwright_connection import start_playwright
    from footlight.browser.launch.launcher import launch_browser
    from footlight.browser.launch.pool import Pool
    from footlight.config import PoolSettings, SessionSettings, Settings
    from footlight.errors import ResourceExhaustedError

    settings = Settings(
        pool=PoolSettings(minBrowsers=0, maxBrowsers=2), session=SessionSettings(maxSessions=4)
    )
    async with start_playwright(tmp_path) as playwright:
        starts = PendingStarts()
        pool = Pool(
            settings, lambda: launch_browser(playwright, settings.browser, proxied=False, starts=starts)
        )
        held = [await pool.acquire() for _ in range(4)]

        with pytest.raises(ResourceExhaustedError, match="All 2 browsers are full"):
            await pool.acquire()

        pool.release(held[0])
        assert await pool.acquire() is held[0]
        assert sorted(browser.sessions for browser in pool.browsers) == [2, 2]

        # One that may no longer respond gets a session where the other one is full. Once empty, it is asked.
        one, other = pool.browsers
        other.is_suspect = True
        pool.release(other)
        assert await pool.acquire() is other
        for _ in range(2):
            pool.release(other)
        assert await pool.acquire() is other
        assert not other.is_suspect

        # Where another one can be started, it gets none.
        other.is_suspect = True
        for _ in range(2):
            pool.release(one)
        await one.close()
        assert await one.has_ended()
        assert await pool.acquire() is not other
        await pool.close()


@pytest.mark.slow
async def test_idle_session_expires(site: Site, tmp_path: Path) -> None:
    config = {"session": {"idleTimeout": 400}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with serve(site, tmp_path, "--log-level", "info", config=config) as wire:
        made = await data(wire, "create_session")
        await data(wire, "navigate", url=site.page("<p>x</p>"), **made)
        (browser,) = browsers_of(wire.process.pid)
        await wire.log.wait_for_line(f"session {made['sessionId']} expired")

        message = await error(wire, "get_text", selector="p", **made)

        assert message["code"] == "SESSION_NOT_FOUND"
        assert message["message"] == f'Session "{made["sessionId"]}" expired after 400ms without use'
        await wait_until(lambda: len(renderers_of(browser)) <= 1)


@pytest.mark.slow
async def test_running_call_keeps_its_session_from_expiring(site: Site, tmp_path: Path) -> None:
    config = {"session": {"idleTimeout": 300}}
    async with serve(site, tmp_path, config=config) as wire:
        await data(wire, "navigate", url=site.page("<p>x</p>"))
        slow = "new Promise(done => setTimeout(() => done('done'), 1200))"

        assert await data(wire, "evaluate", script=slow) == {"result": "done"}
        assert await data(wire, "get_text", selector="p") == {"text": "x"}


@pytest.mark.slow
async def test_idle_browsers_are_closed_down_to_the_minimum(site: Site, tmp_path: Path) -> None:
    config = {
        "pool": {"minBrowsers": 1, "maxBrowsers": 3, "idleTimeout": 300},
        "session": {"maxSessions": 3},
    }
    async with serve(site, tmp_path, config=config) as wire:
        made = [await data(wire, "create_session") for _ in range(3)]
        assert len(browsers_of(wire.process.pid)) == 3

        for each in made:
            await data(wire, "close_session", **each)

        await wait_until(lambda: len(browsers_of(wire.process.pid)) == 1)
        await data(wire, "navigate", url=site.page("<p>x</p>"))


@pytest.mark.slow
async def test_crashed_browser_is_replaced_in_the_pool(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTLIGHT_POOL_MIN_BROWSERS", "2")
    config = {"pool": {"maxBrowsers": 2, "idleTimeout": 1000}}
    async with serve(site, tmp_path, config=config) as wire:
        await data(wire, "get_cookies")
        both = await wait_until(
            lambda: len(browsers_of(wire.process.pid)) == 2 and browsers_of(wire.process.pid)
        )

        both[0].kill()
        await asyncio.to_thread(both[0].wait, 5)

        await wait_until(lambda: len(browsers_of(wire.process.pid)) == 2)
        assert both[1] in browsers_of(wire.process.pid)


# Hostile pages


@pytest.mark.slow
async def test_page_that_never_finishes_loading_is_a_timeout(site: Site, tmp_path: Path) -> None:
    never = site.never()
    url = site.page(f"<p>here</p><img src='{never}'>")
    async with serve(site, tmp_path) as wire:
        message = await error(wire, "navigate", url=url, timeout=3_000)
        assert message["code"] == "TIMEOUT"
        assert await data(wire, "get_text", selector="p") == {"text": "here"}

        await data(wire, "navigate", url=url, waitUntil="domcontentloaded")
        assert (await data(wire, "screenshot"))["format"] == "png"
        message = await error(wire, "wait_for_load", timeout=300)
        assert message["code"] == "TIMEOUT"
        assert await wire.end() == 0


@pytest.mark.slow
async def test_page_that_opens_fifty_popups_reports_the_last_twenty(site: Site, tmp_path: Path) -> None:
    url = site.page("<button onclick='for (let i = 0; i < 50; i++) window.open(location)'>pop</button>")
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with serve(site, tmp_path, config=config) as wire:
        await data(wire, "navigate", url=url)

        popped = await data(wire, "click", selector="button")

        pages = [page["pageId"] for page in popped["newPages"]]
        assert pages == sorted(pages, key=lambda page: int(page.removeprefix("page-")))
        assert len(pages) == 20
        assert popped["refusedPages"] == 1
        assert pages[-1] == "page-50"
        assert (await data(wire, "get_text", selector="button", pageId="page-50")) == {"text": "pop"}
        listed = (await data(wire, "list_sessions"))["sessions"]
        assert len(listed[0]["pages"]) == 50
        processes = family(wire.process.pid)
        assert await wire.end() == 0
        await wait_until_gone(processes)


@pytest.mark.slow
async def test_page_with_invalid_unicode_is_read(site: Site, tmp_path: Path) -> None:
    url = site.page(
        "<p></p><script>document.querySelector('p').textContent = 'a\\ud800b\\u0000c\\u001b\\udfff\\u2028';"
        "document.title = '\\udc00'</script>"
    )
    async with serve(site, tmp_path) as wire:
        await data(wire, "navigate", url=url)

        assert await data(wire, "get_text", selector="p") == {"text": "a�b\0c\x1b�\u2028"}
        assert (await data(wire, "get_page_metadata"))["title"] == "�"
        assert (await data(wire, "find_elements", selector="p"))["count"] == 1


# Surviving a restart


@pytest.mark.slow
@pytest.mark.parametrize("persistent", [True, False])
async def test_persistent_sessions_survive_a_restart(site: Site, tmp_path: Path, persistent: bool) -> None:
    config = {"session": {"persistentSessions": persistent}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    url = site.page(
        "<p>x</p><script>localStorage.kept ??= 'yes'; document.cookie = 'kept=yes; max-age=999'</script>"
    )
    async with serve(site, tmp_path, config=config) as wire:
        made = [await data(wire, "create_session") for _ in range(3)]
        for each in made:
            await data(wire, "navigate", url=url, **each)
        await data(wire, "close_session", **made[0])
        wire.process.send_signal(signal.SIGTERM)
        assert await wire.exit() == 0

    async with serve(site, tmp_path, config=config) as wire:
        assert (await error(wire, "get_cookies", **made[0]))["code"] == "SESSION_NOT_FOUND"
        for each in made[1:]:
            if persistent:
                cookies = (await data(wire, "get_cookies", **each))["cookies"]
                assert [cookie["name"] for cookie in cookies] == ["kept"]
                where = await data(wire, "evaluate", script="[location.href, localStorage.kept]", **each)
                assert where == {"result": [url, "yes"]}
            else:
                assert (await error(wire, "get_cookies", **each))["code"] == "SESSION_NOT_FOUND"
                assert not (tmp_path / ".footlight/state/sessions").exists()


@pytest.mark.slow
async def test_persistent_sessions_are_listed_and_can_be_closed(site: Site, tmp_path: Path) -> None:
    config = {"session": {"persistentSessions": True}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    url = site.page("<p>x</p><button>Press</button>")
    async with serve(site, tmp_path, config=config) as wire:
        await data(wire, "navigate", url=url)
        made = [(await data(wire, "create_session"))["sessionId"] for _ in range(2)]
        for id in made:
            await data(wire, "navigate", url=url, sessionId=id)
        await data(wire, "navigate", url="data:text/html,<p>written in the URL</p>")
        assert "kept" not in await data(wire, "list_sessions")
        ref = (await data(wire, "find", text="Press", sessionId=made[1]))["matches"].split()[0]
        wire.process.send_signal(signal.SIGTERM)
        assert await wire.exit() == 0

    async with serve(site, tmp_path, config=config) as wire:
        listed = await data(wire, "list_sessions")
        assert (listed["sessions"], sorted(listed["kept"])) == ([], sorted(["default", *made]))

        assert await data(wire, "close_session", sessionId=made[0]) == {"sessionId": made[0], "closed": True}
        assert (await error(wire, "get_cookies", sessionId=made[0]))["code"] == "SESSION_NOT_FOUND"
        assert (await error(wire, "close_session", sessionId=made[0]))["code"] == "SESSION_NOT_FOUND"
        first = await data(wire, "get_text", selector="p", sessionId=made[1])
        assert first == {"text": "x", "restored": True}
        assert await data(wire, "get_text", selector="p", sessionId=made[1]) == {"text": "x"}
        # A ref from before the restart never names an element of the new page.
        assert (await error(wire, "click", selector=ref, sessionId=made[1]))["code"] == "STALE_REF"
        listed = await data(wire, "list_sessions")
        assert [each["sessionId"] for each in listed["sessions"]] == [made[1]]
        assert listed["kept"] == ["default"]
        assert (await data(wire, "get_text", selector="p"))["text"] == "written in the URL"


@pytest.mark.slow
async def test_session_whose_page_is_gone_is_not_reported_as_restored(site: Site, tmp_path: Path) -> None:
    config = {"session": {"persistentSessions": True}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    async with serve(site, tmp_path, config=config) as wire, serve_site() as going:
        await data(wire, "navigate", url=going.page("<p>x</p>"))
        cookie = {"name": "kept", "value": "1", "url": site.url}
        await data(wire, "set_cookies", cookies=[cookie])
        assert await wire.end() == 0

    async with serve(site, tmp_path, config=config) as wire:
        first, second = [await data(wire, "get_cookies") for _ in range(2)]

    assert (first["restored"], [each["name"] for each in first["cookies"]]) == (False, ["kept"])
    assert "restored" not in second


@pytest.mark.slow
async def test_servers_sharing_a_state_folder_do_not_open_one_session(site: Site, tmp_path: Path) -> None:
    """Each would overwrite what the other saves. The second `default` is one that is not kept."""
    config = {"session": {"persistentSessions": True}, "pool": {"minBrowsers": 1, "maxBrowsers": 1}}
    kept, other = site.page("<p>kept</p>"), site.page("<p>other</p>")
    async with serve(site, tmp_path, config=config) as wire:
        made = await data(wire, "create_session")
        await data(wire, "navigate", url=kept, **made)
        await data(wire, "navigate", url=kept)
        wire.process.send_signal(signal.SIGTERM)
        assert await wire.exit() == 0

    async with serve(site, tmp_path, config=config) as one, serve(site, tmp_path, config=config) as two:
        assert (await data(one, "get_text", selector="p", **made))["restored"]
        assert (await data(one, "get_text", selector="p"))["restored"]
        for tool in ("get_cookies", "close_session"):
            refused = await error(two, tool, **made)
            assert refused["code"] == "RESOURCE_EXHAUSTED"
            assert "is open in another server (process " in refused["message"]
        await data(two, "navigate", url=other)
        await data(two, "close_session", sessionId="default")
        await data(two, "navigate", url=other)
        one.process.kill()
        await one.exit()
        # The system has released the locks of the server that was killed.
        assert (await data(two, "get_text", selector="p", **made)) == {"text": "kept", "restored": True}
        two.process.send_signal(signal.SIGTERM)
        assert await two.exit() == 0

    async with serve(site, tmp_path, config=config) as wire:
        assert await data(wire, "get_text", selector="p") == {"text": "kept", "restored": True}


@pytest.mark.slow
async def test_browser_that_exits_right_after_start_is_reported_as_crashed(tmp_path: Path) -> None:
    from playwright.async_api import Browser

    from footlight.browser.driver.driver_process import find_process_ids
    from footlight.browser.driver.pending_starts import PendingStarts
    from footlight.browser.driver.playwright_connection import start_playwright
    from footlight.browser.launch.launcher import launch_browser
    from footlight.browser.launch.pool import Pool
    from footlight.config import Settings
    from footlight.errors import BrowserCrashedError

    settings = Settings()
    async with start_playwright(tmp_path) as playwright:

        async def launch_and_kill() -> Browser:
            browser = await launch_browser(
                playwright, settings.browser, proxied=False, starts=PendingStarts()
            )
            for pid in await find_process_ids(browser, "browser"):
                psutil.Process(pid).kill()
            return browser

        pool = Pool(settings, launch_and_kill)
        with pytest.raises(BrowserCrashedError, match="did not start: it ended at once"):
            await pool.warm_one()

        assert pool.browsers == ()


# A browser that was there before


@pytest.mark.slow
async def test_attached_browser_survives_the_server(site: Site, tmp_path: Path) -> None:
    from footlight.browser.launch.installation import find_browser
    from footlight.config import BrowserSettings

    url = site.page("<h1>Already here</h1>")
    profile = tmp_path / "profile"
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    chromium = await asyncio.create_subprocess_exec(
        find_browser(BrowserSettings(), Path("/nowhere")).path,
        *("--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}", *sandbox, url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        port = await wait_until(lambda: port_in(profile))
        async with serve(site, tmp_path, "--cdp-endpoint", f"http://127.0.0.1:{port}") as wire:
            assert await data(wire, "wait_for_selector", selector="h1")
            assert await data(wire, "get_text", selector="h1") == {"text": "Already here"}
            made = await data(wire, "create_session")
            await data(wire, "navigate", url=site.page("<p>isolated</p>"), **made)
            assert await data(wire, "get_text", selector="p", **made) == {"text": "isolated"}
            listed = {
                each["sessionId"]: len(each["pages"])
                for each in (await data(wire, "list_sessions"))["sessions"]
            }
            assert listed == {"default": 1, made["sessionId"]: 1}
            assert await wire.end() == 0

        assert chromium.returncode is None
        async with serve(site, tmp_path, "--cdp-endpoint", f"http://127.0.0.1:{port}") as wire:
            assert await data(wire, "get_text", selector="h1") == {"text": "Already here"}
            await data(wire, "close_session", sessionId="default")
            assert await data(wire, "get_text", selector="h1") == {"text": "Already here"}
        assert chromium.returncode is None
    finally:
        os.killpg(chromium.pid, signal.SIGKILL)  # Some systems start it in a shell.
        await chromium.wait()


def port_in(profile: Path) -> int | None:
    try:
        return int((profile / "DevToolsActivePort").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return None


@pytest.mark.slow
async def test_unreachable_cdp_endpoint_is_reported(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path, "--cdp-endpoint", "http://127.0.0.1:1") as wire:
        message = await error(wire, "navigate", url=site.url)

    assert message["code"] == "BROWSER_NOT_INSTALLED"
    assert message["message"].startswith("No browser answers at http://127.0.0.1:1: ")
