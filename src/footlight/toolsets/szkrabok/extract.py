"""`extract.*`: text, HTML, screenshots and script results of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.page import page_operations
from footlight.browser.page.element_operations import read_element
from footlight.browser.reading import reads as reading
from footlight.browser.reading.evaluation import run_script
from footlight.browser.reading.screenshots import ScreenshotOptions, take_element_screenshot, take_screenshot
from footlight.errors import InvalidParameterError
from footlight.javascript import page_function
from footlight.server.answers import PageText
from footlight.server.calls.attachments import attach_text
from footlight.server.tools import Number, ToolCall
from footlight.toolsets.browser.extraction import ScriptResult
from footlight.toolsets.browser.screenshots import MODEL_SIDE, attach
from footlight.toolsets.szkrabok.parameters import PlainText, Selector, named_tool

__all__ = ["TOOLS"]

_READ_DOCUMENT = page_function(Path(__file__).parent, ["page_html"], "readDocument")


def fit_text(call: ToolCall, text: str, *, tool: str) -> PlainText:
    """Return a text as an answer. A long text is cut, and the whole text is stored at a URI.

    Secrets are masked before the cut, because half a secret would not be recognized.
    """
    text = call.mask(text)
    longest = call.settings.resources.max_inline_text
    if not longest or len(text) <= longest:
        return {"text": PageText(text)}
    uri = attach_text(call, text, tool=tool)
    whole = f", the whole is at {uri}" if uri else ""
    return {"text": PageText(f"{text[:longest]}\n… [cut, {len(text)} characters{whole}]")}


ImageType = Literal["png", "jpeg"]


class ElementScreenshot(TypedDict):
    """Size and format of the image. It can be read again at `uri`, if the server keeps it."""

    width: int
    height: int
    format: ImageType
    bytes: int
    uri: NotRequired[str]


@named_tool("extract.text", effect="read")
async def text(call: ToolCall, selector: Selector | None = None) -> PlainText:
    """Get the text of the page or of an element. Visible text only."""
    return fit_text(
        call, await reading.text(call.page, selector or "body", call.deadline), tool="extract.text"
    )


@named_tool("extract.html", effect="read")
async def html(call: ToolCall, selector: Selector | None = None) -> PlainText:
    """Get the HTML of the page or of an element. Current DOM, including the element itself."""
    if selector is None:
        source = str(await page_operations.evaluate(call.page, _READ_DOCUMENT, None, call.deadline))
    else:
        source = str(
            await read_element(
                call.page,
                selector,
                call.deadline,
                lambda element, timeout: element.evaluate("element => element.outerHTML", timeout=timeout),
            )
        )
    return fit_text(call, source, tool="extract.html")


@named_tool("extract.screenshot", effect="read")
async def screenshot(
    call: ToolCall,
    full_page: bool = False,
    selector: Annotated[Selector | None, Field(description="Only this element")] = None,
    type: ImageType = "png",
    quality: Annotated[Number | None, Field(ge=0, le=100, description="JPEG only")] = None,
    max_side: Annotated[
        Number | None,
        Field(ge=0, description="Longest side, 0: no limit; default 1568, with fullPage no limit"),
    ] = None,
) -> ElementScreenshot:
    """Take a screenshot"""
    if quality is not None and type == "png":
        raise InvalidParameterError("quality: only valid for JPEG; set type to jpeg", parameter="quality")
    if selector is not None and full_page:
        raise InvalidParameterError(
            "fullPage: cannot be combined with selector; leave one of them out", parameter="fullPage"
        )
    whole = None if quality is None else int(quality)
    options = ScreenshotOptions(full_page=full_page, type=type, quality=whole)
    data = await (
        take_screenshot(call.page, options, call.deadline)
        if selector is None
        else take_element_screenshot(call.page, selector, options, call.deadline)
    )
    side = max_side if max_side is not None else 0 if full_page else MODEL_SIDE
    picture, uri = await attach(call, data, type=type, quality=whole, max_side=int(side), full_page=full_page)
    answer: ElementScreenshot = {
        "width": picture.size[0],
        "height": picture.size[1],
        "format": type,
        "bytes": len(picture.data),
    }
    return {**answer, "uri": uri} if uri else answer


@named_tool("extract.evaluate", effect="act", destructive=True, permission="evaluation", untrusted=True)
async def evaluate(
    call: ToolCall,
    expression: Annotated[
        str,
        Field(min_length=1, description="Expression, function that receives args, or body with return"),
    ],
    args: Annotated[list[Any] | None, Field(description="Arguments of the function")] = None,
) -> ScriptResult:
    """Run JavaScript in the page. Returns the result as JSON."""
    try:
        outcome = await run_script(call.page, expression, args or [], call.deadline)
    except InvalidParameterError as error:
        error.message = f"expression: {error.message.removeprefix('script: ')}"
        error.args = (error.message,)
        error.details = {**error.details, "parameter": "expression"}
        raise
    if outcome.is_pure:
        call.note_no_effect()
    return {"result": outcome.value}


TOOLS = (text, html, screenshot, evaluate)
