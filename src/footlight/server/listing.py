"""What a session has that can be read, each with its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.shelf import KeptFile, LongAnswer, Screenshot
from footlight.server.keeping import link_to
from footlight.server.uris import Address

if TYPE_CHECKING:
    from footlight.browser.page import Page
    from footlight.browser.session import Session

__all__ = ["JSON", "Resource", "network_log_resource", "page_resource", "resources_of", "session_resource"]

JSON = "application/json"
LONGEST_URL = 200
"""Of what is told of a page in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """`size` is bytes, where it is known before it is read."""

    uri: str
    name: str
    mime_type: str = JSON
    description: str | None = None
    size: int | None = None


def resources_of(session: Session) -> Iterator[Resource]:
    """All but elements: those are listed by find_elements, for a selector."""
    yield session_resource(session)
    for page in session.pages:
        yield page_resource(page)
        yield network_log_resource(session, page.id)
    shelf, id = session.shelf, session.id
    for item in (*shelf.of(id, Screenshot), *shelf.of(id, LongAnswer), *shelf.of(id, KeptFile)):
        link = link_to(item)
        yield Resource(uri=link.uri, name=link.name, mime_type=link.mime_type, size=link.bytes)


def session_resource(session: Session) -> Resource:
    return Resource(
        uri=Address("session", (session.id,)).uri,
        name=f"Session {session.id}",
        description=f"A session in {session.engine}",
    )


def page_resource(page: Page) -> Resource:
    url = page.url if len(page.url) <= LONGEST_URL else f"{page.url[:LONGEST_URL]}…"
    return Resource(
        uri=Address("page", (page.session.id, page.id)).uri, name=f"Page {page.id}", description=url
    )


def network_log_resource(session: Session, page_id: str) -> Resource:
    return Resource(uri=Address("network-log", (session.id, page_id)).uri, name=f"Network log of {page_id}")
