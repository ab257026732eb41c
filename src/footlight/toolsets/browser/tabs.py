"""Open, select and close tabs, and answer the dialogs that pages open."""

import asyncio
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions import navigation
from footlight.browser.actions.dialogs import answer_dialog
from footlight.browser.page.page import Page
from footlight.browser.page.page_operations import bring_to_front, close_page, find_title
from footlight.errors import FootlightError, InvalidParameterError, MissingParameterError
from footlight.server.answers.secrets import SecretText
from footlight.server.tools import ToolCall, tool

__all__ = []


class TabInfo(TypedDict):
    """`title` is null if the page does not answer; `opener` is the open page that opened this one."""

    pageId: str
    url: str
    title: str | None
    active: bool
    opener: NotRequired[str]


class TabsResult(TypedDict):
    """`active` is the page that calls without pageId use; null: the next call opens a page.

    `tabs` is set by list, `closed` by close: false if the page asked to stay and was allowed to.
    """

    active: str | None
    url: NotRequired[str]
    closed: NotRequired[bool]
    tabs: NotRequired[list[TabInfo]]


@tool(scope="session", effect="act", destructive=True, open_world=True, untrusted=True, observed=True)
async def tabs(
    call: ToolCall,
    action: Literal["list", "new", "select", "close"],
    page_id: Annotated[str | None, Field(description="For select and close")] = None,
    url: Annotated[str | None, Field(min_length=1, description="For new")] = None,
    before_unload: Annotated[bool, Field(description="On close, let the page ask to stay")] = False,
) -> TabsResult:
    """List, open, select or close tabs. Calls work in the selected one."""
    _check_unused(action, page_id, url, before_unload)
    match action:
        case "list":
            return {**_describe_active(call), "tabs": await _list_tabs(call)}
        case "new":
            await _open_tab(call, url)
            return _describe_active(call)
        case "select":
            if page_id is None:
                raise MissingParameterError(
                    "tabs: select needs pageId", parameter="pageId", pages=_page_ids(call)
                )
            page = await call.session.page_table.get(page_id)
            call.use_page(page)
            if page is not call.session.page_table.current:
                call.note_effect()
            call.session.page_table.select(page)
            await bring_to_front(page)
            return _describe_active(call)
        case "close":
            if page_id is None and not call.session.pages:
                raise InvalidParameterError("action: there is no open tab to close", parameter="action")
            closed = await close_page(
                await call.session.page_table.get(page_id), call.deadline, ask=before_unload
            )
            call.use_page(call.session.page_table.current)
            if closed:
                call.note_effect()
            return {**_describe_active(call), "closed": closed}


def _check_unused(action: str, page_id: str | None, url: str | None, before_unload: bool) -> None:
    unused = {
        "pageId": page_id is not None and action in ("list", "new"),
        "url": url is not None and action != "new",
        "beforeUnload": before_unload and action != "close",
    }
    for name, value in unused.items():
        if value:
            raise InvalidParameterError(f"{name}: not used by {action}; leave it out", parameter=name)


async def _open_tab(call: ToolCall, url: str | None) -> None:
    """Open a tab; close it again if its URL cannot be opened."""
    if url is not None:
        call.session.policy.check_url(url)
    page = await call.session.page_table.open()
    call.use_page(page)
    call.on_abandoned(page.close)
    if url is not None:
        try:
            await navigation.navigate(page, url, "load", call.deadline)
        except FootlightError:
            await page.close()
            raise


async def _list_tabs(call: ToolCall) -> list[TabInfo]:
    pages = call.session.pages
    titles = await asyncio.gather(*map(find_title, pages))
    current = call.session.page_table.current
    return [_describe_tab(call, page, title, current) for page, title in zip(pages, titles, strict=True)]


def _describe_tab(call: ToolCall, page: Page, title: str | None, current: Page | None) -> TabInfo:
    tab: TabInfo = {"pageId": page.id, "url": page.url, "title": title, "active": page is current}
    if opener := call.session.page_table.find_opener(page):
        tab["opener"] = opener.id
    return tab


def _describe_active(call: ToolCall) -> TabsResult:
    page = call.session.page_table.current
    return {"active": page.id, "url": page.url} if page else {"active": None}


def _page_ids(call: ToolCall) -> list[str]:
    return [page.id for page in call.session.pages]


class DialogHandled(TypedDict):
    """`url` is the URL of the page after the dialog."""

    pageId: str
    type: str
    message: str
    handled: str
    url: str


@tool(scope="session", effect="act", open_world=True, untrusted=True, queued=False, observed=True)
async def handle_dialog(
    call: ToolCall,
    accept: bool,
    prompt_text: Annotated[SecretText | None, Field(description="Answer to a prompt")] = None,
    page_id: str | None = None,
) -> DialogHandled:
    """Answer an open dialog"""
    dialogs = call.session.dialogs
    dialog = dialogs.get(page_id)
    pages = call.session.page_table
    page = pages.find(dialog.playwright.page) or await pages.get(dialog.page_id)
    call.use_page(page)
    call.stage(f"answering the {dialog.type} of {page.id}")
    await answer_dialog(page, dialog, accept=accept, text=prompt_text)
    return {
        "pageId": page.id,
        "type": dialog.type,
        "message": dialog.message,
        "handled": "accepted" if accept else "dismissed",
        "url": page.url,
    }
