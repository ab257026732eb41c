"""What a browser stores for sites: cookies, localStorage, sessionStorage; and its clipboard."""

import re
import time
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser.actions.clipboard import read_clipboard, write_clipboard
from footlight.browser.reading.storage import PageStorage, WebStorageArea
from footlight.errors import InvalidParameterError, MissingParameterError
from footlight.safe_text import cut_text
from footlight.server.answers.secrets import SecretText
from footlight.server.tools import Number, ToolCall, tool
from footlight.toolsets.browser.parameters import Offset, excerpt

__all__ = []


class Cookie(BaseModel):
    """A cookie needs a url, or a domain and a path."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1)]
    value: SecretText
    url: str | None = None
    domain: str | None = None
    path: str | None = None
    expires: Annotated[Number | None, Field(description="Seconds since 1970; -1: session cookie")] = None
    http_only: bool | None = None
    secure: bool | None = None
    same_site: Literal["Strict", "Lax", "None"] | None = None
    partition_key: str | None = None


DescribedCookie = Annotated[
    Cookie,
    Field(
        description="{name, value, url?, domain?, path?, expires?, httpOnly?, secure?, sameSite?, "
        "partitionKey?}"
    ),
]


class CookieList(TypedDict):
    cookies: list[dict[str, Any]]


class CookiesSet(TypedDict):
    count: int


class CookiesDeleted(TypedDict):
    deleted: int


@tool(scope="session", effect="read")
async def get_cookies(
    call: ToolCall,
    urls: Annotated[list[str] | None, Field(description="Only cookies sent to these URLs")] = None,
) -> CookieList:
    """Get cookies"""
    return {"cookies": await call.session.cookies.find(urls or [])}


@tool(scope="session", effect="configure", idempotent=True, untrusted=False)
async def set_cookies(
    call: ToolCall, cookies: Annotated[list[DescribedCookie], Field(max_length=1000)]
) -> CookiesSet:
    """Set cookies. Each needs a url, or a domain and a path."""
    cookie_fields = [cookie.model_dump(by_alias=True, exclude_none=True) for cookie in cookies]
    for index, cookie in enumerate(cookie_fields):
        if "url" not in cookie and "domain" not in cookie:
            raise InvalidParameterError(
                f"cookies.{index}: needs a url, or a domain and a path", parameter=f"cookies.{index}"
            )
        if "domain" in cookie:
            cookie.setdefault("path", "/")
    await call.session.cookies.add(cookie_fields)
    are_stored = await call.session.cookies.are_stored(cookie_fields)
    for index, is_stored in enumerate(are_stored):
        cookie = cookie_fields[index]
        # A cookie that has expired deletes the one of that name.
        if not is_stored and not 0 < cookie.get("expires", -1) <= time.time():
            why = ": sameSite None requires secure" if cookie.get("sameSite") == "None" else ""
            raise InvalidParameterError(
                f"cookies.{index}: the browser did not store it{why}. Others may have been stored",
                parameter=f"cookies.{index}",
            )
    return {"count": sum(are_stored)}


@tool(
    scope="session", effect="configure", destructive=True, idempotent=True, group="storage", untrusted=False
)
async def delete_cookies(
    call: ToolCall,
    name: Annotated[str | None, Field(min_length=1)] = None,
    domain: Annotated[str | None, Field(min_length=1, description="Without its subdomains")] = None,
    all: Literal[True] | None = None,
) -> CookiesDeleted:
    """Delete cookies. By name, domain or both, or all of the session."""
    if (all is None) == (name is None and domain is None):
        raise InvalidParameterError(
            "delete_cookies takes name and domain, or one of them, or all", parameter="name"
        )
    if domain and re.search(r"[/@\s]|^[^\[]*:", domain):
        raise InvalidParameterError(
            f"domain: must be a host name such as shop.example.com, got {cut_text(domain, 100)!r}",
            parameter="domain",
        )
    return {"deleted": await call.session.cookies.delete(name=name, domain=domain)}


MAX_LISTED = 100

MAX_LISTED_CHARS = 200
"""Characters of a key or value in a list."""

Action = Literal["list", "get", "set", "remove", "clear"]


class StorageItem(TypedDict):
    key: str
    value: str


class StorageResult(TypedDict):
    """`count` is the number of items after the call; `value` is null if the key does not exist."""

    items: NotRequired[list[StorageItem]]
    value: NotRequired[str | None]
    length: NotRequired[int]
    nextOffset: NotRequired[int]
    count: NotRequired[int]


@tool(effect="configure", destructive=True, idempotent=True, group="storage", untrusted=True)
async def storage(
    call: ToolCall,
    action: Action = "list",
    area: WebStorageArea = "local",
    key: str | None = None,
    value: Annotated[SecretText | None, Field(description="For set")] = None,
    offset: Offset = 0,
) -> StorageResult:
    """Read or change the page's localStorage or sessionStorage"""
    _check_arguments(action, key, value, offset)
    area_storage = PageStorage(call.page, area, call.deadline)
    if action == "get":
        return await _get_item(area_storage, key or "", offset, call)
    if action == "list":
        return await _list_items(area_storage, offset, call)
    if action == "set":
        await area_storage.put(key or "", value or "")
    elif action == "remove":
        await area_storage.remove(key or "")
    else:
        await area_storage.clear()
    return {"count": len(await area_storage.items())}


