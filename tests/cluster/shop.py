"""A page whose state tells whether a session has moved to another worker as it was."""

from __future__ import annotations

import re

from tests.conftest import Browser

__all__ = ["open_shop", "read_saved_cart"]

PAGE = "<title>Shop</title><script>localStorage.cart ??= 'tea'</script><button>Buy</button>"


async def open_shop(browser: Browser) -> tuple[str, str]:
    """Return the id of a session with a device, and the ref of the button on its page."""
    id = (await browser.call("create_session", locale="de-DE"))["sessionId"]
    await browser.call("navigate", url=browser.site.page(PAGE), sessionId=id)
    snapshot = await browser.call("snapshot", sessionId=id)
    found = re.search(r'(e\d+) button "Buy"', str(snapshot))
    assert found
    return id, found[1]


async def read_saved_cart(browser: Browser, id: str) -> str:
    state = (await browser.call("save_state", sessionId=id))["state"]
    (items,) = state["localStorage"].values()
    return str(items["cart"])
