"""The results of the typed Playwright client.

A result that breaks one of its rules raises `InvalidResultError`: there are no partial results.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from footlight.browser_client import accessibility_tree
from footlight.browser_client.accessibility_tree import AccessibilityNode
from footlight.browser_client.validation import is_url

__all__ = [
    "MAX_SCREENSHOT_LENGTH",
    "MAX_SNAPSHOT_BYTES",
    "ImageFormat",
    "ImageHeader",
    "InvalidResultError",
    "NavigateResult",
    "ScreenshotResult",
    "SnapshotResult",
    "read_header",
]

MAX_SCREENSHOT_LENGTH = 10 * 1024 * 1024
"""Characters of base64. A screenshot must have fewer."""
MAX_SNAPSHOT_BYTES = 5 * 1024 * 1024
"""The maximum size of a snapshot, in bytes of JSON."""


class InvalidResultError(ValueError):
    """A result breaks one of its rules, or cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigateResult:
    """The result of a navigation.

    `url` is the URL after redirects. `status` is None if it is not reported.
    """

    success: bool
    url: str
    title: str | None = None
    status: int | None = None

    def __post_init__(self) -> None:
        _must(_is(self.success, bool), "success must be true or false")
        _must(_is(self.url, str) and is_url(self.url), f"url is not a URL: {str(self.url)[:200]}")
        _must(self.title is None or _is(self.title, str), "title must be a string")
        _must(
            self.status is None or (_is_count(self.status) and 100 <= self.status <= 599),
            f"status is not an HTTP status: {self.status}",
        )

    def to_dict(self) -> dict[str, Any]:
        return _without_none(success=self.success, url=self.url, title=self.title, status=self.status)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotResult:
    """A screenshot in base64. `width` and `height` are those of the image, in pixels."""

    screenshot: str = field(repr=False)
    width: int
    height: int
    format: ImageFormat = "png"

    def __post_init__(self) -> None:
        _decode_screenshot(self.screenshot)
        _must(_is_count(self.width), f"width must be a positive number of pixels: {self.width}")
        _must(_is_count(self.height), f"height must be a positive number of pixels: {self.height}")
        _must(self.format in ("png", "jpeg"), f"format must be png or jpeg: {self.format}")

    @classmethod
    def of(cls, screenshot: str) -> ScreenshotResult:
        """Return the result with the size and format that the image itself has.

        Raises:
            InvalidResultError: it is not an image, or too large.
        """
        try:
            header = read_header(_decode_screenshot(screenshot))
        except InvalidResultError:
            raise
        except ValueError as error:
            raise InvalidResultError(f"screenshot is not an image: {error}") from error
        return cls(screenshot=screenshot, width=header.width, height=header.height, format=header.format)

    @property
    def image(self) -> bytes:
        """Return the bytes of the image file."""
        return base64.b64decode(self.screenshot)

    def to_dict(self) -> dict[str, Any]:
        return _without_none(
            screenshot=self.screenshot, width=self.width, height=self.height, format=self.format
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotResult:
    """`snapshot` is JSON of the page's accessibility tree, in the form of `accessibility_tree`.

    `timestamp` is when it was received, in milliseconds since 1970.
    """

    snapshot: str = field(repr=False)
    timestamp: int | None = None

    def __post_init__(self) -> None:
        size = len(self.snapshot.encode("utf-8", "surrogatepass"))
        _must(size <= MAX_SNAPSHOT_BYTES, f"snapshot has {size} bytes; the limit is {MAX_SNAPSHOT_BYTES}")
        try:
            tree: object = json.loads(self.snapshot)
        except (ValueError, RecursionError):
            raise InvalidResultError("snapshot is not valid JSON") from None
        problem = accessibility_tree.problem_of(tree)
        _must(problem is None, f"snapshot is not an accessibility tree: {problem}")
        _must(
            self.timestamp is None or _is_count(self.timestamp),
            f"timestamp must be a positive number of milliseconds: {self.timestamp}",
        )

    @classmethod
    def of(cls, nodes: Sequence[AccessibilityNode], *, url: str, title: str | None) -> SnapshotResult:
        """Return the result of a page whose nodes were just read.

        Raises:
            InvalidResultError: they are not a tree, or the tree is too large.
        """
        try:
            snapshot = _json(accessibility_tree.wrap_in_document(nodes, url=url, title=title))
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidResultError(f"snapshot cannot be written as JSON: {error}") from None
        return cls(snapshot=snapshot, timestamp=time.time_ns() // 1_000_000)

    @property
    def tree(self) -> AccessibilityNode:
        """Return the snapshot as a tree of nodes."""
        return cast("AccessibilityNode", json.loads(self.snapshot))

    def to_dict(self) -> dict[str, Any]:
        return _without_none(snapshot=self.snapshot, timestamp=self.timestamp)


def _json(tree: AccessibilityNode) -> str:
    """Return JSON text, with escapes if it contains half a surrogate pair, which UTF-8 cannot encode."""
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(tree, separators=(",", ":"), allow_nan=False)
    return text


def _decode_screenshot(screenshot: str) -> bytes:
    _must(screenshot != "", "screenshot must not be empty")
    _must(
        len(screenshot) < MAX_SCREENSHOT_LENGTH,
        f"screenshot has {len(screenshot)} characters; there must be fewer than {MAX_SCREENSHOT_LENGTH}",
    )
    try:
        return base64.b64decode(screenshot, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidResultError("screenshot is not valid base64") from None


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _without_none(**fields: Any) -> dict[str, Any]:
    """Return the fields without those that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidResultError(otherwise)


ImageFormat = Literal["png", "jpeg"]

_PNG = b"\x89PNG\r\n\x1a\n"

_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class ImageHeader:
    format: ImageFormat
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader:
    """Read the format and the size of an image from its header.

    Raises:
        ValueError: these bytes are neither a PNG nor a JPEG.
    """
    # `Image.open` would load every format that it knows, and warn about large images although no pixel
    # is read.
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile

    if data.startswith(_PNG):
        kind, read = "png", PngImageFile
    elif data.startswith(_JPEG):
        kind, read = "jpeg", JpegImageFile
    else:
        raise ValueError("it is neither a PNG nor a JPEG")
    try:
        with read(io.BytesIO(data)) as image:
            return ImageHeader(kind, *image.size)
    except (OSError, SyntaxError, ValueError, IndexError) as error:
        raise ValueError(f"its {kind.upper()} header is invalid") from error
