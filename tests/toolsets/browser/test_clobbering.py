"""A page whose forms shadow members of the DOM breaks no tool."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clobbering import CLOBBERING
from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_page", {}),
    ("get_text", {"selector": "form"}),
    ("find_elements", {"selector": "form, input"}),
    ("click", {"selector": "form"}),
    ("click", {"selector": "text=Order"}),
    ("fill", {"selector": "[aria-label='The matches']", "value": "x"}),
    ("type", {"selector": "[aria-label='The value']", "text": "x"}),
    ("screenshot_element", {"selector": "form"}),
    ("wait_for", {"text": "Teas"}),
)


async def test_clobbered_dom_members_cause_no_internal_error(browser: SessionBrowser) -> None:
    await browser.show(CLOBBERING)
    codes: set[str] = set()
    for tool, arguments in CALLS:
        content = (await browser.answer(tool, **arguments)).structured_content or {}
        codes.add(content.get("error", {}).get("code", ""))

    assert codes <= {"", "ELEMENT_NOT_INTERACTIVE"}
    snapshot = (await browser.call("snapshot", budget=10_000))["snapshot"]
    assert 'textbox "The parentNode"' in snapshot


async def test_clobbered_dom_members_cause_no_endless_traversal(browser: SessionBrowser) -> None:
    """A field that is called parentNode or assignedSlot is not around the form that it is in."""
    await browser.show(CLOBBERING)

    await browser.call("press", key="Tab")
    await browser.call("press", key="Tab")
    await browser.call("mouse_click", x=200, y=200)
    await browser.call("click", selector="[aria-label='The value']")
    await browser.call("press", key="q")
    assert (await browser.call("get_value", selector="[aria-label='The value']"))["value"] == "q"
    scrolled = await browser.answer("scroll", y=100, observe="full")

    assert not scrolled.is_error
    assert 'textbox \\"The host\\"' in scrolled.model_dump_json()
