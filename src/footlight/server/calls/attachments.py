"""Store screenshots, files and long texts of a call, and link to them in its answer."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Literal

from footlight.browser.recording.artifact_store import LongAnswer, ScreenshotArtifact, StoredFile
from footlight.server.answers.answer import Answer, Image, link_to_whole
from footlight.server.resources.links import link_to

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.browser.recording.artifact_store import Artifact
    from footlight.browser.sessions.session import Session
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["attach_again", "attach_file", "attach_screenshot", "attach_text", "shorten_answer"]

MAX_FILE_BYTES = 5_000_000
"""The maximum size of a file that is stored as a resource. A larger file is only on the disk."""


def attach_screenshot(
    call: ToolCall,
    data: bytes,
    *,
    type: Literal["png", "jpeg"],
    size: tuple[int, int],
    full_page: bool,
) -> str | None:
    """Add a link to a screenshot to the answer, and the image itself unless it is too large.

    Return its URI, or None if it is not stored, in which case the answer contains the image of any size.
    """
    shot = ScreenshotArtifact(
        session_id=call.session.id,
        page_id=call.page.id,
        captured_at=call.session.artifacts.next_timestamp(),
        type=type,
        width=size[0],
        height=size[1],
        full_page=full_page,
        data=data,
    )
    uri = _attach(call, shot)
    if uri is None or len(data) <= call.settings.resources.max_inline_image:
        call.attach_image(Image(data, f"image/{type}"))
    return uri


def attach_text(call: ToolCall, text: str, *, tool: str) -> str | None:
    """Store the whole text of a page, and add a link to it to the answer.

    Return its URI, or None if it is not stored.
    """
    whole = LongAnswer(
        session_id=call.session.id,
        id=secrets.token_hex(8),
        tool=tool,
        data=text.encode("utf-8", "replace"),
        mime_type="text/plain",
    )
    return _attach(call, whole)


def attach_again(call: ToolCall, uri: str) -> bool:
    """Add a link to a text that an earlier call has stored. Return False if it is no longer stored."""
    answers = map(link_to, call.session.artifacts.items(call.session.id, LongAnswer))
    link = next((link for link in answers if link.uri == uri), None)
    if link is not None:
        call.attach_link(link)
    return link is not None


def attach_file(call: ToolCall, path: Path, mime_type: str) -> str | None:
    """Store a written file, and add a link to it to the answer, unless the file is large.

    Return its URI, or None if it is not stored.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        return None
    return _attach(
        call,
        StoredFile(session_id=call.session.id, name=path.name, mime_type=mime_type, data=path.read_bytes()),
    )


def _attach(call: ToolCall, item: Artifact) -> str | None:
    if not call.session.store_artifact(item):
        return None
    link = link_to(item)
    call.attach_link(link)
    return link.uri


def shorten_answer(answer: Answer, session: Session, *, tool: str, max_bytes: int) -> Answer:
    """Store an answer of more than `max_bytes`, and return a preview with a link. 0 means no limit."""
    if not max_bytes or len(answer.text) * 4 <= max_bytes:
        return answer
    data = answer.text.encode()
    if len(data) <= max_bytes:
        return answer
    whole = LongAnswer(session_id=session.id, id=secrets.token_hex(8), tool=tool, data=data)
    return link_to_whole(answer, link_to(whole)) if session.store_artifact(whole) else answer
