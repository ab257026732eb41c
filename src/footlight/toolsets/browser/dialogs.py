"""Answering the dialogs that a page opens."""

from typing_extensions import TypedDict

from footlight.server.secrets import SecretText
from footlight.server.tool import ToolCall, tool

__all__ = ["TOOLS"]


class Handled(TypedDict):
    """`url` is where the page is after it."""

    pageId: str
    type: str
    message: str
    handled: str
    url: str


@tool(scope="session", effect="act", open_world=True, untrusted=True, queued=False, observed=True)
async def handle_dialog(
    call: ToolCall,
    accept: bool,
    prompt_text: SecretText | None = None,
    page_id: str | None = None,
) -> Handled:
    """Answer an open dialog. One that was told as handled: open."""
    dialogs = call.session.dialogs
    dialog = dialogs.get(page_id)
    call.maybe_page = dialog.page
    call.stage(f"answering the {dialog.type} of {dialog.page.id}")
    await dialogs.answer(dialog, accept=accept, text=prompt_text)
    return {
        "pageId": dialog.page.id,
        "type": dialog.type,
        "message": dialog.message,
        "handled": "accepted" if accept else "dismissed",
        "url": dialog.page.url,
    }


TOOLS = (handle_dialog,)
