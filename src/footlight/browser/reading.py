"""Asking a page: texts, values, pictures, elements, scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from footlight.browser._playwright import (
    CONTEXT_LOST,
    Error,
    PlaywrightTimeout,
    cause,
    is_closed,
    is_syntax_error,
    is_wrong_kind,
)
from footlight.browser.diagnosis import explained, gone, overdue
from footlight.browser.inspection import INSPECT
from footlight.browser.refs import leading_ref
from footlight.browser.scripts import run_about
from footlight.browser.secrets import COVER, holding
from footlight.browser.targets import evaluate_all
from footlight.browser.targets import frame_path as path_of_frames
from footlight.errors import FootlightError, InvalidParameter, StaleRef

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = [
    "ScreenshotOptions",
    "all_text",
    "attribute",
    "count",
    "frame_path",
    "inspect",
    "inspect_all",
    "inspect_page",
    "is_enabled",
    "is_seen",
    "is_visible",
    "run_script",
    "screenshot",
    "screenshot_element",
    "text",
    "value",
    "wait_for",
]

ElementState = Literal["attached", "detached", "visible", "hidden"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenshotOptions:
    full_page: bool = False
    type: Literal["png", "jpeg"] = "png"
    quality: int | None = None
    still: bool = False
    """With animations at their end, so that two pictures of the same page are the same."""

    @property
    def animations(self) -> Literal["allow", "disabled"]:
        return "disabled" if self.still else "allow"


async def text(page: Page, selector: str, deadline: Deadline) -> str:
    """As it is seen: without what is hidden, with the line breaks of the layout."""

    async def read(element: Locator, timeout: float) -> str:
        try:
            return await element.inner_text(timeout=timeout)
        except Error as error:
            if not is_wrong_kind(error):
                raise
            return await run_about(element, _TEXT, timeout_ms=timeout)  # SVG and MathML

    return await page.ask(selector, deadline, read)


async def is_seen(page: Page, selector: str, deadline: Deadline) -> bool:
    """Whether the first match can be seen now; not where there is none."""
    return await page.ask_all(selector, deadline, lambda found: found.first.is_visible())


async def all_text(page: Page, selector: str, deadline: Deadline) -> list[str]:
    return await page.ask_all(selector, deadline, lambda found: evaluate_all(found, selector, _TEXTS))


async def attribute(page: Page, selector: str, name: str, deadline: Deadline) -> str | None:
    return await page.ask(
        selector, deadline, lambda element, timeout: element.get_attribute(name, timeout=timeout)
    )


async def value(page: Page, selector: str, deadline: Deadline) -> str:
    return await page.ask(selector, deadline, lambda element, timeout: element.input_value(timeout=timeout))


async def screenshot(page: Page, options: ScreenshotOptions, deadline: Deadline) -> bytes:
    try:
        return await page.playwright.screenshot(
            full_page=options.full_page,
            type=options.type,
            timeout=deadline.remaining_ms,
            quality=options.quality,
            animations=options.animations,
            mask=holding(page.playwright, page.session.secrets),
            mask_color=COVER,
        )
    except PlaywrightTimeout as error:
        raise await overdue(
            page, f"The screenshot was not ready after {deadline.timeout_ms:.0f}ms", deadline, url=page.url
        ) from error
    except Error as error:
        raise await explained(page, error) from error


async def screenshot_element(
    page: Page, selector: str, options: ScreenshotOptions, deadline: Deadline
) -> bytes:
    return await page.ask(
        selector,
        deadline,
        lambda element, timeout: element.screenshot(
            type=options.type,
            timeout=timeout,
            quality=options.quality,
            animations=options.animations,
            mask=holding(page.playwright, page.session.secrets),
            mask_color=COVER,
        ),
    )


async def inspect(page: Page, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
    """Ask `inspect.js` about the first match."""
    return await page.ask(
        selector, deadline, lambda element, timeout: run_about(element, INSPECT, request, timeout_ms=timeout)
    )


async def frame_path(page: Page, selector: str) -> str:
    """What in a selector leads into its innermost frame, such as `#frame >> `; mostly nothing."""
    leading = leading_ref(selector)
    if leading is None and ">>" not in selector:
        return ""
    ref = leading[0] if leading else None
    seen = page.view.seen(ref) if ref else None
    within = seen[1] if seen else page.playwright
    outer = page.view.element_of(seen[1]) if seen else None
    try:
        return (f"{outer} >> " if outer else "") + await path_of_frames(within, selector)
    except Error as error:
        raise await explained(page, error, selector) from error


async def inspect_all(page: Page, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
    return await page.ask_all(
        selector, deadline, lambda found: evaluate_all(found, selector, INSPECT, request)
    )


async def inspect_page(page: Page, request: dict[str, Any], deadline: Deadline) -> Any:
    return await page.evaluate(INSPECT, request, deadline)


async def count(page: Page, selector: str, deadline: Deadline) -> int:
    try:
        return await page.ask_all(selector, deadline, lambda found: found.count())
    except StaleRef as error:
        if not error.is_gone:
            raise
        return 0


async def is_visible(page: Page, selector: str, deadline: Deadline) -> bool:
    """False also where there is no such element."""
    try:
        return await page.ask_all(selector, deadline, lambda found: found.first.is_visible())
    except StaleRef as error:
        if not error.is_gone:
            raise
        return False


async def is_enabled(page: Page, selector: str, deadline: Deadline) -> bool:
    return await page.ask(selector, deadline, lambda element, timeout: element.is_enabled(timeout=timeout))


async def wait_for(page: Page, selector: str, state: ElementState, deadline: Deadline) -> None:
    gone = state in ("hidden", "detached")
    try:
        found = await (page.locate_now(selector, deadline) if gone else page.locate(selector, deadline))
        await found.first.wait_for(state=state, timeout=deadline.remaining_ms)
    except StaleRef as error:
        if not (gone and error.is_gone):
            raise
    except PlaywrightTimeout as error:
        raise await overdue(
            page,
            f'"{selector}" was not {state} after {deadline.timeout_ms:.0f}ms',
            deadline,
            selector=selector,
            state=state,
            page=page.url,
        ) from error
    except Error as error:
        raise await explained(page, error, selector) from error


async def run_script(page: Page, script: str, args: Sequence[Any], deadline: Deadline) -> Any:
    """The value of an expression, of a function called with `args`, or of a body with `return`."""
    expression = _AS_EXPRESSION.replace("SCRIPT", script.strip().rstrip(";"))
    async with page.within(deadline):
        try:
            return _as_data(await page.playwright.evaluate(expression, list(args)))
        except Error as error:
            if not is_syntax_error(error):
                raise await _script_error(page, error) from error
        try:
            return _as_data(await page.playwright.evaluate(_AS_BODY.replace("SCRIPT", script), list(args)))
        except Error as error:
            raise await _script_error(page, error) from error


async def _script_error(page: Page, error: Error) -> FootlightError:
    if is_closed(error):
        return await gone(page)
    if CONTEXT_LOST.search(error.message):
        return InvalidParameter(
            "script: the page navigated before the script ended", parameter="script", page=page.url
        )
    return InvalidParameter(f"script: {cause(error)}", parameter="script", page=page.url)


def _as_data(value: Any, above: tuple[int, ...] = ()) -> Any:
    """What a script gave back, as a tree: an object inside itself is told, not followed."""
    if isinstance(value, re.Pattern):
        return f"/{cast('re.Pattern[str]', value).pattern}/"
    if not isinstance(value, (dict, list)):
        return value
    if id(cast("object", value)) in above:
        return "[circular]"
    inside = (*above, id(cast("object", value)))
    if isinstance(value, list):
        return [_as_data(item, inside) for item in cast("list[Any]", value)]
    return {key: _as_data(item, inside) for key, item in cast("dict[str, Any]", value).items()}


_AS_EXPRESSION = (
    "async args => { const it = (SCRIPT\n); return typeof it === 'function' ? it(...args) : it; }"
)
_AS_BODY = "async args => { SCRIPT\n }"

# SVG has no innerText.
_TEXT = "element => element.innerText ?? element.textContent ?? ''"
_TEXTS = f"elements => Array.from(elements, {_TEXT})"
