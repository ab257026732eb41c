"""Controlling and logging a session's network."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import ENGINE, SessionBrowser

pytestmark = pytest.mark.anyio

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)

TRY = {
    "image": """new Promise(done => {
        const image = new Image();
        image.onload = () => done(true);
        image.onerror = () => done(false);
        image.src = URL;
    })""",
    "script": """new Promise(done => {
        const script = document.createElement('script');
        script.onload = () => done(true);
        script.onerror = () => done(false);
        script.src = URL;
        document.head.append(script);
    })""",
    "stylesheet": """new Promise(done => {
        const link = document.createElement('link');
        link.rel = 'stylesheet';
        link.onload = () => done(true);
        link.onerror = () => done(false);
        link.href = URL;
        document.head.append(link);
    })""",
    "font": "new FontFace('f', `url(${URL})`).load().then(() => true, () => false)",
    "media": """new Promise(done => {
        const video = document.createElement('video');
        video.onloadeddata = () => done(true);
        video.onerror = () => done(false);
        video.src = URL;
    })""",
    "xhr": """new Promise(done => {
        const request = new XMLHttpRequest();
        request.onload = () => done(true);
        request.onerror = () => done(false);
        request.open('GET', URL);
        request.send();
    })""",
    "fetch": "fetch(URL).then(() => true, () => false)",
    "eventsource": """new Promise(done => {
        const source = new EventSource(URL);
        source.onopen = () => { source.close(); done(true) };
        source.onerror = () => { source.close(); done(false) };
    })""",
    "websocket": """new Promise(done => {
        const socket = new WebSocket(URL.replace('http', 'ws'));
        socket.onopen = () => socket.send('hi');
        socket.onmessage = message => done(message.data === 'hi!');
        socket.onclose = () => done(false);
    })""",
}
"""For each resource type a script that answers whether it was loaded."""

KINDS = {
    "image": "image/png",
    "script": "text/javascript",
    "stylesheet": "text/css",
    "font": "font/woff2",
    "media": "audio/wav",
    "eventsource": "text/event-stream",
}

WAV = (
    b"RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00"
    b"\x01\x00\x08\x00data\x08\x00\x00\x00\x80\x80\x80\x80\x80\x80\x80\x80"
)

BODIES = {"image": PNG, "media": WAV, "eventsource": b"data: x\n\n", "script": b"1", "stylesheet": b"p {}"}


def resource(browser: SessionBrowser, kind: str) -> str:
    """Return a resource of this type on the site."""

    async def handler(_: Request) -> Response:
        return Response(BODIES.get(kind, b"x"), media_type=KINDS.get(kind, "text/plain"))

    return browser.site.route(handler)


async def load(browser: SessionBrowser, kind: str, url: str) -> bool:
    script = TRY[kind].replace("URL", json.dumps(url))
    return bool((await browser.call("evaluate", script=script))["result"])


# Blocking


@pytest.mark.parametrize("kind", [kind for kind in TRY if kind != "font"])
async def test_blocked_resource_type_is_not_requested(browser: SessionBrowser, kind: str) -> None:
    await browser.show("<p>x</p>")
    blocked_url, free_url = resource(browser, kind), resource(browser, kind)

    answer = await browser.call("block_resource", resourceType=kind)
    assert answer == {"blocked": [kind], "mocks": []}
    assert await load(browser, kind, blocked_url) is False

    answer = await browser.call("block_resource", resourceType=kind, action="remove")
    assert answer == {"blocked": [], "mocks": []}
    assert await load(browser, kind, free_url) is True
    asked = [path for _, path in browser.site.requests]
    assert blocked_url.removeprefix(browser.site.url) not in asked
    assert free_url.removeprefix(browser.site.url) in asked


async def test_a_blocked_font_is_not_requested(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    blocked_url, free_url = resource(browser, "font"), resource(browser, "font")

    await browser.call("block_resource", resourceType="font")
    await load(browser, "font", blocked_url)
    await browser.call("block_resource", resourceType="font", action="remove")
    await load(browser, "font", free_url)

    asked = [path for _, path in browser.site.requests]
    assert blocked_url.removeprefix(browser.site.url) not in asked
    assert free_url.removeprefix(browser.site.url) in asked


async def test_documents_can_be_blocked(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>x</p>")
    await browser.call("block_resource", resourceType="document")

    error = await browser.refused("navigate", url=url)

    assert error["code"] == "NAVIGATION_FAILED"
    assert "ERR_BLOCKED_BY_CLIENT" in error["message"]


async def test_later_pages_and_popups_load_without_blocked_resources(browser: SessionBrowser) -> None:
    """This holds for a page that is opened later and for a popup."""
    image, script = resource(browser, "image"), resource(browser, "script")
    await browser.call("block_resource", resourceType="image")
    await browser.call("block_resource", resourceType="script")

    await browser.show(f'<p>text</p><img src="{image}"><script src="{script}"></script>')

    assert await browser.call("get_text", selector="p") == {"text": "text"}
    asked = [path for _, path in browser.site.requests]
    assert image.removeprefix(browser.site.url) not in asked
    assert script.removeprefix(browser.site.url) not in asked


async def test_blocking_rules_are_listed_and_stay_in_their_session(browser: SessionBrowser) -> None:
    await browser.call("block_resource", resourceType="media")
    await browser.call("block_resource", resourceType="font")

    assert await browser.call("block_resource", resourceType="", action="list") == {
        "blocked": ["font", "media"],
        "mocks": [],
    }
    other = (await browser.call("create_session"))["sessionId"]
    listed = await browser.call("block_resource", resourceType="any", action="list", sessionId=other)
    assert listed == {"blocked": [], "mocks": []}
    await browser.call("close_session", sessionId=other)


async def test_unknown_resource_type_error_lists_the_known_ones(browser: SessionBrowser) -> None:
    error = await browser.refused("block_resource", resourceType="images")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        "resourceType: 'images' is not one of document, stylesheet, image, media, font, script, texttrack, "
        "xhr, fetch, eventsource, websocket, manifest, other"
    )


# Mocking

ASK = """async url => {
    const answer = await fetch(url);
    const [type, extra] = ['content-type', 'x-extra'].map(name => answer.headers.get(name));
    return {status: answer.status, type, extra, body: await answer.text()};
}"""


async def ask(browser: SessionBrowser, url: str) -> dict[str, Any]:
    return (await browser.call("evaluate", script=f"({ASK})({json.dumps(url)})"))["result"]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({}, {"status": 200, "type": None, "extra": None, "body": ""}),
        (
            {"body": {"a": [1, None, "ä💡"]}},
            {"status": 200, "type": "application/json", "extra": None, "body": '{"a": [1, null, "ä💡"]}'},
        ),
        ({"body": 0}, {"status": 200, "type": "application/json", "extra": None, "body": "0"}),
        ({"body": False}, {"status": 200, "type": "application/json", "extra": None, "body": "false"}),
        ({"body": []}, {"status": 200, "type": "application/json", "extra": None, "body": "[]"}),
        (
            {"status": 503, "headers": {"X-Extra": "yes"}, "body": "down", "contentType": "text/plain"},
            {"status": 503, "type": "text/plain", "extra": "yes", "body": "down"},
        ),
        ({"status": 204}, {"status": 204, "type": None, "extra": None, "body": ""}),
        (
            {"headers": {"content-type": "text/csv"}, "body": "a,b"},
            {"status": 200, "type": "text/csv", "extra": None, "body": "a,b"},
        ),
    ],
)
async def test_a_mocked_url_answers_without_the_network(
    browser: SessionBrowser, response: dict[str, Any], expected: dict[str, Any]
) -> None:
    await browser.show("<p>x</p>")
    url = f"{browser.site.url}/mocked/{browser.session_id}"
    await browser.call("mock_response", url=url, response=response)

    got = await ask(browser, url)

    if got["body"].startswith("{"):
        got["body"], expected = json.loads(got["body"]), {**expected, "body": json.loads(expected["body"])}
    assert got == expected
    assert url.removeprefix(browser.site.url) not in [path for _, path in browser.site.requests]


async def test_mocks_are_replaced_removed_and_listed(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    real = browser.site.page("real")
    await browser.call("mock_response", url=real, response={"body": "first"})
    assert (await ask(browser, real))["body"] == "first"

    answer = await browser.call("mock_response", url=real, response={"body": "second", "status": 201})
    assert answer == {"blocked": [], "mocks": [{"url": real, "status": 201}]}
    assert (await ask(browser, real))["body"] == "second"
    assert await browser.call("mock_response", url="any", response={}, action="list") == answer

    answer = await browser.call("mock_response", url=real, response={}, action="remove")
    assert answer == {"blocked": [], "mocks": []}
    assert (await ask(browser, real))["body"] == "real"


async def test_mock_url_may_contain_wildcards(browser: SessionBrowser) -> None:
    """Only the star is a wildcard."""
    await browser.show("<p>x</p>")
    root = f"{browser.site.url}/api/{browser.session_id}"
    await browser.call("mock_response", url=f"{root}/*?ids[]=1*", response={"body": "mocked"})

    assert (await ask(browser, f"{root}/list?ids[]=1&b=2"))["body"] == "mocked"
    assert (await ask(browser, f"{root}/list?ids[]=2"))["status"] == 404


async def test_a_mocked_page_can_be_navigated_to(browser: SessionBrowser) -> None:
    url = "http://mocked.invalid/"
    await browser.call(
        "mock_response", url=url, response={"body": "<h1>Made up</h1>", "contentType": "text/html"}
    )

    assert (await browser.call("navigate", url=url))["status"] == 200
    assert await browser.call("get_text", selector="h1") == {"text": "Made up"}


async def test_mock_takes_precedence_over_a_blocked_type(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    url = resource(browser, "fetch")
    await browser.call("block_resource", resourceType="fetch")
    await browser.call("mock_response", url=url, response={"body": "mocked"})

    assert (await ask(browser, url))["body"] == "mocked"


@pytest.mark.parametrize(
    ("response", "parameter"),
    [
        ({"status": 199}, "response.status"),
        ({"status": 600}, "response.status"),
        ({"status": "200"}, "response.status"),
        ({"headers": {"a": 1}}, "response.headers.a"),
        ({"headers": "a: b"}, "response.headers"),
        ({"colour": "red"}, "response.colour"),
        ({"headers": {"a": "b\nc: d"}}, "response.headers.a"),
        ({"headers": {"a b": "c"}}, "response.headers.a b.[key]"),
        ({"headers": {"": "c"}}, "response.headers..[key]"),
        ({"contentType": "text/html\r\nx: y"}, "response.contentType"),
        ("text", "response"),
    ],
)
async def test_invalid_mock_response_is_refused_by_field(
    browser: SessionBrowser, response: Any, parameter: str
) -> None:
    error = await browser.refused("mock_response", url="http://a.test/", response=response)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == parameter


# Offline and slow


async def test_offline_mode_is_switched_on_and_off(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    url = resource(browser, "fetch")

    assert await browser.call("set_offline", offline=True) == {"offline": True}
    assert await load(browser, "fetch", url) is False
    error = await browser.refused("navigate", url=url)
    assert error["code"] == "NAVIGATION_FAILED"
    assert "INTERNET_DISCONNECTED" in error["message"]

    assert await browser.call("set_offline", offline=False) == {"offline": False}
    await browser.call("navigate", url=url)
    assert await load(browser, "fetch", url) is True


TIMED = """(async url => {
    const began = performance.now();
    const answer = await fetch(url);
    const latency = performance.now() - began;
    await answer.arrayBuffer();
    return {latency, whole: performance.now() - began};
})(URL)"""


async def measure_times(browser: SessionBrowser, url: str) -> dict[str, float]:
    return (await browser.call("evaluate", script=TIMED.replace("URL", json.dumps(url))))["result"]


def bulk(browser: SessionBrowser, size: int) -> str:
    async def handler(_: Request) -> Response:
        return Response(b"x" * size, headers={"Cache-Control": "no-store"})

    return browser.site.route(handler)


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium can be throttled")
async def test_throttling_slows_requests_until_it_is_ended(browser: SessionBrowser) -> None:
    """The limits hold for the open page and for a popup."""
    await browser.show('<button onclick="window.open(location)">pop</button>')
    url = bulk(browser, 100_000)

    answer = await browser.call("set_throttling", downloadSpeed=100_000, uploadSpeed=-1, latency=300)
    slow = await measure_times(browser, url)

    assert answer == {"downloadSpeed": 100_000, "uploadSpeed": -1, "latency": 300}
    assert slow["latency"] >= 280
    assert 900 <= slow["whole"] <= 5000

    await browser.call("click", selector="button")
    script = TIMED.replace("URL", json.dumps(url))
    popup = (await browser.call("evaluate", script=script, pageId="page-2"))["result"]
    assert popup["whole"] >= 900

    await browser.call("set_throttling", downloadSpeed=-1, uploadSpeed=-1, latency=0)
    fast = await measure_times(browser, url)
    assert fast["whole"] < slow["whole"] / 3


async def test_speed_of_zero_is_refused(browser: SessionBrowser) -> None:
    """Chromium takes it for no limit."""
    error = await browser.refused("set_throttling", downloadSpeed=-1, uploadSpeed=0, latency=0)

    assert error["details"]["parameter"] == "uploadSpeed"


async def test_mock_that_matches_no_request_is_refused(browser: SessionBrowser) -> None:
    error = await browser.refused("mock_response", url="/orders", response={"status": 500})

    assert error["details"]["parameter"] == "url"
    assert '"*/orders"' in error["message"]


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium can be throttled")
async def test_offline_mode_and_throttling_are_independent(browser: SessionBrowser) -> None:
    """In either order, also on a page that opens meanwhile."""
    await browser.show("<button onclick=\"window.open('about:blank')\">pop</button>")
    url = resource(browser, "fetch")
    slow = {"downloadSpeed": -1, "uploadSpeed": -1, "latency": 300}

    await browser.call("set_throttling", **slow)
    await browser.call("set_offline", offline=True)
    assert await load(browser, "fetch", url) is False
    await browser.call("set_throttling", **slow)
    assert await load(browser, "fetch", url) is False
    await browser.call("click", selector="button")
    opened = "page-2"
    error = await browser.refused("navigate", url=url, pageId=opened)
    assert "INTERNET_DISCONNECTED" in error["message"]

    await browser.call("set_offline", offline=False)
    assert (await measure_times(browser, url))["latency"] >= 280


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium can be throttled")
async def test_session_created_offline_stays_offline_under_throttling(browser: SessionBrowser) -> None:
    session = await browser.call("create_session", offline=True)
    url = resource(browser, "fetch")

    await browser.call("set_throttling", downloadSpeed=-1, uploadSpeed=-1, latency=1, **session)
    error = await browser.refused("navigate", url=url, **session)

    assert "INTERNET_DISCONNECTED" in error["message"]
    await browser.call("close_session", **session)


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium can be throttled")
async def test_throttling_slows_uploads(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")

    async def swallow(request: Request) -> Response:
        return Response(str(len(await request.body())))

    url = json.dumps(browser.site.route(swallow))
    await browser.call("set_throttling", downloadSpeed=-1, uploadSpeed=100_000, latency=0)

    script = f"""(async () => {{
        const began = performance.now();
        await fetch({url}, {{method: 'POST', body: 'x'.repeat(100000)}});
        return performance.now() - began;
    }})()"""

    assert (await browser.call("evaluate", script=script))["result"] >= 700


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"downloadSpeed": -2, "uploadSpeed": 1, "latency": 0}, "downloadSpeed"),
        ({"downloadSpeed": 1, "uploadSpeed": "fast", "latency": 0}, "uploadSpeed"),
        ({"downloadSpeed": 1, "uploadSpeed": 1, "latency": -1}, "latency"),
    ],
)
async def test_invalid_throttling_is_refused_by_field(
    browser: SessionBrowser, arguments: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("set_throttling", **arguments)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == parameter


# The log


async def test_request_log_contains_every_request(browser: SessionBrowser) -> None:
    image = resource(browser, "image")
    missing = f"{browser.site.url}/missing/{browser.session_id}"
    target = browser.site.page("<p>there</p>")
    url = browser.site.page(
        f"<img src='{image}'><script>fetch('{missing}', {{method: 'POST', body: 'x'}})</script>"
    )
    redirect = browser.site.redirect(url)
    await browser.call("navigate", url=redirect, waitUntil="networkidle")

    log = await browser.call("get_request_log")

    entries = log.pop("entries")
    assert log == {"requestCount": 4, "responseCount": 4, "errorCount": 1}
    assert [entry.pop("id") for entry in entries] == [f"request-{number}" for number in range(1, 5)]
    for entry in entries:
        timing = entry.pop("timing")
        assert timing["startTime"] > 1_700_000_000_000
        assert 0 <= timing["duration"] < 60_000

    def entry(url: str, method: str, status: int, kind: str) -> dict[str, Any]:
        return {"url": url, "method": method, "status": status, "resourceType": kind, "pageId": "page-1"}

    assert entries[:2] == [entry(redirect, "GET", 302, "document"), entry(url, "GET", 200, "document")]
    assert sorted(entries[2:], key=lambda each: each["method"]) == [
        entry(image, "GET", 200, "image"),
        entry(missing, "POST", 404, "fetch"),
    ]
    assert target not in [each["url"] for each in entries]


async def test_very_long_url_is_truncated_in_the_log(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    url = f"{resource(browser, 'fetch')}?{'x' * 100_000}"
    await browser.call("evaluate", script=f"fetch('{url}').then(() => 1)")

    (entry,) = (await browser.call("get_request_log", resourceType="fetch"))["entries"]

    assert entry["url"] == f"{url[:5_000]}… [cut, {len(url)} characters]"


async def test_request_log_contains_failures(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    url = resource(browser, "fetch")
    await browser.call("block_resource", resourceType="fetch")
    await load(browser, "fetch", url)
    await browser.call("block_resource", resourceType="fetch", action="remove")
    dead = "http://127.0.0.1:1/dead"
    await load(browser, "fetch", dead)

    log = await browser.call("get_request_log", resourceType="fetch", status=0)

    assert [(each["url"], each["failure"].removesuffix(".Inspector")) for each in log["entries"]] == [
        (url, "net::ERR_BLOCKED_BY_CLIENT"),
        (dead, "net::ERR_UNSAFE_PORT"),
    ]
    assert (log["requestCount"], log["responseCount"], log["errorCount"]) == (2, 0, 2)


@pytest.fixture
async def logged(browser: SessionBrowser) -> SessionBrowser:
    """Five requests beside the page's own: a1 and a2 by GET, a3 by PUT, b1 that is not there, and a popup."""
    folder = f"/log/of-{browser.session_id}"  # An id alone may begin as the names do.
    root = f"{browser.site.url}{folder}"
    for name in ("a1", "a2", "a3"):
        browser.site.page("x", path=f"{folder}/{name}")
    await browser.show(f"<button onclick=\"window.open('{root}/a1')\">pop</button>")
    script = f"""(async () => {{
      for (const [url, method] of [['a1', 'GET'], ['a2', 'GET'], ['a3', 'PUT'], ['b1', 'GET']])
        await (await fetch('{root}/' + url, {{method}})).text();
    }})()"""
    await browser.call("evaluate", script=script)
    await browser.call("click", selector="button")
    await browser.call("wait_for_load", pageId="page-2")
    return browser


