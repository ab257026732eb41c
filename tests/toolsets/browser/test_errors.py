"""The errors of tools: their codes, and what they say about the page."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import Browser, SessionBrowser, run_in_sessions

pytestmark = pytest.mark.anyio

LOOK = (
    "Look at the page with screenshot, remove what is in the way (close a dialog, scroll, fill what "
    "enables the control), then try again."
)


# Elements


async def test_missing_element_error_lists_closest_elements(browser: SessionBrowser) -> None:
    url = (await browser.show("<button id=submit-order>Submit order</button><a href=/help>Help</a>"))["url"]

    error = await browser.refused("click", selector="#submit-button", timeout=5_000)

    assert error == {
        "code": "ELEMENT_NOT_FOUND",
        "message": 'No element found matching selector "#submit-button". '
        'Closest on the page: button "Submit order" (#submit-order)',
        "details": {
            "selector": "#submit-button",
            "page": url,
            "closest": ['button "Submit order" (#submit-order)'],
        },
        "retryable": False,
        "suggestion": "Verify the selector using browser devtools. The element may be loaded dynamically - "
        "try using wait_for_selector first.",
    }


async def test_error_without_close_matches_follows_the_specification(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>Nothing to press</p>"))["url"]

    error = await browser.refused("get_text", selector="#submit-button", timeout=1_000)

    assert error["message"] == 'No element found matching selector "#submit-button"'
    assert error["details"] == {"selector": "#submit-button", "page": url}


async def test_error_for_a_covered_element_names_the_cover(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            "<button id=buy>Buy</button>"
            "<div id=cookies role=dialog style='position:fixed;inset:0'>We use cookies</div>"
        )
    )["url"]

    error = await browser.refused("click", selector="#buy", timeout=1_000)

    assert error == {
        "code": "ELEMENT_NOT_INTERACTIVE",
        "message": '"#buy" cannot be used: covered by <div id="cookies"> "We use cookies"',
        "details": {"selector": "#buy", "page": url, "reason": "covered", "by": "#cookies"},
        "retryable": False,
        "suggestion": LOOK,
    }


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("html", "tool", "reason", "detail"),
    [
        ("<button id=e disabled>x</button>", "click", "disabled", "disabled"),
        ("<button id=e style='display:none'>x</button>", "click", "hidden", "hidden: display: none"),
        ("<button id=e style='visibility:hidden'>x</button>", "hover", "hidden", None),
        ("<input id=e readonly>", "fill", "readonly", "read only"),
        (
            "<fieldset disabled><input id=e type=checkbox></fieldset>",
            "check",
            "disabled",
            "inside a disabled group",
        ),
        ("<button id=e style='position:absolute;left:-999px'>x</button>", "click", "outside", None),
    ],
)
async def test_error_for_an_unusable_element_gives_the_reason(
    browser: SessionBrowser, html: str, tool: str, reason: str, detail: str | None
) -> None:
    url = (await browser.show(html))["url"]
    value = {"value": "x"} if tool == "fill" else {}

    error = await browser.refused(tool, selector="#e", timeout=1_000, **value)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["details"] == {"selector": "#e", "page": url, "reason": reason}
    if detail:
        assert error["message"] == f'"#e" cannot be used: {detail}'


async def test_error_for_a_hidden_element_says_how_to_use_a_visible_match(browser: SessionBrowser) -> None:
    await browser.show(
        "<ul hidden><li>Open</ul><p>Open</p><button onclick='document.title = 1'>Open</button>"
    )

    error = await browser.refused("click", selector="text=Open", timeout=1_000)
    await browser.call("click", selector="text=Open >> visible=true >> nth=1")

    assert "also matches 2 visible elements" in error["message"]
    assert error["suggestion"] == 'Use "text=Open >> visible=true" for the first visible match, or a ref.'
    assert (await browser.call("get_page_metadata"))["title"] == "1"


async def test_action_timeout_reports_that_nothing_was_dispatched(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            "<button onclick='document.title = 1'>catch me</button><script>let left = 0; (function move() {"
            "document.querySelector('button').style.marginLeft = (left = (left + 7) % 300) + 'px';"
            "requestAnimationFrame(move) })()</script>"
        )
    )["url"]

    error = await browser.refused("click", selector="button", timeout=3_000)

    assert error == {
        "code": "TIMEOUT",
        "message": (
            'The action on "button" timed out after 3000ms; the action was not dispatched: '
            "the element was still moving"
        ),
        "details": {"selector": "button", "page": url, "dispatched": False, "timeout": 3000},
        "retryable": True,
        "suggestion": "Increase the timeout parameter or check if the page is loading slowly.",
    }
    assert (await browser.call("get_page_metadata"))["title"] is None


@pytest.mark.parametrize(
    "selector", ["b[", "//button[", "", ">>", "#a >> ", "unknown=x", "p:nth-child(", "button:has-text("]
)
@pytest.mark.parametrize("tool", ["click", "element_exists", "wait_for_selector"])
async def test_invalid_selector_is_reported_immediately(
    browser: SessionBrowser, tool: str, selector: str
) -> None:
    error = await browser.refused(tool, selector=selector)

    assert error["code"] == "INVALID_SELECTOR"
    assert error["message"].startswith(f'The selector "{selector}" ')
    assert error["details"] == {"selector": selector}
    assert error["suggestion"] == (
        "Check selector syntax. CSS selectors should not start with //, XPath should start with //"
    )
    assert not error["retryable"]


async def test_unknown_page_id_error_lists_open_pages(browser: SessionBrowser) -> None:
    await browser.show("<p>one</p>")

    assert await browser.call("get_text", selector="p", pageId="page-1") == {"text": "one"}
    error = await browser.refused("get_text", selector="p", pageId="page-9")
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == "pageId: no page page-9 is open in this session; open pages: page-1"


# Navigation


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("url", "code", "message"),
    [
        ("example.com", "INVALID_URL", 'The URL "example.com" has no scheme'),
        ("http://", "INVALID_URL", 'The URL "http://" names no host'),
        ("http://[::1", "INVALID_URL", 'The URL "http://[::1" is malformed: Invalid IPv6 URL'),
        ("http://a:99999/", "INVALID_URL", None),
        (
            "file:///etc/hostname",
            "PERMISSION_DENIED",
            "Only http and https pages can be opened, not file: URLs",
        ),
        ("javascript:alert(1)", "PERMISSION_DENIED", None),
        ("chrome://version", "PERMISSION_DENIED", None),
        ("view-source:http://127.0.0.1/", "PERMISSION_DENIED", None),
    ],
)
async def test_invalid_url_is_refused_before_navigation(
    browser: SessionBrowser, url: str, code: str, message: str | None
) -> None:
    here = (await browser.show("<h1>Here</h1>"))["url"]

    error = await browser.refused("navigate", url=url)

    assert error["code"] == code
    assert message in (None, error["message"])
    assert error["details"] == {"url": url}
    assert not error["retryable"]
    assert (await browser.call("get_page_metadata"))["url"] == here


@pytest.mark.parametrize(
    ("path", "cause"), [("loop", "net::ERR_TOO_MANY_REDIRECTS"), ("refused", "net::ERR_CONNECTION_REFUSED")]
)
async def test_navigation_failure_names_the_cause(browser: SessionBrowser, path: str, cause: str) -> None:
    loop = browser.site.redirect("/errors/loop", path="/errors/loop")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    url = loop if path == "loop" else f"http://127.0.0.1:{free}/"

    error = await browser.refused("navigate", url=url)

    assert error == {
        "code": "NAVIGATION_FAILED",
        "message": f"{url} could not be opened: {cause}",
        "details": {"url": url},
        "retryable": False,
        "suggestion": "Check that the URL is right and that the site can be reached from this machine.",
    }


async def test_unresponsive_site_is_a_timeout(browser: SessionBrowser) -> None:
    url = browser.site.never()

    error = await browser.refused("navigate", url=url, timeout=1_000)

    assert error == {
        "code": "TIMEOUT",
        "message": "Navigation timed out after 1000ms",
        "details": {"url": url, "timeout": 1000},
        "retryable": True,
        "suggestion": "Increase the timeout parameter or check if the page is loading slowly.",
    }


@pytest.mark.slow
async def test_timeout_error_names_the_site_the_page_waits_for(browser: SessionBrowser) -> None:
    never = browser.site.never()
    url = (await browser.show(f"<p>old</p><script>onload = () => location.href = '{never}'</script>"))["url"]

    error = await browser.refused("get_all_text", selector="p", timeout=1_000)
    assert error["code"] == "TIMEOUT"
    assert error["details"] == {"url": url, "timeout": 1000, "waitsFor": never}

    await browser.show("<p>new</p>")
    assert await browser.call("get_text", selector="p") == {"text": "new"}


# Parameters


async def test_error_names_the_missing_parameters(browser: SessionBrowser) -> None:
    error = await browser.refused("get_attribute")

    assert error["code"] == "MISSING_PARAMETER"
    assert error["message"] == "get_attribute needs the parameters selector, attribute"
    assert error["details"]["missing"] == ["selector", "attribute"]


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("click", {"ref": "e1"}, "selector"),
        ("hover", {"element": "button", "target": "e1"}, "selector"),
        ("fill", {"selector": "e1", "text": "a"}, "value"),
        ("type", {"selector": "e1", "value": "a"}, "text"),
        ("evaluate", {"function": "() => 1"}, "script"),
        ("close_session", {"session_id": "a"}, "sessionId"),
    ],
)
async def test_error_names_the_parameter_that_another_server_calls_otherwise(
    browser: SessionBrowser, tool: str, given: dict[str, str], meant: str
) -> None:
    error = await browser.refused(tool, **given)

    assert f"unknown parameter; it is called {meant} here" in error["message"]


# Pages that hang

HANG = "<p>page</p><button onclick='while (true);'>hang</button><input>"


@pytest.mark.slow
async def test_page_in_an_endless_script_is_closed_and_session_continues(browser: SessionBrowser) -> None:
    error = await refuse_during(browser, "while (true);", "get_text", selector="p")

    assert "a script in the page does not end. Closed: page-1" in error["message"]


@pytest.mark.slow
async def test_page_with_an_endless_synchronous_request_is_closed_by_every_tool(
    shared_browser: Browser,
) -> None:
    await run_in_sessions(
        shared_browser,
        refuse_during_a_request,
        [
            ("fill", {"selector": "input", "value": "x"}),
            ("screenshot", {}),
            ("reload", {}),
            ("clipboard", {}),
        ],
    )


async def refuse_during_a_request(browser: SessionBrowser, called: tuple[str, dict[str, Any]]) -> None:
    tool, arguments = called
    never = browser.site.never()

    error = await refuse_during(browser, request_synchronously(never), tool, **arguments)

    if tool != "reload":  # The process of a page that is left cannot be asked.
        assert f"it waits for a synchronous request, such as {never}, is stopped" in error["message"]
        assert error["details"]["waitsFor"] == never


def request_synchronously(url: str) -> str:
    return f"{{ const sent = new XMLHttpRequest(); sent.open('GET', {json.dumps(url)}, false); sent.send() }}"


async def refuse_during(browser: SessionBrowser, script: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the error of a tool that is called while a script runs. The page was closed for it."""
    await browser.show(HANG)
    hangs = asyncio.Event()

    async def begin(_: Request) -> Response:
        hangs.set()
        return Response()

    # The page does not come back from this request before it runs the script.
    begins = request_synchronously(browser.site.route(begin))
    await browser.call("evaluate", script=f"void setTimeout(() => {{ {begins} {script} }})")
    async with asyncio.timeout(10):
        await hangs.wait()

    error = await browser.refused(tool, timeout=10_000, **arguments)

    assert error["code"] == "TIMEOUT"
    assert error["details"]["closedPages"] == ["page-1"]
    await browser.show("<p>again</p>")
    assert await browser.call("get_text", selector="p") == {"text": "again"}
    return error


