"""What a call leaves to be read later: its screenshots, and its answer where that is too long to be sent."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Literal

from footlight.browser.shelf import KeptFile, LongAnswer, Screenshot
from footlight.server.answer import Answer, Image, Link, linked
from footlight.server.uris import Address

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.browser.session import Session
    from footlight.browser.shelf import Item
    from footlight.server.tool import ToolCall

__all__ = ["attach_file", "attach_screenshot", "keep_if_long", "keep_text", "link_to"]

LARGEST_FILE = 5_000_000
"""Bytes. A larger one is only on the disk."""


def attach_screenshot(
    call: ToolCall,
    data: bytes,
    *,
    type: Literal["png", "jpeg"],
    size: tuple[int, int],
    full_page: bool,
) -> str | None:
    """Put an image into the answer: itself, unless it is too large for one, and a link to it.

    Returns its URI; None where nobody keeps it, and it is in the answer whatever its size.
    """
    shot = Screenshot(
        session_id=call.session.id,
        page_id=call.page.id,
        captured_at=call.session.shelf.moment(),
        type=type,
        width=size[0],
        height=size[1],
        full_page=full_page,
        data=data,
    )
    kept = call.session.keep(shot)
    if kept:
        call.links.append(link_to(shot))
    if not kept or len(data) <= call.settings.resources.max_inline_image:
        call.images.append(Image(data, f"image/{type}"))
    return link_to(shot).uri if kept else None


def keep_if_long(answer: Answer, session: Session, *, tool: str, max_inline_text: int) -> Answer:
    """The answer, or what is sent instead of one that is longer than so many bytes (0: never)."""
    if not max_inline_text or len(answer.text) * 4 <= max_inline_text:
        return answer
    data = answer.text.encode()
    if len(data) <= max_inline_text:
        return answer
    whole = LongAnswer(session_id=session.id, id=secrets.token_hex(8), tool=tool, data=data)
    return linked(answer, link_to(whole)) if session.keep(whole) else answer


def keep_text(call: ToolCall, text: str, *, tool: str) -> str | None:
    """Put the whole of a page's text on the shelf, and a link to it into the answer.

    Returns its URI; None where nobody keeps it.
    """
    whole = LongAnswer(
        session_id=call.session.id,
        id=secrets.token_hex(8),
        tool=tool,
        data=text.encode("utf-8", "replace"),
        mime_type="text/plain",
    )
    if not call.session.keep(whole):
        return None
    call.links.append(link_to(whole))
    return link_to(whole).uri


def attach_file(call: ToolCall, path: Path, mime_type: str) -> str | None:
    """Put a link to a file that was written into the answer, unless it is large.

    Returns its URI; None where nobody keeps it.
    """
    if path.stat().st_size > LARGEST_FILE:
        return None
    file = KeptFile(session_id=call.session.id, name=path.name, mime_type=mime_type, data=path.read_bytes())
    if not call.session.keep(file):
        return None
    call.links.append(link_to(file))
    return link_to(file).uri


def link_to(item: Item) -> Link:
    if isinstance(item, KeptFile):
        uri = Address("file", (item.session_id, item.name)).uri
        return Link(uri, item.name, item.mime_type, len(item.data))
    if isinstance(item, LongAnswer):
        uri = Address("answer", (item.session_id, item.id)).uri
        return Link(uri, f"Answer of {item.tool}", item.mime_type, len(item.data))
    uri = Address("screenshot", (item.session_id, item.page_id, item.timestamp)).uri
    name = f"Screenshot of {item.page_id}, {item.timestamp}"
    return Link(uri, name, f"image/{item.type}", len(item.data))
