"""Several calls as steps of one, with one deadline and one observation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp_types import TextContent
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

FORM = """<title>Form</title><label>Name <input></label><label><input type=checkbox> Agree</label>
<button onclick="this.textContent = document.querySelector('input').value">Send</button>"""


async def test_steps_run_in_order(browser: SessionBrowser) -> None:
    url = (await browser.show(FORM))["url"]

    done = await browser.call(
        "run_steps",
        steps=[
            {"tool": "fill", "arguments": {"selector": "input", "value": "Ada"}},
            {"tool": "check", "arguments": {"selector": "[type=checkbox]"}},
            {"tool": "click", "arguments": {"selector": "button"}},
            {"tool": "get_text", "arguments": {"selector": "button"}},
        ],
    )

    assert done == {
        "steps": [
            {"tool": "fill", "data": {"url": url}},
            {"tool": "check", "data": {"url": url}},
            {"tool": "click", "data": {"url": url}},
            {"tool": "get_text", "data": {"text": "Ada"}},
        ],
        "failed": 0,
    }


async def test_step_sees_the_delayed_effects_of_the_previous_step(browser: SessionBrowser) -> None:
    """Each is given the time to settle."""

    async def answer_late(_: Request) -> Response:
        await asyncio.sleep(0.2)
        return PlainTextResponse("late")

    slow = browser.site.route(answer_late)
    await browser.show(
        f"""<button onclick="setTimeout(async () => {{
        document.body.innerHTML = '<p>' + await (await fetch('{slow}')).text(); }})">Load</button>"""
    )

    done = await browser.call(
        "run_steps",
        steps=[
            {"tool": "click", "arguments": {"selector": "button"}},
            {"tool": "element_exists", "arguments": {"selector": "p"}},
        ],
    )

    assert done["steps"][1]["data"] == {"exists": True}


async def test_text_for_models_leaves_out_the_steps_that_have_nothing_to_tell(
    browser: SessionBrowser,
) -> None:
    await browser.show(FORM)
    fill = {"tool": "fill", "arguments": {"selector": "input", "value": "Ada"}}
    look = {"tool": "element_exists", "arguments": {"selector": "p"}}

    quiet = await browser.answer("run_steps", steps=[fill, fill], observe="none")
    telling = await browser.answer("run_steps", steps=[fill, look], observe="none")

    texts = [part.text for each in (quiet, telling) for part in each.content if isinstance(part, TextContent)]
    assert [json.loads(text).get("data") for text in texts] == [
        None,
        {"steps": [{"tool": "fill"}, {"tool": "element_exists", "data": {"exists": False}}]},
    ]


async def test_first_failed_step_ends_the_run(browser: SessionBrowser) -> None:
    url = (await browser.show(FORM))["url"]

    error = await browser.refused(
        "run_steps",
        steps=[
            {"tool": "fill", "arguments": {"selector": "input", "value": "Ada"}},
            {"tool": "click", "arguments": {"selector": "#none", "timeout": 50}},
            {"tool": "click", "arguments": {"selector": "button"}},
        ],
        observe="full",
    )

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"].startswith('steps.1 (click): No element found matching selector "#none"')
    assert error["details"]["step"] == 1
    assert error["details"]["done"] == [{"tool": "fill", "data": {"url": url}}]
    assert (await browser.call("get_text", selector="button")) == {"text": "Send"}


@pytest.mark.parametrize("done", [0, 1])
async def test_failed_steps_are_retryable_only_if_none_is_done(browser: SessionBrowser, done: int) -> None:
    await browser.show(FORM)
    click = {"tool": "click", "arguments": {"selector": "button"}}
    wait = {"tool": "wait_for_selector", "arguments": {"selector": "#none", "timeout": 50}}

    error = await browser.refused("run_steps", steps=[*[click] * done, wait])

    assert error["code"] == "TIMEOUT"
    assert error["retryable"] == (not done)


async def test_step_failure_includes_an_observation_of_the_page(browser: SessionBrowser) -> None:
    await browser.show(FORM)

    answer = await browser.answer(
        "run_steps",
        steps=[
            {"tool": "fill", "arguments": {"selector": "input", "value": "Ada"}},
            {"tool": "click", "arguments": {"selector": "#none", "timeout": 50}},
        ],
        observe="full",
    )

    assert answer.is_error
    content: Any = answer.structured_content
    assert content["observation"]["kind"] == "full"
    assert 'textbox "Name": Ada' in content["observation"]["text"].replace(" focused", "")


@pytest.mark.slow
async def test_failed_steps_can_be_skipped(browser: SessionBrowser) -> None:
    await browser.show(FORM)

    done = await browser.call(
        "run_steps",
        steps=[
            {"tool": "click", "arguments": {"selector": "#none", "timeout": 2_000}},
            {"tool": "click", "arguments": {"selector": "button"}},
        ],
        stopOnError=False,
    )

    assert done["failed"] == 1
    assert done["steps"][0]["error"]["code"] == "ELEMENT_NOT_FOUND"
    assert "data" in done["steps"][1]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"tool": "clik"}, "steps.1.tool: clik is not a tool"),
        ({"tool": "run_steps", "arguments": {"steps": []}}, "steps.1.tool: run_steps cannot be a step"),
        ({"tool": "list_sessions"}, "steps.1.tool: list_sessions cannot be a step"),
        ({"tool": "click"}, "steps.1 (click): click needs the parameter selector"),
        (
            {"tool": "click", "arguments": {"selector": "button", "sessionId": "other"}},
            "steps.1.arguments.sessionId: all steps run in the session of the call; leave it out",
        ),
        ({"tool": "click", "argument": {}}, "steps.1.argument: unknown field; it is called arguments here"),
    ],
)
async def test_all_steps_are_validated_before_the_first_runs(
    browser: SessionBrowser, step: dict[str, Any], message: str
) -> None:
    await browser.show(FORM)

    error = await browser.refused(
        "run_steps", steps=[{"tool": "click", "arguments": {"selector": "button"}}, step]
    )

    assert error["message"].startswith(message)
    assert (await browser.call("get_text", selector="button")) == {"text": "Send"}


async def test_steps_share_one_deadline(browser: SessionBrowser) -> None:
    await browser.show(FORM)

    error = await browser.refused(
        "run_steps",
        steps=[
            {"tool": "wait_for_selector", "arguments": {"selector": "#a", "timeout": 60_000}},
            {"tool": "wait_for_selector", "arguments": {"selector": "#b", "timeout": 60_000}},
        ],
        timeout=300,
    )

    assert error["code"] == "TIMEOUT"
    assert error["details"]["step"] == 0


async def test_steps_may_use_several_pages(browser: SessionBrowser) -> None:
    await browser.show("<title>One</title><a href='about:blank' target=_blank>Open</a>")
    opened = (await browser.call("click", selector="a"))["newPages"][0]["pageId"]

    done = await browser.call(
        "run_steps",
        steps=[
            {"tool": "get_page_metadata", "arguments": {"pageId": opened}},
            {"tool": "get_page_metadata", "arguments": {}},
        ],
        pageId="page-1",
    )

    assert [step["data"]["title"] for step in done["steps"]] == [None, "One"]
