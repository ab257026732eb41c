"""Taking things out of a page (003 §2.1, R003-21 to R003-30)."""

import asyncio
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import inspection, reading
from footlight.browser.areas import frame_of
from footlight.browser.inspection import Link, PageMetadata, TableData
from footlight.browser.looking import look_at
from footlight.browser.reading import ScreenshotOptions
from footlight.errors import InvalidParameter
from footlight.server.tool import Number, ToolCall, tool
from footlight.toolsets.browser.parameters import Selector
from footlight.toolsets.browser.pictures import MODEL_SIDE, attach

__all__ = ["TOOLS"]

ImageType = Literal["png", "jpeg"]


class Text(TypedDict):
    text: str


class Texts(TypedDict):
    texts: list[str]


class AttributeValue(TypedDict):
    """Null where the element has no such attribute."""

    value: str | None


class Value(TypedDict):
    value: str


class ScreenshotTaken(TypedDict):
    """Pixels of the image itself; `originalWidth` and `originalHeight` only if it was scaled down.

    It can be read again at `uri`, which is missing where the server keeps none of that size.
    """

    width: int
    height: int
    format: ImageType
    bytes: int
    fullPage: bool
    originalWidth: NotRequired[int]
    originalHeight: NotRequired[int]
    uri: NotRequired[str]


class Links(TypedDict):
    links: list[Link]


class Result(TypedDict):
    result: Any


@tool(effect="read")
async def get_text(call: ToolCall, selector: Selector) -> Text:
    """Get element text"""
    return {"text": await reading.text(call.page, selector, call.deadline)}


@tool(effect="read")
async def get_all_text(call: ToolCall, selector: Selector) -> Texts:
    """Get text from all matches. Those that are there now."""
    return {"texts": await reading.all_text(call.page, selector, call.deadline)}


@tool(effect="read")
async def get_attribute(
    call: ToolCall, selector: Selector, attribute: Annotated[str, Field(min_length=1)]
) -> AttributeValue:
    """Get element attribute. Null if it has none of that name."""
    return {"value": await reading.attribute(call.page, selector, attribute, call.deadline)}


@tool(effect="read")
async def get_value(call: ToolCall, selector: Selector) -> Value:
    """Get input value"""
    return {"value": await reading.value(call.page, selector, call.deadline)}


MaxSide = Annotated[
    Number | None,
    Field(ge=0, description="Pixels, 0: no limit; default 1568, no limit if fullPage"),
]


@tool(effect="read")
async def screenshot(
    call: ToolCall,
    full_page: bool = False,
    type: ImageType = "png",
    quality: Annotated[Number | None, Field(ge=0, le=100, description="Of a jpeg, 0 to 100")] = None,
    max_side: MaxSide = None,
    marks: Annotated[bool, Field(description="Draw refs beside controls")] = False,
) -> ScreenshotTaken:
    """Take screenshot"""
    if quality is not None and type == "png":
        raise InvalidParameter("quality: only a jpeg has one; add type jpeg", parameter="quality")
    options = ScreenshotOptions(
        full_page=full_page, type=type, quality=None if quality is None else int(quality)
    )
    data = await (_marked(call, options) if marks else reading.screenshot(call.page, options, call.deadline))
    side = max_side if max_side is not None else 0 if full_page else MODEL_SIDE
    return _taken(call, data, options, int(side))


@tool(effect="read")
async def screenshot_element(
    call: ToolCall, selector: Selector, type: ImageType = "png", max_side: MaxSide = None
) -> ScreenshotTaken:
    """Screenshot element"""
    options = ScreenshotOptions(type=type)
    data = await reading.screenshot_element(call.page, selector, options, call.deadline)
    return _taken(call, data, options, MODEL_SIDE if max_side is None else int(max_side))


@tool(effect="read")
async def extract_table(call: ToolCall, selector: Selector) -> TableData:
    """Extract table data. Rows as objects by header; as lists where headers repeat or are missing."""
    reply = await reading.inspect(call.page, selector, inspection.table_request(), call.deadline)
    try:
        return inspection.table_data(reply)
    except ValueError as error:
        raise InvalidParameter(f"selector: {error}", parameter="selector", selector=selector) from None


@tool(effect="read")
async def extract_links(call: ToolCall, selector: Selector | None = None) -> Links:
    """Extract all links. Of the page, or inside one element; addresses are absolute."""
    request = inspection.links_request()
    if selector is None:
        return {"links": inspection.links(await reading.inspect_page(call.page, request, call.deadline))}
    return {"links": inspection.links(await reading.inspect(call.page, selector, request, call.deadline))}


@tool(effect="read")
async def get_page_metadata(call: ToolCall) -> PageMetadata:
    """Get page metadata. Title, description, keywords, image, canonical URL, language."""
    return inspection.page_metadata(
        await reading.inspect_page(call.page, inspection.metadata_request(), call.deadline)
    )


@tool(effect="act", destructive=True, permission="evaluation", untrusted=True)
async def evaluate(
    call: ToolCall,
    script: Annotated[
        str,
        Field(min_length=1, description="An expression, a function that gets args, or a body with return"),
    ],
    args: list[Any] | None = None,
) -> Result:
    """Run JS in browser. The result comes back as JSON."""
    return {"result": await reading.run_script(call.page, script, args or [], call.deadline)}


async def _marked(call: ToolCall, options: ScreenshotOptions) -> bytes:
    """Taken without loss, because it is drawn on before it becomes what was asked for."""
    from footlight.browser.marks import Mark, is_marked, marked

    page, deadline = call.page, call.deadline
    nodes = (await look_at(page, deadline, boxes=True)).nodes
    frame = await frame_of(page, deadline, full_page=options.full_page)
    picture = await reading.screenshot(page, ScreenshotOptions(full_page=options.full_page), deadline)
    marks = [
        Mark(node.ref, frame.area(node.box)) for node in nodes if is_marked(node) if node.ref and node.box
    ]
    return await asyncio.to_thread(marked, picture, marks, type=options.type, quality=options.quality)


def _taken(call: ToolCall, data: bytes, options: ScreenshotOptions, max_side: int) -> ScreenshotTaken:
    """Attach the image to the answer, and tell its real size."""
    picture, uri = attach(
        call,
        data,
        type=options.type,
        quality=options.quality,
        max_side=max_side,
        full_page=options.full_page,
    )
    taken: ScreenshotTaken = {
        "width": picture.size[0],
        "height": picture.size[1],
        "format": options.type,
        "bytes": len(picture.data),
        "fullPage": options.full_page,
    }
    if picture.size != picture.original_size:
        taken["originalWidth"], taken["originalHeight"] = picture.original_size
    return {**taken, "uri": uri} if uri else taken


TOOLS = (
    get_text,
    get_all_text,
    get_attribute,
    get_value,
    screenshot,
    screenshot_element,
    extract_table,
    extract_links,
    get_page_metadata,
    evaluate,
)
