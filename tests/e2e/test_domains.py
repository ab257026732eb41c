"""The domain policy, for every way in which a page can reach a host."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.conftest import Browser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio

# One site, two names: `localhost` may be reached, `127.0.0.1` may not.


class Guarded(Browser):
    """Only `localhost` may be reached."""

    def make_allowed(self, url: str) -> str:
        return url.replace("127.0.0.1", "localhost")

    async def open(self, html: str) -> dict[str, Any]:
        """Show a page of the allowed host."""
        return await self.call("navigate", url=self.make_allowed(self.site.page(html)))

    async def run(self, script: str, **values: Any) -> Any:
        given = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
        return (await self.call("evaluate", script=f"{given} return await (async () => {{ {script} }})()"))[
            "result"
        ]

    def was_asked(self, url: str) -> bool:
        path = url.partition(str(self.site.port))[2]
        return any(each == path for _, each in self.site.requests)


@pytest.fixture(scope="module", params=["--allow-domain", "--block-domain"])
async def guarded(
    anyio_backend: str, site: Site, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Guarded]:
    flags = (request.param, "localhost" if request.param == "--allow-domain" else "127.0.0.1")
    folder = tmp_path_factory.mktemp("guarded")
    async with connect_browser(
        site, *flags, "--enable-script-evaluation", "--timeout", "10000", cwd=folder
    ) as browser:
        yield Guarded(browser.client, site, browser.log)


def assert_refused(error: dict[str, Any], url: str) -> None:
    assert error["code"] == "PERMISSION_DENIED"
    assert error["message"] == "The domain 127.0.0.1 is refused by this server's policy"
    assert error["details"] == {"url": url, "domain": "127.0.0.1"}
    assert error["retryable"] is False


@pytest.mark.slow
async def test_an_allowed_host_is_reached(guarded: Guarded) -> None:
    navigated = await guarded.open("<p>here</p>")

    assert navigated["status"] == 200
    assert await guarded.call("get_text", selector="p") == {"text": "here"}


async def test_navigation_to_a_refused_host_is_blocked(guarded: Guarded) -> None:
    url = guarded.site.page("<p>secret</p>")

    assert_refused(await guarded.refused("navigate", url=url), url)
    assert not guarded.was_asked(url)


@pytest.mark.parametrize("spelling", ["2130706433", "0x7f.1", "127.1", "127.0.0.1.", "１２７.0.0.1"])
async def test_other_spellings_of_a_refused_host_are_blocked(guarded: Guarded, spelling: str) -> None:
    url = guarded.site.page("<p>secret</p>")

    error = await guarded.refused("navigate", url=url.replace("127.0.0.1", spelling))

    assert error["code"] == "PERMISSION_DENIED"
    assert not guarded.was_asked(url)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_to_a_refused_host_is_blocked(guarded: Guarded, status: int) -> None:
    secret = guarded.site.page("<p>secret</p>")
    redirect = guarded.make_allowed(guarded.site.redirect(secret, status=status))

    error = await guarded.refused("navigate", url=redirect)

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"]["domain"] == "127.0.0.1"
    assert not guarded.was_asked(secret)


@pytest.mark.sampled(3)
async def test_links_forms_and_scripts_cannot_reach_a_refused_host(guarded: Guarded) -> None:
    ways = {
        "a": "<a href='{url}'>go</a>",
        "button": "<form action='{url}'><button>go</button></form>",
        "i": "<i onclick=\"location = '{url}'\">go</i>",
        "b": "<b onclick=\"location.replace('{url}')\">go</b>",
    }
    for selector, html in ways.items():
        secret = guarded.site.page("<p>secret</p>")
        await guarded.open(html.format(url=secret))

        await guarded.answer("click", selector=selector)

        assert not guarded.was_asked(secret), selector
        body = await guarded.answer("get_text", selector="body", timeout=2000)
        assert "secret" not in json.dumps(body.structured_content)


@pytest.mark.sampled(2)
async def test_meta_refresh_to_a_refused_host_is_blocked(guarded: Guarded) -> None:
    secret = guarded.site.page("<p>secret</p>")
    url = guarded.site.page(f"<meta http-equiv=refresh content='0; url={secret}'>")

    await guarded.answer("navigate", url=guarded.make_allowed(url), waitUntil="networkidle")

    assert not guarded.was_asked(secret)


async def test_popup_to_a_refused_host_is_blocked(guarded: Guarded) -> None:
    secret, fine = guarded.site.page("<p>secret</p>"), guarded.make_allowed(guarded.site.page("<p>fine</p>"))
    session = await guarded.call("create_session")
    page = guarded.make_allowed(
        guarded.site.page(
            f"""<button onclick="window.open('{secret}')">no</button>
            <i onclick="window.open('{fine}')">yes</i>"""
        )
    )
    await guarded.call("navigate", url=page, **session)

    await guarded.answer("click", selector="button", **session)
    await guarded.answer("get_text", selector="body", pageId="page-2", timeout=2000, **session)
    opened = await guarded.call("click", selector="i", **session)

    assert not guarded.was_asked(secret)
    (newest,) = opened["newPages"]
    assert await guarded.call("get_text", selector="p", pageId=newest["pageId"], **session) == {
        "text": "fine"
    }
    await guarded.call("close_session", **session)


LOADED = {
    "fetch": "return fetch(url).then(() => true, () => false)",
    "post": "return fetch(url, {method: 'POST', body: 'x'}).then(() => true, () => false)",
    "image": """return new Promise(done => {
        const image = new Image();
        image.onload = image.onerror = () => done(image.naturalWidth > 0);
        image.src = url;
    })""",
    "script": """return new Promise(done => {
        const script = document.createElement('script');
        script.onload = () => done(true);
        script.onerror = () => done(false);
        script.src = url;
        document.head.append(script);
    })""",
    "frame": """return new Promise(done => {
        const frame = document.createElement('iframe');
        frame.onload = () => done('loaded');
        frame.src = url;
        document.body.append(frame);
    })""",
    "beacon": "navigator.sendBeacon(url, 'x'); return fetch(location).then(() => 'sent')",
    "socket": """return new Promise(done => {
        const socket = new WebSocket(url.replace('http', 'ws'));
        socket.onopen = () => done(true);
        socket.onerror = () => done(false);
    })""",
    "worker": """return new Promise(done => {
        const code = `fetch(${JSON.stringify(url)})
            .then(() => postMessage(true), () => postMessage(false))`;
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        worker.onmessage = message => done(message.data);
    })""",
    "socket in a worker": """return new Promise(done => {
        const code = `const socket = new WebSocket(${JSON.stringify(url.replace('http', 'ws'))});
            socket.onopen = () => postMessage(true);
            socket.onerror = () => postMessage(false)`;
        const worker = new Worker(URL.createObjectURL(new Blob([code])));
        worker.onmessage = message => done(message.data);
    })""",
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", LOADED)
async def test_page_requests_to_a_refused_host_are_blocked(guarded: Guarded, way: str) -> None:
    """Everything reaches an allowed host."""
    secret, fine = guarded.site.page("secret"), guarded.site.page("fine")
    await guarded.open("<p>here</p>")

    refused = await guarded.run(LOADED[way], url=secret)
    allowed = await guarded.run(LOADED[way], url=guarded.make_allowed(fine))

    assert not guarded.was_asked(secret)
    assert refused in (False, "loaded", "sent")
    assert guarded.was_asked(fine)
    assert allowed is not False or way == "image"


async def test_redirected_subresource_to_a_refused_host_is_blocked(guarded: Guarded) -> None:
    secret = guarded.site.page("secret")
    redirect = guarded.make_allowed(guarded.site.redirect(secret))
    await guarded.open("<p>here</p>")

    assert await guarded.run(LOADED["fetch"], url=redirect) is False
    assert guarded.was_asked(redirect)
    assert not guarded.was_asked(secret)


async def test_service_worker_request_to_a_refused_host_is_blocked(guarded: Guarded) -> None:
    from starlette.responses import Response

    secret = guarded.site.page("secret")

    async def worker(_: Any) -> Response:
        code = f"""onmessage = event => fetch('{secret}')
            .then(() => event.source.postMessage(true), () => event.source.postMessage(false))"""
        return Response(code, media_type="text/javascript")

    url = guarded.make_allowed(guarded.site.route(worker))
    await guarded.open("<p>here</p>")
    script = """const registration = await navigator.serviceWorker.register(url);
        const answered = new Promise(done => {
            navigator.serviceWorker.onmessage = message => done(message.data);
        });
        navigator.serviceWorker.startMessages();
        const worker = registration.installing || registration.waiting || registration.active;
        worker.postMessage('go');
        return answered"""

    assert await guarded.run(script, url=url) is False
    assert not guarded.was_asked(secret)


async def test_request_log_shows_blocked_requests(guarded: Guarded) -> None:
    secret = guarded.site.page("secret")
    await guarded.open("<p>here</p>")
    await guarded.run(LOADED["image"], url=secret)

    log = await guarded.call("get_request_log", filter=secret)

    assert (log["requestCount"], log["errorCount"]) == (1, 1)


async def test_restored_state_cannot_open_a_refused_host(guarded: Guarded) -> None:
    url = guarded.site.page("<p>secret</p>")
    session = await guarded.call("create_session")

    by_url = await guarded.refused("restore_state", state={"url": url}, **session)
    by_storage = await guarded.refused(
        "restore_state", state={"sessionStorage": {guarded.site.url: {"a": "1"}}}, **session
    )

    assert by_url["code"] == by_storage["code"] == "PERMISSION_DENIED"
    assert not guarded.was_asked(url)
    await guarded.call("close_session", **session)


@pytest.mark.slow
async def test_blocked_domains_take_precedence_over_allowed_ones(site: Site) -> None:
    flags = ("--allow-domain", "*", "--block-domain", "127.0.0.1")
    async with connect_browser(site, *flags) as browser:
        url = site.page("<p>x</p>")

        assert_refused(await browser.refused("navigate", url=url), url)
        await browser.call("navigate", url=url.replace("127.0.0.1", "localhost"))
