"""The local and session storage of a page's origin."""

from collections.abc import Callable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.web_storage import Area, AreaStorage
from footlight.errors import InvalidParameter, MissingParameter
from footlight.server.secrets import SecretText
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.browser.excerpt import Offset, cut, excerpt

__all__ = ["TOOLS"]

MOST_LISTED = 100
LONGEST_LISTED = 200
"""Characters of a key or value in a list."""

Action = Literal["list", "get", "set", "remove", "clear"]


class Item(TypedDict):
    key: str
    value: str


class Stored(TypedDict):
    """`count` is how many items there are after the call; `value` is null where the key has none."""

    items: NotRequired[list[Item]]
    value: NotRequired[str | None]
    length: NotRequired[int]
    nextOffset: NotRequired[int]
    count: NotRequired[int]


@tool(effect="configure", destructive=True, idempotent=True, group="storage", untrusted=True)
async def storage(
    call: ToolCall,
    action: Action = "list",
    area: Area = "local",
    key: str | None = None,
    value: Annotated[SecretText | None, Field(description="For set")] = None,
    offset: Offset = 0,
) -> Stored:
    """Read or change the page's localStorage or sessionStorage"""
    _check(action, key, value, offset)
    there = AreaStorage(call.page, area, call.deadline)
    if action == "get":
        return await _get(there, key or "", offset, call.mask)
    if action == "list":
        return await _list(there, offset, call.mask)
    if action == "set":
        await there.put(key or "", value or "")
    elif action == "remove":
        await there.remove(key or "")
    else:
        await there.clear()
    return {"count": len(await there.items())}


def _check(action: Action, key: str | None, value: str | None, offset: int) -> None:
    """Each action takes what it needs, and nothing that it would not heed."""
    needed = {"get": {"key"}, "set": {"key", "value"}, "remove": {"key"}}.get(action, set[str]())
    for name, given in (("key", key), ("value", value)):
        if given is None and name in needed:
            raise MissingParameter(f"storage needs the parameter {name} to {action}", parameter=name)
        if given is not None and name not in needed:
            raise InvalidParameter(f"{name}: {action} takes none; leave it out", parameter=name)
    if offset and action not in ("get", "list"):
        raise InvalidParameter(f"offset: {action} takes none; leave it out", parameter="offset")


async def _get(there: AreaStorage, key: str, offset: int, mask: Callable[[str], str]) -> Stored:
    value = await there.find(key)
    if value is None:
        return {"value": None}
    piece = excerpt(mask(value), offset)
    got: Stored = {"value": piece.text, "length": piece.length}
    if piece.next_offset is not None:
        got["nextOffset"] = piece.next_offset
    return got


async def _list(there: AreaStorage, offset: int, mask: Callable[[str], str]) -> Stored:
    items = list((await there.items()).items())
    listed: Stored = {
        "items": [
            {"key": cut(mask(key), LONGEST_LISTED), "value": cut(mask(value), LONGEST_LISTED)}
            for key, value in items[offset : offset + MOST_LISTED]
        ],
        "count": len(items),
    }
    if offset + MOST_LISTED < len(items):
        listed["nextOffset"] = offset + MOST_LISTED
    return listed


TOOLS = (storage,)
