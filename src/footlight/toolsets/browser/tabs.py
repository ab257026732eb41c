"""The pages of a session: which there are, and which one calls work in."""

import asyncio
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import navigation
from footlight.browser.page import Page
from footlight.browser.tabs import bring_to_front, close, title
from footlight.errors import FootlightError, InvalidParameter, MissingParameter
from footlight.server.tool import ToolCall, tool

__all__ = ["TOOLS"]


class Tab(TypedDict):
    """`title` is null where the page does not answer; `opener` opened it, and is open itself."""

    pageId: str
    url: str
    title: str | None
    active: bool
    opener: NotRequired[str]


class Open(TypedDict):
    """`active` is the page that calls without pageId work in; null: the next one opens a page.

    `tabs` comes with list, `closed` with close: false where the page asked to stay, and was let.
    """

    active: str | None
    url: NotRequired[str]
    closed: NotRequired[bool]
    tabs: NotRequired[list[Tab]]


@tool(scope="session", effect="act", destructive=True, open_world=True, untrusted=True, observed=True)
async def tabs(
    call: ToolCall,
    action: Literal["list", "new", "select", "close"],
    page_id: Annotated[str | None, Field(description="For select and close")] = None,
    url: Annotated[str | None, Field(min_length=1, description="For new")] = None,
    before_unload: Annotated[bool, Field(description="Closing may ask")] = False,
) -> Open:
    """List, open, select or close tabs. Calls without pageId use the selected one."""
    _check_unused(action, page_id, url, before_unload)
    match action:
        case "list":
            return {**_active(call), "tabs": await _listed(call)}
        case "new":
            await _open(call, url)
            return _active(call)
        case "select":
            if page_id is None:
                raise MissingParameter("tabs: select needs pageId", parameter="pageId", pages=_ids(call))
            call.maybe_page = page = await call.session.page(page_id)
            call.session.tabs.select(page)
            await bring_to_front(page)
            return _active(call)
        case "close":
            if page_id is None and not call.session.pages:
                raise InvalidParameter("action: no tab is open to be closed", parameter="action")
            closed = await close(await call.session.page(page_id), call.deadline, ask=before_unload)
            call.maybe_page = call.session.tabs.current(call.session.pages)
            return {**_active(call), "closed": closed}


def _check_unused(action: str, page_id: str | None, url: str | None, before_unload: bool) -> None:
    unused = {
        "pageId": page_id is not None and action in ("list", "new"),
        "url": url is not None and action != "new",
        "beforeUnload": before_unload and action != "close",
    }
    for name, given in unused.items():
        if given:
            raise InvalidParameter(f"{name}: {action} does not take it; leave it out", parameter=name)


async def _open(call: ToolCall, url: str | None) -> None:
    """A page that cannot be opened leaves no tab behind."""
    if url is not None:
        call.session.policy.check_url(url)
    call.maybe_page = page = await call.session.open_page()
    call.undo.append(page.close)
    if url is not None:
        try:
            await navigation.navigate(page, url, "load", call.deadline)
        except FootlightError:
            await page.close()
            raise


async def _listed(call: ToolCall) -> list[Tab]:
    pages = call.session.pages
    titles = await asyncio.gather(*map(title, pages))
    current = call.session.tabs.current(pages)
    return [_tab(call, page, title, current) for page, title in zip(pages, titles, strict=True)]


def _tab(call: ToolCall, page: Page, title: str | None, current: Page | None) -> Tab:
    tab: Tab = {"pageId": page.id, "url": page.url, "title": title, "active": page is current}
    if opener := call.session.tabs.opener(page):
        tab["opener"] = opener.id
    return tab


def _active(call: ToolCall) -> Open:
    page = call.session.tabs.current(call.session.pages)
    return {"active": page.id, "url": page.url} if page else {"active": None}


def _ids(call: ToolCall) -> list[str]:
    return [page.id for page in call.session.pages]


TOOLS = (tabs,)
