"""Named sessions with profiles on disk, each in a real browser of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from playwright.async_api import Error, async_playwright
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from footlight.browser.driver.deadline import Deadline
from footlight.browser.launch import persistent_launch
from footlight.browser.launch.chromium_flags import DEBUGGING_PORTS, close_debugging_ports
from footlight.browser.launch.launch_options import LaunchOptions
from footlight.browser.sessions.change_events import SessionChange
from footlight.browser.sessions.engine import Engine
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.named_sessions import NamedSessions
from footlight.caller import LOCAL, Caller
from footlight.config import Settings
from footlight.errors import (
    BrowserCrashedError,
    BrowserNotInstalledError,
    InvalidParameterError,
    MissingParameterError,
    PermissionDeniedError,
    ResourceExhaustedError,
    SessionNotFoundError,
)
from tests.conftest import ENGINE
from tests.processes import browsers_in
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="profiles are Chromium's"),
]

PLAIN = LaunchOptions()
ADA, BOB = (Caller(name, connection=name, named=True) for name in ("ada", "bob"))
LIMIT_SECONDS = 60.0


@pytest.fixture(autouse=True)
def ports_of_this_worker(worker_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The port comes from the name, and another worker may have a session of that name open."""
    first = DEBUGGING_PORTS.start + 1_000 * (int(worker_id.removeprefix("gw").replace("master", "0")) % 10)
    monkeypatch.setattr("footlight.browser.launch.profiles.DEBUGGING_PORTS", range(first, first + 1_000))


@asynccontextmanager
async def serve_sessions(
    folder: Path, *, on_change: Callable[[SessionChange], None] = lambda _: None, **settings: Any
) -> AsyncGenerator[NamedSessions]:
    """Yield a server's table of sessions, with its profiles in this folder."""
    directory = {"directory": str(folder / "sessions")}
    engine = Engine(
        Settings.model_validate({"toolset": "szkrabok", "profiles": directory, **settings}),
        on_change=on_change,
        named_sessions=True,
    )
    engine.start()
    try:
        sessions = await engine.sessions()
        assert isinstance(sessions, NamedSessions)
        yield sessions
    finally:
        await engine.close()


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncGenerator[NamedSessions]:
    async with serve_sessions(tmp_path) as table:
        yield table


async def open_session(sessions: NamedSessions, name: str, options: LaunchOptions = PLAIN) -> Session:
    return (await sessions.open(name, options, caller=LOCAL)).session


async def evaluate_in(session: Session, script: str, url: str | None = None) -> Any:
    """Return the result of a script in the page of the session."""
    page = (await session.page_table.get()).playwright
    if url is not None:
        await page.goto(url)
    return await page.evaluate(script)


def is_free(port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return trial.connect_ex(("127.0.0.1", port)) != 0


def list_left(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "sessions").iterdir())


def exists(path: Path) -> bool:
    return path.exists()


async def check_refused(work: Awaitable[object], error: type[Exception], match: str) -> Any:
    with pytest.raises(error, match=match) as raised:
        async with asyncio.timeout(LIMIT_SECONDS):
            await work
    return raised.value


# A profile


WRITE = "document.cookie = 'login=ada; max-age=3600'; localStorage.cart = '7'"
READ = "[document.cookie, localStorage.cart ?? null]"


@pytest.mark.slow
async def test_a_profile_outlives_its_session_and_its_server(site: Site, tmp_path: Path) -> None:
    """The folder has the name of the session."""
    url = site.page("<p>x</p>")
    async with serve_sessions(tmp_path) as sessions:
        await evaluate_in(await open_session(sessions, "p4n-test"), WRITE, url)
        await sessions.close("p4n-test", caller=LOCAL)
        assert await evaluate_in(await open_session(sessions, "p4n-test"), READ, url) == ["login=ada", "7"]
    async with serve_sessions(tmp_path) as sessions:
        assert await evaluate_in(await open_session(sessions, "p4n-test"), READ, url) == ["login=ada", "7"]

    assert list_left(tmp_path) == [".p4n-test.json", "p4n-test"]


