"""Failure drills with named sessions: nothing is left behind, and profiles can be opened again."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import ENGINE, server_command
from tests.e2e.test_drills import GONE_SECONDS, browsers_of, family, list_left, wait_until, wait_until_gone
from tests.side_by_side import run_in_folders
from tests.site import Site
from tests.toolsets.szkrabok.conftest import make_name
from tests.wire import Wire, wired

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX signals"),
    pytest.mark.skipif(ENGINE != "chromium", reason="profiles are Chromium's"),
]

WAITS = """
    import os, subprocess, sys, urllib.request

    def test_for_ever():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        urllib.request.urlopen("{url}?pids=%s,%s" % (os.getpid(), child.pid)).close()
        child.wait()
"""
KEPT = "<p>x</p><script>document.cookie = 'kept=yes; max-age=999'</script>"


class Started:
    """Hears which processes a run of tests has started."""

    def __init__(self, site: Site) -> None:
        self._pids: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self.url = site.route(self._hear)

    async def _hear(self, request: Request) -> Response:
        self._pids.set_result([int(pid) for pid in request.query_params["pids"].split(",")])
        return Response()

    async def processes(self) -> list[psutil.Process]:
        async with asyncio.timeout(20):
            return [psutil.Process(pid) for pid in await self._pids]


@asynccontextmanager
async def serve_named(
    tmp_path: Path, *flags: str, config: dict[str, Any] | None = None
) -> AsyncGenerator[Wire]:
    """Yield a server of the toolset whose files are all in `tmp_path`. Data of calls may be used at once."""
    for folder in ("temporary", "tests"):
        (tmp_path / folder).mkdir(exist_ok=True)
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
        flags = ("--config", str(tmp_path / "config.json"), *flags)
    temporary = str(tmp_path / "temporary")
    async with wired(*arguments_for(tmp_path), *flags, cwd=tmp_path, TMPDIR=temporary) as wire:
        await wire.initialize()
        yield wire


def arguments_for(tmp_path: Path) -> list[str]:
    return [
        *("--toolset", "szkrabok", "--enable-script-evaluation"),
        *("--sessions-dir", str(tmp_path / "sessions"), "--tests-dir", str(tmp_path / "tests")),
    ]


ids = itertools.count(1)


async def begin(wire: Wire, tool: str, /, **arguments: Any) -> str:
    """Send a call without waiting for its answer; its id."""
    id = f"call-{next(ids)}"
    call = {"name": tool, "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}
    await wire.send(json.dumps(request).encode() + b"\n")
    return id


async def answers(wire: Wire, count: int) -> dict[str, dict[str, Any]]:
    """Return the next results, by the ids of their calls."""
    return {message["id"]: message["result"] for message in [await wire.message() for _ in range(count)]}


async def data(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return data_of(await wire.call(tool, **arguments))


def data_of(result: dict[str, Any]) -> dict[str, Any]:
    assert not result["isError"], result
    return result["structuredContent"]


async def error(wire: Wire, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return error_of(await wire.call(tool, **arguments))


def error_of(result: dict[str, Any]) -> dict[str, Any]:
    assert result["isError"], result
    return result["_meta"]["footlight/error"]


async def show(wire: Wire, site: Site, name: str, html: str = "<p>x</p>") -> None:
    await data(wire, "nav.goto", sessionName=name, url=site.page(html))


async def cookie(wire: Wire, site: Site, name: str) -> Any:
    await show(wire, site, name)
    return (await data(wire, "extract.evaluate", sessionName=name, expression="document.cookie"))["result"]


async def begin_tests(wire: Wire, site: Site, tmp_path: Path, name: str) -> list[psutil.Process]:
    """Start tests that never end, and return their processes."""
    started = Started(site)
    (tmp_path / "tests" / "test_them.py").write_text(textwrap.dedent(WAITS.format(url=started.url)))
    await begin(wire, "browser.run_test", sessionName=name)
    return await started.processes()


async def end(process: asyncio.subprocess.Process, how: str) -> None:
    if how == "closed input":
        assert process.stdin is not None
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, how))
    async with asyncio.timeout(GONE_SECONDS):
        assert await process.wait() == (0 if how != "SIGKILL" else -signal.SIGKILL)


# Nothing left behind


@pytest.mark.slow
async def test_ended_server_leaves_no_process_and_its_profiles_reopen(site: Site, tmp_path: Path) -> None:
    await run_in_folders(
        tmp_path,
        functools.partial(end_and_reopen, site, "closed input", 1, True),
        functools.partial(end_and_reopen, site, "SIGTERM", 3, False),
        functools.partial(end_and_reopen, site, "SIGKILL", 3, True),
    )


async def end_and_reopen(site: Site, how: str, count: int, testing: bool, tmp_path: Path) -> None:
    names = [make_name() for _ in range(count)]
    async with serve_named(tmp_path) as wire:
        for name in names:
            await begin(wire, "session.open", sessionName=name, launchOptions={"locale": "fr-FR"})
        for result in (await answers(wire, count)).values():
            assert data_of(result) == {"opened": True}
        await show(wire, site, names[0], KEPT)
        tests = await begin_tests(wire, site, tmp_path, names[0]) if testing else []
        processes = [*family(wire.process.pid), *tests]
        assert len(browsers_of(wire.process.pid)) >= count

        await end(wire.process, how)

        await wait_until_gone(processes)
        if how != "SIGKILL":
            assert list_left(tmp_path) == []
            assert list((tmp_path / "sessions").glob(".*.lock")) == []

    async with serve_named(tmp_path) as wire:
        listed = (await data(wire, "session.list"))["sessions"]
        assert [(each["name"], each["open"], each["launchOptions"]) for each in listed] == [
            (name, False, {"locale": "fr-FR"}) for name in sorted(names)
        ]
        assert all("usedBy" not in each for each in listed)
        assert await data(wire, "session.open", sessionName=names[0]) == {"opened": True}
        if how != "SIGKILL":  # Chromium writes cookies down when it is asked to end, or after half a minute.
            assert await cookie(wire, site, names[0]) == "kept=yes"
        assert await wire.end() == 0
    assert list_left(tmp_path) == []


CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}

def ask(method, params, wait=True):
    request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\\n")
    server.stdin.flush()
    return server.stdout.readline() if wait else None

session = {"sessionName": sys.argv[1]}
ask("initialize", hello)
ask("tools/call", {"name": "session.open", "arguments": session})
ask("tools/call", {"name": "browser.run_test", "arguments": session}, wait=False)
print(server.pid, flush=True)
server.wait()
"""


