"""One look at a running app: which screen it shows, what can be used there, and what it says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.apps.discovery import TrimmedNode, trimmed
from footlight.apps.profile import UNKNOWN, Facts, Screen
from footlight.apps.reading import Reading
from footlight.browser.deadline import Deadline
from footlight.browser.looking import look, look_at
from footlight.browser.test_ids import SeenTestId, seen_test_ids

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.apps.profile import AppProfile, Services
    from footlight.browser.page import Page

__all__ = [
    "MOST_TEST_IDS",
    "AppState",
    "Look",
    "look_at_app",
    "nodes_below",
    "read_state",
    "told_test_id",
    "wait_for_screen",
    "wait_until_drawn",
]

MOST_TEST_IDS = 500
"""Of a page, as many as `list_testids` may ask for."""
SHOWN_TEST_IDS = 150
LOOK_SECONDS = 0.05
LOOKED_SECONDS = 10.0
"""How long a page of the app may take to answer while it is waited for."""
LOADED_SECONDS = 10.0
DRAWN_SECONDS = 1.0
"""How long a page of the app that has nothing yet may take to draw something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """The state of the app as document 002 has it."""

    current_url: str
    extension_id: str
    screen: Screen
    is_unlocked: bool
    facts: Facts
    is_loaded: bool = True

    def told(self) -> dict[str, Any]:
        return {
            "isLoaded": self.is_loaded,
            "currentUrl": self.current_url,
            "extensionId": self.extension_id,
            "isUnlocked": self.is_unlocked,
            "currentScreen": self.screen.name,
            "accountAddress": self.facts.account_address,
            "networkName": self.facts.network_name,
            "chainId": self.facts.chain_id,
            "balance": self.facts.balance,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`test_ids` are those that can be seen, `nodes` in the order of the page."""

    state: AppState
    test_ids: Sequence[SeenTestId]
    nodes: Sequence[TrimmedNode]

    def told_test_ids(self, limit: int = SHOWN_TEST_IDS) -> list[dict[str, Any]]:
        return [told_test_id(each) for each in self.test_ids[:limit]]


def told_test_id(seen: SeenTestId) -> dict[str, Any]:
    text = {"text": seen.text} if seen.text else {}
    return {"testId": seen.test_id, "tag": seen.tag, **text, "visible": True}


async def look_at_app(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> Look:
    """All at once: the page, and beside it what the app says of itself.

    Raises:
        FootlightError: the page gives no answer, or is gone.
    """
    snapshot, (test_ids, state) = await asyncio.gather(
        look(page, deadline), _read(app, profile, services, page, deadline)
    )
    return Look(state=state, test_ids=test_ids, nodes=trimmed(snapshot.nodes))


async def nodes_below(page: Page, selector: str, deadline: Deadline) -> list[TrimmedNode]:
    """Raises ElementNotFound, InvalidSelector."""
    return trimmed((await look_at(page, deadline, selector=selector)).nodes)


async def read_state(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> AppState:
    return (await _read(app, profile, services, page, deadline))[1]


async def _read(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> tuple[list[SeenTestId], AppState]:
    test_ids = await drawn_test_ids(app, page, deadline)
    screen = screen_of(app, profile, page, test_ids)
    of_home = await _home_reading(app, profile, services, page, screen, test_ids, deadline)
    facts = await profile.read(of_home) if of_home.screen.unlocked else Facts()
    if of_home.screen.unlocked or of_home.screen.name != UNKNOWN:
        app.unlocked = of_home.screen.unlocked
    state = AppState(
        current_url=page.url,
        extension_id=app.id,
        screen=screen,
        is_unlocked=app.unlocked,
        facts=facts,
    )
    return test_ids, state


async def _home_reading(
    app: ExtensionApp,
    profile: AppProfile,
    services: Services,
    page: Page,
    screen: Screen,
    test_ids: Sequence[SeenTestId],
    deadline: Deadline,
) -> Reading:
    """Of the app's own page where `page` shows no screen of the app: a site, or a window of its own."""
    home = next(iter(app.pages_of("extension")), None)
    if home is not None and screen.test_id is None and app.role_of(page) != "extension":
        of_home = await drawn_test_ids(app, home, deadline)
        shown = screen_of(app, profile, home, of_home)
        if shown.unlocked or not screen.unlocked:
            return Reading(app=app, services=services, screen=shown, test_ids=of_home)
    return Reading(app=app, services=services, screen=screen, test_ids=test_ids)


def screen_of(app: ExtensionApp, profile: AppProfile, page: Page, test_ids: Sequence[SeenTestId]) -> Screen:
    """Only the app's own pages have its screens: a site may use the same test ids.

    A window of its own that looks like the unlocked app is none of them: MetaMask's have its header.
    """
    role = app.role_of(page)
    if role in ("dapp", "other"):
        return Screen(name=UNKNOWN)
    screen = profile.screen_at(app.path_of(page), (each.test_id for each in test_ids))
    return Screen(name=UNKNOWN, unlocked=True) if role == "notification" and screen.unlocked else screen


async def drawn_test_ids(app: ExtensionApp, page: Page, deadline: Deadline) -> list[SeenTestId]:
    """Those that can be seen. An app that draws anew has none for a moment (seen after navigations)."""
    limit = asyncio.get_running_loop().time() + min(DRAWN_SECONDS, deadline.remaining_ms / 1000)
    while True:
        found = await seen_test_ids(page, deadline, limit=MOST_TEST_IDS)
        waits = not found and app.role_of(page) in ("extension", "notification")
        if not waits or asyncio.get_running_loop().time() >= limit:
            return found
        await asyncio.sleep(LOOK_SECONDS)


async def wait_for_screen(app: ExtensionApp, profile: AppProfile, page: Page, *, seconds: float) -> Screen:
    """The first screen that the page shows; the unknown one where it shows none of them in time."""
    deadline = Deadline.after(seconds * 1000)
    while True:
        # With time of its own: the last look is no page that gives no answer.
        found = await seen_test_ids(page, Deadline.after(LOOKED_SECONDS * 1000), limit=MOST_TEST_IDS)
        screen = screen_of(app, profile, page, found)
        if screen.name != UNKNOWN or not profile.screens or deadline.remaining_ms <= LOOK_SECONDS * 1000:
            return screen
        await asyncio.sleep(LOOK_SECONDS)


async def wait_until_drawn(app: ExtensionApp, page: Page, deadline: Deadline) -> None:
    """Until a page of the app shows something, for some seconds at the most."""
    limit = deadline.within(LOADED_SECONDS * 1000)
    while app.role_of(page) in ("extension", "notification") and not page.closed:
        if await seen_test_ids(page, deadline, limit=1) or trimmed((await look(page, deadline)).nodes):
            return
        if limit.remaining_ms <= LOOK_SECONDS * 1000:
            return
        await asyncio.sleep(LOOK_SECONDS)