async def test_sessions_with_different_names_are_isolated(site: Site, sessions: NamedSessions) -> None:
    url = site.page("<p>x</p>")
    await evaluate_in(await open_session(sessions, "one"), WRITE, url)

    assert await evaluate_in(await open_session(sessions, "two"), READ, url) == ["", None]
    assert [session.id for session in sessions.list(caller=LOCAL)] == ["one", "two"]
    assert [profile.name for profile in sessions.profiles(caller=LOCAL)] == ["one", "two"]


@pytest.mark.slow
async def test_initial_page_of_the_browser_is_the_first_page(sessions: NamedSessions) -> None:
    session = await open_session(sessions, "shop")

    page = await session.page_table.get()
    assert (page.id, page.url, session.pages) == ("page-1", "about:blank", [page])

    await page.close()
    assert (await session.page_table.get()).id == "page-2"


@pytest.mark.slow
async def test_a_popup_is_a_page_of_the_session(site: Site, sessions: NamedSessions) -> None:
    """Its browser's only context is not one that Playwright made."""
    session = await open_session(sessions, "shop")
    url = site.page("<p>x</p>")
    await evaluate_in(session, "0", url)

    session.actions.begin(acts=True)
    async with (await session.page_table.get()).playwright.context.expect_page():
        await evaluate_in(session, f"void open('{url}')")
    await session.actions.settle(Deadline.after(LIMIT_SECONDS * 1000))

    assert [event.page_id for event in session.actions.take_events().pages] == ["page-2"]


@pytest.mark.slow
async def test_no_browser_runs_before_opening_or_after_closing(tmp_path: Path) -> None:
    async with serve_sessions(tmp_path) as sessions:
        assert browsers_in(tmp_path) == []

        session = await open_session(sessions, "shop")
        running = browsers_in(tmp_path)
        port = sessions.endpoint("shop", caller=LOCAL).port
        assert (len(running) > 0, is_free(port)) == (True, False)

        await sessions.close("shop", caller=LOCAL)
        assert [each for each in running if each.is_running()] == []
        assert is_free(port)
        assert session.has_ended
        await open_session(sessions, "shop")
    assert browsers_in(tmp_path) == []
    assert is_free(port)


# Opening


@pytest.mark.slow
async def test_concurrent_opens_share_one_session(sessions: NamedSessions) -> None:
    first, second = await asyncio.gather(*(sessions.open("shop", PLAIN, caller=LOCAL) for _ in range(2)))

    assert (first.session, first.already_open, second.already_open) == (second.session, False, True)
    assert sessions.count == 1


@pytest.mark.slow
async def test_open_session_refuses_other_options(sessions: NamedSessions) -> None:
    await open_session(sessions, "shop", LaunchOptions(locale="de-DE"))

    error = await check_refused(
        sessions.open("shop", LaunchOptions(locale="fr-FR"), caller=LOCAL),
        InvalidParameterError,
        "^launchOptions: the session is already open with other options",
    )
    same = await sessions.open("shop", LaunchOptions(locale="de-DE"), caller=LOCAL)

    assert error.details == {"parameter": "launchOptions", "inForce": {"locale": "de-DE"}}
    assert same.already_open


@pytest.mark.slow
async def test_saved_options_apply_when_reopened(sessions: NamedSessions) -> None:
    """What is said counts, then what was saved, then the settings."""
    asks = "[navigator.language, innerWidth]"
    first = await open_session(sessions, "shop", LaunchOptions(locale="de-DE", viewport=(700, 500)))
    assert await evaluate_in(first, asks) == ["de-DE", 700]
    await sessions.close("shop", caller=LOCAL)

    second = await open_session(sessions, "shop", LaunchOptions(viewport=(600, 400)))
    assert await evaluate_in(second, asks) == ["de-DE", 600]
    await sessions.close("shop", caller=LOCAL)

    third = await sessions.open("shop", PLAIN, caller=LOCAL)
    assert await evaluate_in(third.session, asks) == ["de-DE", 600]
    assert third.profile.options == LaunchOptions(locale="de-DE", viewport=(600, 400))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["../x", "a/b", ".", "", "CON", "nul.txt", "%2e%2e", "x" * 65, "x."])
async def test_path_traversal_in_session_name_is_refused(
    sessions: NamedSessions, tmp_path: Path, name: str
) -> None:
    for work in (
        sessions.open(name, PLAIN, caller=LOCAL),
        sessions.delete(name, caller=LOCAL),
        sessions.close(name, caller=LOCAL),
        sessions.get(name, caller=LOCAL),
    ):
        await check_refused(work, InvalidParameterError, "^sessionName: ")
    assert not exists(tmp_path / "sessions")


