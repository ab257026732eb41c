"""Run a tool in its session, wait until the page has settled, and observe the changes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.deadline import MIN_READING_SECONDS
from footlight.browser.page.diagnosis import explain_closed_page
from footlight.errors import (
    BrowserCrashedError,
    ElementNotInteractiveError,
    ExpectationFailedError,
    FootlightError,
    PageToolFailedError,
)
from footlight.server.answers.answer import Answer, failure, success
from footlight.server.answers.playwright_lines import playwright_lines
from footlight.server.answers.untrusted import origin_of
from footlight.server.calls.call_state import CallState
from footlight.server.calls.dialog_race import (
    check_expectation,
    make_stopped_result,
    run_until_dialog,
)
from footlight.server.calls.effects import find_effect, note_repeat
from footlight.server.calls.observer import Observer
from footlight.server.calls.steps import StepFailedError
from footlight.server.calls.time_limits import TimeLimit
from footlight.server.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.page.page import Page
    from footlight.server.tools.declaration import Tool

__all__ = ["act_and_observe", "settle"]


async def act_and_observe(
    state: CallState, call: ToolCall, arguments: BaseModel, observer: Observer | None
) -> Answer:
    """Run the tool of a call and return its answer: the data, the observation, the effect and the events.

    Raises:
        FootlightError: the tool failed.
    """
    tool, session = state.tool, call.session
    failed: StepFailedError | FootlightError | None = None
    data: Mapping[str, Any] | None
    try:
        data = await _run_tool(state, call, arguments)
    except StepFailedError as error:
        data, failed = {}, error
    except (ElementNotInteractiveError, PageToolFailedError) as error:
        if not error.details.get("dispatched"):
            raise
        # The page undid what the press changed, or its tool failed halfway. Its requests may say why.
        data, failed = {}, error
    observation = None
    async with TimeLimit(tool, call):
        is_stopped = data is None
        if data is None:
            data = await make_stopped_result(tool, call)
        elif tool.effect == "act":
            data = await run_until_dialog(call, settle(call, observer)) or data
        if not failed:
            try:
                await check_expectation(call, arguments, since=session.actions.last.began_at)
            except ExpectationFailedError as error:
                failed = error
        if observer and not is_stopped:
            observation = await run_until_dialog(call, observer.describe(call))
    if tool.effect == "act" and not failed:
        await _check_survival(call)
    session.touch()
    events = session.actions.take_events()
    effect = None
    if observer and tool.effect == "act" and not isinstance(failed, StepFailedError):
        found = await find_effect(call, observer.trace(call, events))
        effect = note_repeat(call, tool.name, state.arguments, found).as_json(call.mask)
    content: dict[str, Any] = {
        "observation": observation,
        "effect": effect,
        "events": events,
        "images": call.report.images,
        "links": call.report.links,
    }
    page = call.maybe_page
    if failed:
        answer = failure(failed.as_error() if isinstance(failed, StepFailedError) else failed, **content)
        return _with_source(answer, page, state)
    locator = _take_locator(call)
    if getattr(arguments, "locator", None) and effect is not None:
        lines = playwright_lines(locator, state.arguments)
        content["effect"] = {**effect, **({"locator": lines} if lines else {})}
    answer = success(_with_page_facts(data, tool, call), **content)
    return replace(_with_source(answer, page, state), locator=locator)


async def _run_tool(state: CallState, call: ToolCall, arguments: BaseModel) -> Mapping[str, Any] | None:
    """Return the tool's data, or None if a dialog stopped it."""
    tool, limit = state.tool, TimeLimit(state.tool, call)
    work = _run_unless_abandoned(state, call, arguments)
    try:
        async with limit:
            return await (run_until_dialog(call, work) if tool.queued and not tool.batch else work)
    except (asyncio.CancelledError, TimeoutError) as error:
        if isinstance(error, asyncio.CancelledError) or limit.expired:
            state.is_cleaning_up = True
            seconds = MIN_READING_SECONDS if limit.expired else math.inf
            close_hung = call.session.close_hung(within_seconds=seconds)
            call.session.actions.add_closed_pages(await close_hung)
        raise


async def _run_unless_abandoned(state: CallState, call: ToolCall, arguments: BaseModel) -> Mapping[str, Any]:
    state.is_configuring = state.tool.effect == "configure"
    data = await state.tool.run(call, arguments)
    if state.is_abandoned:
        raise asyncio.CancelledError
    return data


async def settle(call: ToolCall, observer: Observer | None) -> Mapping[str, Any] | None:
    """Wait for the requests, rendering and events of an action, unless the tool reported no effect.

    Return the data of the tool if it reads them only then.
    """
    if call.report.has_no_effect:
        return None
    if observer:
        await observer.settle(call)
    await call.session.actions.settle(call.deadline)
    return await call.report.read_settled() if call.report.read_settled else None


async def _check_survival(call: ToolCall) -> None:
    """Check that the page did not crash, and the browser did not end, while the page settled.

    Raises:
        BrowserCrashedError: the page or the browser is gone. The action may have been done.
    """
    page, session = call.maybe_page, call.session
    # A browser that ends closes its pages a moment before.
    may_end = page is not None and page.closed and not page.closing and not session.page_table.open_pages
    if session.alive and not may_end and not (page and page.crashed):
        return
    error = await (explain_closed_page(page) if page else session.explain_end())
    if isinstance(error, BrowserCrashedError):
        error.forbid_retry(dispatched=True)
        raise error


def _with_page_facts(data: Mapping[str, Any], tool: Tool, call: ToolCall) -> Mapping[str, Any]:
    """Add the page's current URL, and the refs whose elements were replaced by equivalent ones."""
    page = call.maybe_page
    if page is None:
        return data
    if tool.effect == "act" and tool.scope == "page" and not page.closed and "url" in data:
        data = {**data, "url": page.url}  # Scripts may change the URL after the action.
    # An element that is gone after the action, for example with its page, needs no new ref.
    healed = {ref: now for ref, now in page.view.take_healed().items() if page.view.find_seen(now)}
    return {**data, "healed": healed} if healed else data


def _named_urls(content: Mapping[str, Any]) -> Collection[object]:
    parts = (content.get("data", {}), content.get("observation", {}))
    return [part.get(key) for part in parts for key in ("url", "finalUrl")]


def _with_source(answer: Answer, page: Page | None, state: CallState) -> Answer:
    """Add the URL of the page. An action need not name an origin that the call, or the answer before, has.

    Nor need it name the URL again.
    """
    if page is None:
        return answer
    origin = origin_of(page.url)
    is_action = state.tool.effect == "act"
    known = (page.view.named_origin, origin_of(str(state.arguments.get("url", ""))))
    is_origin_known = is_action and origin in known
    is_url_known = is_action and page.view.named_url == page.url
    if answer.page_texts:
        page.view.named_origin = origin
    if page.url in _named_urls(answer.content):
        page.view.named_url = page.url
    return replace(answer, source=page.url, is_origin_known=is_origin_known, is_url_known=is_url_known)


def _take_locator(call: ToolCall) -> Any:
    if any(call.report.locators):
        return call.report.locators
    return call.maybe_page.view.take_located() if call.maybe_page else None
