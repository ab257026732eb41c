"""Find the element of a ref or a selector. An uncertain ref is an error, never a guess.

If the element of a ref is gone, the ref leads to another element only if nothing else on the page was like
the old element, and exactly one new element is, or if the page drew the same content again around it. If the
element exists but now means something else, such as the row of a list that is reused for another entry, the
ref is refused for a call that acts.
"""

from __future__ import annotations

import asyncio
import heapq
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.driver.offload import offload
from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.capture import ENGINE, ask_in, look
from footlight.browser.page.selectors import locate_in, mark_frames
from footlight.browser.snapshot.difference import find_redrawn
from footlight.browser.snapshot.finding import Likeness
from footlight.browser.snapshot.locators import frame_selector, mark_frame, stable_locator
from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.places import ENTRIES, find_places
from footlight.browser.snapshot.view import ElementIdentity, RefMeaning, RemovedRef, identity_of
from footlight.errors import StaleRefError

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator
    from playwright.async_api import Page as PlaywrightPage

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Target", "ask_directly", "leading_ref", "locate", "locate_now", "resolve"]

_LEADING = re.compile(r"\s*(?:\[ref=(?P<bracketed>e[1-9]\d*)\]|(?:ref=|@)?(?P<bare>e[1-9]\d*))\s*(?=>>|$)")

_PLAIN = re.compile(r"(?:[A-Za-z][\w-]*)?(?:[#.][A-Za-z_][\w-]*)+", re.ASCII)
"""CSS selectors that have the same meaning in Playwright and in the browser."""
DIRECT_SECONDS = 0.25
"""How long a document may take to reply about an element before Playwright is asked to wait for it."""

MAX_CANDIDATES = 5
MAX_COMPARED = 2_000
"""The maximum number of elements whose names are compared with a removed one, those of its role first."""
MAX_COMPARED_EXACTLY = 50
MIN_LIKENESS = 0.5
"""How similar two names must be for one to be suggested instead of the other, from 0 to 1."""


class Target(NamedTuple):
    """An element that exists: its ref and its frame. `locator` finds it again in another run."""

    ref: str
    frame: Frame
    locator: str | None = None

    @property
    def selector(self) -> str:
        return f"{ENGINE}={self.ref}"


def leading_ref(selector: str) -> tuple[str, str] | None:
    """Split a selector that begins with a ref into the ref and the remaining selector, or return None.

    A ref may also have the syntax of other tools: `[ref=e12]`, `ref=e12`, `@e12`.
    """
    found = _LEADING.match(selector)
    return (found["bare"] or found["bracketed"], selector[found.end() :]) if found else None


async def locate(page: Page, selector: str, deadline: Deadline, *, acts: bool = False) -> Locator:
    """Return a locator of all matches, and wait for the frames on the path to them.

    Raises:
        InvalidSelectorError: the selector cannot be parsed.
        StaleRefError: the element of its ref is gone or, with `acts`, has another meaning now.
    """
    root, inside = await _find_root(page, selector, deadline, acts=acts)
    found = await locate_in(root, inside, timeout_ms=deadline.action_ms)
    if page.view.wants_portable:
        known = page.view.stable_selectors.get(selector) or await mark_frames(page.playwright, selector)
        is_first = leading_ref(selector) != (selector, "") and await found.count() > 1
        page.view.stable_selectors[selector] = f"{known} >> nth=0" if is_first else known
    return found


async def locate_now(page: Page, selector: str, deadline: Deadline) -> Locator:
    """Return a locator of all matches as `locate` does, without waiting for frames on the path to them."""
    root, selector = await _find_root(page, selector, deadline, acts=False)
    return await locate_in(root, selector, timeout_ms=None)


async def ask_directly(
    page: Page, selector: str, engine: Callable[[], str], name: str, *arguments: Any
) -> Any:
    """Return an engine's reply about the element of a selector, with a single CDP message.

    Call this after `locate`. Return None if only Playwright can find the element or wait for it. The engine
    finds it by the function `Symbol.for("footlight.find")` of the settling script.
    """
    if (direct := _find_direct(page, selector)) is None:
        return None
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(DIRECT_SECONDS):
            return await page.scripts.ask(engine, name, direct, *arguments)
    return None


def _find_direct(page: Page, selector: str) -> str | None:
    """Return a ref or a CSS selector for the script in the main document, or None."""
    if _PLAIN.fullmatch(selector):
        return selector
    given, rest = leading_ref(selector) or ("", "")
    ref = page.view.healed.get(given, given)
    seen = page.view.find_seen(ref)
    return ref if seen and not rest and seen[1] == page.playwright.main_frame else None


async def _find_root(
    page: Page, selector: str, deadline: Deadline, *, acts: bool
) -> tuple[PlaywrightPage | Frame, str]:
    """Return the root and the selector to search in it. A ref implies its frame."""
    found = leading_ref(selector)
    if found is None:
        return page.playwright, selector
    ref, rest = found
    target = await resolve(page, ref, deadline, acts=acts)
    if target.locator:
        page.view.stable_selectors[selector] = f"{target.locator} {rest}".rstrip()
    return target.frame, target.selector + rest


