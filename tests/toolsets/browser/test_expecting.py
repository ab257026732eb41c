"""Expectations of a page: as an option of acting calls, in steps, and as a separate tool."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

PAGE = """<title>Orders</title><p id=state>Open</p><ul><li>One<li>Two</ul>
<input id=name value=Ada><input id=agree type=checkbox checked>
<select id=size><option value=s>Small<option value=l selected>Large</select>
<button onclick="setTimeout(async () => {
  await fetch('/ordered', {method: 'POST'});
  state.textContent = 'Order saved'; history.pushState({}, '', '/done');
  document.querySelector('ul').innerHTML += '<li>Three'; document.querySelector('#name').value = 'Bob';
}, 50)">Save</button>"""


async def show(browser: SessionBrowser) -> None:
    async def answer_created(request: Request) -> Response:
        await request.body()
        return JSONResponse({}, status_code=201)

    browser.site.route(answer_created, path="/ordered")
    await browser.show(PAGE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "expected",
    [
        {"text": "order SAVED"},
        {"gone": "Open"},
        {"url": "/done"},
        {"url": "*/done"},
        {"url": "/do.e$/"},
        {"request": "POST /ordered 201"},
        {"request": "/ordered"},
        {"value": {"#name": "Bob"}},
        {"value": {"#agree": True, "#size": "Large"}},
        {"value": {"#size": "l"}},
        {"count": {"li": 3, "#missing": 0}},
        {
            "text": "Order saved",
            "gone": "Open",
            "url": "/done",
            "request": "POST /ordered",
            "count": {"li": 3},
        },
    ],
    ids=str,
)
async def test_action_waits_until_its_expectation_is_met(
    browser: SessionBrowser, expected: dict[str, Any]
) -> None:
    await show(browser)

    await browser.call("click", selector="button", expect=expected)
    await browser.call("expect", **expected)


async def test_all_failed_expectations_are_reported_together(browser: SessionBrowser) -> None:
    await show(browser)
    await browser.call("click", selector="button", expect={"text": "Order saved"})

    error = await browser.refused(
        "expect",
        text="Order was saved",
        gone="Open",
        url="/paid",
        value={"#name": "Eve", "#agree": True, "#size": "Small"},
        count={"li": 5},
        timeout=1000,
    )

    details = error["details"]
    assert error["code"] == "EXPECTATION_FAILED"
    assert error["message"].startswith("5 of 7 expectations failed: "), error
    assert details["expected"] == {
        "url": "/paid",
        "text": "Order was saved",
        "value": {"#name": "Eve", "#size": "Small"},
        "count": {"li": 5},
    }
    assert details["actual"] == {
        "url": f"{browser.site.url.rstrip('/')}/done",
        "text": "not on the page",
        "value": {"#name": "Bob", "#size": "l"},
        "count": {"li": 3},
    }
    assert details["closest"] == {"text": ["Order saved"]}


@pytest.mark.slow
async def test_text_of_the_previous_page_does_not_meet_an_expectation(browser: SessionBrowser) -> None:
    following = browser.site.page("<h1>Second</h1>")
    await browser.show(
        f"<p>Words</p><a href='{following}' onclick='event.preventDefault(); "
        "setTimeout(() => location = this.href, 300)'>Next</a>"
    )

    error = await browser.refused(
        "click", selector="a", expect={"url": following, "text": "Words"}, timeout=2000
    )

    assert error["details"]["expected"] == {"text": "Words"}


async def test_request_with_another_answer_is_not_called_unanswered(browser: SessionBrowser) -> None:
    await show(browser)

    error = await browser.refused(
        "click", selector="button", expect={"request": "POST /ordered 500"}, timeout=1000
    )

    assert error["message"] == (
        'The request "POST /ordered 500" was not answered as expected within 1000ms; '
        f"there was POST {browser.site.at('127.0.0.1')}/ordered 201"
    )


