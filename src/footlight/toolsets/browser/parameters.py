"""Parameters and results that several families of tools share."""

from typing_extensions import TypedDict

from footlight.server.tool import ToolCall

__all__ = ["Acted", "Selector", "acted"]

Selector = str
"""CSS, XPath that starts with //, or testid=NAME; `>>` goes into a frame. The first match counts."""


class Acted(TypedDict):
    """`url` is where the page is after the action."""

    url: str


def acted(call: ToolCall) -> Acted:
    return {"url": call.page.url}