def _check_arguments(action: Action, key: str | None, value: str | None, offset: int) -> None:
    """Refuse missing parameters, and parameters that the action would ignore."""
    needed = {"get": {"key"}, "set": {"key", "value"}, "remove": {"key"}}.get(action, set[str]())
    for name, argument in (("key", key), ("value", value)):
        if argument is None and name in needed:
            raise MissingParameterError(f"storage needs the parameter {name} to {action}", parameter=name)
        if argument is not None and name not in needed:
            raise InvalidParameterError(f"{name}: not used by {action}; leave it out", parameter=name)
    if offset and action not in ("get", "list"):
        raise InvalidParameterError(f"offset: not used by {action}; leave it out", parameter="offset")


async def _get_item(area_storage: PageStorage, key: str, offset: int, call: ToolCall) -> StorageResult:
    value = await area_storage.find(key)
    if value is None:
        return {"value": None}
    piece = excerpt(await call.mask_long(value), offset)
    result: StorageResult = {"value": piece.text, "length": piece.length}
    if piece.next_offset is not None:
        result["nextOffset"] = piece.next_offset
    return result


async def _list_items(area_storage: PageStorage, offset: int, call: ToolCall) -> StorageResult:
    items = list((await area_storage.items()).items())
    listed: StorageResult = {
        "items": [
            {
                "key": cut_text(await call.mask_long(key), MAX_LISTED_CHARS),
                "value": cut_text(await call.mask_long(value), MAX_LISTED_CHARS),
            }
            for key, value in items[offset : offset + MAX_LISTED]
        ],
        "count": len(items),
    }
    if offset + MAX_LISTED < len(items):
        listed["nextOffset"] = offset + MAX_LISTED
    return listed


MAX_HTML_CHARS = 2_000


class ClipboardResult(TypedDict):
    """`length` is the length of the whole text; `types` are the media types of the content."""

    text: NotRequired[str]
    html: NotRequired[str]
    types: NotRequired[list[str]]
    length: int
    nextOffset: NotRequired[int]


@tool(effect="configure", destructive=True, idempotent=True, group="storage", untrusted=True)
async def clipboard(
    call: ToolCall,
    action: Literal["read", "write"] = "read",
    text: Annotated[SecretText | None, Field(description="For write")] = None,
    html: Annotated[SecretText | None, Field(description="For write")] = None,
    offset: Offset = 0,
) -> ClipboardResult:
    """Read or write the clipboard. Shared by all sessions of a browser."""
    if action == "write":
        if text is None:
            raise MissingParameterError("clipboard needs the parameter text to write", parameter="text")
        _refuse_unused(action, offset=offset)
        await write_clipboard(call.page, text, call.deadline, html=html)
        return {"length": len(text)}
    _refuse_unused(action, text=text, html=html)
    content = await read_clipboard(call.page, call.deadline)
    piece = excerpt(await call.mask_long(content.text), offset)
    read: ClipboardResult = {"text": piece.text, "types": list(content.types), "length": piece.length}
    if content.html is not None:
        read["html"] = cut_text(await call.mask_long(content.html), MAX_HTML_CHARS)
    if piece.next_offset is not None:
        read["nextOffset"] = piece.next_offset
    return read


def _refuse_unused(action: str, **unused: str | int | None) -> None:
    for name, value in unused.items():
        if value is not None and value != 0:
            raise InvalidParameterError(f"{name}: not used by {action}; leave it out", parameter=name)
