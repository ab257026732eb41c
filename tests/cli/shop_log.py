"""Record a visit to the demo's shop: look at it, fill the form by refs, and order."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from footlight.client.handles import create_logger
from footlight.client.handles.dynamic import DynamicHandle, connect_dynamic
from footlight.demo.shop.records import PASSWORD, USER
from footlight.demo.shop.site import ShopSite

SERVER = (sys.executable, "-m", "footlight", "serve", "--log-level", "error")

FILLED = {
    'spinbutton "Quantity"': "3",
    'textbox "Production"': "Macbeth",
    'textbox "Delivery date"': "2031-05-09",
    'textbox "Delivery time"': "08:30",
    'textbox "Contact"': "Props",
    'textbox "Email"': "props@example.org",
    'textbox "Collection password"': "out-damned-spot",
}


async def record_order(site: ShopSite, file: Path, *, sidecar: bool = True) -> None:
    """Record an order. Each element is named by its ref in the last snapshot."""
    log = create_logger(console=False, file=file, sidecar=sidecar, directory=file.parent / ".mcp-log")
    async with connect_dynamic("shop", server=list(SERVER), log=log) as mcp:
        await _sign_in(mcp, site)
        await _put_into_the_basket(mcp, site)
        await _order(mcp)


async def _sign_in(mcp: DynamicHandle, site: ShopSite) -> None:
    await mcp.root.navigate(url=f"{site.url}/login")
    refs = await _look(mcp)
    await mcp.root.fill(selector=refs['textbox "User name"'], value=USER)
    await mcp.root.fill(selector=refs['textbox "Password"'], value=PASSWORD)
    await mcp.root.click(selector=refs['button "Sign in"'])


async def _put_into_the_basket(mcp: DynamicHandle, site: ShopSite) -> None:
    await mcp.root.navigate(url=f"{site.url}/products/LX-101")
    refs = await _look(mcp)
    await mcp.root.click(selector=refs['link "Order this"'])


async def _order(mcp: DynamicHandle) -> None:
    refs = await _look(mcp)
    for element, value in FILLED.items():
        await mcp.root.fill(selector=refs[element], value=value)
    await mcp.root.check(selector=refs['radio "Courier"'])
    await mcp.root.select(selector=refs['combobox "Country"'], value="Austria")
    await mcp.root.check(selector=refs['checkbox "I accept the terms of hire"'])
    await mcp.root.click(selector=refs['button "Send the order"'])
    await mcp.root.get_text(selector="#number")


async def _look(mcp: DynamicHandle) -> dict[str, str]:
    """Take a snapshot and return its refs by role and name."""
    seen = (await mcp.root.snapshot())["data"]["snapshot"]
    return {found[2]: found[1] for found in re.finditer(r'^ *(e\d+) (\w+ "[^"]*")', seen, re.MULTILINE)}
