"""Waiting for the effects of an action: what is waited for, what is not, and for how long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import playwright.async_api
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse

from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms.text_input import fill_field
from footlight.browser.actions.navigation import navigate
from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.page import capture
from footlight.browser.page.capture import EARLIER, LEFT_OUT, EarlyLook, glance, look, snapshot_engine
from footlight.browser.page.page import Page
from footlight.browser.page.settling import LATE_SECONDS, settle, settling_engine
from footlight.browser.reading.listeners import find_reaction
from footlight.browser.recording.live_picture import show_live
from footlight.browser.sessions.engine import Engine
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.pooled_sessions import PooledSessions
from footlight.caller import LOCAL
from footlight.config import BrowserSettings, PoolSettings, Settings
from tests.conftest import ENGINE, SessionBrowser
from tests.processes import wait_until
from tests.site import Site

pytestmark = pytest.mark.anyio

HAS_RUN = 'globalThis[Symbol.for("footlight.settling.engine")] !== undefined'
LIMIT_MS = 30_000.0
"""Far beyond what a test may take: what ends does so by itself."""
SOON = 15.0
TRIES_SECONDS = 100.0


@pytest.fixture(scope="module")
async def sessions(anyio_backend: str) -> AsyncGenerator[PooledSessions]:
    engine = Engine(
        Settings(browser=BrowserSettings.model_validate({"type": ENGINE}), pool=PoolSettings(minBrowsers=1))
    )
    engine.start()
    yield await engine.sessions()
    await engine.close()


class Tab:
    """A page of a site, and a hand to click in it."""

    def __init__(self, session: Session, page: Page, site: Site) -> None:
        self.session = session
        self.page = page
        self.site = site

    async def show(self, html: str) -> None:
        await self.page.playwright.goto(self.site.page(html))

    async def click(
        self, selector: str = "button", *, limit_ms: float = LIMIT_MS, deadline: Deadline | None = None
    ) -> None:
        """Click, and wait until it has settled."""
        since, patient = time.monotonic(), Deadline.after(LIMIT_MS)
        await click_element(self.page, selector, patient, button="left", count=1)
        async with asyncio.timeout(SOON):
            await settle(self.page, since, deadline or patient, limit_ms=limit_ms)

    async def fill(self, text: str) -> EarlyLook:
        """Fill the field of the page, wait until it has settled, and read it then."""
        since, deadline, early = time.monotonic(), Deadline.after(LIMIT_MS), EarlyLook(self.page)
        await fill_field(self.page, "input", text, deadline)
        await settle(self.page, since, deadline, limit_ms=LIMIT_MS, read=early.read)
        return early

    async def read(self, script: str = "document.body.innerText.trim()") -> object:
        """Return the current value of an expression in the page."""
        return await self.page.playwright.evaluate(script)


@pytest.fixture
async def tab(sessions: PooledSessions, site: Site) -> AsyncGenerator[Tab]:
    session = await sessions.create(SessionOptions(), caller=LOCAL)
    yield Tab(session, await session.page_table.get(), site)
    await sessions.close(session.id, caller=LOCAL)


def slow(site: Site, ms: float, response: Response) -> str:
    async def answer(_: Request) -> Response:
        await asyncio.sleep(ms / 1000)
        return response

    return site.route(answer)


def endless(site: Site, piece: str, media_type: str) -> str:
    """Return an answer that begins and never ends."""

    async def pieces() -> AsyncIterator[str]:
        yield piece
        await asyncio.Event().wait()

    async def answer(_: Request) -> Response:
        return StreamingResponse(pieces(), media_type=media_type)

    return site.route(answer)


def appends(url: str) -> str:
    """Return a script that fetches, and shows the answer."""
    return f"fetch('{url}').then(answer => answer.text()).then(text => document.body.append(text))"


# Both ends


async def takes_less(
    seconds: float, browser: SessionBrowser, tool: str, selector: str, **arguments: str
) -> bool:
    """Return whether the fastest of many calls takes less: other tests share the machine."""
    for _ in range(100):
        began = time.monotonic()
        await browser.call(tool, selector=selector, **arguments)
        if time.monotonic() - began < seconds:
            return True
    return False


async def test_click_without_effects_returns_at_once(browser: SessionBrowser) -> None:
    await browser.show("<button>Save</button>")

    assert await takes_less(0.1, browser, "click", "button")


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
async def test_each_new_document_answers_a_settle_message(tab: Tab) -> None:
    for text in ("one", "two"):
        await tab.show(f"<p>{text}</p>")
        await settle(tab.page, time.monotonic(), Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)

        answer = await tab.page.scripts.ask(settling_engine, "settle", False)
        assert answer == {"record": "", "late": None}

    assert await tab.page.scripts.ask(settling_engine, "unknown") is None


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
async def test_scripts_of_a_new_page_are_called_by_messages(tab: Tab) -> None:
    opened = await tab.session.page_table.open()
    assert await opened.scripts.ask(settling_engine, "settle", False) == {"record": "", "late": None}


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
async def test_new_document_is_watched_before_it_is_asked_about(tab: Tab) -> None:
    async with asyncio.timeout(SOON):
        while not tab.page.scripts.began_at:  # The script is installed while the first page opens.
            await tab.show("<p>text")

    read = f'globalThis[Symbol.for("footlight.read")] = () => {HAS_RUN}'
    assert await tab.page.scripts.ask(lambda: read, "read") is True


async def test_changes_in_the_first_frames_of_a_document_are_awaited(
    browser: SessionBrowser, site: Site
) -> None:
    change = "requestAnimationFrame(() => requestAnimationFrame(() => document.body.append('drawn')))"
    url = site.page(f"<p>text<script>addEventListener('load', () => {change})</script>")

    for _ in range(3):  # The first page of a session is watched in another way.
        answer = await browser.answer("navigate", url=url, observe="full")
        assert "drawn" in answer.structured_content["observation"]["text"]


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
async def test_injected_engine_is_not_run_again_by_a_selector(tab: Tab) -> None:
    engine = 'globalThis[Symbol.for("footlight.settling.engine")]'
    await tab.show("<p>text</p>")
    await settle(tab.page, time.monotonic(), Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)
    await tab.page.scripts.ask(lambda: f"{engine}.isFirst = true", "watch")
    await tab.page.playwright.main_frame.get_attribute("footlight-settle=begin", "v")

    read = f'globalThis[Symbol.for("footlight.read")] = () => {engine}.isFirst'
    assert await tab.page.scripts.ask(lambda: read, "read") is True


async def test_fetch_started_by_a_timer_is_awaited(
    browser: SessionBrowser,
) -> None:
    late = slow(browser.site, 300, PlainTextResponse("rendered"))
    await browser.show(f"""<p>empty</p><button onclick="setTimeout(() => fetch('{late}').then(
        async answer => document.querySelector('p').textContent = await answer.text()), 0)">load</button>""")

    await browser.call("click", selector="button")

    assert await browser.call("get_text", selector="p") == {"text": "rendered"}