@pytest.mark.slow
async def test_failed_open_leaves_no_profile(sessions: NamedSessions, tmp_path: Path) -> None:
    """Lessons 2.0: leftover directories."""
    await check_refused(
        sessions.open("shop", LaunchOptions(timezone="Mars/Base"), caller=LOCAL),
        InvalidParameterError,
        "launchOptions.timezone: Invalid timezone",
    )

    assert list_left(tmp_path) == []
    assert (await sessions.open("shop", PLAIN, caller=LOCAL)).profile.options == PLAIN


async def test_browser_death_during_start_is_reported_and_retryable(
    sessions: NamedSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listens = persistent_launch._is_listening  # pyright: ignore[reportPrivateUsage]

    def dies(process: psutil.Process, port: int) -> bool:
        process.kill()
        process.wait(LIMIT_SECONDS)
        return listens(process, port)

    with monkeypatch.context() as patched:
        patched.setattr(persistent_launch, "_is_listening", dies)
        work = sessions.open("short", PLAIN, caller=LOCAL)
        await check_refused(work, BrowserNotInstalledError, "did not start: it ended at once")
    assert browsers_in(tmp_path) == []

    assert await evaluate_in(await open_session(sessions, "short"), "1 + 1") == 2


@pytest.mark.slow
async def test_number_of_open_sessions_is_limited(tmp_path: Path) -> None:
    async with serve_sessions(tmp_path, pool={"minBrowsers": 0, "maxBrowsers": 1}) as sessions:
        await open_session(sessions, "one")

        error = await check_refused(
            sessions.open("two", PLAIN, caller=LOCAL), ResourceExhaustedError, "All 1 browsers are in use"
        )
        assert error.details == {"maxBrowsers": 1}
        await sessions.close("one", caller=LOCAL)
        await open_session(sessions, "two")


@pytest.mark.slow
async def test_session_is_closed_when_its_opener_is_cancelled(tmp_path: Path) -> None:
    ended = asyncio.Event()

    def on_change(change: SessionChange) -> None:
        if change.kind == "closed" and change.page_id is None:
            ended.set()

    async with serve_sessions(tmp_path, on_change=on_change) as sessions:
        opening = asyncio.create_task(sessions.open("shop", PLAIN, caller=LOCAL))
        while not exists(tmp_path / "sessions" / ".shop.lock"):
            await anyio.lowlevel.checkpoint()
        opening.cancel()
        async with asyncio.timeout(LIMIT_SECONDS):
            await asyncio.wait([opening])
            await ended.wait()

        assert opening.cancelled()
        assert sessions.count == 0
        assert not (await sessions.open("shop", PLAIN, caller=LOCAL)).already_open


# Not open


async def test_error_for_closed_session_explains_how_to_open(sessions: NamedSessions) -> None:
    await open_session(sessions, "shop")
    await sessions.close("shop", caller=LOCAL)

    closed = await check_refused(
        sessions.get("shop", caller=LOCAL), SessionNotFoundError, '^Session "shop" was closed$'
    )
    never = await check_refused(
        sessions.get("none", caller=LOCAL), SessionNotFoundError, '"none" does not exist$'
    )

    assert (closed.suggestion, closed.details) == ("Call session.open first.", {"sessionName": "shop"})
    assert (never.suggestion, never.details) == ("Call session.open first.", {"sessionName": "none"})
    await check_refused(sessions.close("shop", caller=LOCAL), SessionNotFoundError, "was closed$")
    with pytest.raises(SessionNotFoundError, match=r"was closed$"):
        sessions.endpoint("shop", caller=LOCAL)
    await check_refused(sessions.get(None, caller=LOCAL), MissingParameterError, "^sessionName: required$")


@pytest.mark.slow
async def test_saved_profile_is_not_opened_automatically(tmp_path: Path) -> None:
    async with serve_sessions(tmp_path) as sessions:
        await open_session(sessions, "shop")
    async with serve_sessions(tmp_path) as sessions:
        await check_refused(
            sessions.get("shop", caller=LOCAL),
            SessionNotFoundError,
            '"shop" is not open; its profile is on disk$',
        )


@pytest.mark.slow
async def test_idle_session_is_closed(tmp_path: Path) -> None:
    async with serve_sessions(tmp_path, session={"idleTimeout": 60_000}) as sessions:
        session = await open_session(sessions, "shop")
        session.last_used -= 61

        await sessions.reap()

        assert is_free(sessions.profiles(caller=LOCAL)[0].port)
        await check_refused(sessions.get("shop", caller=LOCAL), SessionNotFoundError, "expired after 60000ms")
        await open_session(sessions, "shop")


@pytest.mark.slow
async def test_a_crash_is_reported_once(site: Site, tmp_path: Path) -> None:
    """And the session opens again, as it was."""
    news: list[str] = []
    async with serve_sessions(tmp_path, on_change=lambda change: news.append(change.kind)) as sessions:
        session = await open_session(sessions, "shop", LaunchOptions(locale="de-DE"))
        await evaluate_in(session, WRITE, site.page("<p>x</p>"))
        browser = sessions._resources[session].browser.process  # pyright: ignore[reportPrivateUsage]
        browser.kill()
        async with asyncio.timeout(LIMIT_SECONDS):
            await session.browser.disconnected.wait()

        error = await check_refused(
            sessions.get("shop", caller=LOCAL), BrowserCrashedError, "The browser crashed; "
        )
        assert error.message == "The browser crashed; session.open opens the session again"
        await check_refused(
            sessions.get("shop", caller=LOCAL), SessionNotFoundError, '^Session "shop" crashed$'
        )
        assert (sessions.count, news.count("opened"), news[-1]) == (0, 2, "closed")
        assert sessions.profiles(caller=LOCAL)[0].held_by is None

        again = await sessions.open("shop", PLAIN, caller=LOCAL)
        assert again.profile.options == LaunchOptions(locale="de-DE")
        assert await evaluate_in(again.session, "navigator.language") == "de-DE"


@pytest.mark.slow
async def test_unnoticed_crash_does_not_prevent_reopening(sessions: NamedSessions) -> None:
    session = await open_session(sessions, "shop")
    sessions._resources[session].browser.process.kill()  # pyright: ignore[reportPrivateUsage]
    async with asyncio.timeout(LIMIT_SECONDS):
        await session.browser.disconnected.wait()

    again = await sessions.open("shop", PLAIN, caller=LOCAL)

    assert (again.already_open, again.session.alive, sessions.count) == (False, True, 1)


# Deleting


@pytest.mark.slow
async def test_deleting_ends_the_session_and_removes_the_profile(
    sessions: NamedSessions, tmp_path: Path
) -> None:
    """Lessons 2.0, 16: the lock of the name is not taken twice."""
    await open_session(sessions, "shop")
    async with asyncio.timeout(LIMIT_SECONDS):
        await sessions.delete("shop", caller=LOCAL)

    assert (sessions.count, list_left(tmp_path)) == (0, [])
    await check_refused(
        sessions.delete("shop", caller=LOCAL), SessionNotFoundError, 'There is no profile "shop"'
    )


@pytest.mark.slow
async def test_concurrent_open_and_delete_finish(sessions: NamedSessions, tmp_path: Path) -> None:
    async with asyncio.timeout(2 * LIMIT_SECONDS):
        outcomes = await asyncio.gather(
            sessions.open("shop", PLAIN, caller=LOCAL),
            sessions.delete("shop", caller=LOCAL),
            sessions.open("shop", PLAIN, caller=LOCAL),
            sessions.delete("shop", caller=LOCAL),
        )

    assert [type(outcome).__name__ for outcome in outcomes] == ["OpenedSession", "NoneType"] * 2
    assert (sessions.count, list_left(tmp_path)) == (0, [])


@pytest.mark.slow
async def test_session_being_closed_can_be_reopened(sessions: NamedSessions) -> None:
    await open_session(sessions, "shop")

    _, again = await asyncio.gather(
        sessions.close("shop", caller=LOCAL), sessions.open("shop", PLAIN, caller=LOCAL)
    )

    assert (again.already_open, again.session.alive, sessions.count) == (False, True, 1)


@pytest.mark.slow
async def test_symbolic_link_among_profiles_is_refused(sessions: NamedSessions, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "Default").mkdir(parents=True)
    await open_session(sessions, "shop")
    (tmp_path / "sessions" / "link").symlink_to(outside)

    await check_refused(sessions.open("link", PLAIN, caller=LOCAL), InvalidParameterError, "link is a link")
    await check_refused(sessions.delete("link", caller=LOCAL), InvalidParameterError, "link is a link")

    assert [path.name for path in outside.iterdir()] == ["Default"]


# Others


OTHER = """
import asyncio, sys
from footlight.browser.sessions.engine import Engine
from footlight.browser.launch.launch_options import LaunchOptions
from footlight.caller import LOCAL
from footlight.config import Settings

async def main():
    directory = {"directory": sys.argv[2]}
    settings = Settings.model_validate({"toolset": "szkrabok", "profiles": directory})
    engine = Engine(settings, named_sessions=True)
    engine.start()
    sessions = await engine.sessions()
    opened = await sessions.open("p4n-test", LaunchOptions(), caller=LOCAL)
    print(sessions._resources[opened.session].browser.process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.slow
async def test_profile_in_use_error_names_the_other_process(sessions: NamedSessions, tmp_path: Path) -> None:
    """Lessons 2.0: "profile in use". When that process is killed, so is its browser, and the profile free."""
    command = [sys.executable, "-c", OTHER, "serve", str(tmp_path / "sessions")]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            browser = psutil.Process(int(await process.stdout.readline()))

        message = rf"^profile p4n-test is in use by process {process.pid} \(footlight serve\) since "
        for work in (
            sessions.open("p4n-test", PLAIN, caller=LOCAL),
            sessions.delete("p4n-test", caller=LOCAL),
        ):
            error = await check_refused(work, ResourceExhaustedError, message)
            assert error.suggestion == "Close it there, or give another sessionName."
        [info] = sessions.profiles(caller=LOCAL)
        assert info.held_by is not None
        assert info.held_by.pid == process.pid
    finally:
        process.kill()
        await process.wait()

    async with asyncio.timeout(LIMIT_SECONDS):
        again = await sessions.open("p4n-test", PLAIN, caller=LOCAL)
    assert not browser.is_running() or browser.status() == psutil.STATUS_ZOMBIE
    assert again.profile.held_by is not None
    assert again.profile.held_by.pid == os.getpid()


@pytest.mark.slow
async def test_port_in_use_error_names_the_process(sessions: NamedSessions, tmp_path: Path) -> None:
    """It is documented to come from the name, so no other is taken in its place."""
    port = sessions._profiles.port_of("p4n-test")  # pyright: ignore[reportPrivateUsage]
    with socket.create_server(("127.0.0.1", port)):
        error = await check_refused(
            sessions.open("p4n-test", PLAIN, caller=LOCAL),
            ResourceExhaustedError,
            f"^port {port}, on which the browser of this session listens, is taken by process",
        )
    assert f"process {os.getpid()} (" in error.message
    assert error.details == {"port": port}
    assert list_left(tmp_path) == []

    assert (await open_session(sessions, "p4n-test")).alive


@pytest.mark.slow
async def test_two_names_with_the_same_port_are_not_open_together(
    sessions: NamedSessions, tmp_path: Path
) -> None:
    store = sessions._profiles  # pyright: ignore[reportPrivateUsage]
    expected = store.port_of("shop")
    twin = next(name for n in itertools.count() if store.port_of(name := f"shop-{n}") == expected)
    await open_session(sessions, "shop")

    error = await check_refused(
        sessions.open(twin, PLAIN, caller=LOCAL),
        ResourceExhaustedError,
        f"^port {expected} is in use by the open session shop$",
    )

    assert error.suggestion == "Close shop first, or give another sessionName."
    await sessions.close("shop", caller=LOCAL)
    await open_session(sessions, twin)


@pytest.mark.slow
async def test_principals_have_separate_session_names(site: Site, sessions: NamedSessions) -> None:
    url = site.page("<p>x</p>")
    hers = await sessions.open("shop", PLAIN, caller=ADA)
    await evaluate_in(hers.session, WRITE, url)

    await check_refused(
        sessions.get("shop", caller=BOB), SessionNotFoundError, '^Session "shop" does not exist$'
    )
    await check_refused(sessions.get(hers.session.id, caller=BOB), InvalidParameterError, "^sessionName: ")
    await check_refused(sessions.delete("shop", caller=BOB), SessionNotFoundError, "no profile")
    assert (sessions.profiles(caller=BOB), sessions.profiles(caller=LOCAL)) == ([], [])

    his = await sessions.open("shop", PLAIN, caller=BOB)
    assert await evaluate_in(his.session, READ, url) == ["", None]
    assert await sessions.get("shop", caller=ADA) is hers.session
    assert sessions.find(hers.session.id, caller=ADA) is hers.session
    assert sessions.list(caller=BOB) == [his.session]


@pytest.mark.slow
async def test_leaving_principal_ends_its_sessions(sessions: NamedSessions) -> None:
    await open_session(sessions, "mine")
    hers = await sessions.open("hers", PLAIN, caller=ADA)

    await sessions.leave(ADA.principal)

    assert (sessions.count, hers.session.has_ended) == (1, True)
    assert [profile.name for profile in sessions.profiles(caller=ADA)] == ["hers"]
    await check_refused(
        sessions.open("hers", PLAIN, caller=ADA), SessionNotFoundError, "ended with its connection"
    )
    assert sessions.count == 1


# Debuggers


@pytest.mark.slow
async def test_a_debugger_attaches_to_the_endpoint(site: Site, sessions: NamedSessions) -> None:
    session = await open_session(sessions, "p4n-test")
    await evaluate_in(session, "document.title = 'seen'", site.page("<p>x</p>"))

    endpoint = sessions.endpoint("p4n-test", caller=LOCAL)

    assert endpoint.http == f"http://127.0.0.1:{endpoint.port}"
    assert endpoint.ws.startswith(f"ws://127.0.0.1:{endpoint.port}/devtools/browser/")
    async with async_playwright() as other:
        for address in (endpoint.http, endpoint.ws):
            browser = await other.chromium.connect_over_cdp(address)
            assert await browser.contexts[0].pages[0].title() == "seen"
            await browser.close()
    assert session.alive


@pytest.mark.slow
async def test_a_page_cannot_debug_its_own_browser(site: Site, sessions: NamedSessions) -> None:
    """Chromium refuses debuggers that come from a page."""
    session = await open_session(sessions, "shop")
    ws = sessions.endpoint("shop", caller=LOCAL).ws

    outcome = await evaluate_in(
        session,
        f"new Promise(done => {{ const s = new WebSocket('{ws}');"
        "s.onopen = () => done('open'); s.onerror = () => done('refused') })",
        site.page("<p>x</p>"),
    )

    assert outcome == "refused"


HERE = (
    *("127.0.0.1", "localhost", "localhost.", "a.localhost", "2130706433", "0.0.0.0"),
    *("[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]"),
)


@pytest.mark.slow
async def test_pages_cannot_reach_any_debugging_port(site: Site, sessions: NamedSessions) -> None:
    """Who debugs a browser can open files in it."""
    session = await open_session(sessions, "shop")
    await open_session(sessions, "other")
    await evaluate_in(session, "0", site.page("<p>x</p>"))
    for name, host in itertools.product(("shop", "other"), HERE):
        at = f"http://{host}:{sessions.endpoint(name, caller=LOCAL).port}/json/version"
        with pytest.raises(PermissionDeniedError, match="are for debuggers"):
            session.policy.check_url(at)
        ask = f"fetch('{at}', {{mode: 'no-cors'}}).then(() => 'reached', String)"
        assert await evaluate_in(session, ask) == "TypeError: Failed to fetch"
        page = await session.context.new_page()
        with pytest.raises(Error, match="net::ERR_NAME_NOT_RESOLVED"):
            await page.goto(site.redirect(at))
        await page.close()


@pytest.mark.slow
async def test_pages_cannot_reach_debugging_port_through_the_proxy(site: Site, tmp_path: Path) -> None:
    async with serve_sessions(tmp_path, security={"blockedDomains": ["blocked.test"]}) as sessions:
        session = await open_session(sessions, "shop")
        page = (await session.page_table.get()).playwright
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            at = f"http://{host}:{sessions.endpoint('shop', caller=LOCAL).port}/json/version"
            response = await page.goto(site.redirect(at))
            assert response is not None
            assert response.status == 403


async def test_only_debugging_ports_are_blocked() -> None:
    rules = close_debugging_ports(["--mute", "--host-resolver-rules=MAP a.test ~NOTFOUND"])

    assert rules[0] == "--mute"
    assert rules[1].startswith("--host-resolver-rules=MAP localhost:2??? localhost, ")
    assert rules[1].endswith(", MAP a.test ~NOTFOUND")
    assert len(rules) == 2


async def test_unwritable_profile_folder_is_reported_and_leaves_no_browser(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file")
    async with serve_sessions(tmp_path) as sessions:
        error = await check_refused(
            sessions.open("shop", PLAIN, caller=LOCAL),
            PermissionDeniedError,
            "The folder of the profiles cannot be written to: File exists",
        )
        assert error.details == {"setting": "profiles.directory"}
        assert sessions.profiles(caller=LOCAL) == []


@pytest.mark.slow
async def test_debugging_port_listens_on_loopback_only(sessions: NamedSessions) -> None:
    session = await open_session(sessions, "shop")
    held = sessions._resources[session]  # pyright: ignore[reportPrivateUsage]

    listening = {
        each.laddr[0]
        for each in held.browser.process.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    }

    assert listening == {"127.0.0.1"}


@pytest.mark.slow
async def test_domain_policy_applies_to_profiles(site: Site, tmp_path: Path) -> None:
    url = site.page("<p>x</p>")
    path = url.removeprefix(site.url)
    async with serve_sessions(tmp_path, security={"allowedDomains": ["127.0.0.1"]}) as sessions:
        session = await open_session(sessions, "shop")

        assert await evaluate_in(session, "document.body.innerText", url) == "x"
        page = (await session.page_table.get()).playwright
        response = await page.goto(site.at("localhost") + path)

    assert response is not None
    assert response.headers["x-footlight-refused"] == "localhost"


# What pages and servers see


TELL = """JSON.stringify({
  agent: navigator.userAgent, language: navigator.language, languages: navigator.languages,
  intl: Intl.NumberFormat().resolvedOptions().locale,
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  brands: navigator.userAgentData.brands.map(each => each.brand),
  mobile: navigator.userAgentData.mobile,
})"""
SCRIPTS = {
    "/worker.js": f"postMessage({TELL})",
    "/shared.js": f"onconnect = event => event.ports[0].postMessage({TELL})",
    "/service.js": f"""onmessage = async event => {{
        await fetch('/from-service'); event.source.postMessage({TELL}) }};
        onactivate = event => event.waitUntil(clients.claim())""",
}
ASK = {
    "page": TELL,
    "worker": "new Promise(done => new Worker('/worker.js').onmessage = event => done(event.data))",
    "shared worker": """new Promise(done =>
        new SharedWorker('/shared.js').port.onmessage = event => done(event.data))""",
    "service worker": """new Promise(async done => {
        navigator.serviceWorker.onmessage = event => done(event.data);
        await navigator.serviceWorker.register('/service.js');
        (await navigator.serviceWorker.ready).active.postMessage(0) })""",
}


class Mirror:
    """A site that remembers what it was sent, and whose scripts tell what they see."""

    def __init__(self, site: Site) -> None:
        self.sent: dict[str, dict[str, str]] = {}
        for path in ("/mirror", "/popup", "/from-service", *SCRIPTS):
            site.route(self._answer, path=path)
        self.url = site.url + "/mirror"

    async def _answer(self, request: Request) -> Response:
        self.sent[request.url.path] = dict(request.headers)
        script = SCRIPTS.get(request.url.path)
        return Response(script, media_type="text/javascript") if script else HTMLResponse("<p>x</p>")

    def header(self, name: str) -> dict[str, str | None]:
        return {path: headers.get(name) for path, headers in self.sent.items()}


async def read_identities(session: Session, mirror: Mirror) -> dict[str, dict[str, Any]]:
    """Return the browser's identity as seen by scripts, in all places where scripts run."""
    await evaluate_in(session, "0", mirror.url)
    data = {where: json.loads(await evaluate_in(session, script)) for where, script in ASK.items()}
    page = (await session.page_table.get()).playwright
    async with page.expect_popup() as opening:
        await page.evaluate("void open('/popup')")
    popup = await opening.value
    await popup.wait_for_load_state()
    return {**data, "popup": json.loads(await popup.evaluate(TELL))}


@pytest.mark.slow
async def test_stealth_preset_is_consistent_in_pages_workers_and_headers(
    site: Site, sessions: NamedSessions
) -> None:
    """Parts that do not fit each other are worse than none."""
    mirror = Mirror(site)
    options = LaunchOptions(preset="desktop-de", stealth=True)
    outcome = await sessions.open("shop", options, caller=LOCAL)

    reported = await read_identities(outcome.session, mirror)

    agent = reported["page"]["agent"]
    version = outcome.session.browser.browser.version.split(".")[0]
    assert f" Chrome/{version}.0.0.0 " in agent
    assert "Headless" not in json.dumps([reported, mirror.sent])
    brands = reported["page"]["brands"]
    same = {
        "agent": agent,
        "language": "de-DE",
        "languages": ["de-DE"],
        "intl": "de-DE",
        "timezone": "Europe/Berlin",
        "brands": brands,
        "mobile": False,
    }
    assert reported == {
        where: same for where in ("page", "worker", "shared worker", "service worker", "popup")
    }
    assert "Chromium" in brands
    assert mirror.header("user-agent") == dict.fromkeys(mirror.sent, agent)
    languages = mirror.header("accept-language")
    # The script of a service worker is fetched by the browser, which adds the language without its country.
    assert languages.pop("/service.js") in ("de-DE", "de-DE,de;q=0.9")
    assert languages == dict.fromkeys(languages, "de-DE")
    assert await evaluate_in(outcome.session, "[innerWidth, innerHeight, screen.width]") == [1440, 900, 1440]
    assert {measure.name for measure in outcome.measures if measure.on} == {
        *("userAgent", "locale", "timezone", "viewport", "clientHints"),
    }


@pytest.mark.slow
async def test_custom_options_are_consistent_in_pages_workers_and_headers(
    site: Site, sessions: NamedSessions
) -> None:
    mirror = Mirror(site)
    options = LaunchOptions(
        user_agent="Mozilla/5.0 Robot/1", locale="fr-FR", timezone="Asia/Tokyo", viewport=(640, 480)
    )
    session = await open_session(sessions, "shop", options)

    reported = await read_identities(session, mirror)

    mine = ("agent", "language", "intl", "timezone")
    for where, each in reported.items():
        said = [each[key] for key in mine]
        assert said == ["Mozilla/5.0 Robot/1", "fr-FR", "fr-FR", "Asia/Tokyo"], where
    assert mirror.header("user-agent") == dict.fromkeys(mirror.sent, "Mozilla/5.0 Robot/1")
    assert await evaluate_in(session, "innerWidth") == 640


@pytest.mark.parametrize(
    ("preset", "system", "width"),
    sample_parameters(
        [("mobile-android", "Android", 412), ("mobile-iphone", "iPhone", 393)],
        ("mobile-android", "Android", 412),
    ),
)
async def test_mobile_preset_is_consistent_in_pages_and_headers(
    site: Site, sessions: NamedSessions, preset: str, system: str, width: int
) -> None:
    mirror = Mirror(site)
    session = await open_session(sessions, "shop", LaunchOptions(preset=preset))

    await evaluate_in(session, "0", mirror.url)
    displayed = "<meta name=viewport content='width=device-width'>"
    data = json.loads(await evaluate_in(session, TELL, site.page(displayed)))

    assert system in data["agent"]
    assert mirror.sent["/mirror"]["user-agent"] == data["agent"]
    assert mirror.sent["/mirror"]["accept-language"] == data["language"] == "en-US"
    assert data["mobile"] is True
    assert data["timezone"] == "America/New_York"
    assert await evaluate_in(session, "[innerWidth, navigator.maxTouchPoints > 0]") == [width, True]


@pytest.mark.slow
@pytest.mark.parametrize("disabled", [True, False])
async def test_webgl_is_available_unless_disabled(sessions: NamedSessions, disabled: bool) -> None:
    session = await open_session(sessions, "shop", LaunchOptions(disable_webgl=disabled))

    kinds = ("webgl", "webgl2", "experimental-webgl")
    found = await evaluate_in(
        session,
        f"{json.dumps(kinds)}.map(kind => !!document.createElement('canvas').getContext(kind))",
    )

    assert found == [not disabled] * 3