def names(log: dict[str, Any]) -> list[str]:
    return [each["url"].rpartition("/")[2] for each in log["entries"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"filter": "/log/"}, ["a1", "a2", "a3", "b1", "a1"]),
        ({"filter": "*/a*"}, ["a1", "a2", "a3", "a1"]),
        ({"filter": "*/b?"}, []),
        ({"filter": "/log/", "resourceType": "fetch"}, ["a1", "a2", "a3", "b1"]),
        ({"filter": "/log/", "resourceType": "document"}, ["a1"]),
        ({"method": "put"}, ["a3"]),
        ({"status": 404, "filter": "/log/"}, ["b1"]),
        ({"status": 404.0, "filter": "/log/"}, ["b1"]),
        ({"pageId": "page-2"}, ["a1"]),
        ({"filter": "/log/", "method": "GET", "status": 200, "resourceType": "fetch"}, ["a1", "a2"]),
        ({"filter": "none of them"}, []),
        ({"filter": "/log/", "offset": 3}, ["b1", "a1"]),
        ({"filter": "/log/", "offset": 99}, []),
    ],
)
async def test_request_log_can_be_filtered(
    logged: SessionBrowser, conditions: dict[str, Any], expected: list[str]
) -> None:
    assert names(await logged.call("get_request_log", **conditions)) == expected


