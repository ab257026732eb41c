"""Waiting for texts, URLs, elements, functions, responses and downloads."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.clobbering import CLOBBERING
from tests.conftest import Browser, SessionBrowser, connect_browser, run_in_sessions
from tests.site import Site

pytestmark = pytest.mark.anyio


class Gate:
    """A route that answers when it is told to, so that a test decides what comes after what."""

    def __init__(self, browser: SessionBrowser, body: bytes = b"through", **headers: str) -> None:
        self._asked, self._open = asyncio.Event(), asyncio.Event()
        self._response = (body, headers)
        self.url = browser.site.route(self._answer)

    async def _answer(self, _: Request) -> Response:
        self._asked.set()
        await self._open.wait()
        body, headers = self._response
        return Response(body, headers={name.replace("_", "-"): value for name, value in headers.items()})

    async def wait_until_asked(self) -> None:
        await self._asked.wait()

    def open(self) -> None:
        self._open.set()


async def wait_for_change(browser: SessionBrowser, gate: Gate, **condition: Any) -> dict[str, Any]:
    """Return the answer of `wait_for` on a page that changes only while the call runs."""
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(browser.call("wait_for", **condition))
        await gate.wait_until_asked()
        early, _ = await asyncio.wait([waiting], timeout=0.3)
        assert not early
        gate.open()
    return waiting.result()


def then(gate: Gate, script: str) -> str:
    return f"<script>fetch('{gate.url}').then(() => {{ {script} }})</script>"


async def show_then(browser: SessionBrowser, html: str) -> tuple[str, Gate]:
    """Show what is before THEN, and return its URL and the gate to the script after THEN."""
    gate = Gate(browser)
    before, _, script = html.partition("THEN")
    return (await browser.show(before + then(gate, script)))["url"], gate


# Text


@pytest.mark.slow
async def test_wait_for_text_in_any_visible_place(shared_browser: Browser) -> None:
    async def wait(browser: SessionBrowser, html: str) -> None:
        url, gate = await show_then(browser, html)
        assert await wait_for_change(browser, gate, text="Order saved") == {"url": url}

    cases = [
        "<p hidden>Order saved</p>THEN document.querySelector('p').hidden = false",
        "<p></p>THEN document.querySelector('p').innerHTML = 'Order <b>saved</b> now'",
        "<p></p>THEN document.querySelector('p').attachShadow({mode: 'open'}).innerHTML = 'Order saved'",
        "<iframe srcdoc='<p>'></iframe>THEN document.querySelector('iframe').srcdoc = '<p>Order saved'",
        "<div></div>THEN document.querySelector('div').innerHTML = '<iframe srcdoc=\"Order saved\">'",
        "<p></p>THEN document.querySelector('p').textContent = 'ORDER   SAVED'",
    ]
    await run_in_sessions(shared_browser, wait, cases)


async def test_wait_for_present_text_returns_immediately(browser: SessionBrowser) -> None:
    url = (await browser.show("<iframe srcdoc='<p>Hello'></iframe><p>there</p>"))["url"]

    assert await browser.call("wait_for", text="Hello") == {"url": url}


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("html", "is_shown"),
    [
        ("<p>Order <b>sa</b><i>ved</i></p>", True),
        ("<p>Order\n  \u00adsa\u200bved</p>", True),
        ("<p style='display: contents'>Order saved</p>", True),
        ("<input type=submit value='Order saved'>", True),
        ("<p hidden>Order saved</p><div>Order <b>saved</b></div>", True),
        ("<p><template shadowrootmode=open>Order <b>saved</b></template></p>", True),
        ("<p><template shadowrootmode=open><slot></slot></template>Order saved</p>", True),
        ("<p><template shadowrootmode=open><b hidden>Order saved</b></template></p>", False),
        ("<p><template shadowrootmode=open></template><b>Order saved</b></p>", False),
        (
            "<p style='visibility: hidden'>Order saved</p><style>p::after{content: 'Order saved'}</style>",
            False,
        ),
        ("<p>Order</p><p>is saved</p><script>/* Order saved */</script>", False),
        ("<p style='display: contents' hidden><b>Order saved</b></p>", True),
        ("<div style='opacity: 0'><p>Order saved</p></div>", False),
        ("<p style='position: absolute; left: -9999px'>Order saved</p>", False),
        ("<p style='position: absolute; width: 1px; height: 1px; overflow: hidden'>Order saved</p>", False),
        (
            "<div id=log style='height: 50px; overflow: auto'><p>Order saved</p><p style='height: 900px'>"
            "</div><script>log.scrollTop = 900</script>",
            True,
        ),
        ("<input value='Order saved'><template>Order saved</template>", False),
        ("<input readonly value='Order saved'>", True),
        (
            "<fieldset disabled><textarea>none</textarea></fieldset>"
            "<script>document.querySelector('textarea').value = 'Order saved'</script>",
            True,
        ),
        (
            "<textarea disabled>Order saved</textarea><script>"
            "document.querySelector('textarea').value = ''</script>",
            False,
        ),
        ("<textarea>Order saved</textarea><input type=password readonly value='Order saved'>", False),
        ("<p>Order<input readonly value=x>saved</p>", False),
        (f"Order saved{CLOBBERING}", True),
        (CLOBBERING.replace("Send", "Order saved"), True),
    ],
)
async def test_only_visible_text_is_found(browser: SessionBrowser, html: str, is_shown: bool) -> None:
    await browser.show(html)

    answer = await browser.answer("wait_for", text="Order saved", timeout=5000 if is_shown else 100)

    assert answer.is_error == (not is_shown)


async def test_missing_text_error_names_the_closest_text(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>Order was saved</p><p>Quite another thing</p>"))["url"]

    error = await browser.refused("wait_for", text="Order is saved", timeout=300)

    assert error == {
        "code": "TIMEOUT",
        "message": 'The text "Order is saved" did not appear within 300ms. '
        'Closest on the page: "Order was saved"',
        "details": {"text": "Order is saved", "page": url, "closest": ["Order was saved"], "timeout": 300},
        "retryable": True,
        "suggestion": "Increase the timeout parameter or check if the page is loading slowly.",
    }


@pytest.mark.parametrize(
    ("style", "reason"),
    [
        ("display: none", "hidden"),
        ("opacity: 0", "transparent"),
        ("position: absolute; left: -999px", "outside of the page"),
        ("width: 1px; height: 1px; overflow: hidden", "too small"),
    ],
)
async def test_missing_text_error_says_why_the_text_is_not_visible(
    browser: SessionBrowser, style: str, reason: str
) -> None:
    await browser.show(f"<p style='{style}'>Order saved</p>")

    error = await browser.refused("wait_for", text="order saved", timeout=300)

    assert error["details"]["hidden"] == f"on the page, but not visible: {reason}"
    assert f"within 300ms. It is on the page, but not visible: {reason}" in error["message"]


async def test_text_that_scrolling_shows_is_found_as_the_error_says(browser: SessionBrowser) -> None:
    await browser.show(
        "<div style='height: 3000px'>Top</div><p id=p style='opacity: 0'>Order saved</p><script>"
        "new IntersectionObserver(([{isIntersecting}]) => { p.style.opacity = Number(isIntersecting) })"
        ".observe(p)</script>"
    )

    error = await browser.refused("expect", text="Order saved", timeout=300)
    await browser.call("scroll", selector="text=Order saved")

    assert "transparent and out of view; scroll to it (selector text=…)" in error["details"]["actual"]
    await browser.call("expect", text="Order saved")


@pytest.mark.slow
async def test_wait_for_text_to_disappear(shared_browser: Browser) -> None:
    async def wait(browser: SessionBrowser, html: str) -> None:
        url, gate = await show_then(browser, html)
        assert await wait_for_change(browser, gate, textGone="Loading") == {"url": url}

    cases = [
        "<p>Loading…</p>THEN document.querySelector('p').remove()",
        "<p>Loading…</p>THEN document.querySelector('p').hidden = true",
        "<p><template shadowrootmode=open>Loading…</template></p>THEN document.querySelector('p').remove()",
        "<p>Loading…</p><iframe srcdoc='<p>Loading…'></iframe>THEN document.body.replaceChildren()",
    ]
    await run_in_sessions(shared_browser, wait, cases)


async def test_remaining_text_error_quotes_its_surroundings(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>Still loading…</p>"))["url"]

    error = await browser.refused("wait_for", textGone="loading", timeout=300)

    assert error["message"] == 'The text "loading" was still there after 300ms, in "Still loading…"'
    assert error["details"] == {"text": "loading", "shown": "Still loading…", "page": url, "timeout": 300}


# Addresses


@pytest.mark.slow
async def test_wait_for_url(shared_browser: Browser) -> None:
    await run_in_sessions(
        shared_browser, wait_for_pattern, ["{path}", "*{path}?done=*", "/{path}.done=\\d$/"]
    )


async def wait_for_pattern(browser: SessionBrowser, pattern: str) -> None:
    gate = Gate(browser)
    there = browser.site.page("<h1>There</h1>", path="/there") + "?done=1"
    await browser.show(then(gate, f"location.href = '{there}'"))
    path = there.removeprefix(browser.site.url).partition("?")[0]

    assert await wait_for_change(browser, gate, url=pattern.replace("{path}", path)) == {"url": there}
    assert await browser.call("get_text", selector="h1") == {"text": "There"}


@pytest.mark.slow
async def test_wait_for_url_without_a_new_document(browser: SessionBrowser) -> None:
    gate = Gate(browser)
    url = (await browser.show(then(gate, "history.pushState(null, '', '#step-2')")))["url"]

    assert await wait_for_change(browser, gate, url="#step-2") == {"url": f"{url}#step-2"}


async def test_unreached_url_error_names_the_current_url(
    browser: SessionBrowser,
) -> None:
    url = (await browser.show("<h1>Here</h1>"))["url"]

    error = await browser.refused("wait_for", url="*/done", timeout=300)

    assert error["code"] == "TIMEOUT"
    assert error["message"] == f'The URL did not become "*/done" within 300ms; it is {url}'
    assert error["details"] == {"url": url, "timeout": 300}


# Elements


@pytest.mark.slow
async def test_wait_for_element_state(browser: SessionBrowser) -> None:
    gate = Gate(browser)
    html = "<p hidden>Text</p>" + then(gate, "document.querySelector('p').hidden = false")
    url = (await browser.show(html))["url"]

    assert await browser.call("wait_for", selector="p", state="hidden") == {"url": url}
    assert await browser.call("wait_for", selector="p", state="attached") == {"url": url}
    assert await wait_for_change(browser, gate, selector="p") == {"url": url}


@pytest.mark.parametrize(
    ("html", "condition", "now"),
    [
        ("<p id=saved hidden>Text</p>", {"selector": "#saved"}, "hidden"),
        ("<p id=saved>Text</p>", {"selector": "#saved", "state": "detached"}, "visible"),
        ("<p>Text</p>", {"selector": "#saved", "state": "attached"}, "detached"),
    ],
)
async def test_unreached_element_state_error_names_the_current_state(
    browser: SessionBrowser, html: str, condition: dict[str, str], now: str
) -> None:
    url = (await browser.show(html))["url"]
    state = condition.get("state", "visible")

    error = await browser.refused("wait_for", **condition, timeout=300)

    assert error["message"] == f'"#saved" was not {state} after 300ms; it is {now}'
    assert error["details"] == {"selector": "#saved", "state": state, "now": now, "page": url, "timeout": 300}


async def test_missing_element_error_lists_closest_elements(browser: SessionBrowser) -> None:
    await browser.show("<button id=submit-order>Submit order</button>")

    error = await browser.refused("wait_for", selector="#submit-button", timeout=300)

    assert error["message"] == (
        '"#submit-button" was not visible after 300ms; it is detached. '
        'Closest on the page: button "Submit order" (#submit-order)'
    )


# Functions


@pytest.mark.slow
async def test_wait_for_function_to_return_true(shared_browser: Browser) -> None:
    """It may throw before: `window.ready` is not there yet."""

    async def wait(browser: SessionBrowser, function: str) -> None:
        url, gate = await show_then(browser, "THEN window.ready = {value: 7}")
        assert await wait_for_change(browser, gate, function=function) == {"url": url, "result": 7}

    cases = ["window.ready.value", "() => window.ready.value", "fetch('').then(() => ready.value)"]
    await run_in_sessions(shared_browser, wait, cases)


@pytest.mark.parametrize(
    ("function", "now"),
    [
        ("document.title", 'is ""'),
        ("() => null", "is null"),
        ("window.ready.value", "throws TypeError: Cannot read properties of undefined (reading 'value')"),
    ],
)
async def test_false_function_error_reports_its_last_value(
    browser: SessionBrowser, function: str, now: str
) -> None:
    await browser.show("<p>Text</p>")

    error = await browser.refused("wait_for", function=function, timeout=300)

    assert error["code"] == "TIMEOUT"
    assert error["message"] == f"The function was not true after 300ms; it {now}"


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        pytest.param("ready ===", "SyntaxError", id="syntax"),
        pytest.param("[" * 100_000 + "]" * 100_000, "RangeError", id="deep"),
    ],
)
async def test_invalid_function_is_reported_immediately(
    browser: SessionBrowser, function: str, problem: str
) -> None:
    await browser.show("<p>Text</p>")

    error = await browser.refused("wait_for", function=function)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"] == {"parameter": "function"}
    assert error["message"].startswith(f"function: {problem}")


@pytest.mark.slow
async def test_only_function_waits_need_the_script_permission(site: Site) -> None:
    async with connect_browser(site) as browser:
        url = (await browser.show("<p>Text</p>"))["url"]
        error = await browser.refused("wait_for", function="true")
        assert await browser.call("wait_for", text="Text") == {"url": url}
        assert await browser.call("wait_for", selector="p") == {"url": url}

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"] == {"parameter": "function", "setting": "security.enableScriptEvaluation"}


# The network


@pytest.mark.slow
async def test_wait_for_response(browser: SessionBrowser) -> None:
    gate = Gate(browser)
    url = (await browser.show(then(gate, "")))["url"]

    waited = await wait_for_change(browser, gate, response=gate.url)

    [entry] = (await browser.call("get_request_log", filter=gate.url))["entries"]
    assert waited == {"url": url, "response": {"id": entry["id"], "url": gate.url, "status": 200}}


async def test_response_since_the_last_action_counts(browser: SessionBrowser) -> None:
    gate = Gate(browser)
    gate.open()
    html = f"<button onclick=\"fetch('{gate.url}').then(() => this.textContent = 'done')\">go</button>"
    await browser.show(html)
    await browser.call("click", selector="button")
    await browser.call("wait_for", text="done")

    assert (await browser.call("wait_for", response=gate.url))["response"]["url"] == gate.url
    await browser.call("hover", selector="button")
    error = await browser.refused("wait_for", response=gate.url, timeout=300)

    assert error["message"] == (
        f'No response from "{gate.url}" arrived within 300ms. Requested since the last action: nothing'
    )


# Downloads


@pytest.mark.slow
async def test_wait_for_download(browser: SessionBrowser) -> None:
    gate = Gate(browser, b"rows", content_disposition='attachment; filename="waited.csv"')
    url = (await browser.show("<p>Text</p>"))["url"]
    await browser.call("evaluate", script=f"setTimeout(() => location.href = '{gate.url}')")

    waited = await wait_for_change(browser, gate, download=True)

    path = browser.downloads / "waited.csv"
    assert waited["url"] == url
    assert waited["download"] == {
        "id": "download-1",
        "suggestedFilename": "waited.csv",
        "url": gate.url,
        "pageId": "page-1",
        "state": "completed",
        "path": str(path),
        "bytes": 4,
    }
    assert path.read_bytes() == b"rows"


async def test_download_of_the_last_action_counts(browser: SessionBrowser) -> None:
    gate = Gate(browser, b"rows", content_disposition='attachment; filename="clicked.csv"')
    gate.open()
    await browser.show(f"<a href={gate.url}>get</a>")
    await browser.call("click", selector="a")

    assert (await browser.call("wait_for", download=True))["download"]["suggestedFilename"] == "clicked.csv"
    await browser.call("hover", selector="a")
    error = await browser.refused("wait_for", download=True, timeout=300)

    assert error["message"] == "No download was over within 300ms; none began"


# What is wrong with a call


@pytest.mark.parametrize(
    ("arguments", "code", "parameter", "message"),
    [
        (
            {},
            "MISSING_PARAMETER",
            "text",
            "wait_for needs one of text, textGone, url, selector, function, response, download",
        ),
        (
            {"text": "a", "url": "b"},
            "INVALID_PARAMETER",
            "url",
            "url: wait_for takes one of text, textGone, url, selector, function, response, download, "
            "not text and url; call it once for each",
        ),
        (
            {"text": "a", "state": "hidden"},
            "INVALID_PARAMETER",
            "state",
            "state: only valid with selector; leave it out",
        ),
        ({"text": " "}, "INVALID_PARAMETER", "text", "text: "),
        ({"download": False}, "INVALID_PARAMETER", "download", "download: must be true, got false"),
        ({"time": 5}, "INVALID_PARAMETER", "time", "time: unknown parameter; wait_for takes text, textGone"),
        ({"url": "/(/"}, "INVALID_PARAMETER", "url", "url: /(/ is not a regular expression: "),
        ({"response": "/(/"}, "INVALID_PARAMETER", "response", "response: /(/ is not a regular expression: "),
        ({"selector": "p["}, "INVALID_SELECTOR", None, 'The selector "p[" '),
    ],
)
async def test_invalid_wait_for_arguments_are_refused_by_name(
    browser: SessionBrowser, arguments: dict[str, Any], code: str, parameter: str | None, message: str
) -> None:
    error = await browser.refused("wait_for", **arguments)

    assert error["code"] == code
    assert error["details"].get("parameter") == parameter
    assert error["message"].startswith(message)


async def test_closing_the_page_ends_the_wait(browser: SessionBrowser) -> None:
    gate = Gate(browser)
    await browser.show(
        f"<button onclick=\"window.open('{browser.site.page(then(gate, 'close()'))}')\">go</button>"
    )
    await browser.call("click", selector="button")

    async def close(progress: float, total: float | None, stage: str | None) -> None:
        if stage == "waiting for a response from never":
            gate.open()

    expected = {"response": "never", "pageId": "page-2", "sessionId": browser.session_id}
    async with asyncio.timeout(10):
        result = await browser.client.call_tool("wait_for", expected, progress_callback=close)

    assert result.structured_content is not None
    assert result.structured_content["error"]["message"] == "pageId: page-2 was closed during the call"