async def test_failed_expectation_reports_the_actual_value(browser: SessionBrowser) -> None:
    site = browser.site.url.rstrip("/")
    cases: list[tuple[dict[str, Any], Any, Any]] = [
        ({"text": "Order was saved"}, "not on the page", ["Order saved"]),
        ({"gone": "Two"}, "Two", None),
        ({"url": "/paid"}, f"{site}/done", None),
        ({"request": "POST /ordered 500"}, [f"POST {site}/ordered 201"], None),
        ({"request": "POST /paid"}, "no such request", [f"POST {site}/ordered 201"]),
        ({"value": {"#name": "Eve"}}, "Bob", None),
        ({"value": {"#agree": False}}, True, None),
        ({"value": {"#nam": "Bob"}}, "no such element", ["textbox (#name)"]),
        ({"count": {"li": 5}}, 3, None),
        ({"count": {"#nam": 1}}, 0, ["textbox (#name)"]),
        ({"value": {"li": "One"}}, "ELEMENT_NOT_INTERACTIVE", None),
        ({"count": {"li[": 1}}, "INVALID_SELECTOR", None),
    ]
    await show(browser)
    await browser.call("click", selector="button", expect={"text": "Order saved", "request": "/ordered"})

    for expected, actual, closest in cases:
        error = await browser.refused("expect", timeout=250, **expected)

        assert error["code"] == "EXPECTATION_FAILED", expected
        assert error["details"] == {
            "expected": expected,
            "actual": actual,
            **({"closest": closest} if closest else {}),
            "page": f"{site}/done",
        }


async def test_failed_expectation_reports_the_effect_of_the_action(browser: SessionBrowser) -> None:
    await show(browser)

    answer = await browser.answer(
        "click",
        selector="button",
        expect={"request": "/ordered", "text": "Paid"},
        timeout=1_500,
        observe="diff",
    )

    content = answer.structured_content
    assert content is not None
    assert content["error"] | {"message": "", "details": {}} == {
        "code": "EXPECTATION_FAILED",
        "message": "",
        "details": {},
        "retryable": False,
        "suggestion": "The action was done: look at the page before you repeat it. "
        "Or correct what the call expects.",
    }
    assert content["error"]["message"].startswith('The text "Paid" did not appear within 1500ms')
    assert content["effect"] == "request POST /ordered 201, navigation"
    assert "Order saved" in answer.content[-1].text  # type: ignore[union-attr]


WRONG: list[tuple[Any, str]] = [
    ({}, "expect: needs at least one of text, gone, url, request, value, count"),
    ({"a": 1}, "expect.a: unknown field"),
    ("Saved", "expect: must be an object, got 'Saved'"),
    ({"text": " "}, "expect.text: must not be blank"),
    ({"text": "Order  Saved", "gone": "saved"}, "expect: the text that must be gone is a part of the text"),
    ({"url": "/(/"}, "expect.url: /(/ is not a regular expression"),
    ({"request": "GET /(/"}, "expect.request: /(/ is not a regular expression"),
    ({"request": "POST"}, "expect.request: takes a URL, with a method before it or a status after it"),
    ({"request": "POST /orders created"}, "expect.request: takes a URL"),
    ({"value": {"#name": 5}}, "expect.value.#name: must be a text, true or false, got 5"),
    ({"count": {}}, "expect.count: must have 1 to 20 selectors"),
    ({"count": 3}, "expect.count: must be an object, got 3"),
    ({"count": {"li": -1}}, 'expect.count: the count of "li" must be 0 or more'),
    ({"count": {"li >> ": 1}}, 'expect.count: The selector "li >> " has an empty part'),
]


async def test_invalid_expectation_is_refused_before_the_action(browser: SessionBrowser) -> None:
    await show(browser)

    for wrong, said in WRONG:
        error = await browser.refused("click", selector="button", expect=wrong)
        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"].startswith(said)
    assert (await browser.refused("expect"))["code"] == "MISSING_PARAMETER"
    assert (await browser.refused("expect", text="Open", gone="open"))["details"]["parameter"] == "gone"
    assert await browser.call("get_text", selector="#state") == {"text": "Open"}


