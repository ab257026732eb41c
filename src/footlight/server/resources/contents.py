"""Read the contents of resources.

Reading acquires no lock and is not treated as use of the session, so it does not affect calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.network.request_log import LogFilter
from footlight.browser.reading import elements
from footlight.browser.recording.artifact_store import LongAnswer, ScreenshotArtifact, StoredFile
from footlight.server.answers.json_values import clean
from footlight.server.answers.overview import entry_info, log_counts, page_details, session_info
from footlight.server.answers.untrusted import WHOLE
from footlight.server.resources.links import link_to
from footlight.server.resources.listing import (
    JSON,
    ListedResource,
    network_log_resource,
    page_resource,
    session_resource,
)

if TYPE_CHECKING:
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session
    from footlight.browser.snapshot.element_ids import KeptElement
    from footlight.server.resources.uris import Address

__all__ = ["ContentNotFoundError", "ResourceContent", "check", "read"]

READ_MS = 2_000
"""The time limit for a page to answer, in milliseconds."""


class ContentNotFoundError(LookupError):
    """There is no such content. The message has the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContent:
    """The content of a resource. `uri` has the form of `resources/list`, which may differ from the request's.

    `data` is a string or bytes. For an image, `metadata` describes it. `from_page` are JSON pointers to the
    parts that come from a page.
    """

    uri: str
    mime_type: str
    data: str | bytes
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    from_page: Sequence[str]


async def read(address: Address, session: Session) -> ResourceContent:
    """Read the content of a resource.

    Raises:
        ContentNotFoundError: there is no such content.
    """
    match address.kind:
        case "session":
            return _json(session_resource(session), session_info(session), from_page=["/metadata/pages"])
        case "page":
            return await _page(_open_page(address, session))
        case "element":
            return await _element(address, session)
        case "network-log":
            return _network_log(address, session)
        case "screenshot":
            return _image(_screenshot(address, session))
        case "answer":
            return _answer(_long_answer(address, session))
        case "file":
            return _file(_find_file(address, session))


def check(address: Address, session: Session) -> None:
    """Check without reading that a resource has content.

    Raises:
        ContentNotFoundError: there is no such content.
    """
    match address.kind:
        case "session":
            pass
        case "page":
            _open_page(address, session)
        case "element":
            _find_element(address, session)
        case "network-log":
            _check_log(address, session)
        case "screenshot":
            _screenshot(address, session)
        case "answer":
            _long_answer(address, session)
        case "file":
            _find_file(address, session)


async def _page(page: Page) -> ResourceContent:
    details = await page_details(page, timeout_ms=READ_MS)
    if page.closed:
        raise ContentNotFoundError(f"{page.id} was closed")
    return _json(page_resource(page), details, from_page=["/description", "/metadata"])


def _open_page(address: Address, session: Session) -> Page:
    page_id = address.segments[1]
    for page in session.pages:
        if page.id == page_id:
            return page
    known = ", ".join(page.id for page in session.pages) or "none"
    raise ContentNotFoundError(f"no page {page_id} is open; open pages: {known}")


async def _element(address: Address, session: Session) -> ResourceContent:
    page, id = _open_page(address, session), address.segments[2]
    element = _find_element(address, session)
    try:
        found = await elements.describe(page, element, timeout_ms=READ_MS)
    except TimeoutError:
        raise ContentNotFoundError(f"its page did not respond within {READ_MS}ms") from None
    if found is None:
        raise ContentNotFoundError(f"{id} is not in the page any more")
    called = f'{found["role"] or found["tagName"]} "{found["name"]}"'
    box = found["boundingBox"]
    return _json(
        ListedResource(uri=address.uri, name=f"Element {id}", description=called),
        {
            "selector": found["selector"],
            "tagName": found["tagName"],
            "attributes": found["attributes"],
            **({"boundingBox": box} if box else {}),
        },
        from_page=["/description", "/metadata"],
    )


def _find_element(address: Address, session: Session) -> KeptElement:
    element = _open_page(address, session).element_ids.find(address.segments[2])
    if element is None:
        raise ContentNotFoundError(
            f"no {address.segments[2]} was found in the current document; find it again"
        )
    return element


def _network_log(address: Address, session: Session) -> ResourceContent:
    entries = _entries(address, session)
    listed = [entry_info(entry) for entry in entries]
    content = [
        {key: entry[key] for key in ("url", "method", "status", "resourceType", "timing")} for entry in listed
    ]
    return _json(
        network_log_resource(session, address.segments[1]),
        {**log_counts(entries)},
        from_page=["/content"],
        content=content,
    )


def _check_log(address: Address, session: Session) -> None:
    if not session.log.has_page(address.segments[1]):
        _open_page(address, session)


def _entries(address: Address, session: Session) -> list[LogEntry]:
    """Return the entries of the log, which can also be read after the page was closed."""
    entries = session.log.select(LogFilter(page=address.segments[1]))
    if not entries:
        _open_page(address, session)
    return entries


def _screenshot(address: Address, session: Session) -> ScreenshotArtifact:
    for shot in session.artifacts.items(session.id, ScreenshotArtifact):
        if (shot.page_id, shot.timestamp) == address.segments[1:]:
            return shot
    raise ContentNotFoundError("there is no such screenshot, or it was removed to make room for later ones")


def _image(shot: ScreenshotArtifact) -> ResourceContent:
    link = link_to(shot)
    return ResourceContent(
        uri=link.uri,
        mime_type=link.mime_type,
        data=shot.data,
        metadata={
            "width": shot.width,
            "height": shot.height,
            "fullPage": shot.full_page,
            "capturedAt": shot.captured_at,
        },
        from_page=WHOLE,
    )


def _long_answer(address: Address, session: Session) -> LongAnswer:
    for answer in session.artifacts.items(session.id, LongAnswer):
        if answer.id == address.segments[1]:
            return answer
    raise ContentNotFoundError("there is no such answer, or it was removed to make room for later ones")


def _answer(answer: LongAnswer) -> ResourceContent:
    link = link_to(answer)
    return ResourceContent(uri=link.uri, mime_type=link.mime_type, data=answer.data.decode(), from_page=WHOLE)


def _find_file(address: Address, session: Session) -> StoredFile:
    for file in reversed(session.artifacts.items(session.id, StoredFile)):
        if file.name == address.segments[1]:
            return file
    raise ContentNotFoundError("there is no such file, or it was removed to make room for later ones")


def _file(file: StoredFile) -> ResourceContent:
    link = link_to(file)
    text = link.mime_type == "application/json"
    data = file.data.decode() if text else file.data
    return ResourceContent(uri=link.uri, mime_type=link.mime_type, data=data, from_page=WHOLE)


def _json(
    resource: ListedResource, metadata: Mapping[str, Any], *, from_page: Sequence[str], **more: Any
) -> ResourceContent:
    contents = {
        "uri": resource.uri,
        "name": resource.name,
        **({"description": resource.description} if resource.description else {}),
        "mimeType": resource.mime_type,
        "metadata": metadata,
        **more,
    }
    text = json.dumps(clean(contents), ensure_ascii=False)
    return ResourceContent(uri=resource.uri, mime_type=JSON, data=text, from_page=from_page)
