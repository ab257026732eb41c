"""What a call gives back: plain values, fit to be written as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, cast

from footlight.browser.events import Events
from footlight.errors import FootlightError

__all__ = [
    "Answer",
    "Image",
    "Link",
    "PageText",
    "clean",
    "failure",
    "linked",
    "success",
    "without_page_texts",
]

LONGEST_PREVIEW = 2_000
"""Characters, of an answer that is only linked."""
LARGEST_ERROR = 50_000
"""Bytes. An error with more than that has a page's text or address in it, which is cut."""
LONGEST_TEXT = 1_000
MOST_PARTS = 50


@dataclass(frozen=True, slots=True)
class Image:
    """`mime_type` is image/png or image/jpeg."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Link:
    """To what the answer tells of, kept to be read as a resource. `bytes` is its size."""

    uri: str
    name: str
    mime_type: str
    bytes: int


class PageText(str):
    """A page's text in an answer, which stands beside the JSON: quoted in it, it would be much longer."""

    __slots__ = ()


@dataclass(frozen=True)
class Answer:
    """`content` is `{success: true, data}` or `{success: false, error}`.

    An acting call's has an `observation` too: what is different on the page.

    Of an answer that is too large for one it is `{success: true, resource, preview}` beside the `events`,
    which are in `data` otherwise.
    """

    content: Mapping[str, Any]
    images: tuple[Image, ...] = ()
    links: tuple[Link, ...] = ()
    events: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""
    """The address of the page that it is about."""
    session_id: str | None = None
    """Of the session that it is about, where there is one."""
    duration_ms: int = 0
    """From the call to the answer."""
    locator: Any = None
    """What leads in another run to the element that a ref named; by selector where there are several, and a
    list where the call had steps."""

    @property
    def success(self) -> bool:
        return bool(self.content["success"])

    @cached_property
    def text(self) -> str:
        """The content as JSON without `page_texts`, for those who do not read structured content."""
        return json.dumps(without_page_texts(self.content), ensure_ascii=False)

    @cached_property
    def page_texts(self) -> tuple[PageText, ...]:
        return tuple(_page_texts(self.content))


def success(
    data: Mapping[str, Any],
    *,
    observation: Mapping[str, Any] | None = None,
    events: Events | None = None,
    images: Sequence[Image] = (),
    links: Sequence[Link] = (),
) -> Answer:
    told: Mapping[str, Any] = clean(_told(events)) if events else {}
    observed = {"observation": clean(observation)} if observation is not None else {}
    content = {"success": True, "data": {**clean(data), **told}, **observed}
    return Answer(content, tuple(images), tuple(links), told)


def linked(answer: Answer, link: Link) -> Answer:
    """The beginning of an answer, with a link to the whole."""
    return Answer(
        {
            "success": True,
            "resource": {"uri": link.uri, "mimeType": link.mime_type, "bytes": link.bytes},
            "preview": json.dumps(answer.content["data"], ensure_ascii=False)[:LONGEST_PREVIEW],
            **_shortened(answer.events),
            **{key: value for key, value in answer.content.items() if key == "observation"},
        },
        answer.images,
        (*answer.links, link),
        answer.events,
        answer.source,
    )


def failure(
    error: FootlightError,
    *,
    observation: Mapping[str, Any] | None = None,
    events: Events | None = None,
    images: Sequence[Image] = (),
    links: Sequence[Link] = (),
) -> Answer:
    details = {**error.details, **(_told(events) if events else {})}
    observed = {"observation": clean(observation)} if observation is not None else {}
    answer = Answer(
        {
            "success": False,
            "error": {
                "code": error.code,
                "message": clean(error.message),
                "details": clean(details),
                "retryable": error.retryable,
                "suggestion": clean(error.suggestion),
            },
            **observed,
        },
        tuple(images),
        tuple(links),
    )
    too_large = len(answer.text.encode()) > LARGEST_ERROR
    if not too_large:
        return answer
    shortened: Any = {**_shortened({**answer.content, "observation": None}), **observed}
    return Answer(
        {key: value for key, value in shortened.items() if value is not None}, answer.images, answer.links
    )


def without_page_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: without_page_texts(item) for key, item in items if not isinstance(item, PageText)}
    return value


def _page_texts(value: Any) -> Iterator[PageText]:
    for item in cast("Mapping[str, Any]", value).values():
        if isinstance(item, PageText):
            yield item
        elif isinstance(item, Mapping):
            yield from _page_texts(item)


def _told(events: Events) -> dict[str, Any]:
    """What happened beside the answer, newest page last; nothing where nothing did."""
    told: dict[str, Any] = {
        "newPages": [{"pageId": page.page_id, "url": page.url} for page in events.pages],
        "closedPages": events.closed,
        "dialogs": [
            {
                **({"pageId": dialog.page_id} if dialog.page_id else {}),
                "type": dialog.type,
                "message": dialog.message,
                **({"defaultValue": dialog.default_value} if dialog.type == "prompt" else {}),
                "handled": dialog.handled,
            }
            for dialog in events.dialogs
        ],
        "downloads": [
            {
                "suggestedFilename": download.suggested_filename,
                "url": download.url,
                **({"failure": download.failure} if download.failure else {"path": download.path}),
            }
            for download in events.downloads
        ],
    }
    return {key: value for key, value in told.items() if value}


def clean(value: Any) -> Any:
    """A copy that JSON can hold: half surrogate pairs, infinities and dates do not survive as they are.

    What contains itself is cut, and so is what comes after a million values: objects that share their
    parts can be small in a page and without end when they are written out.
    """
    return _Copy().of(value)


def _shortened(value: Any) -> Any:
    """A copy of what is clean, its texts and lists cut with a mark."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}… [cut, {len(value)} characters]"
    if isinstance(value, Mapping):
        return {key: _shortened(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        cut = [f"[cut, {len(items)} items]"] if len(items) > MOST_PARTS else []
        return [*map(_shortened, items[:MOST_PARTS]), *cut]
    return value


CIRCULAR = "[circular]"
CUT = "[cut]"
MOST_VALUES = 1_000_000


class _Copy:
    """One walk through a value."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._left = MOST_VALUES

    def of(self, value: Any) -> Any:
        if isinstance(value, PageText):
            return PageText(_well_formed(value))
        if isinstance(value, str):
            return value if value.isascii() else _well_formed(value)
        if isinstance(value, (Mapping, list, tuple, set)):
            return self._of_container(cast("Mapping[Any, Any] | Sequence[Any]", value))
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, (datetime, date)):
            return value.isoformat()
        return _well_formed(str(value))

    def _of_container(self, value: Mapping[Any, Any] | Sequence[Any]) -> Any:
        if id(value) in self._inside:
            return CIRCULAR
        self._left -= 1 + len(value)
        if self._left < 0:
            return CUT
        self._inside.add(id(value))
        try:
            if isinstance(value, Mapping):
                return {self.of(str(key)): self.of(item) for key, item in value.items()}
            return [self.of(item) for item in value]
        finally:
            self._inside.remove(id(value))


def _well_formed(text: str) -> str:
    """Pairs of surrogates become their character, halves the replacement character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