async def test_only_visible_text_meets_a_text_expectation(browser: SessionBrowser) -> None:
    await browser.show(
        "<p>Order <b>7<br></b> was<br>saved</p><button>Free<br>trial</button>"
        "<textarea>Draft</textarea><details><summary>More</summary>Folded</details><p title=Tip>x</p>"
        "<input value=Written placeholder=Hint><select aria-label=Size><option>Large</select><br>"
    )

    await browser.call("expect", text="order 7 was saved")
    await browser.call("expect", text="Free trial")
    for text in ("Written", "Hint", "Size", "Draft", "Folded", "Large", "trial Draft", "Tip"):
        await browser.call("expect", gone=text)
    for text, closest in {"Written": "Written (value of textbox)", "Size": "Size (combobox)"}.items():
        error = await browser.refused("expect", text=text, timeout=100)
        assert error["details"]["closest"] == [closest]
    error = await browser.refused("expect", gone="was saved", timeout=100)
    assert " ".join(error["details"]["actual"].split()) == "Order 7 was saved"


async def test_request_method_may_be_in_lower_case(browser: SessionBrowser) -> None:
    await show(browser)

    await browser.call("click", selector="button", expect={"request": "post /ordered"})


async def test_a_request_before_the_action_does_not_count(browser: SessionBrowser) -> None:
    await show(browser)
    await browser.call("click", selector="button", expect={"text": "Order saved"})

    error = await browser.refused("hover", selector="li", expect={"request": "/ordered"}, timeout=400)

    assert error["details"]["actual"] == "no such request"


async def test_steps_support_expectations(browser: SessionBrowser) -> None:
    """Each step, and the call as a whole."""
    await show(browser)
    steps: list[Any] = [
        {
            "tool": "fill",
            "arguments": {"selector": "#name", "value": "Eve", "expect": {"value": {"#name": "Eve"}}},
        },
        {"tool": "click", "arguments": {"selector": "button", "expect": {"text": "Order saved"}}},
        {"tool": "expect", "arguments": {"count": {"li": 3}}},
    ]

    assert (await browser.call("run_steps", steps=steps, expect={"url": "/done"}))["failed"] == 0

    steps[0]["arguments"]["expect"] = {"value": {"#name": "Bob"}}
    error = await browser.refused("run_steps", steps=steps, timeout=1_500)
    assert (error["code"], error["details"]["step"]) == ("EXPECTATION_FAILED", 0)
    assert error["message"].startswith('steps.0 (fill): The value of "#name" did not become')
    error = await browser.refused("run_steps", steps=steps[2:], expect={"gone": "One"}, timeout=500)
    assert (error["code"], error["details"]["actual"]) == ("EXPECTATION_FAILED", "One")


async def test_failed_expect_call_is_retryable(browser: SessionBrowser) -> None:
    await show(browser)

    error = await browser.refused("expect", text="Order saved", timeout=300)

    assert error["code"] == "EXPECTATION_FAILED"
    assert error["retryable"] is True
    assert error["suggestion"] == "Look at the page, or wait longer with a timeout parameter."


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "script", ["window.close()", "setTimeout(() => window.close())", "setTimeout(window.close, 500)"]
)
async def test_closed_page_fails_the_expectation(browser: SessionBrowser, script: str) -> None:
    await browser.show("<a href=/popup target=_blank rel=opener>open</a>")
    browser.site.page(f"<button onclick='{script}'>Close</button>", path="/popup")
    opened = (await browser.call("click", selector="a"))["newPages"][0]["pageId"]

    error = await browser.refused("click", selector="button", pageId=opened, expect={"text": "Done"})

    assert error["code"] == "EXPECTATION_FAILED"
    assert error["details"]["actual"] == "the page is closed"


async def test_open_dialog_fails_the_expectation(browser: SessionBrowser) -> None:
    created = await browser.call("create_session", dialogs={"confirm": "ask"})
    own = {"sessionId": created["sessionId"]}
    url = browser.site.page("<button onclick=\"confirm('Sure?')\">Delete</button>")
    await browser.call("navigate", url=url, **own)

    error = await browser.refused("click", selector="button", expect={"text": "Deleted"}, **own)

    assert error["code"] == "EXPECTATION_FAILED"
    assert error["details"]["actual"] == "a dialog is open: confirm"
    assert error["details"]["dialogs"][0]["message"] == "Sure?"