# Requests


FETCHES = (
    "fetch('URL').then(answer => answer.text()).then(text => document.querySelector('p').textContent = text)"
)
LATE = {
    "an upload after its file was read": (
        "upload_file",
        "<input type=file onchange='const reader = new FileReader();"
        " reader.onload = () => { setTimeout(() => FETCHES, 120) }; reader.readAsText(files[0])'>",
    ),
    "suggestions for a search": (
        "type",
        "<input type=search oninput='clearTimeout(window.timer); timer = setTimeout(() => FETCHES, 250)'>",
    ),
    "what a field with a placeholder filters": (
        "fill",
        "<input placeholder='Search products' oninput='clearTimeout(window.timer);"
        " timer = setTimeout(() => document.querySelector(`p`).textContent = `late`, 400)'>",
    ),
    "suggestions for a field that its label calls a search": (
        "fill",
        "<label>Search <input oninput='clearTimeout(window.timer);"
        " timer = setTimeout(() => document.querySelector(`p`).textContent = `late`, 350)'></label>",
    ),
    "suggestions in a search landmark": (
        "fill",
        "<search><input aria-label=Tea oninput='clearTimeout(window.timer);"
        " timer = setTimeout(() => document.querySelector(`p`).textContent = `late`, 350)'></search>",
    ),
    "suggestions from a list of the page": (
        "fill",
        "<input role=combobox aria-expanded=false oninput='clearTimeout(window.timer);"
        " timer = setTimeout(() => document.querySelector(`p`).textContent = `late`, 250)'>",
    ),
    "work that its button tells of": (
        "click",
        "<button onclick='this.textContent = `Saving…`; setTimeout(() => { this.textContent = `Save`;"
        " document.querySelector(`p`).textContent = `late` }, 700)'>Save</button>",
    ),
    "work that a part of the page tells of": (
        "click",
        "<button onclick='main.ariaBusy = true; setTimeout(() => { main.ariaBusy = false;"
        " main.textContent = `late` }, 700)'>Load</button><main id=main>",
    ),
    "work during which its button is disabled": (
        "click",
        "<button onclick='this.disabled = true; setTimeout(() => { this.disabled = false;"
        " document.querySelector(`p`).textContent = `late` }, 700)'>Save</button>",
    ),
    "work during which a spinner turns": (
        "click",
        "<button onclick='main.innerHTML = `<i class=spinner></i>`; setTimeout(() => {"
        " main.textContent = `late` }, 700)'>Load</button><main id=main>",
    ),
    "a message some time after the request that it is about": (
        "click",
        "<button onclick='fetch(`URL`).then(() =>"
        " setTimeout(() => document.querySelector(`p`).textContent = `late`, 600))'>Save</button>",
    ),
    "work that asks for its state again and again": (
        "click",
        "<button onclick='this.textContent = `Running…`; let left = 3; const ask = () =>"
        " fetch(`URL`).then(() => { if (left--) return setTimeout(ask, 200); this.textContent = `Run`;"
        " document.querySelector(`p`).textContent = `late` }); ask()'>Run</button>",
    ),
    "a submenu": (
        "hover",
        "<button aria-haspopup=true onmouseover='setTimeout(() => {"
        ' document.body.insertAdjacentHTML("beforeend", "<p role=menu>late"); }, 250)\'>More</button>',
    ),
    "a tooltip": (
        "hover",
        "<button onmouseenter='setTimeout(() => {"
        ' document.body.insertAdjacentHTML("beforeend", "<p role=tooltip>late"); }, 500)\'>Help</button>',
    ),
    "a tooltip of a listener around the element": (
        "hover",
        "<button>Help</button><script>addEventListener('pointermove', () => setTimeout(() => {"
        " document.querySelector('p').textContent = 'late' }, 500))</script>",
    ),
    "a tooltip of a closed shadow tree": (
        "hover",
        "<button>Help</button><div id=host></div><script>"
        "const root = host.attachShadow({ mode: 'closed' }); root.innerHTML = '<b><slot></slot></b>';"
        "host.append(document.querySelector('button'));"
        "root.firstChild.onmouseover = () => setTimeout(() => {"
        " document.querySelector('p').textContent = 'late' }, 500)</script>",
    ),
    "a style that shows a tooltip after a delay": (
        "hover",
        "<style>b { visibility: hidden; transition: visibility 0s 550ms }"
        " button:hover + b { visibility: visible }</style><button>Help</button><b>late</b>",
    ),
    "a style of a shadow tree": (
        "hover",
        "<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = `<style>b { visibility:"
        " hidden; transition: visibility 0s 550ms } button:hover + b { visibility: visible }</style>"
        "<button>Help</button><b>late</b>`</script>",
    ),
    "an element that is shown without a script": (
        "hover",
        "<button interestfor=more>Help</button><div id=more popover=hint>late</div>",
    ),
}


