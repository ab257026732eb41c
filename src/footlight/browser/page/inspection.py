"""Requests to the script in `scripts/inspect/` about elements and pages, and parsers for its replies.

A request is one evaluation of `INSPECT`: on a locator with the request, or on a page with the request alone.
A `read_…` function converts the reply, and raises `ValueError` with a readable message if the page could not
reply. Strings are unchanged, including lone surrogates.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from footlight.javascript import page_function

__all__ = [
    "INSPECT",
    "BoundingBox",
    "Description",
    "KeptDescription",
    "Link",
    "Obstacle",
    "PageMetadata",
    "Request",
    "TableData",
    "TableMetadata",
    "closest_request",
    "describe_all_request",
    "describe_kept_request",
    "describe_request",
    "fields_request",
    "links_request",
    "metadata_request",
    "obstacle_request",
    "read_closest",
    "read_description",
    "read_descriptions",
    "read_kept_description",
    "read_links",
    "read_obstacle",
    "read_page_metadata",
    "read_table_data",
    "table_request",
]

_MODULES = (
    "platform",
    "text",
    "visibility",
    "roles",
    "names",
    "selectors",
    "description",
    "obstacle",
    "likeness",
    "closest",
    "table_search",
    "table_layout",
    "table",
    "links",
    "answer",
)

INSPECT = page_function(Path(__file__).parent / "scripts" / "inspect", _MODULES, "inspect")
"""The function that answers requests about elements or a page."""

Request = dict[str, Any]
"""The second argument of `INSPECT` on a locator, or the first one on a page."""


class BoundingBox(TypedDict):
    """A box in CSS pixels from the corner of the outermost frame of the same origin."""

    x: float
    y: float
    width: float
    height: float


class Description(TypedDict):
    """An element. `selector` matches only this element in its frame, as long as the page does not change."""

    tagName: str
    selector: str
    text: str
    attributes: dict[str, str]
    boundingBox: BoundingBox | None
    visible: bool
    enabled: bool
    role: str | None
    name: str


class KeptDescription(Description):
    """A description whose `key` finds the element as long as its document exists. None if it has no key."""

    key: str | None


class Obstacle(TypedDict):
    """The reason why an element cannot be used. `by` is the selector of the obstructing element."""

    waits: NotRequired[bool]
    """Whether the obstacle must be closed, because it does not disappear by itself."""
    reason: Literal["hidden", "disabled", "readonly", "covered", "outside", "detached"]
    detail: str
    by: str | None


class TableMetadata(TypedDict):
    """`rowCount` counts all visible rows. `truncated` is set if fewer rows are returned."""

    rowCount: int
    columnCount: int
    caption: NotRequired[str]
    hiddenRows: NotRequired[int]
    truncated: NotRequired[bool]


class TableData(TypedDict):
    """Rows are objects by header, or lists where headers are missing, empty or not unique."""

    headers: list[str]
    rows: list[dict[str, str]] | list[list[str]]
    metadata: TableMetadata


class Link(TypedDict):
    text: str
    href: str
    title: NotRequired[str]


class PageMetadata(TypedDict):
    title: str | None
    description: str | None
    keywords: str | None
    ogImage: str | None
    canonicalUrl: str | None
    language: str | None
    url: str


def describe_request(*, keep: bool = False) -> Request:
    """Return a request for a `Description`, or with `keep` for a `KeptDescription`."""
    return {"what": "describe", "keep": keep}


def describe_all_request(*, limit: int = 100, keep: bool = False) -> Request:
    """Return a request for the descriptions of all matches. With `keep`, the last 1,000 elements get keys."""
    return {"what": "describe_all", "limit": limit, "keep": keep}


def describe_kept_request(key: str) -> Request:
    """Return a request for the description of a kept element, on the page or any element of the frame."""
    return {"what": "describe_kept", "key": key}


def obstacle_request(*, editing: bool = False) -> Request:
    """Return a request for an `Obstacle`. It may scroll the element into view.

    With `editing`, a read-only field is an obstacle too.
    """
    return {"what": "obstacle", "editing": editing}


def closest_request(selector: str, *, limit: int = 5) -> Request:
    """Return a request for the elements of a page that come closest to a selector."""
    return {"what": "closest", "selector": selector, "limit": limit}


def fields_request(*, limit: int = 5) -> Request:
    """Return a request for the fields inside an element. The reply is parsed by `read_closest`."""
    return {"what": "fields", "limit": limit}


def table_request(*, limit: int = 10_000) -> Request:
    """Return a request for a table: the element, a table around it, or the only table inside it."""
    return {"what": "table", "limit": limit}


def links_request(*, limit: int = 5_000) -> Request:
    return {"what": "links", "limit": limit}


def metadata_request() -> Request:
    return {"what": "metadata"}


def read_description(reply: object) -> Description:
    return cast("Description", _read_value(reply, dict))


def read_descriptions(reply: object) -> list[Description]:
    return cast("list[Description]", _read_value(reply, list))


def read_kept_description(reply: object) -> Description | None:
    """Return the description, or None if the element is no longer in the document."""
    return None if reply in (None, "null") else cast("Description", _read_value(reply, dict))


def read_obstacle(reply: object) -> Obstacle | None:
    return None if reply in (None, "null") else cast("Obstacle", _read_value(reply, dict))


def read_closest(reply: object) -> list[str]:
    """Return lines like `button "Submit order" (#submit)`, the closest first."""
    return cast("list[str]", _read_value(reply, list))


def read_links(reply: object) -> list[Link]:
    return cast("list[Link]", _read_value(reply, list))


def read_page_metadata(reply: object) -> PageMetadata:
    return cast("PageMetadata", _read_value(reply, dict))


def read_table_data(reply: object) -> TableData:
    """Return a table as data.

    Raises:
        ValueError: the element has no table or more than one, which the message then names.
    """
    table = _read_value(reply, dict)
    headers = cast("list[str]", table["headers"])
    metadata = TableMetadata(rowCount=table["rowCount"], columnCount=table["columnCount"])
    if table["caption"]:
        metadata["caption"] = table["caption"]
    if table["hiddenRows"]:
        metadata["hiddenRows"] = table["hiddenRows"]
    if table["truncated"]:
        metadata["truncated"] = True
    return TableData(headers=headers, rows=_rows_by_header(headers, table["rows"]), metadata=metadata)


def _rows_by_header(headers: list[str], rows: list[list[str]]) -> list[dict[str, str]] | list[list[str]]:
    if headers and all(headers) and len(set(headers)) == len(headers):
        return [dict(zip(headers, row, strict=True)) for row in rows]
    return rows


def _read_value(reply: object, shape: type) -> Any:
    """Return the value in a reply. Pages that replace built-in functions may have changed it.

    Raises:
        ValueError: the page could not reply, or the reply does not have this shape.
    """
    value: object = json.loads(reply) if isinstance(reply, str) else reply
    error = cast("dict[str, object]", value).get("error") if isinstance(value, dict) else None
    if isinstance(error, str):
        raise ValueError(error)
    if not isinstance(value, shape):
        raise ValueError(
            "The page could not be read: it has replaced built-in functions that reading it needs."
        )
    return cast("Any", value)