async def resolve(page: Page, ref: str, deadline: Deadline, *, acts: bool) -> Target:
    """Return the element of a ref, or its only successor, which the view then records as healed.

    A call that only reads gets the element even if its meaning has changed.

    Raises:
        StaleRefError: the element is gone, and nothing has certainly replaced it. With `acts`, also if
            the element has another meaning now.
    """
    view, given = page.view, ref
    ref = view.follow(given)
    reported = view.last_reported
    size = len(reported.nodes) if reported else 0
    meaning = await offload(size, lambda: view.find_meaning(ref)) if acts else None
    seen, removed = view.find_seen(ref), view.find_removed(ref)
    frame = seen[1] if seen else removed.frame if removed else None
    identity, locator = (await _identify(page, frame, ref) if frame else None) or (None, None)
    if frame and identity and (meaning is None or (identity == meaning.identity and not meaning.entry)):
        return _note_healed(page, given, Target(ref, frame, locator))
    current = await look(page, deadline)
    nodes = current.nodes

    def find_target() -> Target:
        if existing := view.find_seen(ref):
            target = (
                _check_meaning(page, given, meaning, nodes, existing) if meaning else Target(ref, existing[1])
            )
        elif frame and identity:  # It exists but is hidden: an action waits for it, or reports that.
            target = Target(ref, frame)
        elif (successor := reported and find_redrawn(reported, current, ref)) and (
            existing := view.find_seen(successor)
        ):
            target = Target(successor, existing[1])
        else:
            target = _find_successor(page, given, view.find_removed(ref), nodes)
        return target

    target = await offload(len(nodes) + size, find_target)
    if known := await _find_known_locator(page, target.frame, target.ref):
        locator = await _lead_into(page, target.frame, known)
    return _note_healed(page, given, target._replace(locator=locator))


def _note_healed(page: Page, given: str, target: Target) -> Target:
    """Record that a ref led to the element of another one, if it did."""
    if target.ref != given:
        page.view.healed[given] = target.ref
    return target


async def _identify(page: Page, frame: Frame, ref: str) -> tuple[ElementIdentity, str | None] | None:
    """Return the element's current identity, and a locator if one is known. Return None if it is gone."""
    if frame.is_detached():
        return None
    known = await _find_known_locator(page, frame, ref)
    found = await ask_in(page, frame, {"what": "identify", "ref": ref, "path": known is None})
    if found is None:
        return None
    locator = await _lead_into(page, frame, known or found["path"])
    return ElementIdentity(found["testid"], found["role"], found["lasting"]), locator


async def _find_known_locator(page: Page, frame: Frame, ref: str) -> str | None:
    """Return a locator in its frame of a ref's element from the last snapshot, or None if that has none.

    A portable one is tried, because Playwright computes some roles and names otherwise.
    """
    if (seen := page.view.frames.get(frame)) is None:
        return None
    known = await offload(len(seen.nodes), lambda: stable_locator(seen.nodes, ref))
    if known is None or not page.view.wants_portable:
        return known
    found = await locate_in(frame, known, timeout_ms=None)
    is_same = await found.count() == 1 == await found.and_(frame.locator(f"{ENGINE}={ref}")).count()
    return known if is_same else None


async def _lead_into(page: Page, frame: Frame, selector: str) -> str | None:
    """Return a selector in the page for one in a frame, or None if a frame around it is unknown."""
    while parent := frame.parent_frame:
        element = frame_selector(frame)
        if element is None and (ref := page.view.find_frame_ref(frame)):
            found = await ask_in(page, parent, {"what": "identify", "ref": ref, "path": True})
            element = mark_frame(found["path"]) if found else None
        if element is None:
            return None
        selector, frame = f"{element} >> {selector}", parent
    return selector


def _check_meaning(
    page: Page, given: str, known: RefMeaning, nodes: Sequence[Node], existing: tuple[Node, Frame]
) -> Target:
    """Return an existing element if it still has the meaning that the caller knows.

    It is uncertain in three cases: the element is in another entry now; it changed and is an entry or inside
    one; or another element is now like the element was.
    """
    node, frame = existing
    ref = node.ref or given
    place = find_places(nodes)[ref]
    meaning = RefMeaning(identity_of(node), place.entry or (place.after if known.entry else ""))
    has_moved = bool(known.entry and meaning.entry) and meaning.entry != known.entry
    is_same = meaning.identity == known.identity
    others = [
        other for other in nodes if other.ref and other.ref != ref and identity_of(other) == known.identity
    ]
    if not has_moved and (is_same or not (others or place.entry or node.role in ENTRIES)):
        return Target(ref, frame)
    page.view.note_reported([*others, node], of=nodes)
    candidates = _describe_candidates(others, nodes)
    suggestions = f". Candidates: {'; '.join(candidates)}" if candidates else ""
    raise StaleRefError(
        f"{given} was {_describe_meaning(known)} and is now {_describe_meaning(meaning)}{suggestions}",
        suggestion=f"Use {given} again if you mean what it is now, or else a candidate or a new snapshot.",
        ref=given,
        page=page.url,
        candidates=candidates,
    )


