"""`extract.*`: taking things out of a page."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import reading
from footlight.browser.reading import ScreenshotOptions
from footlight.errors import InvalidParameter
from footlight.server.tool import Number, ToolCall
from footlight.toolsets.browser.pictures import MODEL_SIDE, attach
from footlight.toolsets.szkrabok.long_text import plain
from footlight.toolsets.szkrabok.parameters import PlainText, Selector, named_tool

__all__ = ["TOOLS"]

ImageType = Literal["png", "jpeg"]


class ScreenshotTaken(TypedDict):
    """Of the image itself. It can be read again at `uri`, if the server keeps it."""

    width: int
    height: int
    format: ImageType
    bytes: int
    uri: NotRequired[str]


class Result(TypedDict):
    result: Any


@named_tool("extract.text", effect="read")
async def text(call: ToolCall, selector: Selector | None = None) -> PlainText:
    """Get the text of the page or of an element. As it is seen, without what is hidden."""
    return plain(call, await reading.text(call.page, selector or "body", call.deadline), tool="extract.text")


@named_tool("extract.html", effect="read")
async def html(call: ToolCall, selector: Selector | None = None) -> PlainText:
    """Get the HTML of the page or of an element. As it is now, with the element itself."""
    if selector is None:
        source = str(await call.page.evaluate(_DOCUMENT, None, call.deadline))
    else:
        source = str(
            await call.page.ask(
                selector,
                call.deadline,
                lambda element, timeout: element.evaluate("element => element.outerHTML", timeout=timeout),
            )
        )
    return plain(call, source, tool="extract.html")


@named_tool("extract.screenshot", effect="read")
async def screenshot(
    call: ToolCall,
    full_page: bool = False,
    selector: Annotated[Selector | None, Field(description="Of this element alone")] = None,
    type: ImageType = "png",
    quality: Annotated[Number | None, Field(ge=0, le=100, description="Of a jpeg, 0 to 100")] = None,
    max_side: Annotated[
        Number | None, Field(ge=0, description="Pixels, 0: no limit; default 1568, no limit if fullPage")
    ] = None,
) -> ScreenshotTaken:
    """Take a screenshot"""
    if quality is not None and type == "png":
        raise InvalidParameter("quality: only a jpeg has one; add type jpeg", parameter="quality")
    if selector is not None and full_page:
        raise InvalidParameter("fullPage: leave it out to have one element", parameter="fullPage")
    whole = None if quality is None else int(quality)
    options = ScreenshotOptions(full_page=full_page, type=type, quality=whole)
    data = await (
        reading.screenshot(call.page, options, call.deadline)
        if selector is None
        else reading.screenshot_element(call.page, selector, options, call.deadline)
    )
    side = max_side if max_side is not None else 0 if full_page else MODEL_SIDE
    picture, uri = attach(call, data, type=type, quality=whole, max_side=int(side), full_page=full_page)
    taken: ScreenshotTaken = {
        "width": picture.size[0],
        "height": picture.size[1],
        "format": type,
        "bytes": len(picture.data),
    }
    return {**taken, "uri": uri} if uri else taken


@named_tool("extract.evaluate", effect="act", destructive=True, permission="evaluation", untrusted=True)
async def evaluate(
    call: ToolCall,
    expression: Annotated[
        str,
        Field(min_length=1, description="An expression, a function that gets args, or a body with return"),
    ],
    args: list[Any] | None = None,
) -> Result:
    """Run JavaScript in the page. The result comes back as JSON."""
    try:
        return {"result": await reading.run_script(call.page, expression, args or [], call.deadline)}
    except InvalidParameter as error:
        error.message = f"expression: {error.message.removeprefix('script: ')}"
        error.args = (error.message,)
        error.details = {**error.details, "parameter": "expression"}
        raise


_DOCUMENT = """() => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\\n' : '';
  return type + document.documentElement.outerHTML;
}"""

TOOLS = (text, html, screenshot, evaluate)
