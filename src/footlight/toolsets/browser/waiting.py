"""Waiting for what a page is to show or do."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import waiting
from footlight.browser.overview import DownloadInfo, download_info
from footlight.browser.waiting import UrlPattern
from footlight.errors import InvalidParameter, MissingParameter, PermissionDenied
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.browser.parameters import Selector

__all__ = ["TOOLS"]

Text = Annotated[str | None, Field(pattern=r"\S")]
Url = Annotated[str | None, Field(min_length=1, description="Part, glob with * or /regex/")]


class Response(TypedDict):
    """`id` is that of the request log."""

    id: str
    url: str
    status: int


class Waited(TypedDict):
    """`url` is where the page is; beside it what came, of the kind that was waited for."""

    url: str
    result: NotRequired[Any]
    response: NotRequired[Response]
    download: NotRequired[DownloadInfo]


@tool(effect="read", observed=True)
async def wait_for(
    call: ToolCall,
    text: Text = None,
    text_gone: Text = None,
    url: Url = None,
    selector: Selector | None = None,
    state: Literal["visible", "hidden", "attached", "detached"] | None = None,
    function: Annotated[str | None, Field(min_length=1, description="JS that becomes truthy")] = None,
    response: Annotated[str | None, Field(min_length=1, description="URL, as for url")] = None,
    download: Literal[True] | None = None,
) -> Waited:
    """Wait for one of these. A response may have come since the last action."""
    wanted = _one_of(
        text=text,
        textGone=text_gone,
        url=url,
        selector=selector,
        function=function,
        response=response,
        download=download,
    )
    if state is not None and selector is None:
        raise InvalidParameter("state: only a selector has one; leave it out", parameter="state")
    page, deadline = call.page, call.deadline
    found: Waited = {"url": page.url}
    match wanted:
        case "text", str(words):
            await waiting.wait_for_text(page, words, deadline)
        case "textGone", str(words):
            await waiting.wait_for_text_gone(page, words, deadline)
        case "url", str(pattern):
            await waiting.wait_for_url(page, UrlPattern(pattern, parameter="url"), deadline)
        case "selector", str(element):
            await waiting.wait_for_selector(page, element, state or "visible", deadline)
        case "function", str(expression):
            _check_evaluation(call)
            found["result"] = await waiting.wait_for_function(page, expression, deadline)
        case "response", str(pattern):
            entry = await waiting.wait_for_response(page, UrlPattern(pattern, parameter="response"), deadline)
            found["response"] = {"id": entry.id, "url": entry.url, "status": entry.status}
        case _:
            found["download"] = download_info(await waiting.wait_for_download(page, deadline))
    return {**found, "url": page.url}


def _one_of(**conditions: object) -> tuple[str, object]:
    given = [(name, value) for name, value in conditions.items() if value is not None]
    known = ", ".join(conditions)
    if not given:
        raise MissingParameter(
            f"wait_for needs one of {known}", parameter=next(iter(conditions)), missing=list(conditions)
        )
    if len(given) > 1:
        names = " and ".join(name for name, _ in given)
        raise InvalidParameter(
            f"{given[1][0]}: wait_for takes one of {known}, not {names}; call it once for each",
            parameter=given[1][0],
        )
    return given[0]


def _check_evaluation(call: ToolCall) -> None:
    if not call.settings.security.enable_script_evaluation:
        raise PermissionDenied(
            "function: script evaluation is switched off on this server",
            suggestion="Wait for text, url, selector or response instead. Whoever runs the server can switch "
            "it on: security.enableScriptEvaluation = true.",
            parameter="function",
            setting="security.enableScriptEvaluation",
        )


TOOLS = (wait_for,)
