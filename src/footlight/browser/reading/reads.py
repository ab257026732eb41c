"""Read texts, values and states of elements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error, is_wrong_kind
from footlight.browser.driver.scripts import GETTER, TYPED_TEXT, run_about
from footlight.browser.page.element_diagnosis import explain_element_failure
from footlight.browser.page.element_operations import read_all_elements, read_element
from footlight.browser.page.inspection import INSPECT
from footlight.browser.page.page_operations import evaluate
from footlight.browser.page.refs import leading_ref
from footlight.browser.page.selectors import evaluate_all
from footlight.browser.page.selectors import frame_path as path_of_frames
from footlight.errors import ElementNotInteractiveError, StaleRefError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = [
    "FieldValue",
    "attribute",
    "count",
    "frame_path",
    "inspect",
    "inspect_all",
    "inspect_page",
    "is_checked",
    "is_enabled",
    "is_first_visible",
    "is_visible",
    "read_all_texts",
    "text",
    "value",
    "values",
]


async def text(page: Page, selector: str, deadline: Deadline) -> str:
    """Return the visible text, with the line breaks of the layout."""

    async def read(element: Locator, timeout: float) -> str:
        try:
            return await element.inner_text(timeout=timeout)
        except Error as error:
            if not is_wrong_kind(error):
                raise
            return await run_about(element, _TEXT_OF, timeout_ms=timeout)  # SVG and MathML

    return await read_element(page, selector, deadline, read)


async def is_first_visible(page: Page, selector: str, deadline: Deadline) -> bool:
    """Return whether the first match is visible. A ref whose element is gone is an error."""
    return await read_all_elements(page, selector, deadline, lambda found: found.first.is_visible())


async def is_visible(page: Page, selector: str, deadline: Deadline) -> bool:
    """Return whether the first match is visible, also for a ref. False if there is no match."""
    try:
        return await is_first_visible(page, selector, deadline)
    except StaleRefError as error:
        if not error.is_gone:
            raise
        return False


async def read_all_texts(page: Page, selector: str, deadline: Deadline) -> list[str]:
    return await read_all_elements(
        page, selector, deadline, lambda found: evaluate_all(found, selector, _TEXTS_OF)
    )


async def attribute(page: Page, selector: str, name: str, deadline: Deadline) -> str | None:
    return await read_element(
        page, selector, deadline, lambda element, timeout: element.get_attribute(name, timeout=timeout)
    )


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field. For a list that takes several options, `values` has all that are selected."""

    value: str
    values: list[str] | None
    labels: list[str]
    """The labels of the selected options."""


async def value(page: Page, selector: str, deadline: Deadline) -> FieldValue:
    """Return the value of a form field, of editable text, or of an element with an ARIA value."""
    found = await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout: run_about(element, _VALUE_OF, timeout_ms=timeout),
    )
    if found["value"] is None:
        raise ElementNotInteractiveError(
            f'"{selector}" is not a field, and holds no value',
            suggestion="Read its words with get_text, or give the selector of the field itself.",
            selector=selector,
            page=page.url,
        )
    return FieldValue(**found)


async def values(page: Page, selector: str, deadline: Deadline) -> list[str]:
    """Return the values that a field has: all selected options together, and each value and label."""
    found = await value(page, selector, deadline)
    if found.values is None:
        return [found.value, *found.labels]
    together = [", ".join(found.labels), ", ".join(found.values)]
    return [*together, *found.values, *found.labels]


async def is_checked(page: Page, selector: str, deadline: Deadline) -> bool:
    return await read_element(
        page, selector, deadline, lambda element, timeout: element.is_checked(timeout=timeout)
    )


async def inspect(page: Page, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
    """Send a request about the first match to the inspection script."""
    return await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout: run_about(element, INSPECT, request, timeout_ms=timeout),
    )


async def frame_path(page: Page, selector: str) -> str:
    """Return the part of a selector that leads to its innermost frame, such as `#frame >> `, or ""."""
    leading = leading_ref(selector)
    if leading is None and ">>" not in selector:
        return ""
    ref = leading[0] if leading else None
    seen = page.view.find_seen(ref) if ref else None
    within = seen[1] if seen else page.playwright
    outer = page.view.find_frame_ref(seen[1]) if seen else None
    try:
        return (f"{outer} >> " if outer else "") + await path_of_frames(within, selector)
    except Error as error:
        raise await explain_element_failure(page, error, selector) from error


async def inspect_all(page: Page, selector: str, request: dict[str, Any], deadline: Deadline) -> Any:
    return await read_all_elements(
        page, selector, deadline, lambda found: evaluate_all(found, selector, INSPECT, request)
    )


async def inspect_page(page: Page, request: dict[str, Any], deadline: Deadline) -> Any:
    return await evaluate(page, INSPECT, request, deadline)


async def count(page: Page, selector: str, deadline: Deadline) -> int:
    try:
        return await read_all_elements(page, selector, deadline, lambda found: found.count())
    except StaleRefError as error:
        if not error.is_gone:
            raise
        return 0


async def is_enabled(page: Page, selector: str, deadline: Deadline) -> bool:
    return await read_element(
        page, selector, deadline, lambda element, timeout: element.is_enabled(timeout=timeout)
    )


# SVG has no innerText.
_TEXT_OF = "element => element.innerText ?? element.textContent ?? ''"
_TEXTS_OF = f"elements => Array.from(elements, {_TEXT_OF})"

_VALUE_OF = page_function(Path(__file__).parent / "scripts", [GETTER, TYPED_TEXT, "value"], "readField")
