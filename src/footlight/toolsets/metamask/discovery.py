"""Inspect the app: its state, test ids, accessibility tree and screenshots."""

from __future__ import annotations

import asyncio
import base64
import os
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.apps.observation import describe_test_id, find_nodes, read_state
from footlight.browser.driver.output_folder import fill_reserved
from footlight.browser.reading.screenshots import ScreenshotOptions, take_element_screenshot, take_screenshot
from footlight.browser.reading.test_ids import list_test_ids
from footlight.errors import ResourceExhaustedError
from footlight.private_files import open_private
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.metamask.knowledge import find_prior_knowledge, screenshot_path
from footlight.toolsets.metamask.parameters import Maybe, app_sessions, running_app

__all__ = ["TOOLS"]


class AppStateResult(TypedDict):
    state: dict[str, Any]


class TestIdList(TypedDict):
    items: list[dict[str, Any]]


class NodeList(TypedDict):
    nodes: list[dict[str, Any]]


class AppScreenshot(TypedDict):
    """`path` is the path of the file; `width` and `height` are in pixels."""

    path: str
    width: int
    height: int
    base64: NotRequired[str | None]


class ScreenDescription(TypedDict):
    state: dict[str, Any]
    testIds: TestIdList
    a11y: NodeList
    screenshot: AppScreenshot | None
    priorKnowledge: NotRequired[dict[str, Any] | None]


@tool(effect="read", shared={}, whole=True)
async def get_state(call: ToolCall) -> AppStateResult:
    """Get the state of the app: screen, lock state, account, network, chain and balance."""
    running = running_app(call)
    state = await read_state(running.app, running.profile, running.services, call.page, call.deadline)
    return {"state": state.as_json()}


@tool(effect="read", shared={}, whole=True)
async def list_testids(call: ToolCall, limit: Annotated[int, Field(ge=1, le=500)] = 150) -> TestIdList:
    """List the visible data-testids of the page."""
    found = await list_test_ids(call.page, call.deadline, limit=limit)
    return {"items": [describe_test_id(each) for each in found]}


@tool(effect="read", shared={}, whole=True)
async def accessibility_snapshot(
    call: ToolCall,
    root_selector: Maybe[Annotated[str, Field(min_length=1)]] = None,
) -> NodeList:
    """List controls, headings, dialogs and alerts of the page. Earlier refs become invalid."""
    running = running_app(call)
    if root_selector is None:
        look = await running.look(call.page, call.deadline)
        running.mark_sent(call.page, look)
        nodes = look.nodes
    else:
        nodes = await find_nodes(call.page, root_selector, call.deadline)
    return {"nodes": running.refs_of(call.page).renumber(nodes)}


@tool(effect="read", shared={}, whole=True)
async def describe_screen(
    call: ToolCall,
    include_screenshot: bool = False,
    screenshot_name: Maybe[Annotated[str, Field(min_length=1)]] = None,
    include_screenshot_base64: Annotated[bool, Field(alias="includeScreenshotBase64")] = False,
    prior_knowledge: bool = False,
) -> ScreenDescription:
    """Describe the screen: state, test ids and accessibility nodes. A screenshot only on request."""
    running = running_app(call)
    look = await running.look(call.page, call.deadline)
    running.mark_sent(call.page, look)
    description: ScreenDescription = {
        "state": look.state.as_json(),
        "testIds": {"items": look.describe_test_ids()},
        "a11y": {"nodes": running.refs_of(call.page).renumber(look.nodes)},
        "screenshot": None,
    }
    if include_screenshot:
        name = screenshot_name or look.state.screen.name
        shot, data = await _take_screenshot(call, name, ScreenshotOptions(), selector=None)
        description["screenshot"] = {**shot, "base64": data if include_screenshot_base64 else None}
    if prior_knowledge:
        description["priorKnowledge"] = await find_prior_knowledge(app_sessions(call), look)
    return description


@tool(effect="read", shared={}, whole=True)
async def screenshot(
    call: ToolCall,
    name: Annotated[str, Field(min_length=1)],
    full_page: bool = True,
    selector: Maybe[Annotated[str, Field(min_length=1)]] = None,
    include_base64: Annotated[bool, Field(alias="includeBase64")] = False,
) -> AppScreenshot:
    """Take a screenshot of the page or an element. Saved as a file."""
    shot, data = await _take_screenshot(call, name, ScreenshotOptions(full_page=full_page), selector=selector)
    return {**shot, "base64": data} if include_base64 else shot


async def _take_screenshot(
    call: ToolCall, name: str, options: ScreenshotOptions, *, selector: str | None
) -> tuple[AppScreenshot, str]:
    """Return the description of the saved screenshot, and the image in base64."""
    page, deadline = call.page, call.deadline
    data = await (
        take_screenshot(page, options, deadline)
        if selector is None
        else take_element_screenshot(page, selector, options, deadline)
    )
    largest = call.settings.security.max_screenshot_size
    if len(data) > largest:
        raise ResourceExhaustedError(
            f"The screenshot has {len(data)} bytes; this server allows at most {largest}",
            suggestion="Give fullPage: false, or a selector.",
        )
    return await asyncio.to_thread(_save_screenshot, call, name, data)


def _save_screenshot(call: ToolCall, name: str, data: bytes) -> tuple[AppScreenshot, str]:
    from footlight.browser.reading.pictures import fit

    width, height = fit(data, type="png", quality=None, max_side=0).size
    path = screenshot_path(call, name, datetime.now(UTC))
    with fill_reserved(path), os.fdopen(open_private(path, os.O_TRUNC), "wb") as file:
        file.write(data)
    saved: AppScreenshot = {"path": str(path), "width": width, "height": height}
    return saved, base64.b64encode(data).decode("ascii")


TOOLS = (get_state, list_testids, accessibility_snapshot, describe_screen, screenshot)
