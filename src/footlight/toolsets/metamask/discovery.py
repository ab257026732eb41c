"""Looking at the app: its state, its test ids, its accessibility tree (002 §7.6, §7.9 to §7.12)."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.apps.observing import nodes_below, read_state, told_test_id
from footlight.browser import reading
from footlight.browser.reading import ScreenshotOptions
from footlight.browser.test_ids import seen_test_ids
from footlight.errors import ResourceExhausted
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.metamask.memory import prior_knowledge_of, screenshot_path
from footlight.toolsets.metamask.parameters import Maybe, app_sessions, running_app

__all__ = ["TOOLS"]


class State(TypedDict):
    state: dict[str, Any]


class TestIds(TypedDict):
    items: list[dict[str, Any]]


class Nodes(TypedDict):
    nodes: list[dict[str, Any]]


class Screenshot(TypedDict):
    """`path` is where the file is; `width` and `height` are its pixels."""

    path: str
    width: int
    height: int
    base64: NotRequired[str | None]


class Described(TypedDict):
    state: dict[str, Any]
    testIds: TestIds
    a11y: Nodes
    screenshot: Screenshot | None
    priorKnowledge: NotRequired[dict[str, Any] | None]


@tool(effect="read", shared={}, whole=True)
async def get_state(call: ToolCall) -> State:
    """Get the state of the app: its screen, whether it is unlocked, account, network, chain and balance."""
    running = running_app(call)
    state = await read_state(running.app, running.profile, running.services, call.page, call.deadline)
    return {"state": state.told()}


@tool(effect="read", shared={}, whole=True)
async def list_testids(call: ToolCall, limit: Annotated[int, Field(ge=1, le=500)] = 150) -> TestIds:
    """List the data-testids that can be seen on the page."""
    found = await seen_test_ids(call.page, call.deadline, limit=limit)
    return {"items": [told_test_id(each) for each in found]}


@tool(effect="read", shared={}, whole=True)
async def accessibility_snapshot(
    call: ToolCall,
    root_selector: Maybe[Annotated[str, Field(min_length=1)]] = None,
) -> Nodes:
    """List what can be used on the page, with headings, dialogs and alerts. The refs count from now on."""
    running = running_app(call)
    if root_selector is None:
        look = await running.look(call.page, call.deadline)
        running.tell(call.page, look)
        nodes = look.nodes
    else:
        nodes = await nodes_below(call.page, root_selector, call.deadline)
    return {"nodes": running.refs_of(call.page).renumbered(nodes)}


@tool(effect="read", shared={}, whole=True)
async def describe_screen(
    call: ToolCall,
    include_screenshot: bool = False,
    screenshot_name: Maybe[Annotated[str, Field(min_length=1)]] = None,
    include_screenshot_base64: Annotated[bool, Field(alias="includeScreenshotBase64")] = False,
    prior_knowledge: bool = False,
) -> Described:
    """Describe the screen: state, test ids and accessibility nodes in one. A screenshot only if asked for."""
    running = running_app(call)
    look = await running.look(call.page, call.deadline)
    running.tell(call.page, look)
    told: Described = {
        "state": look.state.told(),
        "testIds": {"items": look.told_test_ids()},
        "a11y": {"nodes": running.refs_of(call.page).renumbered(look.nodes)},
        "screenshot": None,
    }
    if include_screenshot:
        name = screenshot_name or look.state.screen.name
        shot, data = await _shot(call, name, ScreenshotOptions(), selector=None)
        told["screenshot"] = {**shot, "base64": data if include_screenshot_base64 else None}
    if prior_knowledge:
        told["priorKnowledge"] = await prior_knowledge_of(app_sessions(call), look.state.screen.name)
    return told


@tool(effect="read", shared={}, whole=True)
async def screenshot(
    call: ToolCall,
    name: Annotated[str, Field(min_length=1)],
    full_page: bool = True,
    selector: Maybe[Annotated[str, Field(min_length=1)]] = None,
    include_base64: Annotated[bool, Field(alias="includeBase64")] = False,
) -> Screenshot:
    """Take a screenshot of the page, or of an element. It is kept as a file."""
    shot, data = await _shot(call, name, ScreenshotOptions(full_page=full_page), selector=selector)
    return {**shot, "base64": data} if include_base64 else shot


async def _shot(
    call: ToolCall, name: str, options: ScreenshotOptions, *, selector: str | None
) -> tuple[Screenshot, str]:
    """What is told of it, and the image in base64."""
    page, deadline = call.page, call.deadline
    data = await (
        reading.screenshot(page, options, deadline)
        if selector is None
        else reading.screenshot_element(page, selector, options, deadline)
    )
    largest = call.settings.security.max_screenshot_size
    if len(data) > largest:
        raise ResourceExhausted(
            f"The screenshot has {len(data)} bytes; this server gives {largest} at the most",
            suggestion="Give fullPage: false, or a selector.",
        )
    return await asyncio.to_thread(_kept, call, name, data)


def _kept(call: ToolCall, name: str, data: bytes) -> tuple[Screenshot, str]:
    from footlight.browser.picture import fit

    width, height = fit(data, type="png", quality=None, max_side=0).size
    path = screenshot_path(call, name, datetime.now(UTC))
    path.write_bytes(data)
    told: Screenshot = {"path": str(path), "width": width, "height": height}
    return told, base64.b64encode(data).decode("ascii")


TOOLS = (get_state, list_testids, accessibility_snapshot, describe_screen, screenshot)
