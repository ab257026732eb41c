"""Sessions, their cookies and their stored state."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import stat
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio

FULL = """<title>shop</title><script>
localStorage.basket = 'three pears';
localStorage['ключ'] = '💡';
sessionStorage.step = '2';
document.cookie = 'seen=yes; path=/; max-age=3600';
</script>"""

STORED = "({local: {...localStorage}, tab: {...sessionStorage}, cookie: document.cookie})"


async def test_new_session_has_an_unguessable_id(browser: SessionBrowser) -> None:
    first = (await browser.call("create_session"))["sessionId"]
    second = (await browser.call("create_session"))["sessionId"]

    assert first != second
    assert len(first) >= 22
    assert first[0].isalnum()

    for session_id in (first, second):
        closed = await browser.call("close_session", sessionId=session_id)
        assert closed == {"sessionId": session_id, "closed": True}


async def test_page_sees_session_viewport_and_user_agent(browser: SessionBrowser) -> None:
    session = await browser.call("create_session", userAgent="Lamp/7", viewport={"width": 640, "height": 360})
    url = browser.site.page("<p>x</p>")
    await browser.call("navigate", url=url, sessionId=session["sessionId"])

    script = "[navigator.userAgent, innerWidth, innerHeight]"
    seen = await browser.call("evaluate", script=script, sessionId=session["sessionId"])

    assert seen == {"result": ["Lamp/7", 640, 360]}
    await browser.call("close_session", sessionId=session["sessionId"])


async def test_site_receives_the_session_user_agent(browser: SessionBrowser) -> None:
    from starlette.responses import PlainTextResponse

    async def agent(request: Any) -> PlainTextResponse:
        return PlainTextResponse(request.headers["user-agent"])

    session = await browser.call("create_session", userAgent="Lamp/7")
    await browser.call("navigate", url=browser.site.route(agent), sessionId=session["sessionId"])

    text = await browser.call("get_text", selector="body", sessionId=session["sessionId"])

    assert text == {"text": "Lamp/7"}
    await browser.call("close_session", sessionId=session["sessionId"])


@pytest.mark.parametrize(
    ("viewport", "field"),
    [
        ({"width": 0, "height": 100}, "viewport.width"),
        ({"width": 100, "height": 10_001}, "viewport.height"),
        ({"width": 100}, "viewport.height"),
        ({"width": 100, "height": 100, "depth": 3}, "viewport.depth"),
        ({"width": "100", "height": 100}, "viewport.width"),
    ],
)
async def test_invalid_viewport_is_refused_by_field(
    browser: SessionBrowser, viewport: dict[str, Any], field: str
) -> None:
    error = await browser.refused("create_session", viewport=viewport)

    assert error["code"] in ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert error["details"]["parameter"] == field


async def test_sessions_are_listed_with_their_pages(browser: SessionBrowser) -> None:
    before = datetime.now(UTC)
    session_id = (await browser.call("create_session"))["sessionId"]
    url = browser.site.page("<p>x</p>")
    await browser.call("navigate", url=url, sessionId=session_id)

    listed = (await browser.call("list_sessions"))["sessions"]

    (info,) = [each for each in listed if each["sessionId"] == session_id]
    created = datetime.fromisoformat(info.pop("createdAt"))
    assert abs((created - before).total_seconds()) < 60
    assert info == {
        "sessionId": session_id,
        "browser": "chromium",
        "pages": [{"pageId": "page-1", "url": url}],
        "blocked": [],
        "mocks": [],
    }
    await browser.call("close_session", sessionId=session_id)


async def test_closed_session_is_not_found(browser: SessionBrowser) -> None:
    session_id = (await browser.call("create_session"))["sessionId"]
    await browser.call("close_session", sessionId=session_id)

    error = await browser.refused("get_cookies", sessionId=session_id)

    assert error == {
        "code": "SESSION_NOT_FOUND",
        "message": f'Session "{session_id}" was closed',
        "details": {"sessionId": session_id},
        "retryable": False,
        "suggestion": "Create a new session with create_session tool.",
    }
    assert (await browser.refused("close_session", sessionId=session_id))["code"] == "SESSION_NOT_FOUND"
    listed = (await browser.call("list_sessions"))["sessions"]
    assert session_id not in [each["sessionId"] for each in listed]


async def test_unknown_session_is_not_created(browser: SessionBrowser) -> None:
    error = await browser.refused("navigate", url=browser.site.url, sessionId="no-such-session")

    assert error["code"] == "SESSION_NOT_FOUND"
    assert error["message"] == 'Session "no-such-session" does not exist'


async def test_call_without_session_id_uses_the_default_session(shared_browser: Browser) -> None:
    await shared_browser.call("navigate", url=shared_browser.site.page("<p>here</p>"))

    assert await shared_browser.call("get_text", selector="p") == {"text": "here"}
    named = await shared_browser.call("get_text", selector="p", sessionId="default")
    assert named == {"text": "here"}
    await shared_browser.call("close_session", sessionId="default")


async def test_closing_a_session_fails_its_running_call(browser: SessionBrowser) -> None:
    import anyio

    session_id = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=browser.site.page("<p>x</p>"), sessionId=session_id)
    errors: list[dict[str, Any]] = []

    async def wait_for_nothing() -> None:
        errors.append(
            await browser.refused(
                "evaluate", script="window.begun = new Promise(() => {})", sessionId=session_id
            )
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait_for_nothing)
        await browser.call("list_sessions")
        await browser.call("close_session", sessionId=session_id)

    assert errors[0]["code"] == "SESSION_NOT_FOUND"


# Isolation


async def test_sessions_share_neither_cookies_nor_storage(browser: SessionBrowser) -> None:
    url = browser.site.page(FULL)
    empty = browser.site.page("<p>nothing of its own</p>")
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=url)
    await browser.call("navigate", url=empty, sessionId=other)

    assert (await browser.call("evaluate", script=STORED))["result"] == {
        "local": {"basket": "three pears", "ключ": "💡"},
        "tab": {"step": "2"},
        "cookie": "seen=yes",
    }
    assert (await browser.call("evaluate", script=STORED, sessionId=other))["result"] == {
        "local": {},
        "tab": {},
        "cookie": "",
    }
    assert await browser.call("get_cookies", sessionId=other) == {"cookies": []}
    await browser.call("close_session", sessionId=other)


# Cookies


async def test_cookies_are_set_and_read_back(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>x</p>")
    cookies = [
        {"name": "plain", "value": "1", "url": url},
        {
            "name": "whole",
            "value": "a=b",
            "domain": "localhost",
            "path": "/deep",
            "expires": round(time.time()) + 3600,
            "httpOnly": True,
            "sameSite": "Strict",
        },
    ]

    assert await browser.call("set_cookies", cookies=cookies) == {"count": 2}

    got = {each["name"]: each for each in (await browser.call("get_cookies"))["cookies"]}
    assert set(got) == {"plain", "whole"}
    assert got["plain"]["domain"] == "127.0.0.1"
    assert got["plain"]["expires"] == -1
    assert got["whole"] == {**cookies[1], "secure": False}
    await browser.call("navigate", url=url)
    assert await browser.call("evaluate", script="document.cookie") == {"result": "plain=1"}


async def test_cookies_are_deleted_by_name_by_domain_or_all(browser: SessionBrowser) -> None:
    cookies = [
        {"name": name, "value": "1", "domain": domain}
        for domain in ("a.test", ".a.test", "b.a.test", "c.test")
        for name in ("one", "two")
    ]
    await browser.call("set_cookies", cookies=cookies)

    assert await browser.call("delete_cookies", name="one", domain="a.test") == {"deleted": 2}
    assert await browser.call("delete_cookies", domain=".A.test") == {"deleted": 2}
    left = (await browser.call("get_cookies"))["cookies"]
    assert sorted((each["domain"], each["name"]) for each in left) == [
        *(("b.a.test", "one"), ("b.a.test", "two")),
        *(("c.test", "one"), ("c.test", "two")),
    ]
    assert await browser.call("delete_cookies", name="one") == {"deleted": 2}
    assert await browser.call("delete_cookies", all=True) == {"deleted": 2}
    for wrong in ({}, {"all": True, "name": "one"}, {"all": False}, {"domain": "http://a.test/"}):
        assert (await browser.refused("delete_cookies", **wrong))["code"] == "INVALID_PARAMETER"


async def test_cookies_can_be_filtered_by_url(browser: SessionBrowser) -> None:
    here, there = browser.site.url, browser.site.at("localhost")
    await browser.call(
        "set_cookies",
        cookies=[{"name": "a", "value": "1", "url": here}, {"name": "b", "value": "2", "url": there}],
    )

    got = await browser.call("get_cookies", urls=[there])

    assert [each["name"] for each in got["cookies"]] == ["b"]


@pytest.mark.parametrize(
    ("cookie", "parameter"),
    [
        ({"name": "a", "value": "1"}, "cookies.0"),
        ({"name": "", "value": "1", "url": "http://a.test"}, "cookies.0.name"),
        ({"name": "a", "value": 1, "url": "http://a.test"}, "cookies.0.value"),
        ({"name": "a", "value": "1", "domain": "a.test", "sameSite": "lax"}, "cookies.0.sameSite"),
        ({"name": "a", "value": "1", "url": "about:blank"}, "cookies.0"),
        ({"name": "__Host-a", "value": "1", "url": "http://a.test"}, "cookies.0.secure"),
        (
            {"name": "a", "value": "1", "url": "http://a.test", "partitionKey": "https://b.test"},
            "cookies.0.secure",
        ),
        ({"name": "a=b", "value": "1", "url": "http://a.test"}, "cookies.0.name"),
        ({"name": "a", "value": "1;2", "url": "http://a.test"}, "cookies.0.value"),
        ({"name": "a", "value": "x" * 5000, "url": "http://a.test"}, "cookies.0.value"),
        ({"name": "a", "value": "1", "domain": "a.test", "path": "b"}, "cookies.0.path"),
        ({"name": "a", "value": "1", "domain": "a.test", "colour": "red"}, "cookies.0.colour"),
        ({"value": "1", "url": "http://a.test"}, "cookies.0.name"),
        ({"name": "a", "value": "1", "url": "http://a.test", "sameSite": "None"}, "cookies.0"),
    ],
)
async def test_invalid_cookie_is_refused(
    browser: SessionBrowser, cookie: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("set_cookies", cookies=[cookie])

    assert error["code"] in ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert error["details"]["parameter"] == parameter
    assert await browser.call("get_cookies") == {"cookies": []}


async def test_cookie_that_has_expired_is_not_counted(browser: SessionBrowser) -> None:
    cookie = {"name": "a", "value": "1", "url": browser.site.url}

    assert await browser.call("set_cookies", cookies=[cookie, {**cookie, "name": "b"}]) == {"count": 2}
    assert await browser.call("set_cookies", cookies=[{**cookie, "expires": 1}]) == {"count": 0}
    assert [each["name"] for each in (await browser.call("get_cookies"))["cookies"]] == ["b"]


@pytest.mark.parametrize("text", ["example.com", "http://[", "http://%zz", "http://host:99999"])
async def test_cookies_of_something_else_than_a_url_are_refused(browser: SessionBrowser, text: str) -> None:
    error = await browser.refused("get_cookies", urls=[browser.site.url, text])

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == "urls.1"


async def test_same_named_cookie_of_another_host_is_not_counted(
    browser: SessionBrowser,
) -> None:
    await browser.call("set_cookies", cookies=[{"name": "a", "value": "1", "url": "http://bücher.test"}])
    refused = {"name": "a", "value": "1", "url": "http://a.test", "sameSite": "None"}

    error = await browser.refused("set_cookies", cookies=[refused])

    assert error["details"]["parameter"] == "cookies.0"


# Saving and restoring


async def test_only_cookies_that_the_browser_kept_are_counted(browser: SessionBrowser) -> None:
    cookie = {"value": "1", "domain": "a.test", "path": "/"}
    cookies = [{**cookie, "name": "a"}, {**cookie, "name": "b", "sameSite": "None"}]

    restored = await browser.call("restore_state", state={"cookies": cookies})

    assert restored["cookieCount"] == 1
    assert restored["notice"].startswith("The browser kept 1 of 2 cookies.")


async def test_saved_state_can_be_restored_in_another_session(browser: SessionBrowser) -> None:
    """Two origins, into a session that has other things."""
    path = browser.site.page(FULL).removeprefix(browser.site.url)
    empty = browser.site.page("<p>nothing</p>").removeprefix(browser.site.url)
    here, there = browser.site.url, browser.site.at("localhost")
    await browser.call("navigate", url=there + path)
    await browser.call("navigate", url=here + path)

    state = (await browser.call("save_state"))["state"]

    items = {"basket": "three pears", "ключ": "💡"}
    assert state["url"] == here + path
    assert state["localStorage"] == {here: items, there: items}
    assert state["sessionStorage"][here] == {"step": "2"}
    assert {each["domain"] for each in state["cookies"]} == {"127.0.0.1", "localhost"}

    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("navigate", url=here + empty, sessionId=other)
    await browser.call(
        "evaluate",
        script="localStorage.old = 1; sessionStorage.old = 1; document.cookie = 'old=1'",
        sessionId=other,
    )
    state["url"] = here + empty
    restored = await browser.call("restore_state", state=state, sessionId=other)

    assert restored == {"url": here + empty, "cookieCount": 2}
    whole = {"local": items, "tab": {"step": "2"}, "cookie": "seen=yes"}
    assert (await browser.call("evaluate", script=STORED, sessionId=other))["result"] == whole
    await browser.call("navigate", url=there + empty, sessionId=other)
    elsewhere = (await browser.call("evaluate", script=STORED, sessionId=other))["result"]
    assert elsewhere["local"] == items
    assert elsewhere["cookie"] == "seen=yes"
    await browser.call("close_session", sessionId=other)


@pytest.mark.slow
async def test_session_storage_of_two_origins_is_restored(browser: SessionBrowser) -> None:
    empty = browser.site.page("<p>nothing</p>").removeprefix(browser.site.url)
    here, there = browser.site.url, browser.site.at("localhost")
    state = {
        "cookies": [],
        "localStorage": {},
        "sessionStorage": {here: {"a": "1", "length": "7"}, there: {"b": "2"}},
        "url": here + empty,
    }

    await browser.call("restore_state", state=state)

    tab = "['a', 'b', 'length'].map(key => sessionStorage.getItem(key))"
    assert (await browser.call("evaluate", script=tab))["result"] == ["1", None, "7"]
    assert (await browser.call("save_state"))["state"]["sessionStorage"] == {here: {"a": "1", "length": "7"}}
    await browser.call("navigate", url=there + empty)
    assert (await browser.call("evaluate", script=tab))["result"] == [None, "2", None]


async def test_saving_after_a_restore_gives_the_same_state(browser: SessionBrowser) -> None:
    await browser.call("navigate", url=browser.site.page(FULL))
    first = (await browser.call("save_state"))["state"]
    other = (await browser.call("create_session"))["sessionId"]
    await browser.call("restore_state", state=first, sessionId=other)

    second = (await browser.call("save_state", sessionId=other))["state"]

    # The page sets its cookie again when it is restored.
    for before, after in zip(first["cookies"], second["cookies"], strict=True):
        assert after.pop("expires") == pytest.approx(before.pop("expires"), abs=600)
    assert second == first
    await browser.call("close_session", sessionId=other)


async def test_a_named_state_stays_on_the_server(browser: SessionBrowser) -> None:
    """Only its owner can read the file."""
    name = f"shop-{browser.session_id[:8].strip('-_')}"
    url = browser.site.page(FULL)
    await browser.call("navigate", url=url)

    saved = await browser.call("save_state", name=name)

    assert saved == {"state": {"name": name}, "cookieCount": 1, "origins": [browser.site.url]}
    file = browser.states / f"{name}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text("utf-8"))["url"] == url
    assert [each.name for each in browser.states.iterdir() if ".tmp" in each.name] == []
    assert name in (await browser.call("list_sessions"))["savedStates"]

    other = (await browser.call("create_session"))["sessionId"]
    restored = await browser.call("restore_state", state=saved["state"], sessionId=other)
    assert restored == {"url": url, "cookieCount": 1}
    assert (await browser.call("evaluate", script="sessionStorage.step", sessionId=other))["result"] == "2"
    await browser.call("close_session", sessionId=other)


async def test_unknown_state_name_error_lists_known_names(browser: SessionBrowser) -> None:
    name = f"known-{browser.session_id[:8].strip('-_')}"
    await browser.call("save_state", name=name)

    error = await browser.refused("restore_state", state={"name": "unknown"})

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith("state.name: no state named 'unknown' is saved; saved: ")
    assert name in error["message"]


@pytest.mark.parametrize("name", ["", "../outside", "a/b", ".hidden", "a" * 101, "a\0b", "C:evil", "a\n"])
async def test_state_name_must_not_be_a_path(browser: SessionBrowser, name: str) -> None:
    for tool, arguments in (("save_state", {"name": name}), ("restore_state", {"state": {"name": name}})):
        error = await browser.refused(tool, **arguments)
        assert error["code"] == "INVALID_PARAMETER"
        assert error["details"]["parameter"] == "name"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '"text"', "7", '{"cookies": 3}', '{"moons": 1}', "\ufeff{}", "[" * 100_000],
)
async def test_damaged_state_file_is_reported(browser: SessionBrowser, content: str) -> None:
    name = f"damaged-{browser.session_id[:8].strip('-_')}"
    browser.states.mkdir(exist_ok=True)
    (browser.states / f"{name}.json").write_text(content, "utf-8")

    error = await browser.refused("restore_state", state={"name": name})

    assert error["code"] == "INVALID_PARAMETER"
    assert "state" in error["message"]
    assert error["details"]["parameter"].startswith("state")


def write_too_many_bytes(path: Path) -> None:
    path.write_bytes(bytes(20_000_001))


def write_too_many_cookies(path: Path) -> None:
    path.write_text('{"cookies": [' + "{}," * 50_000 + "{}]}")


@pytest.mark.parametrize(
    ("write", "why"),
    [
        pytest.param(
            getattr(os, "mkfifo", None),
            "it is not a file",
            marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes"),
        ),
        (Path.mkdir, "it is not a file"),
        (write_too_many_bytes, "it has more than 20,000,000 bytes"),
        (write_too_many_cookies, "it has more than 50,000 cookies and items"),
    ],
)
async def test_state_file_that_would_block_the_server_is_not_read(
    browser: SessionBrowser, write: Callable[[Path], object], why: str
) -> None:
    name = f"unread-{browser.session_id[:8].strip('-_')}"
    browser.states.mkdir(exist_ok=True)
    write(browser.states / f"{name}.json")

    error = await browser.refused("restore_state", state={"name": name})

    assert error["code"] == "INVALID_PARAMETER"
    assert f"the saved state {name!r} cannot be restored: " in error["message"]
    assert why in error["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "for (let n = 0; n < 25001; n++) localStorage[n] = sessionStorage[n] = 1",
            "it has more than 50,000 cookies and items",
        ),
        (
            "for (let n = 0; n < 50001; n++) localStorage[n] = 1",
            "a site has stored more items than the server reads",
        ),
        (
            "for (let n = 0; n < 50001; n++) sessionStorage[n] = 1",
            "it has more than 50,000 cookies and items",
        ),
    ],
)
async def test_a_state_that_could_not_be_restored_is_not_saved(
    browser: SessionBrowser, site: Site, script: str, why: str
) -> None:
    await browser.call("navigate", url=site.page(f"<script>{script}</script>"), timeout=60_000)

    error = await browser.refused("save_state", name="large")

    assert (error["code"], error["message"]) == ("RESOURCE_EXHAUSTED", f"the state is not saved: {why}")
    assert not (browser.states / "large.json").exists()


async def test_session_storage_is_saved_despite_replaced_functions(
    browser: SessionBrowser, site: Site
) -> None:
    url = site.page(
        "<script>sessionStorage.step = '2'; Array.from = Object.fromEntries = () => { throw 1 };"
        "Array.prototype.map = Array.prototype.push = null</script>"
    )
    await browser.call("navigate", url=url)

    state = (await browser.call("save_state"))["state"]

    assert state["sessionStorage"] == {site.url: {"step": "2"}}


@pytest.mark.parametrize(
    ("state", "parameter"),
    [
        ({"cookies": "a=b"}, "state.cookies"),
        ({"cookies": ["a=b"]}, "state.cookies"),
        ({"cookies": [{"name": 3}]}, "state.cookies.0.name"),
        (
            {
                "cookies": [
                    {"name": "a", "value": "1", "domain": "a.test", "path": "/"},
                    {"name": "__Secure-a", "value": "1", "domain": "a.test", "path": "/"},
                ]
            },
            "state.cookies.1.secure",
        ),
        ({"localStorage": {"http://a.test/page": {"a": "1"}}}, "state.localStorage"),
        ({"localStorage": {"http://a.test:99999": {"a": "1"}}}, "state.localStorage"),
        ({"sessionStorage": {"http://me:pin@a.test": {"a": "1"}}}, "state.sessionStorage"),
        ({"sessionStorage": {"http://*": {"a": "1"}}}, "state.sessionStorage"),
        ({"localStorage": {f"http://{n}.test": {"a": "1"} for n in range(301)}}, "state.localStorage"),
        ({"localStorage": {"shop": {"a": "1"}}}, "state.localStorage"),
        ({"localStorage": {"http://a.test": {"a": 1}}}, "state.localStorage"),
        ({"sessionStorage": []}, "state.sessionStorage"),
        ({"sessionStorage": {"http://": {"a": "1"}}}, "state.sessionStorage"),
        ({"url": 7}, "state.url"),
        ({"colour": "red"}, "state"),
        ({"name": "x", "url": "about:blank"}, "state"),
        ({"name": 7}, "state"),
    ],
)
async def test_invalid_state_is_refused_by_field(
    browser: SessionBrowser, state: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("restore_state", state=state)

    assert error["code"] in ("INVALID_PARAMETER", "INVALID_URL")
    assert error["details"].get("parameter", parameter) == parameter


BAD_COOKIE = {"name": "a", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -7}

REFUSED_STATES: list[tuple[str, dict[str, Any]]] = [
    ("Cookie should have a valid expires", {"cookies": [BAD_COOKIE]}),
    ("state.cookies.0.name", {"cookies": [{"name": 3}]}),
    ("state.sessionStorage", {"sessionStorage": {"http://a.test": {"big": "x" * 6_000_000}}}),
    ("big", {"localStorage": {"http://a.test": {"big": "x" * 6_000_000}}}),
    ("http://a..%b", {"localStorage": {"http://a.test": {"a": "1"}, "http://a..%b": {"a": "1"}}}),
    ("file:", {"cookies": [], "url": "file:///etc/passwd"}),
    ("file:", {"sessionStorage": {"http://a.test": {}, "file://": {}}}),
]


async def test_refused_state_leaves_the_session_unchanged(browser: SessionBrowser) -> None:
    """And says what is wrong with it."""
    await browser.call("navigate", url=browser.site.page(FULL))
    before = (await browser.call("save_state"))["state"]

    for said, state in REFUSED_STATES:
        error = await browser.refused("restore_state", state=state)
        assert said in error["message"], error
        assert not error["message"].rstrip().endswith(":")
        assert (await browser.call("save_state"))["state"] == before


async def test_unreachable_state_page_error_reports_what_was_restored(browser: SessionBrowser) -> None:
    cookie = {"name": "a", "value": "1", "domain": "127.0.0.1", "path": "/"}

    error = await browser.refused("restore_state", state={"cookies": [cookie], "url": "http://127.0.0.1:1/"})

    assert error["code"] == "NAVIGATION_FAILED"
    assert error["message"].endswith("Cookies and storage have been replaced by those of the state")
    assert [each["name"] for each in (await browser.call("get_cookies"))["cookies"]] == ["a"]


async def test_restored_state_obeys_the_navigation_policy(browser: SessionBrowser) -> None:
    error = await browser.refused("restore_state", state={"url": "file:///etc/passwd"})
    assert error["code"] == "PERMISSION_DENIED"

    error = await browser.refused("restore_state", state={"sessionStorage": {"file://": {"a": "1"}}})
    assert error["code"] == "PERMISSION_DENIED"


@pytest.mark.slow
async def test_waiting_for_the_session_does_not_shorten_the_element_timeout(
    site: Site, tmp_path: Path
) -> None:
    """Only the deadline of a call runs while another one has the session."""
    folder = ("--state-directory", str(tmp_path))
    async with connect_browser(site, *folder, FOOTLIGHT_SESSION_ELEMENT_TIMEOUT="300") as browser:
        await browser.show("<h1>Here</h1>")
        async with anyio.create_task_group() as tasks:
            held = anyio.Event()

            async def on_progress(*_: object) -> None:
                held.set()

            waiting = {"selector": "#never", "timeout": 2_000}
            tasks.start_soon(
                functools.partial(
                    browser.client.call_tool, "wait_for_selector", waiting, progress_callback=on_progress
                )
            )
            await held.wait()

            assert await browser.call("get_text", selector="h1") == {"text": "Here"}


async def test_session_closed_during_a_call_is_reported(shared_browser: Browser) -> None:
    """The click on a missing element was a success, and the navigation could not be opened."""
    pending = shared_browser.site.never()
    for tool, arguments in (
        ("click", {"selector": "#none"}),
        ("navigate", {"url": pending}),
        ("expect", {"text": "never"}),
    ):
        made = await shared_browser.call("create_session")
        await shared_browser.call("navigate", url=shared_browser.site.page("<p>x</p>"), **made)
        begun, report = note_progress()
        acting = asyncio.create_task(
            shared_browser.client.call_tool(tool, {**arguments, **made}, progress_callback=report)
        )
        await begun.wait()

        await shared_browser.call("close_session", **made)

        content = (await acting).structured_content
        assert content is not None
        assert (content["success"], content["error"]["code"]) == (False, "SESSION_NOT_FOUND")


def note_progress() -> tuple[asyncio.Event, Callable[..., Awaitable[None]]]:
    """Return an event that is set when a call reports progress, and the callback for it."""
    begun = asyncio.Event()

    async def report(*_: object) -> None:
        begun.set()

    return begun, report
