"""Where the focus goes: Tab is really pressed, from above the first element until it comes round."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from footlight.client.loose import an_object, integer, items, text
from footlight.ux.evidence.collector import Collected
from footlight.ux.evidence.rule import Rule, findings_of
from footlight.ux.evidence.scripts import script
from footlight.ux.findings import Fact, Finding, Severity
from footlight.ux.page import AuditedPage, View

__all__ = ["FocusOrder"]

MOST_PRESSES = 120
MOST_SECONDS = 40.0
AT_ONCE = 8
"""Presses until the page is asked where that led; each has been noted there."""
LONGEST_ORDER = 520
KEY = "window[Symbol.for('footlight.focus')]"
WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"

RULES = (
    Rule(
        id="focus/trap",
        severity="critical",
        title="The focus cannot leave an element with the keyboard",
        advice="Let Tab and Shift+Tab move the focus on from there. Where Tab must have another meaning, "
        "let Escape end it, and say so beside the element.",
        help_url=f"{WCAG}no-keyboard-trap.html",
    ),
    Rule(
        id="focus/not-visible",
        severity="high",
        title="Nothing shows that an element has the focus",
        advice="Give :focus-visible an outline of at least 2 px that stands out from what is around it. "
        "Do not take the browser's away without one of your own.",
        help_url=f"{WCAG}focus-visible.html",
    ),
    Rule(
        id="focus/hidden",
        severity="high",
        title="The focus goes to elements that nobody sees",
        advice="Take what is closed or moved out of sight out of the order: with display: none, "
        "visibility: hidden, the attribute hidden, or inert. Show it where it gets the focus.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/covered",
        severity="high",
        title="An element with the focus is wholly behind something that stays in its place",
        advice="Keep room for bars and notices with scroll-padding, and keep the focus inside a dialog "
        "for as long as it covers the page.",
        help_url=f"{WCAG}focus-not-obscured-minimum.html",
    ),
    Rule(
        id="focus/lost",
        severity="high",
        title="The focus is gone after Tab reached an element",
        advice="Do not call blur() on what gets the focus, and do not remove it then.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/order",
        severity="medium",
        title="Tab goes against the order on the screen",
        advice="Write the elements in the order in which they are shown, instead of turning it round with "
        "flex-direction, order or a grid.",
        help_url=f"{WCAG}focus-order.html",
    ),
    Rule(
        id="focus/no-skip-link",
        severity="medium",
        title="With the keyboard it is a long way to the main part",
        advice="Begin the page with a link to its main part that is shown when it has the focus.",
        help_url=f"{WCAG}bypass-blocks.html",
    ),
)
UNREACHABLE = Rule(
    id="focus/unreachable",
    severity="high",
    title="What can be clicked cannot be reached with the keyboard",
    advice="Make it a button or a link. A div with a handler also needs a role, tabindex=0, and answers to "
    "Enter and Space.",
    help_url=f"{WCAG}keyboard.html",
)
ENDS: Mapping[str, str] = {
    "end": "then it comes round",
    "none": "nothing on the page takes the focus",
    "many": "the rest was not tried",
    "inside": "the rest is behind a part of the page that cannot be looked into",
    "trap": "it goes no further",
}


class FocusOrder:
    """Comes last: pages open menus, load more and change their looks as the focus moves."""

    name = "the way of the focus"
    every_view = False

    async def collect(self, page: AuditedPage, view: View) -> Collected:
        clickable = an_object(await page.evaluate(script("clickable")))
        await page.evaluate(script("focus_looks", "focus_sight", "focus"))
        presses = await _walk(page)
        told = an_object(await page.evaluate(f"() => {KEY}?.end() ?? null"))
        how = f"{presses} presses of Tab at {view.width} px"
        found = [_weighed(each, told) for each in findings_of(RULES, told, view, how)]
        stops = [_stop(an_object(each)) for each in items(told.get("stops"))]
        return Collected(
            findings=[*found, *_unreachable(clickable, view)],
            facts=[Fact(topic="focus", text=_order(stops, text(told.get("done"))))],
            metrics={"focus_stops": len(stops)} if told else {},
        )


async def _walk(page: AuditedPage) -> int:
    """How often Tab was pressed. One after the other, where the page keeps the key to itself."""
    presses, at_once, deadline = 0, 1, time.monotonic() + MOST_SECONDS
    while presses < MOST_PRESSES and time.monotonic() < deadline:
        for _ in range(at_once):
            await page.press("Tab")
        presses += at_once
        told = await _look(page, f"look({str(at_once == 1).lower()})")
        if text(told.get("done")) == "trap":
            await page.press("Escape")
            await page.press("Tab")
            told = await _look(page, "resume()")
        if not told or text(told.get("done")):
            break
        at_once = AT_ONCE if presses > 1 and integer(told.get("heard")) == presses else 1
    return presses


async def _look(page: AuditedPage, call: str) -> Mapping[str, Any]:
    """Nothing, where the page that was listened to is gone."""
    return an_object(await page.evaluate(f"() => {KEY}?.{call} ?? null"))


def _weighed(found: Finding, told: Mapping[str, Any]) -> Finding:
    """A trap behind which there is nothing more holds nobody up."""
    is_harmless = found.rule == "focus/trap" and not integer(told.get("missed"))
    return replace(found, severity="high") if is_harmless else found


def _unreachable(clickable: Mapping[str, Any], view: View) -> Sequence[Finding]:
    how = f"elements that a mouse can click, compared with those that Tab can reach, at {view.width} px"
    severity: Severity = "high" if integer(clickable.get("certain")) else "medium"
    found = UNREACHABLE.finding(clickable.get("unreachable"), view, how, severity=severity)
    return [] if found is None else [found]


def _stop(told: Mapping[str, Any]) -> str:
    name = text(told.get("name"))
    return f"{text(told.get('kind'))} “{name}”" if name else f"{text(told.get('kind'))} without a name"


def _order(stops: Sequence[str], done: str | None) -> str:
    if not stops:
        return "Tab: nothing on the page takes the focus." if done else "Tab: the page was left meanwhile."
    shown, length = 0, 0
    while shown < len(stops) and (length := length + len(stops[shown]) + 5) < LONGEST_ORDER:
        shown += 1
    rest = f" … and {len(stops) - shown} more" if shown < len(stops) else ""
    order = ", ".join(f"{number} {stop}" for number, stop in enumerate(stops[:shown], 1))
    return f"Tab stops ({len(stops)}): {order}{rest}; {ENDS.get(done or '', 'the time was up')}."
