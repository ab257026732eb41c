"""Read text, attributes, tables, links and states of elements; evaluate scripts; call tools of the page."""

from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions import page_tools
from footlight.browser.actions.page_tools import PageTool
from footlight.browser.page import inspection
from footlight.browser.page.inspection import Link, PageMetadata, TableData
from footlight.browser.reading import elements
from footlight.browser.reading import reads as reading
from footlight.browser.reading.elements import FoundElement
from footlight.browser.reading.evaluation import run_isolated_script, run_script
from footlight.browser.reading.markdown import cut_part, read
from footlight.errors import InvalidParameterError
from footlight.server.answers import PageText
from footlight.server.tools import Count, MaybeBudget, ToolCall, Whole, tool
from footlight.toolsets.browser.parameters import Offset, Selector

__all__ = []


class ElementText(TypedDict):
    text: str


class ElementTexts(TypedDict):
    texts: list[str]


class AttributeValue(TypedDict):
    """`value` is null if the element has no such attribute."""

    value: str | None


class InputValue(TypedDict):
    """`values` has all selected values of a list that takes several."""

    value: str
    values: NotRequired[list[str]]


class PageLinks(TypedDict):
    links: list[Link]


class ScriptResult(TypedDict):
    """`notice` says why there is no result."""

    result: Any
    notice: NotRequired[str]


@tool(effect="read")
async def get_text(call: ToolCall, selector: Selector) -> ElementText:
    """Get element text"""
    return {"text": await reading.text(call.page, selector, call.deadline)}


@tool(effect="read")
async def get_all_text(call: ToolCall, selector: Selector) -> ElementTexts:
    """Get text from all matches. Does not wait."""
    return {"texts": await reading.read_all_texts(call.page, selector, call.deadline)}


@tool(effect="read")
async def get_attribute(
    call: ToolCall, selector: Selector, attribute: Annotated[str, Field(min_length=1)]
) -> AttributeValue:
    """Get element attribute. Null if it is not set."""
    return {"value": await reading.attribute(call.page, selector, attribute, call.deadline)}


@tool(effect="read")
async def get_value(call: ToolCall, selector: Selector) -> InputValue:
    """Get input value"""
    found = await reading.value(call.page, selector, call.deadline)
    if found.values is None:
        return {"value": found.value}
    return {"value": found.value, "values": found.values}


@tool(effect="read")
async def extract_table(call: ToolCall, selector: Selector) -> TableData:
    """Extract table data. Rows are objects keyed by header, or lists."""
    reply = await reading.inspect(call.page, selector, inspection.table_request(), call.deadline)
    try:
        return inspection.read_table_data(reply)
    except ValueError as error:
        raise InvalidParameterError(f"selector: {error}", parameter="selector", selector=selector) from None


@tool(effect="read")
async def extract_links(call: ToolCall, selector: Selector | None = None) -> PageLinks:
    """Extract all links. From the page or one element, as absolute URLs."""
    request = inspection.links_request()
    if selector is None:
        return {"links": inspection.read_links(await reading.inspect_page(call.page, request, call.deadline))}
    return {
        "links": inspection.read_links(await reading.inspect(call.page, selector, request, call.deadline))
    }


@tool(effect="read")
async def get_page_metadata(call: ToolCall) -> PageMetadata:
    """Get page metadata. Title, description, keywords, image, canonical URL, language."""
    return inspection.read_page_metadata(
        await reading.inspect_page(call.page, inspection.metadata_request(), call.deadline)
    )


@tool(effect="act", destructive=True, permission="evaluation", untrusted=True)
async def evaluate(
    call: ToolCall,
    script: Annotated[
        str,
        Field(min_length=1, description="Expression, function that receives args, or body with return"),
    ],
    args: list[Any] | None = None,
    isolated: Annotated[bool, Field(description="In a world that the page cannot reach")] = False,
) -> ScriptResult:
    """Run JS in browser. Returns the result as JSON."""
    run = run_isolated_script if isolated else run_script
    outcome = await run(call.page, script, args or [], call.deadline)
    if outcome.is_pure:
        call.note_no_effect()
    result: ScriptResult = {"result": outcome.value}
    return {**result, "notice": outcome.notice} if outcome.notice else result


class ElementFound(TypedDict):
    element: FoundElement


class ElementsFound(TypedDict):
    """`count` counts all matches, also those beyond the limit."""

    elements: list[FoundElement]
    count: int


class ElementExists(TypedDict):
    exists: bool


class ElementVisible(TypedDict):
    visible: bool


class ElementEnabled(TypedDict):
    enabled: bool


