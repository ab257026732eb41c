"""The browser's clipboard. Its sessions share it: see `footlight.browser.clipboard`."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from footlight.browser.clipboard import read_clipboard, write_clipboard
from footlight.errors import InvalidParameter, MissingParameter
from footlight.server.secrets import SecretText
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.browser.excerpt import Offset, cut, excerpt

__all__ = ["TOOLS"]

LONGEST_HTML = 2_000


class Clipboard(TypedDict):
    """`length` is that of the whole text; `types` are the media types of all that is there."""

    text: NotRequired[str]
    html: NotRequired[str]
    types: NotRequired[list[str]]
    length: int
    nextOffset: NotRequired[int]


@tool(effect="configure", destructive=True, idempotent=True, group="storage", untrusted=True)
async def clipboard(
    call: ToolCall,
    action: Literal["read", "write"] = "read",
    text: SecretText | None = None,
    html: str | None = None,
    offset: Offset = 0,
) -> Clipboard:
    """Read or write the clipboard. All sessions of a browser share it."""
    if action == "write":
        if text is None:
            raise MissingParameter("clipboard needs the parameter text to write", parameter="text")
        _take_none(action, offset=offset)
        await write_clipboard(call.page, text, call.deadline, html=html)
        return {"length": len(text)}
    _take_none(action, text=text, html=html)
    there = await read_clipboard(call.page, call.deadline)
    piece = excerpt(call.mask(there.text), offset)
    read: Clipboard = {"text": piece.text, "types": list(there.types), "length": piece.length}
    if there.html is not None:
        read["html"] = cut(call.mask(there.html), LONGEST_HTML)
    if piece.next_offset is not None:
        read["nextOffset"] = piece.next_offset
    return read


def _take_none(action: str, **given: str | int | None) -> None:
    for name, value in given.items():
        if value is not None and value != 0:
            raise InvalidParameter(f"{name}: {action} takes none; leave it out", parameter=name)


TOOLS = (clipboard,)
