"""The dialogs of a session's pages.

The policy answers them, or leaves them open until a call answers them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.events import DialogSeen, Events
from footlight.errors import DialogOpenError, InvalidParameterError
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from playwright.async_api import Dialog

    from footlight.config import DialogAnswer

__all__ = ["Dialogs", "OpenDialog", "send_answer"]

MAX_TEXT = 5_000
"""The number of characters that are kept of a dialog's message."""


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """A dialog that waits for its answer. The scripts of its page are suspended until then."""

    page_id: str
    playwright: Dialog

    @property
    def type(self) -> str:
        return self.playwright.type

    @property
    def message(self) -> str:
        return cut_text(self.playwright.message, MAX_TEXT)

    def error(self) -> DialogOpenError:
        """Return the error for a call that cannot run while the dialog is open."""
        return DialogOpenError.at(
            self.page_id,
            type=self.type,
            message=self.message,
            default_value=self.playwright.default_value if self.type == "prompt" else None,
        )


class Dialogs:
    """Answers dialogs by the `policy` for their type. The answer `ask` leaves a dialog open."""

    def __init__(
        self,
        policy: Mapping[str, DialogAnswer],
        events: Events,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.policy: dict[str, DialogAnswer] = dict(policy)
        self._events = events
        self._spawn = spawn
        self.count = 0
        """The number of dialogs that have opened so far."""
        self._open: dict[str, OpenDialog] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._left_to_others: list[Dialog] | None = None
        """The dialogs that opened while another program handles dialogs, otherwise None."""

    @property
    def asks(self) -> bool:
        """Return whether dialogs may be left open."""
        return "ask" in self.policy.values() or bool(self._open)

    @property
    def open(self) -> tuple[OpenDialog, ...]:
        """The open dialogs, oldest first."""
        return tuple(self._open.values())

    def find(self, page_id: str) -> OpenDialog | None:
        """Return the open dialog of a page, or None."""
        return self._open.get(page_id)

    def get(self, page_id: str | None) -> OpenDialog:
        """Return the open dialog of a page, or the only open dialog if no id is given.

        Raises:
            InvalidParameterError: no such dialog is open, or several are open and no id is given.
        """
        if not self._open:
            raise InvalidParameterError(
                "No dialog is open in this session",
                parameter="pageId" if page_id else None,
                suggestion="A dialog is left open only if the session's dialogs setting is ask. Others "
                "are answered at once, as data.dialogs reports.",
            )
        matching = [each for each in self.open if page_id in (None, each.page_id)]
        if len(matching) == 1:
            return matching[0]
        pages = [each.page_id for each in self.open]
        problem = "no dialog is open there" if page_id else "more than one dialog is open"
        raise InvalidParameterError(
            f"pageId: {problem}; open: {', '.join(pages)}", parameter="pageId", pages=pages
        )

    async def wait_for_next(self) -> None:
        """Wait until the next dialog is left open."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)

    def on_dialog(self, page_id: str, dialog: Dialog) -> None:
        """Answer a dialog, or leave it open.

        `page_id` is "" if the page does not have an id yet. It gets one only after the dialog is answered, so
        no caller could answer the dialog.
        """
        self.count += 1
        if self._left_to_others is not None:
            self._left_to_others.append(dialog)
            return
        answer = self.policy.get(dialog.type, "dismiss")
        if answer == "ask" and not page_id:
            answer = "accept" if dialog.type == "alert" else "dismiss"
        message, default = (cut_text(text, MAX_TEXT) for text in (dialog.message, dialog.default_value))
        self._events.dialogs.append(DialogSeen(page_id, dialog.type, message, default, _HANDLED[answer]))
        if answer == "ask":
            self._leave_open(page_id, dialog)
        else:
            self._spawn(_answer_unless_gone(dialog, accept=answer == "accept"))

    @contextlib.contextmanager
    def leave_to_others(self) -> Generator[None]:
        """Leave dialogs to another program that is attached to the browser.

        Answer the dialogs that it did not handle at the end of the block: accept alerts, dismiss the others.
        """
        self._left_to_others = []
        try:
            yield
        finally:
            waiting, self._left_to_others = self._left_to_others, None
            for dialog in waiting:
                self._spawn(_answer_unless_gone(dialog, accept=dialog.type == "alert"))

    def _leave_open(self, page_id: str, dialog: Dialog) -> None:
        self._open[page_id] = OpenDialog(page_id, dialog)
        for each in self._waiting:
            if not each.done():
                each.set_result(None)

    def forget(self, page_id: str) -> None:
        """Remove the dialog of a page that was closed or has a new document. The browser has closed it."""
        self._open.pop(page_id, None)

    async def dismiss_all(self) -> None:
        """Dismiss all open dialogs, because the session ends."""
        open_dialogs, self._open = self.open, {}
        await asyncio.gather(*(_answer_unless_gone(each.playwright, accept=False) for each in open_dialogs))


_HANDLED: Mapping[str, Literal["accepted", "dismissed", "open"]] = {
    "accept": "accepted",
    "dismiss": "dismissed",
    "ask": "open",
}


async def send_answer(dialog: Dialog, *, accept: bool, text: str | None = None) -> None:
    """Answer a dialog. A prompt that is accepted without a text returns its default value."""
    if accept:
        await dialog.accept(dialog.default_value if text is None else text)
    else:
        await dialog.dismiss()


async def _answer_unless_gone(dialog: Dialog, *, accept: bool) -> None:
    with contextlib.suppress(Error):  # The page may be gone, and the dialog with it.
        await send_answer(dialog, accept=accept)
