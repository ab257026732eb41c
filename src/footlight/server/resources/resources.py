"""List, read and complete MCP resources: sessions, pages, elements, and the artifacts of calls.

A caller can access only resources of its sessions. This module never starts a browser.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.browser.recording.artifact_store import LongAnswer, ScreenshotArtifact, StoredFile
from footlight.caller import DEFAULT_SESSION, Caller
from footlight.errors import FootlightError
from footlight.server.answers.masking import Mask, keep_unmasked, mask_document
from footlight.server.resources.contents import ContentNotFoundError, ResourceContent, check, read
from footlight.server.resources.listing import JSON, ListedResource, resources_of
from footlight.server.resources.uris import PATTERNS, Address, Kind, template

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.session_table import SessionTable

__all__ = [
    "ListedResource",
    "ResourceContent",
    "ResourceNotFoundError",
    "ResourceReader",
    "Resources",
    "UriTemplate",
]


class ResourceNotFoundError(LookupError):
    """There is no resource at `uri`. `why` is the reason."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(uri, why)
        self.uri = uri
        self.why = why

    def __str__(self) -> str:
        return f"Resource not found: {self.why}"


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A template of resource URIs. `mime_type` is None if it differs between resources."""

    uri_template: str
    name: str
    description: str
    mime_type: str | None = JSON


TEMPLATES = (
    UriTemplate(template("session"), "session", "A session: browser, pages, blocked and mocked requests"),
    UriTemplate(
        template("page"),
        "page",
        "A page: its URL, title and viewport. Subscribe to be notified when it navigates or has loaded",
    ),
    UriTemplate(
        template("element"),
        "element",
        "The current state of an element, by the elementId of find_element and find_elements",
    ),
    UriTemplate(
        template("screenshot"),
        "screenshot",
        "An image that screenshot or screenshot_element took",
        mime_type=None,
    ),
    UriTemplate(template("network-log"), "network-log", "The requests of a page, with counts"),
    UriTemplate(template("answer"), "answer", "The whole of an answer that was too long to be sent"),
    UriTemplate(template("file"), "file", "A file that a tool wrote, if it is not large", mime_type=None),
)


class ResourceReader(Protocol):
    """Lists, reads and completes resources, of this process or of a cluster."""

    def templates(self) -> tuple[UriTemplate, ...]: ...

    async def list(self, caller: Caller) -> tuple[ListedResource, ...]: ...

    async def read(self, uri: str, caller: Caller) -> ResourceContent: ...

    async def canonical(self, uri: str, caller: Caller) -> str: ...

    async def complete(
        self, template_uri: str, argument_name: str, prefix: str, known: Mapping[str, str], caller: Caller
    ) -> tuple[str, ...]: ...

    async def open_urls(self, caller: Caller) -> tuple[str, ...]: ...


TEXTS_A_RESOURCE = 4


class Resources:
    """The resources of the sessions of this process.

    `find_sessions` returns the table of sessions, or None before a browser has been started.
    """

    def __init__(
        self, find_sessions: Callable[[], SessionTable | None], *, mask: Mask = keep_unmasked
    ) -> None:
        """Create the resources. `mask` is applied to listed resources, contents and URLs."""
        self._find_sessions = find_sessions
        self._mask = mask

    def templates(self) -> tuple[UriTemplate, ...]:
        return TEMPLATES

    async def list(self, caller: Caller) -> tuple[ListedResource, ...]:
        """Return the resources, sorted by URI."""
        listed = (each for session in self._sessions(caller) for each in resources_of(session))
        found = tuple(sorted(listed, key=lambda resource: resource.uri))
        return await offload(len(found) * TEXTS_A_RESOURCE, lambda: self._mask(found))

    async def read(self, uri: str, caller: Caller) -> ResourceContent:
        """Read a resource, within a time limit if its page does not answer.

        Raises:
            ResourceNotFoundError: there is no resource with this URI.
        """
        address, session = self._find(uri, caller)
        try:
            content = await read(address, session)
        except ContentNotFoundError as missing:
            self._find(uri, caller)  # Raises a better error if the session has ended.
            raise ResourceNotFoundError(uri, str(missing)) from None
        if self._find(uri, caller)[1] is not session:
            raise ResourceNotFoundError(uri, "its session was closed")
        data = await offload(
            len(content.data) // CHARACTERS_A_NODE,
            lambda: mask_document(content.data, content.mime_type, self._mask),
        )
        return replace(content, data=data)

    async def canonical(self, uri: str, caller: Caller) -> str:
        """Return the URI in the form that lists and notifications use.

        Raises:
            ResourceNotFoundError: there is no resource with this URI.
        """
        address, session = self._find(uri, caller)
        try:
            check(address, session)
        except ContentNotFoundError as missing:
            raise ResourceNotFoundError(uri, str(missing)) from None
        return address.uri

    async def complete(
        self,
        template_uri: str,
        argument_name: str,
        prefix: str,
        known: Mapping[str, str],
        caller: Caller,
    ) -> tuple[str, ...]:
        """Return all values for an argument of a template, sorted.

        `known` has the values of other arguments.
        """
        values = {
            value
            for kind, names in PATTERNS.items()
            if template(kind) == template_uri and argument_name in names
            for value in self._values(kind, argument_name, known, caller)
        }
        return tuple(sorted((each for each in values if each.startswith(prefix)), key=_natural_sort_key))

    async def open_urls(self, caller: Caller) -> tuple[str, ...]:
        """Return the URLs of the caller's pages without duplicates, oldest first."""
        urls = (page.url for session in self._sessions(caller) for page in session.pages)
        return self._mask(tuple(dict.fromkeys(url for url in urls if url != "about:blank")))

    def _values(self, kind: Kind, name: str, known: Mapping[str, str], caller: Caller) -> Iterator[str]:
        session_id = known.get("sessionId")
        for session in self._sessions(caller):
            ids = {session.id, DEFAULT_SESSION} if session.id == caller.default_session else {session.id}
            if name == "sessionId":
                yield from ids
            elif session_id is None or session_id in ids:
                yield from _values_in(session, kind, name, known.get("pageId"))

    def _sessions(self, caller: Caller) -> builtins.list[Session]:
        sessions = self._find_sessions()
        return sessions.list(caller=caller) if sessions else []

    def _find(self, uri: str, caller: Caller) -> tuple[Address, Session]:
        """Return the session, and the address with its real id, because `default` depends on the caller."""
        try:
            address = Address.parse(uri)
        except ValueError as error:
            raise ResourceNotFoundError(uri, str(error)) from None
        sessions = self._find_sessions()
        if sessions is None:
            raise ResourceNotFoundError(uri, "there is no session yet")
        try:
            session = sessions.find(address.session_id, caller=caller)
        except FootlightError as error:
            raise ResourceNotFoundError(uri, error.message) from None
        return Address(address.kind, (session.id, *address.segments[1:])), session


def _values_in(session: Session, kind: Kind, name: str, page_id: str | None) -> Iterator[str]:
    shots = session.artifacts.items(session.id, ScreenshotArtifact)
    match name:
        case "pageId" if kind == "screenshot":
            yield from (shot.page_id for shot in shots)
        case "pageId":
            yield from (page.id for page in session.pages)
        case "elementId":
            for page in session.pages:
                if page_id in (None, page.id):
                    yield from page.element_ids.ids
        case "timestamp":
            yield from (shot.timestamp for shot in shots if page_id in (None, shot.page_id))
        case "answerId":
            yield from (answer.id for answer in session.artifacts.items(session.id, LongAnswer))
        case "fileName":
            yield from (file.name for file in session.artifacts.items(session.id, StoredFile))
        case _:
            return


def _natural_sort_key(text: str) -> builtins.list[tuple[str, int]]:
    """Return a sort key that sorts `page-2` before `page-10`."""
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D*)(\d*)", text)]
