"""A picture goes into an answer: fitted for a model, not too large, and kept to be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from footlight.errors import PermissionDenied
from footlight.server.keeping import attach_screenshot

if TYPE_CHECKING:
    from footlight.browser.picture import Picture
    from footlight.server.tool import ToolCall

__all__ = ["MODEL_SIDE", "attach"]

MODEL_SIDE = 1568
"""Models scale larger images down, so the pixels beyond are only cost."""


def attach(
    call: ToolCall,
    data: bytes,
    *,
    type: Literal["png", "jpeg"] = "png",
    quality: int | None = None,
    max_side: int,
    full_page: bool,
) -> tuple[Picture, str | None]:
    """The picture as it is sent, no side longer than `max_side` (0: as it is), and its URI if it is kept.

    Raises:
        PermissionDenied: it is larger than this server allows.
    """
    from footlight.browser.picture import fit

    picture = fit(data, type=type, quality=quality, max_side=max_side)
    _check_size(call, picture.data)
    return picture, attach_screenshot(call, picture.data, type=type, size=picture.size, full_page=full_page)


def _check_size(call: ToolCall, data: bytes) -> None:
    limit = call.settings.security.max_screenshot_size
    if len(data) > limit:
        raise PermissionDenied(
            f"The screenshot has {len(data)} bytes, more than the {limit} that this server allows",
            suggestion="Take it as jpeg, smaller (maxSide), without fullPage, or of one element.",
            bytes=len(data),
            maxScreenshotSize=limit,
        )
