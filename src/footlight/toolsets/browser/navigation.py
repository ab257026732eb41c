"""Go from page to page, and wait until a page shows or does something."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions import navigation
from footlight.browser.actions.navigation import Navigation
from footlight.browser.actions.waiting.elements import ElementState, wait_for_element
from footlight.browser.actions.waiting.functions import wait_for_function
from footlight.browser.actions.waiting.network import wait_for_download, wait_for_response, wait_for_url
from footlight.browser.actions.waiting.texts import wait_for_text, wait_for_text_gone
from footlight.browser.actions.waiting.url_pattern import UrlPattern
from footlight.errors import (
    ExpectationFailedError,
    InvalidParameterError,
    MissingParameterError,
    PermissionDeniedError,
)
from footlight.server.answers.overview import DownloadInfo, download_info
from footlight.server.tools import Expect, Milliseconds, ToolCall, tool
from footlight.server.tools.parameter_types import (
    CONTRADICTION,
    ExpectedCounts,
    ExpectedRequest,
    ExpectedText,
    ExpectedUrl,
    ExpectedValues,
)
from footlight.toolsets.browser.parameters import ActionResult, Selector, WaitUntil, action_result

__all__ = []

Url = Annotated[str, Field(min_length=1, description="The URL to navigate to")]

NavigationTimeout = Annotated[
    Milliseconds | None,
    Field(
        description="Navigation timeout in milliseconds",
        json_schema_extra={"default": 30000},
    ),
]


class NavigationTiming(TypedDict):
    """In milliseconds: `startTime` since the epoch, the others since `startTime`."""

    startTime: float
    domContentLoaded: float | None
    loadComplete: float | None
    duration: float


class NavigationResult(TypedDict):
    """`status` is null if nothing was requested: about:blank, an anchor, a download."""

    url: str
    status: int | None
    redirected: bool
    finalUrl: str
    timing: NavigationTiming


class HistoryResult(NavigationResult):
    """`moved` is false at the end of the history."""

    moved: bool


@tool(effect="act", destructive=False, timeout=NavigationTimeout)
async def navigate(
    call: ToolCall,
    url: Url,
    wait_until: Annotated[WaitUntil, Field(description="When to consider navigation complete")] = "load",
) -> NavigationResult:
    """Navigate to URL. Returns the final URL, HTTP status and timing."""
    return _navigation_result(await navigation.navigate(call.page, url, wait_until, call.deadline))


@tool(effect="act")
async def go_back(call: ToolCall) -> HistoryResult:
    """Navigate back"""
    before = call.page.url
    return _history_result(await navigation.go_back(call.page, call.deadline), before)


@tool(effect="act")
async def go_forward(call: ToolCall) -> HistoryResult:
    """Navigate forward"""
    before = call.page.url
    return _history_result(await navigation.go_forward(call.page, call.deadline), before)


@tool(effect="act", idempotent=True)
async def reload(call: ToolCall, ignore_cache: bool = False) -> NavigationResult:
    """Reload page"""
    return _navigation_result(await navigation.reload(call.page, call.deadline, ignore_cache=ignore_cache))


def _navigation_result(made: Navigation) -> NavigationResult:
    return {
        "url": made.url,
        "status": made.status,
        "redirected": made.redirected,
        "finalUrl": made.url,
        "timing": {
            "startTime": made.start_time,
            "domContentLoaded": made.dom_content_loaded,
            "loadComplete": made.load_complete,
            "duration": made.duration,
        },
    }


def _history_result(made: Navigation, before: str) -> HistoryResult:
    return {**_navigation_result(made), "moved": made.status is not None or made.url != before}


Text = Annotated[str | None, Field(pattern=r"\S")]

UrlMatch = Annotated[str | None, Field(min_length=1, description="Substring, glob with * or /regex/")]


class ReceivedResponse(TypedDict):
    """`id` is the id in the request log."""

    id: str
    url: str
    status: int


class WaitResult(TypedDict):
    """`url` is the URL of the page; the other keys depend on the condition."""

    url: str
    result: NotRequired[Any]
    response: NotRequired[ReceivedResponse]
    download: NotRequired[DownloadInfo]


@tool(effect="read", observed=True)
async def wait_for(
    call: ToolCall,
    text: Text = None,
    text_gone: Text = None,
    url: UrlMatch = None,
    selector: Selector | None = None,
    state: Annotated[
        Literal["visible", "hidden", "attached", "detached"] | None, Field(description="For selector")
    ] = None,
    function: Annotated[
        str | None, Field(min_length=1, description="JS expression that becomes truthy")
    ] = None,
    response: Annotated[str | None, Field(min_length=1, description="Response URL, matched like url")] = None,
    download: Literal[True] | None = None,
) -> WaitResult:
    """Wait for one condition. A response since the last action counts."""
    condition = _find_condition(
        text=text,
        textGone=text_gone,
        url=url,
        selector=selector,
        function=function,
        response=response,
        download=download,
    )
    if state is not None and selector is None:
        raise InvalidParameterError("state: only valid with selector; leave it out", parameter="state")
    page, deadline = call.page, call.deadline.without_patience()
    found: WaitResult = {"url": page.url}
    match condition:
        case "text", str(words):
            await wait_for_text(page, words, deadline)
        case "textGone", str(words):
            await wait_for_text_gone(page, words, deadline)
        case "url", str(pattern):
            await wait_for_url(page, UrlPattern(pattern, parameter="url"), deadline)
        case "selector", str(element):
            await wait_for_element(page, element, state or "visible", deadline)
        case "function", str(expression):
            _check_evaluation(call)
            found["result"] = await wait_for_function(page, expression, deadline)
        case "response", str(pattern):
            entry = await wait_for_response(page, UrlPattern(pattern, parameter="response"), deadline)
            found["response"] = {"id": entry.id, "url": entry.url, "status": entry.status}
        case _:
            found["download"] = download_info(await wait_for_download(page, deadline))
    return {**found, "url": page.url}


def _find_condition(**conditions: object) -> tuple[str, object]:
    conditions_set = [(name, value) for name, value in conditions.items() if value is not None]
    known = ", ".join(conditions)
    if not conditions_set:
        raise MissingParameterError(
            f"wait_for needs one of {known}", parameter=next(iter(conditions)), missing=list(conditions)
        )
    if len(conditions_set) > 1:
        names = " and ".join(name for name, _ in conditions_set)
        raise InvalidParameterError(
            f"{conditions_set[1][0]}: wait_for takes one of {known}, not {names}; call it once for each",
            parameter=conditions_set[1][0],
        )
    return conditions_set[0]


def _check_evaluation(call: ToolCall) -> None:
    if not call.settings.security.enable_script_evaluation:
        raise PermissionDeniedError(
            "function: script evaluation is disabled on this server",
            suggestion="Wait for text, url, selector or response instead. Or ask the server operator to "
            "enable security.enableScriptEvaluation.",
            parameter="function",
            setting="security.enableScriptEvaluation",
        )


@tool(effect="read", observed=True, group="devtools")
async def expect(
    call: ToolCall,
    text: ExpectedText = None,
    gone: Annotated[ExpectedText, Field(description="A text that must not be there")] = None,
    url: ExpectedUrl = None,
    request: Annotated[
        ExpectedRequest, Field(description="POST /orders 201, answered since the last action")
    ] = None,
    value: Annotated[ExpectedValues, Field(description="{selector: text, or true if checked}")] = None,
    count: Annotated[ExpectedCounts, Field(description="{selector: number of matches}")] = None,
) -> ActionResult:
    """Check conditions on the page. Waits until all hold."""
    given = Expect.model_construct(text=text, gone=gone, url=url, request=request, value=value, count=count)
    if all(each is None for _, each in given):
        names = list(Expect.model_fields)
        raise MissingParameterError(
            f"expect needs one of {', '.join(names)}", parameter="text", missing=names
        )
    if given.is_contradictory():
        raise InvalidParameterError(f"gone: {CONTRADICTION}", parameter="gone")
    try:
        await call.meet(given.make_expectation(), since=call.session.actions.last.began_at)
    except ExpectationFailedError as error:
        error.suggestion, error.retryable = "Look at the page, or wait longer with a timeout parameter.", True
        raise
    return action_result(call)


class StateReached(TypedDict):
    selector: str
    state: str


@tool(effect="read")
async def wait_for_selector(
    call: ToolCall,
    selector: Selector,
    state: ElementState = "visible",
) -> StateReached:
    """Wait for selector. Until the first match reaches the state."""
    await wait_for_element(call.page, selector, state, call.deadline, any_match=False)
    return {"selector": selector, "state": state}


@tool(effect="read")
async def wait_for_load(call: ToolCall, state: WaitUntil = "load") -> ActionResult:
    """Wait for page load"""
    await navigation.wait_for_load(call.page, state, call.deadline)
    return action_result(call)