@pytest.mark.slow
async def test_page_hung_by_a_call_is_closed_alone(shared_browser: Browser) -> None:
    await run_in_sessions(
        shared_browser,
        lambda browser, hang: hang(browser),
        [hang_by_a_click, hang_while_loading, hang_beside_another_page],
    )


async def hang_by_a_click(browser: SessionBrowser) -> None:
    url = (await browser.show(HANG))["url"]

    error = await browser.refused("click", selector="button", timeout=10_000)

    assert error["message"] == (
        'The action on "button" timed out after 10000ms; the action had been dispatched; '
        "a script in the page does not end. Closed: page-1. "
        "A call without pageId uses the oldest page that is left, or a new one"
    )
    assert error["details"] == {
        "selector": "button",
        "page": url,
        "dispatched": True,
        "timeout": 10_000,
        "closedPages": ["page-1"],
    }
    assert not error["retryable"]


async def hang_while_loading(browser: SessionBrowser) -> None:
    url = browser.site.page(f"<script>{request_synchronously(browser.site.never())}</script>")

    error = await browser.refused("navigate", url=url, timeout=10_000)

    assert error["code"] == "TIMEOUT"
    assert error["details"] == {"url": url, "timeout": 10_000, "closedPages": ["page-1"]}
    await browser.show("<p>again</p>")
    assert await browser.call("get_text", selector="p") == {"text": "again"}