@pytest.mark.slow
async def test_killed_client_ends_its_running_tests(site: Site, tmp_path: Path) -> None:
    started = Started(site)
    for folder in ("temporary", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests" / "test_them.py").write_text(textwrap.dedent(WAITS.format(url=started.url)))
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CLIENT, make_name(), *server_command(*arguments_for(tmp_path))),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )
    assert client.stdout is not None
    async with asyncio.timeout(30):
        server = int(await client.stdout.readline())
    processes = [*await started.processes(), *family(server)]

    client.kill()

    await client.wait()
    await wait_until_gone(processes)
    assert list_left(tmp_path) == []
    assert list((tmp_path / "sessions").glob(".*.lock")) == []


@pytest.mark.slow
async def test_stale_profile_locks_do_not_prevent_opening(site: Site, tmp_path: Path) -> None:
    name = make_name()
    folder = tmp_path / "sessions" / name
    folder.mkdir(parents=True)
    (folder / "Default").mkdir()
    gone_by_now = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone_by_now.wait()
    (folder / "SingletonLock").symlink_to(f"{os.uname().nodename}-{gone_by_now.pid}")
    (folder / "SingletonSocket").symlink_to("/nowhere/SingletonSocket")
    (folder.parent / f".{name}.lock").write_text('{"pid": ')

    async with serve_named(tmp_path) as wire:
        assert await data(wire, "session.open", sessionName=name) == {"opened": True}


# Two who want the same


@pytest.mark.slow
async def test_two_servers_share_a_folder_but_not_a_profile(tmp_path: Path) -> None:
    mine, other = make_name(), make_name()
    async with serve_named(tmp_path) as first, serve_named(tmp_path) as second:
        await data(first, "session.open", sessionName=mine)
        await data(second, "session.open", sessionName=other)

        for tool in ("session.open", "session.delete"):
            message = await error(second, tool, sessionName=mine)
            assert message["code"] == "RESOURCE_EXHAUSTED"
            assert message["message"].startswith(
                f"profile {mine} is in use by process {first.process.pid} (footlight serve) since "
            )
            assert message["details"]["pid"] == first.process.pid
        seen = {each["name"]: each for each in (await data(second, "session.list"))["sessions"]}
        assert (seen[mine]["open"], seen[other]["open"]) == (False, True)
        assert seen[mine]["usedBy"].startswith(f"process {first.process.pid} (footlight serve) on ")

        first.process.kill()
        await first.process.wait()
        assert await data(second, "session.open", sessionName=mine) == {"opened": True}


@pytest.mark.slow
async def test_concurrent_opens_of_one_name_open_one_session(tmp_path: Path) -> None:
    name = make_name()
    async with serve_named(tmp_path) as wire:
        for _ in range(2):
            await begin(wire, "session.open", sessionName=name)

        reported = [data_of(result) for result in (await answers(wire, 2)).values()]

        assert sorted(reported, key=len) == [{"opened": True}, {"opened": True, "alreadyOpen": True}]
        assert len(browsers_of(wire.process.pid)) == 1


