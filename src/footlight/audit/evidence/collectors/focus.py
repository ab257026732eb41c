"""Follow the keyboard focus: press Tab from the top of the page until the focus order repeats."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule, findings_of
from footlight.audit.evidence.scripts import script
from footlight.audit.findings import Fact, Finding, Severity
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.untrusted_json import an_object, integer, items, text

__all__ = ["LEAVES", "FocusOrder"]

SCRIPTS = ("focus_parts", "focus_looks", "focus_sight", "focus_names", "focus_order", "focus_exits", "focus")

MAX_PRESSES = 120
MAX_SECONDS = 40.0
PRESSES_PER_CHECK = 8
"""How many presses at most are sent before the page is asked for its record of them."""
PRESSES_BEHIND_LAST = 3
"""How many presses show that the order comes round: out of the page and into it, twice if it has one stop."""
MAX_ORDER_LENGTH = 520
SKIP = "window[Symbol.for('footlight.skip')]"
KEY = "window[Symbol.for('footlight.focus')]"
WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"

RULES = (
    Rule(
        id="focus/trap",
        wcag=("2.1.2 A",),
        act=("80af7b", "a1b64e", "ebe86a"),
        severity="critical",
        title="Keyboard trap: the focus cannot leave an element",
        advice="Let Tab and Shift+Tab move the focus on from there. Where Tab must have another meaning, "
        "let Escape end it, and say so beside the element.",
        help_url=f"{WCAG}no-keyboard-trap.html",
    ),
    Rule(
        id="focus/no-tab",
        wcag=("2.1.1 A",),
        severity="critical",
        title="Tab does not move the focus",
        advice="Let no handler of keys cancel Tab on the whole page: nothing can be reached without it.",
        help_url=f"{WCAG}keyboard.html",
    ),
    Rule(
        id="focus/not-visible",
        wcag=("2.4.7 AA",),
        act=("oj04fd",),
        severity="high",
        title="Nothing shows that an element has the focus",
        advice="Give :focus-visible an outline of at least 2 px that stands out from what is around it. "
        "Do not take the browser's away without one of your own.",
        help_url=f"{WCAG}focus-visible.html",
    ),
    Rule(
        id="focus/hidden",
        wcag=(
            "2.4.3 A",
            "2.4.7 AA",
        ),
        severity="high",
        title="The focus goes to invisible elements",
        advice="Take what is closed or moved out of sight out of the order: with display: none, "
        "visibility: hidden, the attribute hidden, or inert. Show it where it gets the focus.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/covered",
        wcag=("2.4.11 AA",),
        severity="high",
        title="The focused element is completely behind fixed content",
        advice="Keep room for bars and notices with scroll-padding, and keep the focus inside a dialog "
        "for as long as it covers the page.",
        help_url=f"{WCAG}focus-not-obscured-minimum.html",
    ),
    Rule(
        id="focus/lost",
        wcag=("2.4.3 A",),
        severity="high",
        title="The focus is lost after Tab reaches an element",
        advice="Do not call blur() on what gets the focus, and do not remove it then.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/order",
        wcag=("2.4.3 A",),
        severity="medium",
        title="The focus order contradicts the visual order",
        advice="Write the elements in the order in which they are shown, instead of turning it round with "
        "flex-direction, order or a grid.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/no-skip-link",
        wcag=("2.4.1 A",),
        act=("cf77f2",),
        severity="medium",
        title="Many presses of Tab are needed to reach the main content",
        advice="Begin the page with a skip link to the main content that is visible when it has the focus.",
        help_url=f"{WCAG}bypass-blocks.html",
    ),
)
INSIDE = replace(
    RULES[0],
    id="focus/inside",
    severity="medium",
    title="The focus may be trapped in a part that cannot be looked into",
    advice="Check by hand whether Tab and Shift+Tab move the focus on from there.",
)
SKIP_LINK = Rule(
    id="focus/skip-link",
    wcag=("2.4.1 A",),
    severity="medium",
    title="A skip link does not move the focus",
    advice="Link to the `id` of the main part, and let no script cancel that. A script that scrolls there "
    "must also move the focus there: give the main part tabindex=-1 and call focus().",
    help_url=f"{WCAG}bypass-blocks.html",
)
UNREACHABLE = Rule(
    id="focus/unreachable",
    wcag=("2.1.1 A",),
    severity="high",
    title="A clickable element cannot be reached with the keyboard",
    advice="Make it a button or a link. A div with a handler also needs a role, tabindex=0, and answers to "
    "Enter and Space.",
    help_url=f"{WCAG}keyboard.html",
)
LEAVES = Rule(
    id="focus/changes-page",
    wcag=("3.2.1 A",),
    severity="high",
    title="Pressing Tab leads to another page",
    advice="Check by hand whether an element loads another page when it gets the focus. Load pages only when "
    "a link or a button is activated.",
    help_url=f"{WCAG}on-focus.html",
)
ENDS: Mapping[str, str] = {
    "end": "then it comes round",
    "none": "nothing on the page takes the focus",
    "many": "the rest was not tried",
    "inside": "the rest is behind a part of the page that cannot be looked into",
    "trap": "it goes no further",
}


class FocusOrder:
    """Press Tab through the page. Runs last: moving the focus can open menus and load content."""

    name = "keyboard focus order"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        clickable = an_object(await page.evaluate(script("clickable")))
        presses, in_doubt = await _press_through(page)
        if in_doubt:
            # Timing decides on such a page: begin again, one key at a time, each after the page is at rest.
            await page.evaluate(f"async () => {KEY}?.end() ?? null")
            presses = await _press_carefully(page)
        answer = an_object(await page.evaluate(f"async () => {KEY}?.end() ?? null"))
        how = f"{presses} presses of Tab at {view.width} px"
        found = [_adjust_severity(each, answer) for each in findings_of(RULES, answer, view, how)]
        stops = [_describe_stop(an_object(each)) for each in items(answer.get("stops"))]
        return Collected(
            findings=[*found, *_find_unreachable(clickable, view), *await _press_skip_link(page, view)],
            to_check=findings_of((INSIDE,), answer, view, how),
            facts=[Fact(topic="focus", text=_describe_order(stops, text(answer.get("done"))))],
            metrics={"focus_stops": len(stops)} if answer else {},
        )


async def _press_through(page: AuditedPage) -> tuple[int, bool]:
    """Press Tab until the focus order ends. Return the number of presses, and whether the result is in doubt.

    Keys are sent one at a time on pages that keep the key event to themselves.
    """
    tabbable = integer(an_object(await page.evaluate(script(*SCRIPTS))).get("tabbable")) or 0
    presses, at_once, deadline = 0, 1, time.monotonic() + MAX_SECONDS
    answer: Mapping[str, Any] = {}
    while presses < MAX_PRESSES and time.monotonic() < deadline:
        for _ in range(at_once):
            await page.press("Tab")
        presses += at_once
        answer = await _ask_recorder(page, f"look({str(at_once == 1).lower()})")
        if not answer or text(answer.get("done")) or answer.get("isRestless"):
            break
        is_heard = presses > 1 and integer(answer.get("heard")) == presses
        at_once = _count_next_presses(tabbable, presses) if is_heard else 1
    settled = await _ask_recorder(page, "settle()") if answer else answer
    return presses, text(settled.get("done")) == "trap" or bool(settled.get("isRestless"))


def _count_next_presses(tabbable: int, presses: int) -> int:
    """Return how many presses to send at once: no more than the way round is expected to take."""
    expected = tabbable + PRESSES_BEHIND_LAST - presses
    return min(expected, PRESSES_PER_CHECK) if expected > 0 else PRESSES_PER_CHECK


async def _press_carefully(page: AuditedPage) -> int:
    """Press Tab until the focus order ends, and wait after each press until the page is at rest."""
    await page.evaluate(script(*SCRIPTS))
    presses, deadline = 0, time.monotonic() + MAX_SECONDS
    while presses < MAX_PRESSES and time.monotonic() < deadline:
        await page.press("Tab")
        presses += 1
        answer = await _ask_recorder(page, "settle()")
        if text(answer.get("done")) == "trap":
            answer = await _try_exits(page)
        if not answer or text(answer.get("done")):
            break
    return presses


async def _try_exits(page: AuditedPage) -> Mapping[str, Any]:
    """Try to leave a trap by Escape, then by the key that the page names."""
    named = an_object(await page.evaluate(f"async () => {KEY}?.exit() ?? null"))
    answer: Mapping[str, Any] = {}
    for key in dict.fromkeys(("Escape", _key_name(text(named.get("key")) or ""))):
        # The key may move the focus itself, or only let the next Tab move it.
        for press in (key, "Tab") if key else ():
            await page.press(press)
            await _ask_recorder(page, "settle()")
            answer = await _ask_recorder(page, "resume()")
            if text(answer.get("done")) != "trap":
                return answer
    return answer


def _key_name(words: str) -> str:
    """Return a key as browsers call it: `Ctrl + M` is `Control+m`."""
    names = {"esc": "Escape", "escape": "Escape", "ctrl": "Control", "cmd": "Meta"}
    parts = [part for part in re.split(r"[\s+-]", words.lower()) if part]
    return "+".join(names.get(part) or (part if len(part) == 1 else part.capitalize()) for part in parts)


async def _press_skip_link(page: AuditedPage, view: AuditViewport) -> Sequence[Finding]:
    """Press Enter and Tab on the skip link, if there is one, and judge where the focus landed."""
    if not an_object(await page.evaluate(script("skip_links"))).get("found"):
        return []
    await page.press("Enter")
    await page.evaluate(f"async () => {SKIP}?.land() ?? null")
    await page.press("Tab")
    answer = await page.evaluate(f"async () => {SKIP}?.judge() ?? null")
    return findings_of((SKIP_LINK,), answer, view, f"Enter and Tab, pressed at {view.width} px")


async def _ask_recorder(page: AuditedPage, call: str) -> Mapping[str, Any]:
    """Call the recorder in the page. Return an empty object if that document is gone."""
    return an_object(await page.evaluate(f"async () => {KEY}?.{call} ?? null"))


def _adjust_severity(found: Finding, answer: Mapping[str, Any]) -> Finding:
    """Lower the severity of a trap with no elements behind it, or with an exit that the page documents."""
    is_harmless = not integer(answer.get("missed")) or bool(an_object(answer.get("exit")))
    is_harmless = found.rule == "focus/trap" and is_harmless
    return replace(found, severity="high") if is_harmless else found


def _find_unreachable(clickable: Mapping[str, Any], view: AuditViewport) -> Sequence[Finding]:
    how = f"elements that a mouse can click, compared with those that Tab can reach, at {view.width} px"
    severity: Severity = "high" if integer(clickable.get("certain")) else "medium"
    found = UNREACHABLE.finding(clickable.get("unreachable"), view, how, severity=severity)
    return [] if found is None else [found]


def _describe_stop(answer: Mapping[str, Any]) -> str:
    name = text(answer.get("name"))
    return f"{text(answer.get('kind'))} “{name}”" if name else f"{text(answer.get('kind'))} without a name"


def _describe_order(stops: Sequence[str], done: str | None) -> str:
    if not stops:
        return "Tab: nothing on the page takes the focus." if done else "Tab: the page was left meanwhile."
    count, length = 0, 0
    while count < len(stops) and (length := length + len(stops[count]) + 5) < MAX_ORDER_LENGTH:
        count += 1
    rest = f" … and {len(stops) - count} more" if count < len(stops) else ""
    order = ", ".join(f"{number} {stop}" for number, stop in enumerate(stops[:count], 1))
    return f"Tab stops ({len(stops)}): {order}{rest}; {ENDS.get(done or '', 'the time was up')}."
