"""Create links to the artifacts of a call, such as screenshots, which a client can read later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.browser.recording.artifact_store import LongAnswer, StoredFile
from footlight.server.answers.answer import AnswerLink
from footlight.server.resources.uris import Address

if TYPE_CHECKING:
    from footlight.browser.recording.artifact_store import Artifact

__all__ = ["link_to"]


def link_to(item: Artifact) -> AnswerLink:
    """Return a link to a screenshot, a long answer or a file."""
    if isinstance(item, StoredFile):
        uri = Address("file", (item.session_id, item.name)).uri
        return AnswerLink(uri, item.name, item.mime_type, len(item.data))
    if isinstance(item, LongAnswer):
        uri = Address("answer", (item.session_id, item.id)).uri
        return AnswerLink(uri, f"Answer of {item.tool}", item.mime_type, len(item.data))
    uri = Address("screenshot", (item.session_id, item.page_id, item.timestamp)).uri
    name = f"Screenshot of {item.page_id}, {item.timestamp}"
    return AnswerLink(uri, name, f"image/{item.type}", len(item.data))