@pytest.mark.slow
async def test_opening_twenty_names_at_once_respects_the_limit(tmp_path: Path) -> None:
    config = {"pool": {"minBrowsers": 1, "maxBrowsers": 2}}
    async with serve_named(tmp_path, config=config) as wire:
        for _ in range(20):
            await begin(wire, "session.open", sessionName=make_name())

        results = (await answers(wire, 20)).values()

        refused = [error_of(result) for result in results if result["isError"]]
        assert len(refused) == 18
        assert {(each["code"], each["message"]) for each in refused} == {
            ("RESOURCE_EXHAUSTED", "All 2 browsers are in use")
        }
        assert len((await data(wire, "session.list"))["sessions"]) == 2
        assert len(browsers_of(wire.process.pid)) == 2


# In the middle of a call


@pytest.mark.slow
async def test_killed_browser_is_reported_once_and_its_session_reopens(site: Site, tmp_path: Path) -> None:
    name, options = make_name(), {"locale": "fr-FR", "viewport": {"width": 640, "height": 480}}
    async with serve_named(tmp_path) as wire:
        await data(wire, "session.open", sessionName=name, launchOptions=options)
        await show(wire, site, name)
        (browser,) = browsers_of(wire.process.pid)
        call = await begin_endless(wire, site, name)

        browser.kill()

        message = error_of((await answers(wire, 1))[call])
        assert (message["code"], message["message"], message["retryable"]) == (
            "BROWSER_CRASHED",
            "The browser crashed; session.open opens the session again",
            False,  # The script may have done what it was for.
        )
        after = await error(wire, "browser.snapshot", sessionName=name)
        assert (after["code"], after["suggestion"]) == ("SESSION_NOT_FOUND", "Call session.open first.")
        assert await data(wire, "session.open", sessionName=name) == {"opened": True}
        await show(wire, site, name)
        script = "[navigator.language, innerWidth, innerHeight]"
        looks = await data(wire, "extract.evaluate", sessionName=name, expression=script)
        assert looks == {"result": ["fr-FR", 640, 480]}


async def begin_endless(wire: Wire, site: Site, name: str) -> str:
    """Begin a call that never ends by itself, and return its id."""
    begun = site.page("begun")
    script = f"fetch('{begun}').then(() => new Promise(() => {{}}))"
    call = await begin(wire, "extract.evaluate", sessionName=name, expression=script)
    await wait_until(lambda: ("GET", begun.removeprefix(site.url)) in site.requests)
    return call


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["session.close", "session.delete"])
async def test_session_can_be_ended_during_a_call(site: Site, tmp_path: Path, tool: str) -> None:
    name = make_name()
    async with serve_named(tmp_path) as wire:
        await data(wire, "session.open", sessionName=name)
        await show(wire, site, name)
        processes = browsers_of(wire.process.pid)
        running = await begin_endless(wire, site, name)

        ending = await begin(wire, tool, sessionName=name)

        reported = await answers(wire, 2)
        assert data_of(reported[ending]) in ({"closed": True}, {"deleted": True})
        assert error_of(reported[running])["code"] == "SESSION_NOT_FOUND"
        await wait_until_gone(processes)
        left = (await data(wire, "session.list"))["sessions"]
        assert [each["name"] for each in left] == ([name] if tool == "session.close" else [])
        assert (tmp_path / "sessions" / name).exists() is (tool == "session.close")


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["session.close", "session.delete"])
async def test_session_can_be_ended_during_a_test_run(site: Site, tmp_path: Path, tool: str) -> None:
    name = make_name()
    async with serve_named(tmp_path) as wire:
        await data(wire, "session.open", sessionName=name)
        tests = await begin_tests(wire, site, tmp_path, name)

        ending = await begin(wire, tool, sessionName=name)

        reported = await answers(wire, 2)
        assert not reported.pop(ending)["isError"]
        (ended,) = reported.values()
        assert error_of(ended)["code"] == "SESSION_NOT_FOUND"
        await wait_until_gone(tests)


# The disk


@pytest.mark.slow
async def test_unwritable_sessions_folder_is_reported_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("no folder")
    async with serve_named(tmp_path) as wire:
        message = await error(wire, "session.open", sessionName=make_name())

        assert message == {
            "code": "PERMISSION_DENIED",
            "message": "The folder of the profiles cannot be written to: File exists",
            "details": {"setting": "profiles.directory"},
            "retryable": False,
            "suggestion": (
                "Ask the server operator to correct the setting profiles.directory (--sessions-dir)."
            ),
        }
        assert await data(wire, "session.list") == {"sessions": []}
        assert browsers_of(wire.process.pid) == []
