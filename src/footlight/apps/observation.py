"""Observe the screen, visible test ids, nodes and state of a running app, and compare observations."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.apps.nodes import TrimmedNode, trim_nodes
from footlight.apps.profile import UNKNOWN, Facts, Reading, Screen
from footlight.browser.driver.deadline import Deadline
from footlight.browser.page.capture import look
from footlight.browser.page.region_capture import look_at
from footlight.browser.reading.test_ids import VisibleTestId, list_test_ids

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.apps.profile import AppProfile, Services
    from footlight.browser.page.page import Page

__all__ = [
    "MAX_TEST_IDS",
    "AppChanges",
    "AppObservation",
    "AppState",
    "compare_observations",
    "describe_test_id",
    "find_nodes",
    "observe_app",
    "read_state",
    "wait_for_screen",
    "wait_until_drawn",
]

MAX_TEST_IDS = 500
"""The maximum `limit` that `list_testids` accepts."""

SHOWN_TEST_IDS = 150

LOOK_SECONDS = 0.05

LOOKED_SECONDS = 10.0
"""The time limit for a page to answer while the app's first screen is awaited."""

LOADED_SECONDS = 10.0

DRAWN_SECONDS = 1.0
"""The time limit for an empty page of the app to draw an element with a test id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """The state of the app: screen, lock state and facts."""

    current_url: str
    extension_id: str
    screen: Screen
    is_unlocked: bool
    facts: Facts
    is_loaded: bool = True

    def as_json(self) -> dict[str, Any]:
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
class AppObservation:
    """An observation of a page: the app's state, the visible test ids, and the nodes in page order."""

    state: AppState
    test_ids: Sequence[VisibleTestId]
    nodes: Sequence[TrimmedNode]

    def describe_test_ids(self) -> list[dict[str, Any]]:
        return [describe_test_id(each) for each in self.test_ids[:SHOWN_TEST_IDS]]


def describe_test_id(seen: VisibleTestId) -> dict[str, Any]:
    text = {"text": seen.text} if seen.text else {}
    return {"testId": seen.test_id, "tag": seen.tag, **text, "visible": True}


