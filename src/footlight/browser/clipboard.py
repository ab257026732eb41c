"""The clipboard, as a page sees it. Chromium only.

A browser has one clipboard, which all sessions in it share, and so does whoever presses Control+V in one of
their pages; without a window it is not that of the machine. Nothing in Chromium tells who copied, and a
paste cannot be stopped, so it cannot be divided: what is secret does not belong there.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error, cause, is_closed
from footlight.browser.diagnosis import gone
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Clipping", "read_clipboard", "write_clipboard"]


@dataclass(frozen=True, slots=True)
class Clipping:
    """`text` is "" where there is none; `types` are the media types of all that is there."""

    text: str
    html: str | None
    types: tuple[str, ...]


async def read_clipboard(page: Page, deadline: Deadline) -> Clipping:
    """Raises InvalidParameter where the page has no clipboard."""
    async with _permitted(page, "clipboard-read", deadline):
        read = await _run(page, _READ, None, deadline)
    return Clipping(read["text"], read["html"], tuple(read["types"]))


async def write_clipboard(page: Page, text: str, deadline: Deadline, *, html: str | None = None) -> None:
    """Raises InvalidParameter where the page has no clipboard."""
    async with _permitted(page, "clipboard-write", deadline):
        await _run(page, _WRITE, {"text": text, "html": html}, deadline)


@contextlib.asynccontextmanager
async def _permitted(page: Page, permission: str, deadline: Deadline) -> AsyncGenerator[None]:
    """Give the page's origin a permission, and take it back. Others, and one that it had, stay."""
    if page.session.engine != "chromium":
        raise InvalidParameter(
            f"clipboard needs Chromium; this session runs {page.session.engine}", engine=page.session.engine
        )
    state = await page.evaluate(_STATE, permission, deadline)
    if not state["secure"]:
        raise InvalidParameter(
            f"pageId: {page.url[:200]} has no clipboard: only https pages have one, and http on loopback",
            parameter="pageId",
            suggestion="Navigate to such a page first.",
            page=page.url,
        )
    if state["permission"] == "granted":
        yield
        return
    cdp = await page.playwright.context.new_cdp_session(page.playwright)
    target = cast("dict[str, Any]", await cdp.send("Target.getTargetInfo"))["targetInfo"]

    async def allow(setting: str) -> None:
        await cdp.send(
            "Browser.setPermission",
            {
                "permission": {"name": permission},
                "setting": setting,
                "origin": state["origin"],
                "browserContextId": target.get("browserContextId"),
            },
        )

    try:
        await allow("granted")
        yield
    finally:
        await page.undo(lambda: allow(state["permission"]))
        await page.undo(cdp.detach)


async def _run(page: Page, script: str, argument: Any, deadline: Deadline) -> Any:
    """The page's scripts are not asked twice: a write that a navigation cut off may have been done."""
    async with page.within(deadline):
        try:
            return await page.playwright.evaluate(script, argument)
        except Error as error:
            if is_closed(error):
                raise await gone(page) from error
            raise InvalidParameter(
                f"pageId: the page could not use its clipboard: {cause(error)}",
                parameter="pageId",
                page=page.url,
            ) from error


_STATE = """async name => {
  const secure = isSecureContext && 'clipboard' in navigator;
  const permission = secure && (await navigator.permissions.query({name})).state;
  return {secure, origin, permission};
}"""
_READ = """async () => {
  const items = await navigator.clipboard.read();
  const types = items.flatMap(item => item.types);
  const read = async type => {
    const item = items.find(item => item.types.includes(type));
    return item ? (await item.getType(type)).text() : null;
  };
  return {types, text: await read('text/plain') ?? '', html: await read('text/html')};
}"""
_WRITE = """async ({text, html}) => {
  if (html === null) return navigator.clipboard.writeText(text);
  const blobs = {'text/plain': new Blob([text], {type: 'text/plain'})};
  blobs['text/html'] = new Blob([html], {type: 'text/html'});
  await navigator.clipboard.write([new ClipboardItem(blobs)]);
}"""
