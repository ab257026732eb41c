"""What `inspect.js` is asked of a page, and what it answers, in plain JSON.

Each question is one evaluation of `INSPECT`: on a locator with the request, or on a page with the request
alone. A reader turns the reply into its value and raises `ValueError`, with a message for people, where the
page could not answer. Strings come as the page has them, lone surrogates included.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

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
    "closest",
    "closest_request",
    "describe_all_request",
    "describe_kept_request",
    "describe_request",
    "description",
    "descriptions",
    "kept_description",
    "links",
    "links_request",
    "metadata_request",
    "obstacle",
    "obstacle_request",
    "page_metadata",
    "table_data",
    "table_request",
]

INSPECT = Path(__file__).with_name("inspect.js").read_text(encoding="utf-8")

Request = dict[str, Any]
"""The second argument of `INSPECT`."""


class BoundingBox(TypedDict):
    """CSS pixels from the corner of the outermost frame of the same origin."""

    x: float
    y: float
    width: float
    height: float


class Description(TypedDict):
    """An element. `selector` leads back to it, and to nothing else in its frame, while the page stays so."""

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
    """`key` leads back to the element for as long as its document lives; null where the page has none."""

    key: str | None


class Obstacle(TypedDict):
    """Why an element cannot be acted on; `by` is the selector of what stands in the way."""

    reason: Literal["hidden", "disabled", "readonly", "covered", "outside", "detached"]
    detail: str
    by: str | None


class TableMetadata(TypedDict):
    """`rowCount` counts the rows that are shown, also those past the limit, when `truncated` is set."""

    rowCount: int
    columnCount: int
    caption: NotRequired[str]
    hiddenRows: NotRequired[int]
    truncated: NotRequired[bool]


class TableData(TypedDict):
    """Rows are objects by header; lists where headers repeat, are empty or missing."""

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
    """`keep` makes it a `KeptDescription`."""
    return {"what": "describe", "keep": keep}


def describe_all_request(*, limit: int = 100, keep: bool = False) -> Request:
    """For `evaluate_all`. The document keeps the last thousand."""
    return {"what": "describe_all", "limit": limit, "keep": keep}


def describe_kept_request(key: str) -> Request:
    """For a page, or for any elements in the frame."""
    return {"what": "describe_kept", "key": key}


def obstacle_request(*, editing: bool = False) -> Request:
    """May scroll the element into view. `editing`: a read-only field is an obstacle too."""
    return {"what": "obstacle", "editing": editing}


def closest_request(selector: str, *, limit: int = 5) -> Request:
    return {"what": "closest", "selector": selector, "limit": limit}


def table_request(*, limit: int = 10_000) -> Request:
    """For the element of a table, one in it, or one around just one."""
    return {"what": "table", "limit": limit}


def links_request(*, limit: int = 5_000) -> Request:
    return {"what": "links", "limit": limit}


def metadata_request() -> Request:
    return {"what": "metadata"}


def description(reply: object) -> Description:
    return cast("Description", _answer(reply, dict))


def descriptions(reply: object) -> list[Description]:
    return cast("list[Description]", _answer(reply, list))


def kept_description(reply: object) -> Description | None:
    """None where the element is not in the document any more."""
    return None if reply in (None, "null") else cast("Description", _answer(reply, dict))


def obstacle(reply: object) -> Obstacle | None:
    return None if reply in (None, "null") else cast("Obstacle", _answer(reply, dict))


def closest(reply: object) -> list[str]:
    """Lines like `button "Submit order" (#submit)`, the closest first."""
    return cast("list[str]", _answer(reply, list))


def links(reply: object) -> list[Link]:
    return cast("list[Link]", _answer(reply, list))


def page_metadata(reply: object) -> PageMetadata:
    return cast("PageMetadata", _answer(reply, dict))


def table_data(reply: object) -> TableData:
    """A table as data.

    Raises:
        ValueError: no table, or several; the message names them.
    """
    found = _answer(reply, dict)
    headers = cast("list[str]", found["headers"])
    metadata = TableMetadata(rowCount=found["rowCount"], columnCount=found["columnCount"])
    if found["caption"]:
        metadata["caption"] = found["caption"]
    if found["hiddenRows"]:
        metadata["hiddenRows"] = found["hiddenRows"]
    if found["truncated"]:
        metadata["truncated"] = True
    return TableData(headers=headers, rows=_by_header(headers, found["rows"]), metadata=metadata)


def _by_header(headers: list[str], rows: list[list[str]]) -> list[dict[str, str]] | list[list[str]]:
    if headers and all(headers) and len(set(headers)) == len(headers):
        return [dict(zip(headers, row, strict=True)) for row in rows]
    return rows


def _answer(reply: object, shape: type) -> Any:
    """The value in a reply, which a page that meddles may have bent.

    Raises:
        ValueError: the page could not answer, or did not answer in this shape.
    """
    value: object = json.loads(reply) if isinstance(reply, str) else reply
    error = cast("dict[str, object]", value).get("error") if isinstance(value, dict) else None
    if isinstance(error, str):
        raise ValueError(error)
    if not isinstance(value, shape):
        raise ValueError("The page could not be read: it has replaced what reading it needs.")
    return cast("Any", value)
