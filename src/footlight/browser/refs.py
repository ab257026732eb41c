"""A ref becomes its element, or the one that took its place; or an error that names what is there instead.

Never a guess. A ref whose element is gone leads on only where nothing else on the page was like that
element, and just one is now, which was not there before. A ref whose element lives is refused where it has
come to mean something else: the row of a list that is used again for another entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from footlight.browser.locators import frame_locator, stable_locator
from footlight.browser.looking import ENGINE, ask, look
from footlight.browser.places import ENTRIES, places
from footlight.browser.snapshot import Node
from footlight.browser.view import Gone, Identity, Meaning, identity
from footlight.errors import StaleRef

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Target", "leading_ref", "resolve"]

_LEADING = re.compile(r"\s*(?:\[ref=(?P<b>e[1-9]\d*)\]|(?:ref=|@)?(?P<a>e[1-9]\d*))\s*(?=>>|$)")

MOST_CANDIDATES = 5
LIKE = 0.5
"""How alike two names must be for one to be offered in place of the other, from 0 to 1."""


class Target(NamedTuple):
    """A living element: its ref, and the frame that it is in. `locator` leads to it again in another run."""

    ref: str
    frame: Frame
    locator: str | None = None

    @property
    def selector(self) -> str:
        return f"{ENGINE}={self.ref}"


def leading_ref(selector: str) -> tuple[str, str] | None:
    """The ref that a selector begins with, and the rest: `e12`, or `e12 >> .child`.

    Also as other tools write refs: `[ref=e12]`, `ref=e12`, `@e12`.
    """
    found = _LEADING.match(selector)
    return (found["a"] or found["b"], selector[found.end() :]) if found else None


async def resolve(page: Page, ref: str, deadline: Deadline) -> Target:
    """The element of a ref, or its one successor, which is then noted as healed.

    Raises:
        StaleRef: its element is gone, or means something else by now, and nothing took its place for certain.
    """
    view = page.view
    was = view.meaning(ref)
    seen, gone = view.seen(ref), view.gone(ref)
    frame = seen[1] if seen else gone.frame if gone else None
    found = await _now(page, frame, ref) if frame else None
    now, locator = found or (None, None)
    if frame and now and (was is None or (now == was.identity and not was.entry)):
        return Target(ref, frame, locator)
    nodes = (await look(page, deadline)).nodes
    if living := view.seen(ref):
        target = _checked(page, ref, was, nodes, living) if was else Target(ref, living[1])
    elif frame and now:  # It lives, and is hidden: whoever acts on it waits for it, or says so.
        target = Target(ref, frame)
    else:
        target = _healed(page, ref, nodes)
    return target._replace(locator=_known_locator(page, target.frame, target.ref) or locator)


async def _now(page: Page, frame: Frame, ref: str) -> tuple[Identity, str | None] | None:
    """What it is, and what leads to it."""
    if frame.is_detached():
        return None
    locator = _known_locator(page, frame, ref)
    found = await ask(frame, {"what": "identify", "ref": ref, "path": locator is None})
    if found is None:
        return None
    path, before = found.get("path"), frame_locator(frame)
    if path and before is not None:
        locator = before + path
    return Identity(found["testid"], found["role"], found["name"]), locator


def _known_locator(page: Page, frame: Frame, ref: str) -> str | None:
    """From the last look; None where that does not tell it."""
    seen, before = page.view.frames.get(frame), frame_locator(frame)
    found = stable_locator(seen.nodes, ref) if seen else None
    return None if found is None or before is None else before + found


def _checked(page: Page, ref: str, was: Meaning, nodes: Sequence[Node], living: tuple[Node, Frame]) -> Target:
    """The element lives. Whether it still is what its caller was told can be doubted in three cases.

    Its entry is another by now; it changed, and is an entry or in one; or another is what it was.
    """
    node, frame = living
    place = places(nodes)[ref]
    now = Meaning(identity(node), place.entry or (place.after if was.entry else ""))
    moved = bool(was.entry and now.entry) and now.entry != was.entry
    others = [other for other in nodes if other.ref and other.ref != ref and identity(other) == was.identity]
    if not moved and (now.identity == was.identity or not (others or place.entry or node.role in ENTRIES)):
        return Target(ref, frame)
    page.view.show([*others, node], of=nodes)
    candidates = _described([*others, node])
    raise StaleRef(
        f"{ref} was {_meant(was)} and is {_meant(now)} by now; nothing was done. "
        f"Candidates: {'; '.join(candidates)}",
        ref=ref,
        page=page.url,
        candidates=candidates,
    )


def _meant(meaning: Meaning) -> str:
    where = meaning.entry if meaning.entry.startswith("after ") else f"in {meaning.entry}"
    return _brief(meaning.identity) + (f" {where}" if meaning.entry else "")


def _healed(page: Page, ref: str, nodes: Sequence[Node]) -> Target:
    gone = page.view.gone(ref)
    if gone is None:
        raise _unknown(page, ref)
    like = [node for node in nodes if node.ref and identity(node) == identity(gone.node)]
    if len(like) == 1 and gone.unique and identity(gone.node).tells_apart:
        successor = like[0].ref or ""
        living = page.view.seen(successor)
        if living is not None and _took_its_place(page, gone, successor, living[1], nodes):
            page.view.healed[ref] = successor
            return Target(successor, living[1])
    raise _stale(page, ref, gone, nodes, len(like))


def _took_its_place(page: Page, gone: Gone, successor: str, frame: Frame, nodes: Sequence[Node]) -> bool:
    """It was not there before, is at the same address, and in the same words of what is around it."""
    at = page.view.frames.get(frame)
    place = places(nodes)[successor]
    return (
        _number(successor) >= gone.before
        and at is not None
        and at.url == gone.url
        and (place.entry, place.around) == (gone.place.entry, gone.place.around)
    )


def _stale(page: Page, ref: str, gone: Gone, nodes: Sequence[Node], like: int) -> StaleRef:
    candidates = _described(_closest(gone.node, nodes))
    why = f"; {like} elements are like it now" if like > 1 else ""
    near = f". Candidates: {'; '.join(candidates)}" if candidates else ""
    return StaleRef(
        f"{ref}, {_brief(identity(gone.node))}, is not on the page any more{why}{near}",
        ref=ref,
        page=page.url,
        candidates=candidates,
        gone=True,
    )


def _unknown(page: Page, ref: str) -> StaleRef:
    for other in page.session.pages:
        if other is not page and other.view.seen(ref):
            return StaleRef(
                f"{ref} is an element of {other.id}; this call is about {page.id}",
                suggestion=f"Give pageId {other.id}, or take a snapshot of {page.id}.",
                ref=ref,
                page=page.url,
                pageId=other.id,
            )
    return StaleRef(f"No element was given the ref {ref}, or it was too long ago", ref=ref, page=page.url)


def _closest(gone: Node, nodes: Sequence[Node]) -> list[Node]:
    """Those most like it, which have its role or a name like its own."""
    ranked = sorted(
        ((_likeness(gone, node), -place, node) for place, node in enumerate(nodes) if node.ref),
        key=lambda each: each[:2],
        reverse=True,
    )
    return [node for likeness, _, node in ranked[:MOST_CANDIDATES] if likeness > LIKE]


def _likeness(gone: Node, node: Node) -> float:
    names = 0.0
    if gone.name and node.name:
        match = SequenceMatcher(None, gone.name[:100].lower(), node.name[:100].lower(), autojunk=False)
        names = match.ratio() if match.quick_ratio() > LIKE else 0.0
    same_test_id = bool(gone.testid) and gone.testid == node.testid
    return names + 1.0 * same_test_id + 0.5 * (names > 0 or same_test_id) * (gone.role == node.role)


def _described(nodes: Iterable[Node]) -> list[str]:
    return [f"{node.ref} {_brief(identity(node))}" for node in nodes][:MOST_CANDIDATES]


def _brief(element: Identity) -> str:
    name = element.name if len(element.name) <= 80 else f"{element.name[:80]}…"
    said = f' "{name}"' if name else f" testid={element.testid}" if element.testid else ""
    return f"{element.role}{said}"


def _number(ref: str) -> int:
    return int(ref[1:])