QUIET = {
    "hover": "<p>words</p><button title=Help>Help</button><script>onclick = () => 1</script>",
    "fill": "<form onclick='1'><input type=search name=q><button>Find</button></form>",
    "upload": "<form onclick='1'><input type=file><button>Send</button></form>",
}


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium lists listeners")
@pytest.mark.parametrize("tool", QUIET)
async def test_nothing_late_is_awaited_where_no_script_listens(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    for kind in ("suggestions", "tooltip", "upload"):
        monkeypatch.setitem(LATE_SECONDS, kind, LIMIT_MS)
    await tab.show(QUIET[tool])
    deadline = Deadline.after(LIMIT_MS)

    async with asyncio.timeout(SOON):
        if tool == "fill":
            await tab.fill("words")
            return
        since = time.monotonic()
        if tool == "hover":
            await tab.page.playwright.hover("button")
        else:
            await tab.page.playwright.set_input_files("input", __file__)
        await settle(tab.page, since, deadline, limit_ms=LIMIT_MS)


LISTENS = "<script>onmouseover = onmousemove = () => 1</script>"


# A closed dialog, and a page that is opened below the mouse.
@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium moves the mouse without a movement")
async def test_element_that_the_page_moves_below_the_mouse_opens_no_tooltip(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LATE_SECONDS, "tooltip", LIMIT_MS)
    monkeypatch.setitem(LATE_SECONDS, "submenu", LIMIT_MS)

    await tab.show(
        "<dialog><button onclick='this.parentNode.close()'>Close</button></dialog>"
        f"{'<p>words</p>' * 50}{LISTENS}<script>document.querySelector('dialog').showModal()</script>"
    )
    await tab.click()

    await tab.show("<a href=/next aria-haspopup=true style='position: fixed; inset: 0'>Next</a>")
    tab.site.page(f"<p aria-haspopup=true style='position: fixed; inset: 0'>here{LISTENS}", path="/next")
    await tab.click("a")

    assert await tab.read() == "here"


@pytest.mark.sampled(4)
@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
@pytest.mark.parametrize(("tool", "html"), LATE.values(), ids=LATE)
async def test_late_content_is_included_in_the_answer(browser: SessionBrowser, tool: str, html: str) -> None:
    url = slow(browser.site, 0, PlainTextResponse("late"))
    file = browser.uploads / "note.txt"
    file.write_text("note")
    arguments = {"upload_file": {"files": [str(file)]}, "type": {"text": "abc"}, "fill": {"value": "abc"}}
    fetches = FETCHES.replace("'", "`")
    await browser.show(f"<p>early</p>{html.replace('FETCHES', fetches).replace('URL', url)}")

    answer = await browser.answer(tool, selector="input, button", observe="diff", **arguments.get(tool, {}))

    assert "late" in str(answer.content), answer.content


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
@pytest.mark.parametrize("first", ["", "it.disabled = true;"])
async def test_reply_to_a_message_by_websocket_is_awaited(browser: SessionBrowser, first: str) -> None:
    address = browser.site.url.replace("http", "ws") + "/later"
    await browser.show(
        f"<p></p><button id=it>Send</button><script>socket = new WebSocket('{address}');"
        "socket.onopen = () => document.title = 'open'; socket.onmessage = event => it.before(event.data);"
        f"it.onclick = () => {{ {first} socket.send('late') }}</script>"
    )
    await browser.call("wait_for", function="() => document.title === 'open'")

    answer = await browser.answer("click", selector="button", observe="diff")

    assert "late!" in str(answer.content), answer.content


async def test_permanently_busy_button_is_not_awaited(browser: SessionBrowser) -> None:
    await browser.show("<main aria-busy=true></main><button class=loading>More…</button>")

    assert await takes_less(0.5, browser, "click", "button")


@pytest.mark.slow
async def test_endless_busy_state_is_awaited_only_once(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='document.body.ariaBusy = true'>Load</button><input aria-label=Name>")
    await browser.call("click", selector="button")

    assert await takes_less(0.5, browser, "fill", "input", value="x")


async def test_button_that_stays_disabled_is_not_awaited_without_a_timer(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='this.disabled = true'>Accept</button>" * 100)

    assert await takes_less(0.5, browser, "click", "button:enabled >> nth=0")


async def test_menu_opened_by_a_click_is_not_awaited(browser: SessionBrowser) -> None:
    await browser.show("<button aria-haspopup=true>More</button>")

    assert await takes_less(0.3, browser, "click", "button")


async def test_chain_of_requests_is_awaited_to_its_end(tab: Tab) -> None:
    """The best of eight: on a busy machine a timer of 5 ms may fire after the page has come to rest."""
    seen: list[object] = []
    while "go one two" not in seen and len(seen) < 8:
        first, second = (slow(tab.site, 100, PlainTextResponse(text)) for text in (" one", " two"))
        await tab.show(f"""<button onclick="{appends(first)}.then(
            () => setTimeout(() => {appends(second)}, 5))">go</button>""")
        await tab.click()
        seen.append(await tab.read())

    assert "go one two" in seen


async def test_pushed_route_is_awaited_until_rendered(tab: Tab) -> None:
    late = slow(tab.site, 200, PlainTextResponse(" rendered"))
    await tab.show(f"""<button onclick="history.pushState(0, '', '/pushed'); {appends(late)}">go</button>""")

    await tab.click()

    assert await tab.read("location.pathname + document.body.innerText") == "/pushedgo rendered"


@pytest.mark.slow
async def test_requests_of_a_cross_site_frame_are_awaited(tab: Tab) -> None:
    late = slow(tab.site, 200, PlainTextResponse(" rendered", headers={"access-control-allow-origin": "*"}))
    frame = tab.site.page(f"<script>onmessage = () => {appends(late)}</script>frame")
    await tab.show(f"""<iframe src="{frame.replace("127.0.0.1", "localhost")}"></iframe>
        <button onclick="frames[0].postMessage(0, '*')">go</button>""")

    await tab.click()

    assert await tab.page.playwright.frame_locator("iframe").locator("body").inner_text() == "frame rendered"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "opens",
    ["new EventSource(url)", "fetch(url).then(() => document.body.append(' open'))"],
    ids=["EventSource", "fetch"],
)
async def test_endless_event_streams_are_not_awaited(tab: Tab, opens: str) -> None:
    url = endless(tab.site, "data: 1\n\n", "text/event-stream")
    await tab.show(f"""<button onclick="const url = '{url}'; {opens}">go</button>""")

    await tab.click()


@pytest.mark.slow
async def test_endless_response_is_awaited_only_briefly(tab: Tab) -> None:
    url = endless(tab.site, "some", "text/plain")
    await tab.show(
        f"""<button onclick="fetch('{url}').then(() => document.body.append(' begun'))">go</button>"""
    )

    await tab.click()

    assert await tab.read() == "go begun"


async def test_request_started_before_the_action_is_not_awaited(tab: Tab) -> None:
    await tab.show(f"<button>go</button><script>fetch('{tab.site.never()}')</script>")

    await tab.click()


@pytest.mark.slow
async def test_next_long_poll_request_is_not_awaited(tab: Tab) -> None:
    """The action may well be what its server was waiting for."""
    news, taken, never = (asyncio.Event() for _ in range(3))

    async def poll(request: Request) -> Response:
        if request.url.query == "2":
            taken.set()
            await never.wait()
        await news.wait()
        return PlainTextResponse(" news")

    async def send(_: Request) -> Response:
        news.set()
        await taken.wait()
        return PlainTextResponse()

    await tab.show(f"""<button onclick="fetch('{tab.site.route(send)}')">go</button><script>
        (async function poll(turn) {{
          document.body.append(await (await fetch('{tab.site.route(poll)}?' + turn)).text());
          poll(turn + 1);
        }})(1)</script>""")
    await tab.read("new Promise(done => setTimeout(done, 1200))")

    await tab.click()

    assert await tab.read() == "go news"


async def test_unanswered_request_is_awaited_up_to_the_limit(tab: Tab) -> None:
    await tab.show(f"""<button onclick="fetch('{tab.site.never()}')">go</button>""")

    await tab.click(limit_ms=300)


async def test_settling_ends_at_the_call_deadline(tab: Tab) -> None:
    await tab.show(f"""<button onclick="fetch('{tab.site.never()}')">go</button>""")

    await tab.click(deadline=Deadline.after(300))


async def test_requests_of_a_removed_frame_are_not_awaited(tab: Tab) -> None:
    frame = tab.site.page(f"<script>onmessage = () => fetch('{tab.site.never()}')</script>")
    await tab.show(f"""<iframe src="{frame.replace("127.0.0.1", "localhost")}"></iframe>
        <button onclick="frames[0].postMessage(0, '*');
          setTimeout(() => document.querySelector('iframe').remove(), 100)">go</button>""")

    await tab.click()


# Navigations


async def test_slow_form_submission_is_awaited(tab: Tab) -> None:
    url = slow(tab.site, 200, HTMLResponse("<p>sent"))
    await tab.show(f"<form method=post action='{url}'><button>send</button></form>")

    await tab.click()

    assert await tab.read() == "sent"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_script_navigation_and_its_requests_are_awaited(tab: Tab, host: str) -> None:
    """What the document before it had asked for is of no interest any more."""
    late = slow(tab.site, 200, PlainTextResponse(" rendered"))
    url = slow(tab.site, 200, HTMLResponse(f"<body>there<script>setTimeout(() => {appends(late)})</script>"))
    redirect = tab.site.redirect(url).replace("127.0.0.1", host)
    await tab.show(f"""<button onclick="fetch('{tab.site.never()}');
        setTimeout(() => location.href = '{redirect}', 5)">go</button>""")

    await tab.click()

    assert await tab.read() == "there rendered"


async def test_frame_navigation_is_awaited(tab: Tab) -> None:
    url = slow(tab.site, 200, HTMLResponse("there"))
    await tab.show(f"""<iframe name=inside></iframe><a href="{url}" target=inside>go</a>""")

    await tab.click("a")

    assert await tab.page.playwright.frame_locator("iframe").locator("body").inner_text() == "there"


@pytest.mark.slow
async def test_unloaded_image_delays_a_document_only_briefly(tab: Tab) -> None:
    url = tab.site.page(f"<p>there<img src='{tab.site.never()}'>")
    await tab.show(f"""<a href="{url}">go</a>""")

    await tab.click("a")

    assert await tab.read("document.readyState + ' ' + document.body.innerText") == "interactive there"


@pytest.mark.parametrize(
    "response",
    [Response(status_code=204), Response("file", headers={"content-disposition": "attachment"})],
    ids=["empty", "download"],
)
async def test_navigation_without_a_new_document_ends_settling(tab: Tab, response: Response) -> None:
    url = slow(tab.site, 100, response)
    await tab.show(f"""<button onclick="setTimeout(() => location.href = '{url}', 5)">go</button>""")

    await tab.click()

    assert await tab.read() == "go"


# What the page does by itself


async def test_short_transition_and_its_effects_are_awaited(tab: Tab) -> None:
    await tab.show("""<style>p { transition: opacity 0.2s } .gone p { opacity: 0 }</style>
        <button onclick="document.body.className = 'gone'">go</button>
        <p ontransitionend="this.remove()">words</p>""")

    await tab.click()

    assert await tab.read() == "go"


@pytest.mark.parametrize("duration", ["1s infinite", "20s"])
async def test_long_animation_is_not_awaited(tab: Tab, duration: str) -> None:
    await tab.show(f"""<style>
          @keyframes turn {{ to {{ rotate: 360deg }} }}
          .go p {{ animation: turn {duration} }}
        </style>
        <p>words</p><button onclick="document.body.className = 'go'">go</button>""")

    await tab.click()

    assert await tab.read("document.getAnimations().length") == 1


async def test_continuously_changing_page_is_awaited_only_briefly(tab: Tab) -> None:
    await tab.show("""<button>go</button><p></p><script>
        (function turn(n) {
          document.querySelector('p').textContent = n;
          requestAnimationFrame(() => turn(n + 1));
        })(0)</script>""")

    await tab.click()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("where", ["document.querySelector('p')", "document.querySelector('a-b').shadowRoot"])
async def test_frame_by_frame_changes_are_awaited_to_their_end(tab: Tab, where: str) -> None:
    await tab.show(f"""<p></p><a-b></a-b><script>
        document.querySelector('a-b').attachShadow({{mode: 'open'}});
        const shown = {where};
        function turn(n) {{ shown.textContent = n; if (n < 12) requestAnimationFrame(() => turn(n + 1)); }}
        </script><button onclick="turn(0)">go</button>""")

    async def click_and_read() -> str:
        await tab.click()
        return await tab.read("shown.textContent")

    # On a busy machine, a frame may come later than the limit for pages that draw none.
    assert any([await click_and_read() == "12" for _ in range(3)])


COUNT_FRAMES = """
globalThis.frames = new Set();
addEventListener("click", () => globalThis.frames.clear(), { capture: true });
const { requestAnimationFrame: request, setTimeout: wait } = globalThis;
// Callbacks that a frame requests run in the next one. On a busy machine, both may have the same time.
let last = 0;
globalThis.requestAnimationFrame = (callback) => {
  const next = last + 1;
  return request((at) => (globalThis.frames.add((last = next)), callback(at)));
};
// This timer stands for a frame that does not come.
globalThis.setTimeout = (callback, ms) =>
  wait(() => (ms === 25 && globalThis.frames.add(performance.now()), callback()), ms);
0
"""
"""Counts the frames since a click for which the settling script has waited."""


async def click_and_count_frames(tab: Tab) -> int:
    await tab.click()
    return (await tab.page.scripts.run("globalThis.frames.size"))["result"]["value"]


only_chromium = pytest.mark.skipif(ENGINE != "chromium", reason="other engines are asked frame by frame")


@only_chromium
async def test_change_after_which_nothing_can_follow_is_awaited_for_one_frame(tab: Tab) -> None:
    await tab.show("""<button onclick="this.textContent += '.'">go</button>""")
    await tab.click()
    await tab.page.scripts.run(COUNT_FRAMES)

    # Other tests share the machine, so that a second frame may come meanwhile.
    async with asyncio.timeout(TRIES_SECONDS):
        while await click_and_count_frames(tab) != 1:
            pass


MORE = "document.body.append(' more')"
FOLLOWED = {
    "the frame after the next": f"requestAnimationFrame(() => requestAnimationFrame(() => {MORE}))",
    "a timer": f"setTimeout(() => {MORE}, 20)",
    "an idle moment": f"requestIdleCallback(() => {MORE})",
    "a view transition": f"document.startViewTransition(() => {MORE})",
}


@pytest.mark.sampled(9)
@only_chromium
@pytest.mark.parametrize("script", FOLLOWED.values(), ids=FOLLOWED)
async def test_change_that_another_may_follow_is_awaited_for_two_frames(tab: Tab, script: str) -> None:
    await tab.show(f"""<button>go</button><script>
        document.querySelector('button').onclick = () => {{
          document.body.append(' done');
          {script};
        }}</script>""")
    await tab.click()
    await tab.page.scripts.run(COUNT_FRAMES)
    await tab.click()  # A frame that was requested before is not counted.

    assert min([await click_and_count_frames(tab) for _ in range(10)]) > 1


@pytest.mark.slow
@only_chromium
async def test_change_is_awaited_for_two_frames_where_idle_callbacks_are_missing(tab: Tab) -> None:
    """WebKit has none."""
    await tab.show("""<button onclick="this.textContent += '.'">go</button>""")
    await tab.click()
    await tab.page.scripts.run(f"delete globalThis.requestIdleCallback; {COUNT_FRAMES}")

    assert min([await click_and_count_frames(tab) for _ in range(5)]) > 1


COUNT_NEW_FRAMES = COUNT_FRAMES.replace('"click"', '"load"').removesuffix("0\n")


async def navigate_and_count_frames(tab: Tab, html: str) -> int:
    since, deadline = time.monotonic(), Deadline.after(LIMIT_MS)
    await navigate(tab.page, tab.site.page(html), "load", deadline)
    await settle(tab.page, since, deadline, limit_ms=LIMIT_MS)
    return (await tab.page.scripts.run("globalThis.frames.size"))["result"]["value"]


async def count_frames_of_new_documents(tab: Tab) -> None:
    await tab.page.scripts.install(
        lambda: f"{COUNT_NEW_FRAMES}; globalThis[Symbol.for('footlight.nothing')] = () => 0", "nothing"
    )


@only_chromium
async def test_new_document_after_which_nothing_can_follow_is_awaited_for_one_frame(tab: Tab) -> None:
    await count_frames_of_new_documents(tab)

    # Other tests share the machine, so that a second frame may come meanwhile.
    async with asyncio.timeout(TRIES_SECONDS):
        while await navigate_and_count_frames(tab, "<p>words") != 1:
            pass


@pytest.mark.sampled(9)
@only_chromium
@pytest.mark.parametrize("script", FOLLOWED.values(), ids=FOLLOWED)
async def test_new_document_that_a_change_may_follow_is_awaited_for_two_frames(tab: Tab, script: str) -> None:
    await count_frames_of_new_documents(tab)
    html = f"<p>words<script>{script}</script>"

    assert min([await navigate_and_count_frames(tab, html) for _ in range(10)]) > 1


@only_chromium
async def test_inserted_text_after_which_nothing_can_follow_is_awaited_for_no_frame(tab: Tab) -> None:
    await tab.show("<label>Name <input oninput='globalThis.typed = this.value'></label>")
    await tab.fill("first")
    await tab.page.scripts.run(COUNT_FRAMES.replace('"click"', '"input"'))

    async def fill_and_count_frames() -> int:
        await tab.fill(f"{time.monotonic()}")
        return (await tab.page.scripts.run("globalThis.frames.size"))["result"]["value"]

    # Other tests share the machine, so that a frame may come meanwhile.
    async with asyncio.timeout(TRIES_SECONDS):
        while await fill_and_count_frames():
            pass


AFTER_INSERTION = {
    "a frame": f"field.oninput = () => requestAnimationFrame(() => {MORE})",
    "a timer": f"field.oninput = () => setTimeout(() => {MORE})",
    "a timer since the focus": f"field.onfocus = () => setTimeout(() => {MORE})",
    "an idle moment": f"field.oninput = () => requestIdleCallback(() => {MORE})",
    "a promise of the browser": f"""field.oninput = () =>
        crypto.subtle.digest('SHA-256', new Uint8Array(100)).then(() => {MORE})""",
    "a message": f"""const {"{ port1, port2 }"} = new MessageChannel();
        port1.onmessage = () => {MORE};
        field.oninput = () => port2.postMessage(0)""",
    "the event of scrolling": f"field.style.marginTop = '3000px'; document.onscroll = () => {MORE}",
    "the end of a transition": f"""field.style.transition = 'opacity 30ms';
        field.ontransitionend = () => {MORE};
        field.oninput = () => {'{ field.style.opacity = field.style.opacity ? "" : "0.5" }'}""",
}


@pytest.mark.sampled(4)
@only_chromium
@pytest.mark.parametrize("script", AFTER_INSERTION.values(), ids=AFTER_INSERTION)
async def test_what_follows_an_inserted_text_is_awaited(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(capture, "EARLY_SECONDS", SOON)

    async def fill_and_read() -> str:
        await tab.show(f"<input><script>const field = document.querySelector('input'); {script}</script>")
        await settle(tab.page, time.monotonic(), Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)
        await glance(tab.page, SOON)
        early = await tab.fill("first")
        assert early.find_reply()
        snapshot = await glance(tab.page, SOON, early)
        assert snapshot
        return snapshot.nodes[-1].name

    # On a busy machine, a frame may come later than the limit for pages that draw none.
    assert any([await fill_and_read() == "more" for _ in range(5)])


async def test_messages_that_a_script_sends_to_itself_are_awaited(tab: Tab) -> None:
    await tab.show(f"""<button>go</button><script>
        const {{ port1, port2 }} = new MessageChannel();
        port1.onmessage = ({{ data: left }}) => left ? port2.postMessage(left - 1) : {MORE};
        document.querySelector('button').onclick = () => {{
          document.body.append(' done');
          port2.postMessage(20);
        }}</script>""")
    for count in range(1, 11):
        await tab.click()

        assert await tab.read() == "go" + " done more" * count


@pytest.mark.parametrize(
    "opens",
    [
        "new WebSocket(location.href.replace('http', 'ws'))",
        "new EventSource('/none')",
        "new Worker(URL.createObjectURL(new Blob(['onmessage = () => 0'], { type: 'text/javascript' })))",
    ],
)
async def test_document_that_others_send_messages_to_is_known(tab: Tab, opens: str) -> None:
    await tab.show(f"<p>words</p><script>const kept = {opens}</script>")
    await wait_until(lambda: tab.page.traffic.has_channels)

    await tab.show("<p>others</p>")

    assert not tab.page.traffic.has_channels


APPEND = """<button onclick="document.body.append(' more')">go</button>"""


async def settle_and_read(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> EarlyLook:
    """Click, and read the document in the request that waits until it has settled."""
    monkeypatch.setattr(capture, "EARLY_SECONDS", SOON)
    since, deadline, early = time.monotonic(), Deadline.after(LIMIT_MS), EarlyLook(tab.page)
    await click_element(tab.page, "button", deadline, button="left", count=1)
    await settle(tab.page, since, deadline, limit_ms=LIMIT_MS, read=early.read)
    return early


@only_chromium
async def test_settled_document_is_read_without_another_request(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show(APPEND)
    await glance(tab.page, SOON)
    early = await settle_and_read(tab, monkeypatch)
    assert early.find_reply()
    # An answer of the snapshot script would say this text.
    await tab.read("document.body.append(' later')")

    snapshot = await glance(tab.page, SOON, early)

    assert snapshot
    assert [node.name for node in snapshot.nodes] == ["go", "more"]


@only_chromium
@pytest.mark.parametrize("then", ["look", "navigate", "wait"])
async def test_early_look_is_not_used_after_another_event(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    await tab.show(APPEND)
    await glance(tab.page, SOON)
    early = await settle_and_read(tab, monkeypatch)
    if then == "look":
        await glance(tab.page, SOON)
    elif then == "navigate":
        await tab.show("<p>next")
    else:
        monkeypatch.setattr(capture, "EARLY_SECONDS", 0)

    assert early.find_reply() is None


@only_chromium
async def test_cancelled_early_look_is_not_taken_after_a_newer_request(tab: Tab) -> None:
    await tab.show("<button>go</button>")
    await glance(tab.page, SOON)
    request = asyncio.get_running_loop().create_future()

    async def ask(text: str) -> str | None:
        request.set_result(text)
        return await asyncio.Future[str]()

    reading = asyncio.create_task(EarlyLook(tab.page).read(ask))
    text = await request
    reading.cancel()
    await glance(tab.page, SOON)
    reply = await tab.page.scripts.ask(snapshot_engine, "look", text)

    assert reply is None


@only_chromium
async def test_large_document_is_read_in_a_request_of_its_own(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show(f"{APPEND}<div hidden>{'<i></i>' * 20_000}</div>")
    await glance(tab.page, SOON)
    early = await settle_and_read(tab, monkeypatch)

    assert early.find_reply() is None
    snapshot = await glance(tab.page, SOON, early)
    assert snapshot
    assert [node.name for node in snapshot.nodes] == ["go", "more"]


async def test_long_running_script_is_awaited(tab: Tab) -> None:
    await tab.show("""<button onclick="setTimeout(() => {
          for (const end = performance.now() + 1200; performance.now() < end;);
          setTimeout(() => document.body.append(' done'));
        }, 20)">go</button>""")

    await tab.click()

    assert await tab.read() == "go done"


async def test_page_with_broken_timers_settles_normally(tab: Tab) -> None:
    late = slow(tab.site, 100, PlainTextResponse(" rendered"))
    await tab.show(f"""<img name=getAnimations><img name=createElement><button onclick="{appends(late)};
        window.requestAnimationFrame = window.setTimeout = performance.now = () => 0;
        Document.prototype.getAnimations = window.MutationObserver = window.Promise = null">go</button>""")

    await tab.click()

    assert await tab.read() == "go rendered"


# Pages that give no answer


@pytest.mark.slow
async def test_hung_page_is_awaited_up_to_the_limit(tab: Tab) -> None:
    since = time.monotonic()
    await tab.read("void setTimeout(() => { for (;;); })")

    async with asyncio.timeout(SOON):
        await settle(tab.page, since, Deadline.after(LIMIT_MS), limit_ms=500)

    assert not await tab.page.responds()


async def test_closed_page_has_settled(tab: Tab) -> None:
    late = slow(tab.site, 100, PlainTextResponse())
    url = tab.site.page(f"""<button onclick="fetch('{late}').then(() => window.close())">go</button>""")
    async with tab.page.playwright.expect_popup():
        await tab.read(f"void open('{url}')")
    popup = Tab(tab.session, tab.session.pages[1], tab.site)

    await popup.click()

    assert popup.page.closed


async def test_crashed_page_has_settled(tab: Tab) -> None:
    await tab.show(f"""<button onclick="fetch('{tab.site.never()}')">go</button>""")
    since, deadline = time.monotonic(), Deadline.after(LIMIT_MS)
    await click_element(tab.page, "button", deadline, button="left", count=1)
    settling = asyncio.create_task(settle(tab.page, since, deadline, limit_ms=LIMIT_MS))

    cdp = await tab.page.playwright.context.new_cdp_session(tab.page.playwright)
    crashing = asyncio.create_task(cdp.send("Page.crash"))
    async with asyncio.timeout(SOON):
        await settling

    assert tab.page.crashed
    crashing.cancel()


async def test_cancelled_call_stops_settling(tab: Tab) -> None:
    await tab.show(f"""<button onclick="fetch('{tab.site.never()}')">go</button>""")
    clicking = asyncio.create_task(tab.click())
    await tab.page.playwright.wait_for_event("request")

    clicking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await clicking


# Other work on such a page


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium sends frames")
async def test_live_picture_acknowledges_a_frame_after_a_fifth_of_a_second(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tab.show("<p>0</p><script>setInterval(() => document.body.firstChild.textContent++, 10)</script>")
    context, arrived, enough = tab.page.playwright.context, list[float](), asyncio.Event()
    waits: list[float] = []
    open_session = context.new_cdp_session

    async def open_watched(target: playwright.async_api.Page) -> playwright.async_api.CDPSession:
        session = await open_session(target)
        send = session.send
        session.on("Page.screencastFrame", lambda _: arrived.append(time.monotonic()))

        async def send_watched(method: str, params: dict[str, Any] | None = None) -> Any:
            if method == "Page.screencastFrameAck" and params:
                waits.append(time.monotonic() - arrived[len(waits)])
                if len(waits) == 5:
                    enough.set()
            return await send(method, params)

        monkeypatch.setattr(session, "send", send_watched)
        return session

    monkeypatch.setattr(context, "new_cdp_session", open_watched)

    async with asyncio.timeout(LIMIT_MS / 500), show_live(tab.page, lambda _: None):
        await enough.wait()

    assert min(waits) > 0.15


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium lists listeners")
async def test_question_about_listeners_leaves_no_session(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    await tab.show("<button onclick='this.title = 1'>go</button>")
    context, ended = tab.page.playwright.context, list[asyncio.Event]()
    open_session = context.new_cdp_session

    async def open_watched(target: playwright.async_api.Page) -> playwright.async_api.CDPSession:
        session = await open_session(target)
        ended.append(asyncio.Event())
        session.on("close", lambda _: ended[-1].set())
        return session

    monkeypatch.setattr(context, "new_cdp_session", open_watched)

    assert await find_reaction(tab.page, (0, 1, 0), (1, 1), types=("click",)) == "hidden change"
    (one,) = ended
    async with asyncio.timeout(SOON):
        await one.wait()


async def test_frame_that_does_not_respond_is_not_left_out_silently(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without a free core, a frame takes longer than a look may wait for it."""

    async def texts() -> list[str]:
        snapshot = await look(tab.page, Deadline.after(LIMIT_MS))
        return [node.name for node in snapshot.nodes if node.is_text]

    await tab.show("around<iframe srcdoc='inside'></iframe>")
    limit = "footlight.browser.page.capture.FRAME_SECONDS"

    monkeypatch.setattr(limit, 0.0)
    unread = await texts()
    monkeypatch.setattr(limit, SOON)
    read = await texts()
    monkeypatch.setattr(limit, 0.0)
    late = await texts()

    assert (unread, read, late) == (
        ["around", LEFT_OUT],
        ["around", "inside"],
        ["around", EARLIER, "inside"],
    )
