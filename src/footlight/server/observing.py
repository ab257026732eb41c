"""What an acting call tells of its page: what is different since a caller was told of it last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.looking import glance
from footlight.browser.observation import observe
from footlight.browser.rendering import shortened
from footlight.browser.settling import settle
from footlight.server.answer import PageText
from footlight.server.keeping import keep_text

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.console import Message
    from footlight.browser.page import Page
    from footlight.browser.snapshot import Snapshot
    from footlight.server.tool import Tool, ToolCall

__all__ = ["Observer"]

LONGEST_URL = 500
LONGEST_ERROR = 300
"""Characters."""
GLANCE_SECONDS = 5.0
"""How long a page may take to be looked at. It has settled by then, or it never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """How a call is observed: what it asked for, or else the settings. `limit_ms` bounds the settling."""

    mode: Literal["none", "diff", "full"]
    settles: bool
    budget: int
    limit_ms: float


class Observer:
    """`begin` before the call acts, `settle` after, then `tell`."""

    def __init__(self, tool: Tool, call: ToolCall, parsed: BaseModel) -> None:
        settings = call.settings.observation
        self._tool = tool
        self._call = call
        self._watch = Watch(
            mode=getattr(parsed, "observe", None) or settings.mode,
            settles=(getattr(parsed, "settle", None) or settings.settle) == "auto",
            budget=getattr(parsed, "budget", None) or settings.budget,
            limit_ms=settings.settle_timeout,
        )

    async def begin(self) -> None:
        """Look first at a page that nobody was told of: without that, nothing would be new."""
        self._console = self._call.session.console.mark()
        page = self._call.maybe_page
        if page and self._watch.mode == "diff" and page.view.told is None and page.url != "about:blank":
            page.view.told = await glance(page, GLANCE_SECONDS)
        self._urls = {each.id: each.url for each in self._call.session.pages}
        self._began = time.monotonic()

    async def settle(self) -> None:
        """Wait for what the call started, or what it did since the last time."""
        page = self._call.maybe_page
        if page and self._watch.settles and not page.closed:
            await settle(page, self._began, self._call.deadline, limit_ms=self._watch.limit_ms)
        self._began = time.monotonic()

    async def tell(self) -> dict[str, Any] | None:
        """The observation; None where the call wants none, or has no page, or it is gone."""
        page = self._call.maybe_page
        if self._watch.mode == "none" or page is None or page.closed:
            return None
        before = page.view.told
        after, errors = await asyncio.gather(
            glance(page, GLANCE_SECONDS),
            self._call.session.console.errors_since(self._console, page_id=page.id),
        )
        beside = self._beside(page, before, after, errors)
        if after is None:
            return {"kind": "unknown", "reason": "The page gave no answer", **beside}
        page.view.told = after
        observation = observe(
            before,
            after,
            mode=self._watch.mode,
            budget=self._watch.budget,
            link=lambda text: keep_text(self._call, text, tool=self._tool.name),
        )
        told: dict[str, Any] = {"kind": observation.kind, **beside}
        if observation.cut:
            told["cut"] = True
        if observation.text:
            told["text"] = PageText(observation.text)
        return told

    def _beside(
        self, page: Page, before: Snapshot | None, after: Snapshot | None, errors: Sequence[Message]
    ) -> dict[str, Any]:
        """Where the page is, if that is new, and what went wrong in it."""
        told: dict[str, Any] = {}
        if page.url != self._urls.get(page.id):
            told["url"] = shortened(page.url, LONGEST_URL)
        if after is not None and after.title != (before.title if before else ""):
            told["title"] = after.title
        if errors:
            told["console"] = [_said(error) for error in errors]
        return told


def _said(error: Message) -> str:
    """With where it comes from, unless it says so itself."""
    text = shortened(error.text, LONGEST_ERROR)
    return text if not error.source or error.source in text else f"{text} ({error.source})"
