"""The elements with a `data-testid` that can be seen, and what an element is that takes text."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser._playwright import Error
from footlight.browser.diagnosis import explained
from footlight.browser.looking import FRAME_SECONDS, MOST_FRAMES, ask, ask_about

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["FieldKind", "SeenTestId", "describe_field", "seen_test_ids"]


class SeenTestId(NamedTuple):
    """`text` has 100 characters at the most, and is empty where the element holds what was typed."""

    test_id: str
    tag: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldKind:
    """What an element is, as far as it tells whether a text in it is a secret."""

    tag: str
    type: str
    autocomplete: str
    test_id: str
    role: str
    name: str
    hint: str
    """Its attributes `id` and `name`."""


async def seen_test_ids(
    page: Page, deadline: Deadline, *, limit: int, root: str | None = None
) -> list[SeenTestId]:
    """In document order, those of frames after those of the page; below `root`, a selector, where given.

    Raises:
        FootlightError: the page gives no answer, or is gone.
    """
    request = {"what": "testids", "limit": limit}
    if root is not None:
        found = await page.ask(
            root, deadline, lambda element, timeout: ask_about(element, request, timeout_ms=timeout)
        )
        return _items(found)
    try:
        async with page.within(deadline):
            return (await page.despite_navigation(lambda: _in_all_frames(page, request)))[:limit]
    except Error as error:
        raise await explained(page, error) from error


async def _in_all_frames(page: Page, request: dict[str, Any]) -> list[SeenTestId]:
    main = page.playwright.main_frame
    others = [frame for frame in page.playwright.frames if frame is not main][:MOST_FRAMES]
    own, *inside = await asyncio.gather(ask(main, request), *(_in_frame(frame, request) for frame in others))
    return [item for found in (own, *inside) for item in _items(found)]


async def _in_frame(frame: Frame, request: dict[str, Any]) -> Any:
    """A frame that gives no answer, or is gone, has none."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(FRAME_SECONDS):
            return await ask(frame, request)
    return None


def _items(found: Any) -> list[SeenTestId]:
    return [SeenTestId(*item) for item in found["items"]] if found else []


async def describe_field(page: Page, selector: str, deadline: Deadline) -> FieldKind:
    """Of the first match. Raises as acting on it would."""
    found = await page.ask(
        selector, deadline, lambda element, timeout: ask_about(element, {"what": "field"}, timeout_ms=timeout)
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
