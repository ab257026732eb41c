"""The options of a new session."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import SessionBrowser, connect_browser
from tests.e2e.test_link_local import HOSTS
from tests.processes import descendants_of, line_of, name_of
from tests.site import Site

pytestmark = pytest.mark.anyio

SEEN = """({
  agent: navigator.userAgent, size: [innerWidth, innerHeight], screen: [screen.width, screen.height],
  scale: devicePixelRatio, touch: navigator.maxTouchPoints > 0, language: navigator.language,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches,
})"""

PAGE = "<meta name=viewport content='width=device-width'><p>x</p>"


@asynccontextmanager
async def open_session(browser: SessionBrowser, **options: Any) -> AsyncGenerator[SessionBrowser]:
    """Yield a session with these options."""
    session_id = (await browser.call("create_session", **options))["sessionId"]
    yield SessionBrowser(browser, session_id)
    await browser.call("close_session", sessionId=session_id)


async def read_seen(browser: SessionBrowser, script: str = SEEN) -> Any:
    return (await browser.call("evaluate", script=script))["result"]


async def test_device_sets_viewport_user_agent_and_touch(browser: SessionBrowser) -> None:
    async with open_session(browser, device="iphone 13") as phone:
        await phone.show(PAGE)
        look = await read_seen(phone)

        assert "iPhone" in look["agent"]
        assert (look["size"], look["screen"]) == ([390, 664], [390, 844])
        assert (look["scale"], look["touch"]) == (3, True)


async def test_explicit_options_override_the_device(browser: SessionBrowser) -> None:
    viewport = {"width": 500, "height": 400}
    async with open_session(browser, device="iPhone 13", userAgent="Lamp/7", viewport=viewport) as phone:
        await phone.show(PAGE)
        look = await read_seen(phone)

        assert (look["agent"], look["size"], look["scale"]) == ("Lamp/7", [500, 400], 3)


async def test_unknown_device_error_lists_the_closest(browser: SessionBrowser) -> None:
    error = await browser.refused("create_session", device="iPhone 13 Ultra")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == "device"
    assert "iPhone 13" in error["details"]["closest"]
    assert error["message"].startswith("device: no device is named 'iPhone 13 Ultra'; the closest are iPhone")


async def test_locale_timezone_color_scheme_and_motion_apply(browser: SessionBrowser) -> None:
    async with open_session(
        browser, locale="de-DE", timezone="Asia/Tokyo", colorScheme="dark", reducedMotion="reduce"
    ) as session:
        await session.show(PAGE)
        look = await read_seen(session)

    assert (look["language"], look["zone"], look["dark"], look["still"]) == (
        "de-DE",
        "Asia/Tokyo",
        True,
        True,
    )


async def test_geolocation_includes_its_permission(browser: SessionBrowser) -> None:
    place = {"latitude": 48.2, "longitude": 16.4}
    async with open_session(browser, geolocation=place) as session:
        await session.show(PAGE)
        at = await read_seen(
            session,
            """new Promise((found, failed) => navigator.geolocation.getCurrentPosition(
                 it => found([it.coords.latitude, it.coords.longitude]), failed))""",
        )

    assert at == [48.2, 16.4]


async def test_permissions_are_granted(browser: SessionBrowser) -> None:
    asked = "navigator.permissions.query({name: 'notifications'}).then(it => it.state)"
    async with open_session(browser, permissions=["notifications"]) as session:
        await session.show(PAGE)
        assert await read_seen(session, asked) == "granted"


async def test_extra_headers_are_sent_with_every_request(browser: SessionBrowser) -> None:
    async def headers(request: Request) -> Response:
        return JSONResponse(request.headers.get("x-lamp"))

    async with open_session(browser, extraHeaders={"X-Lamp": "lit"}) as session:
        await session.call("navigate", url=browser.site.route(headers))
        assert await session.call("get_text", selector="body") == {"text": '"lit"'}


@pytest.mark.one_machine("passwords are given by the name of a secret")
async def test_credentials_answer_http_authentication(browser: SessionBrowser) -> None:
    async def answer_guarded(request: Request) -> Response:
        given = request.headers.get("authorization")
        if given is None:
            return Response("who?", 401, {"WWW-Authenticate": "Basic realm=lamp"})
        return Response(b64decode(given.removeprefix("Basic ")))

    url = browser.site.route(answer_guarded)
    credentials = {"username": "ada", "password": "p4ss:word"}
    async with open_session(browser, httpCredentials=credentials) as session:
        await session.call("navigate", url=url)
        assert await session.call("get_text", selector="body") == {"text": "ada:p4ss:word"}
        assert "p4ss" not in json.dumps(await browser.call("list_sessions"))


async def test_saved_state_is_restored_when_the_session_is_created(browser: SessionBrowser) -> None:
    name = f"kept-{browser.session_id[:8].strip('-_')}"
    url = browser.site.page("<p>x</p>")
    await browser.call("navigate", url=url)
    await browser.call("evaluate", script="localStorage.lamp = 'lit'; document.cookie = 'seen=yes'")
    await browser.call("save_state", name=name)

    async with open_session(browser, state=name) as session:
        await session.call("navigate", url=url)
        assert await read_seen(session, "[localStorage.lamp, document.cookie]") == ["lit", "seen=yes"]

    error = await browser.refused("create_session", state="../lamp")
    assert error["details"] == {"parameter": "state"}
    assert error["message"].startswith("state: no state named '../lamp' is saved; saved: ")
    assert name in error["message"]


async def test_init_scripts_run_before_the_scripts_of_the_page(browser: SessionBrowser) -> None:
    async with open_session(browser, initScripts=["window.lamp = 'lit'", "window.lamp += '!'"]) as session:
        await session.show("<script>document.title = lamp</script>")
        assert await read_seen(session, "document.title") == "lit!"


@pytest.mark.slow
async def test_init_scripts_need_the_script_evaluation_permission(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, "--state-directory", str(tmp_path)) as browser:
        error = await browser.refused("create_session", initScripts=["1"])

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"] == {"setting": "security.enableScriptEvaluation", "parameter": "initScripts"}


async def test_dialogs_are_answered_by_the_session_policy(browser: SessionBrowser) -> None:
    page = "<button onclick='this.textContent = confirm()'>go</button>"
    for answer in ("accept", "dismiss"):
        async with open_session(browser, dialogs={"confirm": answer}) as session:
            await session.show(page)
            await session.call("click", selector="button")
            text = await session.call("get_text", selector="button")
            assert text == {"text": str(answer == "accept").lower()}


async def test_a_session_can_begin_offline(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>here</p>")
    async with open_session(browser, offline=True) as session:
        error = await session.refused("navigate", url=url)
        assert "ERR_INTERNET_DISCONNECTED" in error["message"]
        await session.call("set_offline", offline=False)
        await session.call("navigate", url=url)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"locale": "!!"}, "locale"),
        ({"locale": "de\n"}, "locale"),
        ({"timezone": "Nowhere/Else"}, "timezone"),
        ({"permissions": ["levitation"]}, "permissions"),
        ({"permissions": ["\n\n"]}, "permissions"),
        ({"geolocation": {"latitude": 91, "longitude": 0}}, "geolocation.latitude"),
        ({"colorScheme": "red"}, "colorScheme"),
        ({"extraHeaders": {"a b": "c"}}, "extraHeaders"),
        ({"extraHeaders": {"a": "b\nc"}}, "extraHeaders.a"),
        ({"extraHeaders": {"Host": "a.test"}}, "extraHeaders"),
        ({"extraHeaders": {"connection": "Upgrade"}}, "extraHeaders"),
        ({"userAgent": "Lamp/9\r\nX: y"}, "userAgent"),
        ({"timezone": ""}, "timezone"),
        ({"permissions": [""]}, "permissions.0"),
        ({"dialogs": {"alert": "shout"}}, "dialogs.alert"),
        ({"proxy": {"server": "ftp://here"}}, "proxy.server"),
        pytest.param(
            {"httpCredentials": {"username": "a", "password": "b", "origin": "here"}},
            "httpCredentials.origin",
            marks=pytest.mark.one_machine("passwords are given by the name of a secret"),
        ),
    ],
)
async def test_invalid_option_is_refused_by_name(
    browser: SessionBrowser, options: dict[str, Any], parameter: str
) -> None:
    before = await browser.call("list_sessions")

    error = await browser.refused("create_session", **options)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == parameter
    assert len((await browser.call("list_sessions"))["sessions"]) == len(before["sessions"])


@pytest.mark.parametrize(
    "options",
    [
        {"proxy": "http://ada:p4ssword@127.0.0.1:3128"},
        {"proxy": {"server": "http://ada:p4ssword@127.0.0.1:3128"}},
        {"proxy": {"server": "socks5://127.0.0.1:3128", "username": "ada", "password": "p4ssword"}},
        {"proxy": {"server": "http://127.0.0.1", "password": "p4ssword", "colour": "red"}},
        {"httpCredentials": "ada:p4ssword"},
        {"httpCredentials": {"password": "p4ssword"}},
        {"httpCredentials": {"username": "ada", "password": ["p4ssword"]}},
        {"extraHeaders": {"Authorization": "p4ssword\n"}},
        {"extraHeaders": ["Authorization: p4ssword"]},
        {"extraHeaders": {"Authorization": {"Bearer": "p4ssword"}}},
    ],
)
async def test_no_error_shows_a_password(browser: SessionBrowser, options: dict[str, Any]) -> None:
    error = await browser.refused("create_session", **options)

    assert error["code"] in ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert "p4ssword" not in json.dumps(error)


# A proxy of its own


@asynccontextmanager
async def proxy() -> AsyncGenerator[tuple[str, list[tuple[str, str | None]]]]:
    """Yield the URL of a proxy that answers everything itself and asks for credentials, and its requests."""
    seen: list[tuple[str, str | None]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        given = headers.get("Proxy-Authorization")
        seen.append((lines[0].split()[1], given))
        status = "200 OK" if given else "407 Who?\r\nProxy-Authenticate: Basic realm=lamp"
        body = "<p>from the proxy</p>"
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


@pytest.mark.one_machine("passwords are given by the name of a secret")
async def test_proxy_with_credentials_and_bypass_is_used(browser: SessionBrowser) -> None:
    async with proxy() as (url, asked):
        server = {"server": url, "username": "ada", "password": "p4ss", "bypass": "127.0.0.1"}
        async with open_session(browser, proxy=server) as session:
            await session.call("navigate", url="http://lamp.test/one")
            assert await session.call("get_text", selector="p") == {"text": "from the proxy"}
            await session.show("<p>here</p>")
            assert await session.call("get_text", selector="p") == {"text": "here"}

    page = [given for target, given in asked if target == "http://lamp.test/one"]
    assert page == [None, "Basic YWRhOnA0c3M="]
    assert {target for target, _ in asked} <= {"http://lamp.test/one", "http://lamp.test/favicon.ico"}


@pytest.mark.one_machine("passwords are given by the name of a secret")
async def test_proxy_does_not_reach_link_local_addresses(browser: SessionBrowser) -> None:
    """It may run on this machine, and would ask there what the browser refuses to."""
    async with proxy() as (url, asked):
        server = {"server": url, "username": "ada", "password": "p4ss", "bypass": "<-loopback>"}
        async with open_session(browser, proxy=server) as session:
            await session.call("navigate", url="http://lamp.test/")
            for host in HOSTS:
                said = await read_seen(
                    session, f"fetch('http://{host}/', {{mode: 'no-cors'}}).then(() => 'reached', String)"
                )
                assert said == "TypeError: Failed to fetch", host

    assert {target.split("/")[2] for target, _ in asked} == {"lamp.test"}


@pytest.mark.slow
async def test_session_proxy_is_refused_when_domains_are_restricted(site: Site, tmp_path: Path) -> None:
    flags = ("--block-domain", "lamp.test", "--state-directory", str(tmp_path))
    async with connect_browser(site, *flags) as browser:
        error = await browser.refused("create_session", proxy={"server": "http://127.0.0.1:3128"})

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"] == {"parameter": "proxy"}


# What stays of them


KEPT = {
    "userAgent": "Lamp/7",
    "viewport": {"width": 640, "height": 360},
    "locale": "fr-FR",
    "colorScheme": "dark",
    "extraHeaders": {"X-Lamp": "lit", "X-Shop": "secret:SHOP", "Authorization": "Bearer p4ssword"},
    "httpCredentials": {"username": "ada", "password": "p4ssword"},
    "initScripts": ["window.lamp = 'lit'"],
}
"""And a secret and two passwords, which are not kept."""


def with_secret(folder: Path) -> tuple[str, ...]:
    """Return the flags of a server that allows scripts and has the secret SHOP."""
    file = folder / "secrets.env"
    file.write_text("SHOP=s3cret-shop\n")
    file.chmod(0o600)
    return "--enable-script-evaluation", "--secrets", str(file)


LOOK = """[navigator.userAgent, innerWidth, navigator.language,
  matchMedia('(prefers-color-scheme: dark)').matches, window.lamp ?? null]"""


@pytest.mark.slow
async def test_persistent_session_is_restored_with_its_options(site: Site, tmp_path: Path) -> None:
    flags = (*with_secret(tmp_path), "--observe", "none", "--state-directory", str(tmp_path))
    environment = {"FOOTLIGHT_SESSION_PERSISTENT_SESSIONS": "true"}
    async with connect_browser(site, *flags, **environment) as browser:
        session_id = (await browser.call("create_session", **KEPT))["sessionId"]
        await browser.show("<p>x</p>", sessionId=session_id)

    files = list((tmp_path / "sessions").iterdir())
    assert {file.suffix for file in files} == {".json", ".details"}
    assert not any(word in file.read_text() for file in files for word in ("p4ssword", "s3cret-shop"))
    (tmp_path / "sessions" / "damaged.json").write_text('{"cookies": [')

    async with connect_browser(site, *flags, **environment) as browser:
        error = await browser.refused("get_cookies", sessionId="damaged")
        assert error["code"] == "SESSION_NOT_FOUND"
        assert "was kept, but cannot be opened again: state: the saved state" in error["message"]
        await browser.call("close_session", sessionId="damaged")
        looks = await browser.call("evaluate", script=LOOK, sessionId=session_id)
        assert looks == {"result": ["Lamp/7", 640, "fr-FR", True, "lit"], "restored": True}
        await browser.call("close_session", sessionId=session_id)
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.mark.slow
async def test_session_of_a_crashed_browser_is_restored_with_its_options(site: Site, tmp_path: Path) -> None:
    import psutil

    flags = (*with_secret(tmp_path), "--observe", "none", "--state-directory", str(tmp_path))
    environment = {"FOOTLIGHT_POOL_MIN_BROWSERS": "1"}
    ours = {child.pid for child in descendants_of(psutil.Process())}
    async with connect_browser(site, *flags, **environment) as browser:
        session_id = (await browser.call("create_session", **KEPT))["sessionId"]
        await browser.show("<p>x</p>", sessionId=session_id)
        browsers = [
            child
            for child in descendants_of(psutil.Process())
            if child.pid not in ours
            and "chrom" in name_of(child)
            and "--type=" not in " ".join(line_of(child))
        ]
        for child in browsers:
            os.kill(child.pid, signal.SIGKILL)
        error = await browser.refused("get_text", selector="p", sessionId=session_id)
        assert error["code"] == "BROWSER_CRASHED"

        await browser.show("<p>again</p>", sessionId=session_id)
        looks = await browser.call("evaluate", script=LOOK, sessionId=session_id)

    assert looks == {"result": ["Lamp/7", 640, "fr-FR", True, "lit"]}
