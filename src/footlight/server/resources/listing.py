"""List the resources of a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.recording.artifact_store import LongAnswer, ScreenshotArtifact, StoredFile
from footlight.server.resources.links import link_to
from footlight.server.resources.uris import Address

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session

__all__ = [
    "JSON",
    "ListedResource",
    "network_log_resource",
    "page_resource",
    "resources_of",
    "session_resource",
]

JSON = "application/json"
MAX_URL_LENGTH = 200
"""The maximum length of a page's URL in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """A resource in a list. `size` is in bytes, or None if it is unknown without reading the resource.

    With `description_from_page`, the description comes from a page.
    """

    uri: str
    name: str
    mime_type: str = JSON
    description: str | None = None
    description_from_page: bool = False
    size: int | None = None


def resources_of(session: Session) -> Iterator[ListedResource]:
    """Yield all resources except elements, which the tool `find_elements` returns."""
    yield session_resource(session)
    for page in session.pages:
        yield page_resource(page)
        yield network_log_resource(session, page.id)
    artifacts, id = session.artifacts, session.id
    for item in (
        *artifacts.items(id, ScreenshotArtifact),
        *artifacts.items(id, LongAnswer),
        *artifacts.items(id, StoredFile),
    ):
        link = link_to(item)
        yield ListedResource(uri=link.uri, name=link.name, mime_type=link.mime_type, size=link.bytes)


def session_resource(session: Session) -> ListedResource:
    return ListedResource(
        uri=Address("session", (session.id,)).uri,
        name=f"Session {session.id}",
        description=f"A session in {session.engine}",
    )


def page_resource(page: Page) -> ListedResource:
    url = page.url if len(page.url) <= MAX_URL_LENGTH else f"{page.url[:MAX_URL_LENGTH]}…"
    return ListedResource(
        uri=Address("page", (page.session.id, page.id)).uri,
        name=f"Page {page.id}",
        description=url,
        description_from_page=True,
    )


def network_log_resource(session: Session, page_id: str) -> ListedResource:
    return ListedResource(
        uri=Address("network-log", (session.id, page_id)).uri, name=f"Network log of {page_id}"
    )
