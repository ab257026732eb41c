"""Additional tools, which `--strict-002` leaves out: steps, tabs, text and mocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.browser.network.mocks import MockResponse
from footlight.browser.reading import reads as reading
from footlight.errors import InvalidParameterError
from footlight.server.calls.steps import StepFailedError
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.metamask.parameters import (
    A11yRef,
    AppTarget,
    Maybe,
    Selector,
    TestId,
    TimeoutMs,
    Within,
    running_app,
    time_limits,
)

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.browser.page.page import Page

__all__ = ["TOOLS"]

BATCH_MS = 60_000
MAX_TEXT_CHARS = 20_000

Role = Annotated[
    Literal["extension", "notification", "dapp"],
    Field(description="The app, a window that it opened, or a site"),
]
Url = Annotated[str | None, Field(min_length=1, description="Part of the tab's URL")]


class AppStep(BaseModel):
    """A call of another tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tool: Annotated[str, Field(min_length=1)]
    arguments: dict[str, Any] = {}


class StepDone(TypedDict):
    """`data` of the tool, or why there is none."""

    tool: str
    data: NotRequired[dict[str, Any]]
    error: NotRequired[dict[str, Any]]


class StepsDone(TypedDict):
    """`failed` counts the steps that have an error."""

    steps: list[StepDone]
    failed: int


class AppTab(TypedDict):
    role: str
    url: str
    current: bool


class AppTabs(TypedDict):
    currentUrl: str
    tabs: list[AppTab]


class AppText(TypedDict):
    """`cut`: the text was longer."""

    text: str
    target: str
    cut: NotRequired[bool]


class AppMocks(TypedDict):
    mocks: list[str]


def _batch_limits(parsed: BaseModel) -> tuple[float, float]:
    timeout_ms: int = getattr(parsed, "timeout_ms")  # noqa: B009 - the model is made from the tool's signature
    return float(timeout_ms), float(timeout_ms)


@tool(
    effect="act",
    destructive=True,
    shared={},
    observed=False,
    untrusted=True,
    limits=_batch_limits,
    batch=True,
)
async def run_steps(
    call: ToolCall,
    steps: Annotated[list[AppStep], Field(min_length=1, max_length=50)],
    stop_on_error: bool = True,
    timeout_ms: Annotated[int, Field(ge=100, le=600_000)] = BATCH_MS,  # noqa: ARG001 - for its limits
) -> StepsDone:
    """Run several calls as one. timeoutMs is the time limit of all together."""
    try:
        outcomes = await call.run_steps([step.model_dump() for step in steps], stop_on_error=stop_on_error)
    except StepFailedError as failed:
        failed.error.details["tool"] = failed.outcomes[-1].tool
        raise
    steps_json: Any = [outcome.as_json() for outcome in outcomes]
    return {"steps": steps_json, "failed": sum(outcome.error is not None for outcome in outcomes)}


@tool(scope="session", effect="configure", shared={})
async def switch_tab(call: ToolCall, role: Role | None = None, url: Url = None) -> AppTabs:
    """Switch to another tab: the newest one that matches role and url."""
    app = running_app(call).app
    await app.select(_find_tab(app, role, url))
    return _list_tabs(app)


@tool(scope="session", effect="configure", destructive=True, shared={})
async def close_tab(call: ToolCall, role: Role | None = None, url: Url = None) -> AppTabs:
    """Close a tab: the newest one that matches role and url."""
    app = running_app(call).app
    page = _find_tab(app, role, url)
    if app.role_of(page) == "extension" and len(app.pages_of("extension")) == 1:
        raise InvalidParameterError(
            "role: the app's only page cannot be closed; end the session with cleanup", parameter="role"
        )
    await page.close()
    return _list_tabs(app)


def _find_tab(app: ExtensionApp, role: str | None, url: str | None) -> Page:
    if role is None and url is None:
        raise InvalidParameterError("role: give role, url or both", parameter="role")
    matching = [
        page
        for page in app.session.pages
        if (role is None or app.role_of(page) == role) and (url is None or url in page.url)
    ]
    if not matching:
        open_tabs = ", ".join(f"{app.role_of(page)} {page.url}" for page in app.session.pages)
        raise InvalidParameterError(
            f"{'role' if role else 'url'}: no tab matches; open tabs: {open_tabs}",
            parameter="role" if role else "url",
            tabs=_list_tabs(app)["tabs"],
        )
    return matching[-1]


def _list_tabs(app: ExtensionApp) -> AppTabs:
    current = app.current
    return {
        "currentUrl": current.url if current else "",
        "tabs": [
            {"role": app.role_of(page), "url": page.url, "current": page is current}
            for page in app.session.pages
        ],
    }


@tool(effect="read", shared={}, limits=time_limits)
async def get_text(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 5_000,
    within: Maybe[Within] = None,
) -> AppText:
    """Get the visible text of an element: exactly one of a11yRef, testId and selector."""
    target = AppTarget(a11y_ref, test_id, selector, within)
    found = await target.find(call, at_once=timeout_ms == 0)
    with target.translate_refs(call):
        text = await reading.text(call.page, found, call.deadline)
    result: AppText = {"text": text[:MAX_TEXT_CHARS], "target": str(target)}
    return {**result, "cut": True} if len(text) > MAX_TEXT_CHARS else result


@tool(scope="session", effect="configure", idempotent=True, shared={})
async def mock_network(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1, description="Full URL, or a pattern with *")],
    status: Annotated[int, Field(ge=200, le=599)] = 200,
    body: str = "",
    content_type: str = "application/json",
    remove: Annotated[bool, Field(description="Remove the mock of this URL")] = False,
) -> AppMocks:
    """Mock the responses of a URL, for pages and the app's service worker."""
    rules = call.session.rules
    if remove:
        await rules.unmock(url)
    else:
        headers = {"access-control-allow-origin": "*"}
        await rules.mock(
            url, MockResponse(status=status, headers=headers, body=body, content_type=content_type)
        )
    return {"mocks": sorted(rules.mocks)}


TOOLS = (run_steps, switch_tab, close_tab, get_text, mock_network)
