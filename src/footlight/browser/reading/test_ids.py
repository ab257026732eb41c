"""List the visible elements with a `data-testid`, and describe fields that accept text."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.capture import FRAME_SECONDS, MAX_FRAMES, ask, ask_about
from footlight.browser.page.diagnosis import explain_page_failure
from footlight.browser.page.element_operations import read_element
from footlight.browser.page.page_operations import limit_reading, retry_after_navigation

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["FieldKind", "VisibleTestId", "describe_field", "list_test_ids"]


class VisibleTestId(NamedTuple):
    """An element.

    `text` has at most 100 characters, and is "" if the element contains text typed by a user.
    """

    test_id: str
    tag: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldKind:
    """The properties of a field that indicate whether a text in it is a secret."""

    tag: str
    type: str
    autocomplete: str
    test_id: str
    role: str
    name: str
    hint: str
    """The values of the attributes `id` and `name`."""


async def list_test_ids(page: Page, deadline: Deadline, *, limit: int) -> list[VisibleTestId]:
    """Return the elements in document order, those of frames last.

    Raises:
        FootlightError: the page does not respond, or is gone.
    """
    request = {"what": "testids", "limit": limit}
    try:
        async with limit_reading(page, deadline):
            return (await retry_after_navigation(lambda: _find_in_all_frames(page, request)))[:limit]
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def _find_in_all_frames(page: Page, request: dict[str, Any]) -> list[VisibleTestId]:
    main = page.playwright.main_frame
    others = [frame for frame in page.playwright.frames if frame is not main][:MAX_FRAMES]
    own, *inside = await asyncio.gather(
        ask(main, request), *(_find_in_frame(frame, request) for frame in others)
    )
    return [item for found in (own, *inside) for item in _items(found)]


async def _find_in_frame(frame: Frame, request: dict[str, Any]) -> Any:
    """Return the elements of a frame, or None if the frame does not respond or is gone."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(FRAME_SECONDS):
            return await ask(frame, request)
    return None


def _items(found: Any) -> list[VisibleTestId]:
    return [VisibleTestId(*item) for item in found["items"]] if found else []


async def describe_field(page: Page, selector: str, deadline: Deadline) -> FieldKind:
    """Describe the first match. Raises the same errors as actions on the element."""
    found = await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout: ask_about(element, {"what": "field"}, timeout_ms=timeout),
    )
    return FieldKind(
        tag=found["tag"],
        type=found["type"],
        autocomplete=found["autocomplete"],
        test_id=found["testId"],
        role=found["role"],
        name=found["name"],
        hint=found["hint"],
    )