def _describe_meaning(meaning: RefMeaning) -> str:
    where = meaning.entry if meaning.entry.startswith("after ") else f"in {meaning.entry}"
    return _describe(meaning.identity) + (f" {where}" if meaning.entry else "")


def _find_successor(page: Page, given: str, removed: RemovedRef | None, nodes: Sequence[Node]) -> Target:
    """Return the element that has certainly replaced a removed one.

    `given` is the ref that the caller used.
    """
    if removed is None:
        raise _unknown_error(page, given)
    identity = identity_of(removed.node)
    alike = [node for node in nodes if node.ref and identity_of(node) == identity]
    if len(alike) == 1 and removed.unique and identity.is_distinctive:
        successor = alike[0].ref or ""
        existing = page.view.find_seen(successor)
        if existing is not None and _has_replaced(page, removed, successor, existing[1], nodes):
            return Target(successor, existing[1])
    raise _stale_error(page, given, removed, nodes, len(alike))


def _has_replaced(
    page: Page, removed: RemovedRef, successor: str, frame: Frame, nodes: Sequence[Node]
) -> bool:
    """Return whether the successor is new, in a document at the same URL, and in the same surroundings."""
    seen = page.view.frames.get(frame)
    place = find_places(nodes)[successor]
    return (
        int(successor[1:]) >= removed.before
        and seen is not None
        and seen.url == removed.url
        and (place.entry, place.around) == (removed.place.entry, removed.place.around)
    )


def _stale_error(
    page: Page, ref: str, removed: RemovedRef, nodes: Sequence[Node], alike: int
) -> StaleRefError:
    candidates = _describe_candidates(_find_closest(removed.node, nodes), nodes)
    why = f"; {alike} elements are like it now" if alike > 1 else ""
    suggestions = f". Candidates: {'; '.join(candidates)}" if candidates else ""
    return StaleRefError(
        f"{ref}, {_describe(identity_of(removed.node))}, is not on the page any more{why}{suggestions}",
        ref=ref,
        page=page.url,
        candidates=candidates,
        gone=True,
    )


def _unknown_error(page: Page, ref: str) -> StaleRefError:
    for other_id, view in [*page.session.views.items()]:
        if other_id != page.id and view.find_seen(ref):
            return StaleRefError(
                f"{ref} is an element of {other_id}; this call is about {page.id}",
                suggestion=f"Give pageId {other_id}, or take a snapshot of {page.id}.",
                ref=ref,
                page=page.url,
                pageId=other_id,
            )
    return StaleRefError(f"No element has the ref {ref}, or it is too old", ref=ref, page=page.url)


def _find_closest(removed: Node, nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that are most similar to a removed one: they have its role or a similar name."""
    with_ref = sorted((node for node in nodes if node.ref), key=lambda node: node.role != removed.role)
    likeness = Likeness(removed.name.lower())
    closest = heapq.nlargest(
        MAX_COMPARED_EXACTLY,
        with_ref[:MAX_COMPARED],
        key=lambda node: (
            bool(removed.testid) and removed.testid == node.testid,
            likeness.to(node.name.lower()),
            node.role == removed.role,
        ),
    )
    scored = sorted(
        ((_score(removed, node), node) for node in closest), key=lambda each: each[0], reverse=True
    )
    return [node for score, node in scored[:MAX_CANDIDATES] if score > MIN_LIKENESS]


def _score(removed: Node, node: Node) -> float:
    """Return how similar a node is to a removed one: by its name from 0 to 1, its test id and its role."""
    name_score = 0.0
    if removed.name and node.name:
        match = SequenceMatcher(None, removed.name[:100].lower(), node.name[:100].lower(), autojunk=False)
        name_score = match.ratio() if match.quick_ratio() > MIN_LIKENESS else 0.0
    has_test_id = bool(removed.testid) and removed.testid == node.testid
    has_role = (name_score > 0 or has_test_id) and removed.role == node.role
    return name_score + 1.0 * has_test_id + 0.5 * has_role


def _describe_candidates(found: Sequence[Node], nodes: Sequence[Node]) -> list[str]:
    """Return the refs, roles and names, with the row or other entry of elements that are alike."""
    known = [_describe(identity_of(node)) for node in found]
    places = find_places(nodes) if len(set(known)) < len(known) else {}
    described: list[str] = []
    for node, words in list(zip(found, known, strict=True))[:MAX_CANDIDATES]:
        entry = places[node.ref or ""].entry if known.count(words) > 1 else ""
        described.append(f"{node.ref} {words}{f' in {entry}' if entry else ''}")
    return described


def _describe(element: ElementIdentity) -> str:
    name = element.name if len(element.name) <= 80 else f"{element.name[:80]}…"
    label = f' "{name}"' if name else f" testid={element.testid}" if element.testid else ""
    return f"{element.role}{label}"