async def hang_beside_another_page(browser: SessionBrowser) -> None:
    script = request_synchronously(browser.site.never())
    page = browser.site.page(f"<button>hang</button><script>onclick = () => {script}</script>")
    other = page.replace(browser.site.url, browser.site.at("localhost"))
    await browser.show(f"<a href={other} target=_blank>open</a>")
    await browser.call("click", selector="a")

    error = await browser.refused("click", selector="button", pageId="page-2", timeout=10_000)

    assert error["details"]["closedPages"] == ["page-2"]
    assert await browser.call("get_text", selector="a") == {"text": "open"}


async def test_network_failure_outside_navigate_is_retryable(browser: SessionBrowser) -> None:
    url = (await browser.show("<h1>Here</h1>"))["url"]
    await browser.call("set_offline", offline=True)

    error = await browser.refused("reload")

    assert error["code"] == "NETWORK_ERROR"
    assert error["message"].startswith(f"{url} could not be opened: ")
    assert error["details"] == {"url": url}
    assert error["retryable"]

    await browser.call("set_offline", offline=False)
    assert (await browser.call("navigate", url=url))["status"] == 200


async def test_refused_arguments_are_described_in_words(browser: SessionBrowser) -> None:
    for tool, arguments, message in (
        ("run_steps", {"steps": []}, "steps: must have at least 1 item, got []"),
        ("fill_form", {"fields": {}}, "fields: must have at least 1 item, got {}"),
        ("upload_file", {"selector": "a", "files": ["b"] * 101}, "files: must have at most 100 items, got "),
        ("delete_cookies", {"all": False}, "all: must be true, got false"),
        (
            "emulate",
            {"geolocation": {"latitude": 1, "longitude": 1, "height": 1}},
            "geolocation.height: unknown field; geolocation takes {latitude, longitude, accuracy?}",
        ),
    ):
        error = await browser.refused(tool, **arguments)
        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"].startswith(message)
