"""Tools that document 002 does not have, in its envelope. `--strict-002` leaves them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from footlight.browser import reading
from footlight.browser.network import MockResponse
from footlight.errors import InvalidParameter
from footlight.server.steps import StepFailed
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.metamask.parameters import (
    A11yRef,
    Maybe,
    Selector,
    TestId,
    TimeoutMs,
    Within,
    in_time,
    running_app,
    target_in_words,
    target_of,
)

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.browser.page import Page

__all__ = ["TOOLS"]

BATCH_MS = 60_000
LONGEST_TEXT = 20_000

Role = Annotated[
    Literal["extension", "notification", "dapp"],
    Field(description="The app itself, a window that it opened by itself, a site"),
]
Url = Annotated[str | None, Field(min_length=1, description="The one whose address has this in it")]


class Step(BaseModel):
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


class Tab(TypedDict):
    role: str
    url: str
    current: bool


class Tabs(TypedDict):
    currentUrl: str
    tabs: list[Tab]


class Text(TypedDict):
    """`cut`: it was longer."""

    text: str
    target: str
    cut: NotRequired[bool]


class Mocked(TypedDict):
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
    steps: Annotated[list[Step], Field(min_length=1, max_length=50)],
    stop_on_error: bool = True,
    timeout_ms: Annotated[int, Field(ge=100, le=600_000)] = BATCH_MS,  # noqa: ARG001 - for its limits
) -> StepsDone:
    """Run several calls as one, each with tool and arguments. One deadline, timeoutMs, for all of them."""
    try:
        outcomes = await call.run_steps([step.model_dump() for step in steps], stop_on_error=stop_on_error)
    except StepFailed as failed:
        failed.error.details["tool"] = failed.outcomes[-1].tool
        raise
    told: Any = [outcome.told() for outcome in outcomes]
    return {"steps": told, "failed": sum(outcome.error is not None for outcome in outcomes)}


@tool(scope="session", effect="configure", shared={})
async def switch_tab(call: ToolCall, role: Role | None = None, url: Url = None) -> Tabs:
    """Let calls work in another tab: the newest of a role, or the one whose address has url in it."""
    app = running_app(call).app
    await app.select(_tab(app, role, url))
    return _tabs(app)


@tool(scope="session", effect="configure", destructive=True, shared={})
async def close_tab(call: ToolCall, role: Role | None = None, url: Url = None) -> Tabs:
    """Close a tab: the newest of a role, or the one whose address has url in it."""
    app = running_app(call).app
    page = _tab(app, role, url)
    if app.role_of(page) == "extension" and len(app.pages_of("extension")) == 1:
        raise InvalidParameter("role: the app's only page stays open; end it with cleanup", parameter="role")
    await page.close()
    return _tabs(app)


def _tab(app: ExtensionApp, role: str | None, url: str | None) -> Page:
    if role is None and url is None:
        raise InvalidParameter("role: give role, url or both", parameter="role")
    fits = [
        page
        for page in app.session.pages
        if (role is None or app.role_of(page) == role) and (url is None or url in page.url)
    ]
    if not fits:
        there = ", ".join(f"{app.role_of(page)} {page.url}" for page in app.session.pages)
        raise InvalidParameter(
            f"{'role' if role else 'url'}: there is no such tab; open: {there}",
            parameter="role" if role else "url",
            tabs=_tabs(app)["tabs"],
        )
    return fits[-1]


def _tabs(app: ExtensionApp) -> Tabs:
    current = app.current
    return {
        "currentUrl": current.url if current else "",
        "tabs": [
            {"role": app.role_of(page), "url": page.url, "current": page is current}
            for page in app.session.pages
        ],
    }


@tool(effect="read", shared={}, limits=in_time)
async def get_text(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 5_000,
    within: Maybe[Within] = None,
) -> Text:
    """Get the text of an element, as it is seen: exactly one of a11yRef, testId and selector."""
    found = await target_of(
        call, a11y_ref=a11y_ref, test_id=test_id, selector=selector, within=within, at_once=timeout_ms == 0
    )
    text = await reading.text(call.page, found, call.deadline)
    told: Text = {"text": text[:LONGEST_TEXT], "target": target_in_words(a11y_ref, test_id, selector)}
    return {**told, "cut": True} if len(text) > LONGEST_TEXT else told


@tool(scope="session", effect="configure", idempotent=True, shared={})
async def mock_network(
    call: ToolCall,
    url: Annotated[str, Field(min_length=1, description="A URL, with * for any characters")],
    status: Annotated[int, Field(ge=200, le=599)] = 200,
    body: str = "",
    content_type: str = "application/json",
    remove: Annotated[bool, Field(description="Take the mock of this URL away")] = False,
) -> Mocked:
    """Answer requests to a URL ourselves, those of pages and of the app's service worker."""
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
