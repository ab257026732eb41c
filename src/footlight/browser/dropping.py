"""Dropping what comes from outside the page: files, text, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["drop"]

MOST_BYTES = 50_000_000
"""Of all files together: they reach the page through memory."""


async def drop(
    page: Page, selector: str, files: Sequence[Path], data: Mapping[str, str], deadline: Deadline
) -> None:
    """Drop files and `data` (texts by MIME type) onto the middle of an element.

    Raises:
        InvalidParameter: the files are too large for that.
        ElementNotInteractive: the page does not take them there.
    """
    size = sum(file.stat().st_size for file in files)
    if size > MOST_BYTES:
        raise InvalidParameter(
            f"files: {size} bytes are more than the {MOST_BYTES} that can be dropped",
            parameter="files",
            suggestion="Use upload_file, which has no such limit, on the file input beside it.",
        )
    await page.act(
        selector,
        deadline,
        lambda element, timeout: element.drop(
            {"files": list(files) or None, "data": dict(data) or None}, timeout=timeout
        ),
    )
