"""Finding elements and asking about them."""

from __future__ import annotations

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


async def test_whether_an_element_exists_is_answered_at_once(browser: SessionBrowser) -> None:
    """R003-45"""
    await browser.show("<h1>Here</h1>")

    assert await browser.call("element_exists", selector="h1") == {"exists": True}
    assert await browser.call("element_exists", selector="h2") == {"exists": False}


async def test_a_selector_reaches_into_shadow_roots_and_frames(browser: SessionBrowser) -> None:
    """R003-50"""
    inner = browser.site.page("<button>Pay</button>")
    await browser.show(
        f"""<div id=host></div><iframe id=frame src="{inner}"></iframe>
        <script>host.attachShadow({{mode: 'open'}}).innerHTML = '<b class=deep>shadow</b>'</script>"""
    )

    assert await browser.call("get_text", selector=".deep") == {"text": "shadow"}
    assert await browser.call("get_text", selector="#frame >> button") == {"text": "Pay"}