async def observe_app(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> AppObservation:
    """Observe a page and the state of the app concurrently.

    Raises:
        FootlightError: The page does not answer, or is closed.
    """
    snapshot, (test_ids, state) = await asyncio.gather(
        look(page, deadline), _read_page(app, profile, services, page, deadline)
    )
    return AppObservation(state=state, test_ids=test_ids, nodes=trim_nodes(snapshot.nodes))


async def find_nodes(page: Page, selector: str, deadline: Deadline) -> list[TrimmedNode]:
    """Return the trimmed nodes below an element.

    Raises:
        ElementNotFoundError, InvalidSelectorError: The selector matches nothing, or is not valid.
    """
    return trim_nodes((await look_at(page, deadline, selector=selector)).nodes)


async def read_state(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> AppState:
    return (await _read_page(app, profile, services, page, deadline))[1]


async def _read_page(
    app: ExtensionApp, profile: AppProfile, services: Services, page: Page, deadline: Deadline
) -> tuple[list[VisibleTestId], AppState]:
    test_ids = await wait_for_test_ids(app, page, deadline)
    screen = identify_screen(app, profile, page, test_ids)
    of_home = await _read_home(app, profile, services, page, screen, test_ids, deadline)
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


async def _read_home(
    app: ExtensionApp,
    profile: AppProfile,
    services: Services,
    page: Page,
    screen: Screen,
    test_ids: Sequence[VisibleTestId],
    deadline: Deadline,
) -> Reading:
    """Read the app's home page if `page` shows no screen of the app, or else `page` itself."""
    home = next(iter(app.pages_of("extension")), None)
    if home is not None and screen.test_id is None and app.role_of(page) != "extension":
        of_home = await wait_for_test_ids(app, home, deadline)
        screen_at_home = identify_screen(app, profile, home, of_home)
        if screen_at_home.unlocked or not screen.unlocked:
            return Reading(app=app, services=services, screen=screen_at_home, test_ids=of_home)
    return Reading(app=app, services=services, screen=screen, test_ids=test_ids)


def identify_screen(
    app: ExtensionApp, profile: AppProfile, page: Page, test_ids: Sequence[VisibleTestId]
) -> Screen:
    """Return the screen that a page of the app shows. Other pages may use the same test ids.

    A notification window that looks like a screen of the unlocked app is reported as unknown, because
    MetaMask's notification windows have the same header as the app.
    """
    role = app.role_of(page)
    if role in ("dapp", "other"):
        return Screen(name=UNKNOWN)
    screen = profile.screen_at(app.path_of(page), (each.test_id for each in test_ids))
    return Screen(name=UNKNOWN, unlocked=True) if role == "notification" and screen.unlocked else screen


async def wait_for_test_ids(app: ExtensionApp, page: Page, deadline: Deadline) -> list[VisibleTestId]:
    """Return the visible test ids. If a page of the app has none, wait briefly until it has drawn some."""
    limit = asyncio.get_running_loop().time() + min(DRAWN_SECONDS, deadline.remaining_ms / 1000)
    while True:
        found = await list_test_ids(page, deadline, limit=MAX_TEST_IDS)
        waits = not found and app.role_of(page) in ("extension", "notification")
        if not waits or asyncio.get_running_loop().time() >= limit:
            return found
        await asyncio.sleep(LOOK_SECONDS)


async def wait_for_screen(app: ExtensionApp, profile: AppProfile, page: Page, *, seconds: float) -> Screen:
    """Return the first known screen that the page shows, or an unknown screen after the time limit."""
    deadline = Deadline.after(seconds * 1000)
    while True:
        # Each attempt has a separate time limit, so that the last one does not fail at the deadline.
        found = await list_test_ids(page, Deadline.after(LOOKED_SECONDS * 1000), limit=MAX_TEST_IDS)
        screen = identify_screen(app, profile, page, found)
        if screen.name != UNKNOWN or not profile.screens or deadline.remaining_ms <= LOOK_SECONDS * 1000:
            return screen
        await asyncio.sleep(LOOK_SECONDS)


async def wait_until_drawn(app: ExtensionApp, page: Page, deadline: Deadline) -> None:
    """Wait until a page of the app shows test ids or nodes, but no longer than `LOADED_SECONDS`."""
    limit = deadline.limit_to(LOADED_SECONDS * 1000)
    while app.role_of(page) in ("extension", "notification") and not page.closed:
        if await list_test_ids(page, deadline, limit=1) or trim_nodes((await look(page, deadline)).nodes, 1):
            return
        if limit.remaining_ms <= LOOK_SECONDS * 1000:
            return
        await asyncio.sleep(LOOK_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppChanges:
    """The differences between two observations. Nodes are matched by element."""

    added: Sequence[TrimmedNode]
    changed: Sequence[TrimmedNode]
    removed: Sequence[TrimmedNode]
    added_test_ids: Sequence[str]
    removed_test_ids: Sequence[str]

    @property
    def any(self) -> bool:
        return bool(
            self.added or self.changed or self.removed or self.added_test_ids or self.removed_test_ids
        )


def compare_observations(before: AppObservation | None, after: AppObservation) -> AppChanges:
    """Compare two observations. Without an earlier one, all nodes and test ids are new."""
    was = {node.element: node for node in before.nodes} if before else {}
    now = {node.element: node for node in after.nodes}
    had = Counter(each.test_id for each in before.test_ids) if before else Counter[str]()
    has = Counter(each.test_id for each in after.test_ids)
    return AppChanges(
        added=[node for node in after.nodes if node.element not in was],
        changed=[node for node in after.nodes if _differs(was.get(node.element), node)],
        removed=[node for element, node in was.items() if element not in now],
        added_test_ids=[*(has - had)],
        removed_test_ids=[*(had - has)],
    )


def _differs(was: TrimmedNode | None, now: TrimmedNode) -> bool:
    """Return whether a node has changed. A change of its path is ignored."""
    return was is not None and was.as_json("") | {"path": []} != now.as_json("") | {"path": []}