async def test_request_log_is_returned_in_pages(logged: SessionBrowser) -> None:
    """The counts are of all, the entries one page of them."""
    first = await logged.call("get_request_log", filter="/log/", limit=2)
    second = await logged.call("get_request_log", filter="/log/", limit=2, offset=first["nextOffset"])
    third = await logged.call("get_request_log", filter="/log/", limit=2, offset=second["nextOffset"])

    assert [names(page) for page in (first, second, third)] == [["a1", "a2"], ["a3", "b1"], ["a1"]]
    assert "nextOffset" not in third
    for page in (first, second, third):
        assert (page["requestCount"], page["responseCount"], page["errorCount"]) == (5, 5, 1)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"offset": -1}, "offset"),
        ({"status": "ok"}, "status"),
    ],
)
async def test_invalid_log_page_is_refused_by_field(
    browser: SessionBrowser, arguments: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("get_request_log", **arguments)

    assert error["details"]["parameter"] == parameter


async def test_request_log_belongs_to_its_session(logged: SessionBrowser) -> None:
    other = (await logged.call("create_session"))["sessionId"]

    log = await logged.call("get_request_log", sessionId=other)

    assert log == {"entries": [], "requestCount": 0, "responseCount": 0, "errorCount": 0}
    await logged.call("close_session", sessionId=other)


@pytest.mark.slow
async def test_running_request_has_no_duration(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    never = browser.site.never()
    await browser.call("evaluate", script=f"void fetch('{never}')")

    log = await browser.call("get_request_log", filter=never)

    assert [(each["status"], each["timing"]["duration"]) for each in log["entries"]] == [(0, None)]


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium's messages are limited")
async def test_requests_above_the_limit_fail_with_mocks_and_are_counted(browser: SessionBrowser) -> None:
    """Documents are loaded nevertheless."""
    frame = browser.site.page("<p>in the frame</p>")
    await browser.show("<p>Ready")
    await browser.call("mock_response", url="*/mocked/*", response={"status": 418})
    script = f"""(async () => {{
        const flood = () => {{ for (let i = 0; i < 500; i++) fetch('data:,' + i); }};
        const answers = [];
        while (!answers.includes('failed')) {{
            flood();
            const sent = fetch('/mocked/' + answers.length);
            answers.push(await sent.then(({{status}}) => status, () => 'failed'));
        }}
        flood();
        const frame = document.createElement('iframe');
        frame.src = {frame!r};
        const loaded = new Promise(done => frame.onload = done);
        document.body.append(frame);
        await loaded;
        return [...new Set(answers), frame.contentDocument.body.textContent];
    }})()"""

    result = (await browser.call("evaluate", script=script, timeout=120_000))["result"]

    assert result == [418, "failed", "in the frame"]
    with anyio.fail_after(60):
        while "note" not in (log := await browser.call("get_request_log")):
            pass
    number, _, text = log["note"].partition(" ")
    assert int(number.replace(",", "")) > 0
    assert text == "more requests are not listed: a page sent more at once than are recorded."
    await browser.call("tabs", action="new")
    assert "note" not in await browser.call("get_request_log", pageId="page-2")