@tool(effect="read")
async def find_element(call: ToolCall, selector: Selector) -> ElementFound:
    """Find single element. Describes it and gives a unique selector."""
    return {"element": await elements.find(call.page, selector, call.deadline)}


@tool(effect="read")
async def find_elements(
    call: ToolCall, selector: Selector, limit: Annotated[Count, Field(le=1000)] = 100
) -> ElementsFound:
    """Find multiple elements. Does not wait; each gets a unique selector."""
    found = await elements.find_all(call.page, selector, limit, call.deadline)
    count = len(found) if len(found) < limit else await reading.count(call.page, selector, call.deadline)
    return {"elements": found, "count": count}


@tool(effect="read")
async def element_exists(call: ToolCall, selector: Selector) -> ElementExists:
    """Check if element exists. Does not wait."""
    return {"exists": await reading.count(call.page, selector, call.deadline) > 0}


@tool(effect="read")
async def is_visible(call: ToolCall, selector: Selector) -> ElementVisible:
    """Check if visible. Does not wait; false if it is missing."""
    return {"visible": await reading.is_visible(call.page, selector, call.deadline)}


@tool(effect="read")
async def is_enabled(call: ToolCall, selector: Selector) -> ElementEnabled:
    """Check if enabled"""
    return {"enabled": await reading.is_enabled(call.page, selector, call.deadline)}


class PageMarkdown(TypedDict):
    """`chars` is the length of the whole text; `nextOffset` is where the next part begins."""

    title: str
    url: str
    markdown: str
    chars: int
    nextOffset: NotRequired[int]


@tool(effect="read")
async def read_page(
    call: ToolCall,
    selector: Selector | None = None,
    links: Annotated[bool, Field(description="Include link URLs")] = True,
    offset: Offset = 0,
    budget: MaybeBudget = None,
) -> PageMarkdown:
    """Read the main content as Markdown"""
    article = await read(call.page, call.deadline, selector=selector, links=links)
    markdown = await call.mask_long(article.markdown)
    part = cut_part(markdown, offset, budget or call.settings.observation.budget)
    answer: PageMarkdown = {
        "title": article.title,
        "url": article.url,
        "markdown": PageText(part.text),
        "chars": len(markdown),
    }
    return answer if part.following is None else {**answer, "nextOffset": part.following}


class PageToolInfo(TypedDict):
    """What the page says of its tool. `note`: why its schema is left out. `frame`: 0 is the page itself."""

    name: str
    description: str
    frame: int
    frameUrl: NotRequired[str]
    inputSchema: NotRequired[dict[str, Any]]
    annotations: NotRequired[list[str]]
    note: NotRequired[str]


class PageTools(TypedDict):
    """`dropped` counts tools without a usable name, and those after the first 50."""

    tools: list[PageToolInfo]
    dropped: NotRequired[int]


@tool(effect="read", group="webmcp", permission="page tools")
async def list_page_tools(call: ToolCall) -> PageTools:
    """List the page's own tools. WebMCP; the page wrote names, descriptions and schemas."""
    listed = await page_tools.list_tools(call.page, call.deadline)
    answer: PageTools = {"tools": [_describe_page_tool(each) for each in listed.tools]}
    return {**answer, "dropped": listed.dropped} if listed.dropped else answer


def _describe_page_tool(found: PageTool) -> PageToolInfo:
    described: PageToolInfo = {"name": found.name, "description": found.description, "frame": found.frame}
    if found.frame:
        described["frameUrl"] = found.frame_url
    if found.schema is not None:
        described["inputSchema"] = found.schema
    if found.schema_problem:
        described["note"] = f"its schema is left out: {found.schema_problem}"
    if found.annotations:
        described["annotations"] = [*found.annotations]
    return described


class PageToolResult(TypedDict):
    """`result` is what the page returned. `isError`: the page says that its tool failed."""

    result: Any
    isError: NotRequired[bool]


@tool(effect="act", destructive=True, group="webmcp", permission="page tools", untrusted=True)
async def call_page_tool(
    call: ToolCall,
    name: Annotated[str, Field(min_length=1, max_length=128)],
    input: dict[str, Any] | None = None,
    frame: Annotated[Whole | None, Field(ge=0, description="If several frames have the tool")] = None,
) -> PageToolResult:
    """Call one of the page's own tools. See list_page_tools."""
    call.stage("calling a tool of the page")
    result: Any = await page_tools.call_tool(call.page, name, input or {}, call.deadline, frame=frame)
    answer: PageToolResult = {"result": result}
    has_failed = isinstance(result, dict) and cast("dict[str, Any]", result).get("isError") is True
    return {**answer, "isError": True} if has_failed else answer
