"""What a call gives back: plain values, fit to be written as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

from footlight.browser.events import Events
from footlight.errors import FootlightError

__all__ = ["Answer", "Image", "clean", "failure", "success"]


@dataclass(frozen=True, slots=True)
class Image:
    """`mime_type` is image/png or image/jpeg."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`content` is `{success: true, data}` or `{success: false, error}`."""

    content: Mapping[str, Any]
    images: tuple[Image, ...] = ()

    @property
    def success(self) -> bool:
        return bool(self.content["success"])

    @property
    def text(self) -> str:
        """The content as JSON, for clients that do not read structured content."""
        return json.dumps(self.content, ensure_ascii=False)


def success(data: Mapping[str, Any], *, events: Events | None = None, images: Sequence[Image] = ()) -> Answer:
    told = {**data, **(_told(events) if events else {})}
    return Answer({"success": True, "data": clean(told)}, tuple(images))


def failure(error: FootlightError, *, events: Events | None = None) -> Answer:
    details = {**error.details, **(_told(events) if events else {})}
    return Answer(
        {
            "success": False,
            "error": {
                "code": error.code,
                "message": clean(error.message),
                "details": clean(details),
                "retryable": error.retryable,
                "suggestion": clean(error.suggestion),
            },
        }
    )


def _told(events: Events) -> dict[str, Any]:
    """What happened beside the answer, newest page last; nothing where nothing did."""
    told: dict[str, Any] = {
        "newPages": [{"pageId": page.page_id, "url": page.url} for page in events.pages],
        "dialogs": [
            {
                "pageId": dialog.page_id,
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


CIRCULAR = "[circular]"
CUT = "[cut]"
MOST_VALUES = 1_000_000


class _Copy:
    """One walk through a value."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._left = MOST_VALUES

    def of(self, value: Any) -> Any:
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
