"""The dialogs of a session's pages: answered by policy at once, or left open until somebody answers them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser._playwright import Error
from footlight.browser.events import DialogSeen, Events
from footlight.errors import DialogOpen, InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Frame

    from footlight.browser.page import Page
    from footlight.config import DialogAnswer

__all__ = ["DialogType", "Dialogs", "OpenDialog"]

DialogType = Literal["alert", "beforeunload", "confirm", "prompt"]

LEAVE_MS = 2_000
"""How long a page that was allowed to leave may take to do so."""


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """A dialog that waits for its answer. The scripts of its page stand still."""

    page: Page
    dialog: Dialog

    @property
    def type(self) -> str:
        return self.dialog.type

    @property
    def message(self) -> str:
        return self.dialog.message

    def error(self) -> DialogOpen:
        return DialogOpen.at(
            self.page.id,
            type=self.type,
            message=self.message,
            default_value=self.dialog.default_value if self.type == "prompt" else None,
        )


class Dialogs:
    """`policy` says for each type of dialog what is answered; `ask` leaves it open."""

    def __init__(
        self,
        policy: Mapping[str, DialogAnswer],
        events: Events,
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.policy: dict[str, DialogAnswer] = dict(policy)
        self._events = events
        self._spawn = spawn
        self._open: dict[Page, OpenDialog] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._left: list[Dialog] | None = None
        """Those that others are to answer, while they do."""

    @property
    def asks(self) -> bool:
        """Whether a dialog may be left open at all."""
        return "ask" in self.policy.values() or bool(self._open)

    @property
    def open(self) -> tuple[OpenDialog, ...]:
        """The oldest first."""
        return tuple(self._open.values())

    def find(self, page: Page) -> OpenDialog | None:
        return self._open.get(page)

    async def blocking(self, page: Page) -> OpenDialog | None:
        """The dialog that the page stands still for: its own, or that of a page in the same process."""
        if self._open and page not in self._open and not await page.answers():
            return self.find(page) or next(iter(self.open), None)
        return self.find(page)

    async def opened(self) -> None:
        """Wait for the next one that is left open."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)

    def on_dialog(self, page: Page | None, dialog: Dialog) -> None:
        """A page that opens one before it is known becomes known by the answer, so nobody can be asked."""
        if self._left is not None:
            self._left.append(dialog)
            return
        answer = self.policy.get(dialog.type, "dismiss")
        if answer == "ask" and page is None:
            answer = "accept" if dialog.type == "alert" else "dismiss"
        id = page.id if page else ""
        self._events.dialogs.append(
            DialogSeen(id, dialog.type, dialog.message, dialog.default_value, _HANDLED[answer])
        )
        if answer == "ask" and page:
            self._leave_open(page, dialog)
        else:
            self._spawn(_answer_unless_gone(dialog, accept=answer == "accept"))

    @contextlib.contextmanager
    def left_to_others(self) -> Generator[None]:
        """Another program is attached to the browser, and answers them. What it left open is dismissed."""
        self._left = []
        try:
            yield
        finally:
            left, self._left = self._left, None
            for dialog in left:
                self._spawn(_answer_unless_gone(dialog, accept=dialog.type == "alert"))

    def _leave_open(self, page: Page, dialog: Dialog) -> None:
        self._open[page] = OpenDialog(page, dialog)
        for each in self._waiting:
            if not each.done():
                each.set_result(None)

    def forget(self, page: Page) -> None:
        """The page was closed, or shows another document, and its dialog went with the one before."""
        self._open.pop(page, None)

    def get(self, page_id: str | None) -> OpenDialog:
        """The one of that page; without one, the only one.

        Raises:
            InvalidParameter: there is none, or more than one to choose from.
        """
        if not self._open:
            raise InvalidParameter(
                "No dialog is open in this session",
                parameter="pageId" if page_id else None,
                suggestion="A dialog is left open where the session's dialogs say ask; others are answered "
                "at once, as data.dialogs tells.",
            )
        chosen = [each for each in self.open if page_id in (None, each.page.id)]
        if len(chosen) == 1:
            return chosen[0]
        pages = [each.page.id for each in self.open]
        said = "pageId: no dialog is open there" if page_id else "pageId: more than one dialog is open"
        raise InvalidParameter(f"{said}; open: {', '.join(pages)}", parameter="pageId", pages=pages)

    async def answer(self, wanted: OpenDialog, *, accept: bool, text: str | None = None) -> None:
        """Answer it, and see its page go on: until its script is through, or opens the next dialog.

        Raises:
            InvalidParameter: a text for what is no prompt; or the dialog is gone.
        """
        if text is not None and (wanted.type != "prompt" or not accept):
            raise InvalidParameter(
                f"promptText: only a prompt that is accepted takes one; this is {_a(wanted.type)}, accept "
                f"is {str(accept).lower()}",
                parameter="promptText",
            )
        self._open.pop(wanted.page, None)
        goes_on = asyncio.create_task(
            self._goes_on(wanted.page, leaves=wanted.type == "beforeunload" and accept)
        )
        try:
            await _answer(wanted.dialog, accept=accept, text=text)
            await goes_on
        except Error as error:
            raise InvalidParameter(
                f"pageId: the dialog of {wanted.page.id} was gone before it could be answered",
                parameter="pageId",
            ) from error
        finally:
            goes_on.cancel()

    async def _goes_on(self, page: Page, *, leaves: bool) -> None:
        next_one = asyncio.create_task(self.opened())
        moving = asyncio.create_task(_moved_on(page, leaves=leaves))
        try:
            await asyncio.wait({next_one, moving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            next_one.cancel()
            moving.cancel()

    async def dismiss_all(self) -> None:
        """The session ends, and nobody will answer them any more."""
        left, self._open = self.open, {}
        await asyncio.gather(*(_answer_unless_gone(each.dialog, accept=False) for each in left))


_HANDLED: Mapping[str, Literal["accepted", "dismissed", "open"]] = {
    "accept": "accepted",
    "dismiss": "dismissed",
    "ask": "open",
}


async def _answer(dialog: Dialog, *, accept: bool, text: str | None = None) -> None:
    if accept:
        await dialog.accept(dialog.default_value if text is None else text)
    else:
        await dialog.dismiss()


async def _answer_unless_gone(dialog: Dialog, *, accept: bool) -> None:
    with contextlib.suppress(Error):  # The page may be gone, and the dialog with it.
        await _answer(dialog, accept=accept)


async def _moved_on(page: Page, *, leaves: bool) -> None:
    if leaves:

        def is_main(frame: Frame) -> bool:
            return frame == page.playwright.main_frame

        with contextlib.suppress(Error):  # It closed, or did not leave after all.
            await page.playwright.wait_for_event("framenavigated", is_main, timeout=LEAVE_MS)
    await page.answers()


def _a(noun: str) -> str:
    return f"an {noun}" if noun.startswith("a") else f"a {noun}"
