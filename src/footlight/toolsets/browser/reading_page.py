"""What a page says, for reading."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.markdown import part_of, read
from footlight.server.answer import PageText
from footlight.server.tool import MaybeBudget, ToolCall, Whole, tool
from footlight.toolsets.browser.parameters import Selector

__all__ = ["TOOLS"]


class PageRead(TypedDict):
    """`chars` is of the whole; `nextOffset` is where what follows begins."""

    title: str
    url: str
    markdown: str
    chars: int
    nextOffset: NotRequired[int]


@tool(effect="read")
async def read_page(
    call: ToolCall,
    selector: Selector | None = None,
    links: bool = True,
    offset: Annotated[Whole, Field(ge=0)] = 0,
    budget: MaybeBudget = None,
) -> PageRead:
    """Read the main content as Markdown"""
    article = await read(call.page, call.deadline, selector=selector, links=links)
    markdown = call.mask(article.markdown)
    part = part_of(markdown, offset, budget or call.settings.observation.budget)
    answer: PageRead = {
        "title": article.title,
        "url": article.url,
        "markdown": PageText(part.text),
        "chars": len(markdown),
    }
    return answer if part.following is None else {**answer, "nextOffset": part.following}


TOOLS = (read_page,)
