"""Find the effect of an action for its answer, or the reason why it had no effect.

`judge` derives it from what is known. The page is queried again only if the action seems to have no effect.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from footlight.browser.page.settling import has_scrolled, read_records
from footlight.browser.reading.hovering import HoverReaction, find_hover_reaction
from footlight.browser.reading.listeners import Reaction, find_reaction
from footlight.server.calls.act_trace import SAME, Effect, judge

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.page.settling import ActRecord
    from footlight.server.calls.act_trace import ActTrace
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["advise_after_failures", "find_effect", "note_repeat", "take_records"]

ASK_SECONDS = 5.0
"""The time limit for querying a page on which an action seems to have had no effect."""
REPEATS = 3
"""The number of repetitions without a change after which an action's answer contains advice."""
MAX_REPORTED = 1_000
"""The maximum number of ids of records that a page remembers."""

_ABOUT_THE_ANSWER = frozenset(
    {"sessionId", "pageId", "timeout", "observe", "settle", "expect", "locator", "budget"}
)
_CLICKING = "screenshot to see what is there, a click on what is inside or around it, or Enter with press"
_TYPING = "a click on the field first, or the other one of fill and type"
_USUAL_ADVICE = "screenshot or snapshot to see what is there, or another way"
_ADVICE = {
    **dict.fromkeys(("click", "check", "uncheck", "mouse_click", "tap"), _CLICKING),
    **dict.fromkeys(("fill", "fill_form", "type"), _TYPING),
    "press": "a click on the element that should receive the key first, or a click in place of the key",
    "select": "a click on the list, and then on the option",
    "hover": "a click in place of hover, or waiting with wait_for",
    "scroll": "snapshot: the end may be reached, or the selector of the box that scrolls",
    "drag_and_drop": "mouse_drag (group vision), or the keys that the page offers",
}
"""Alternatives that the model could try, by tool."""

_MAYBE_OTHERS = "a script of the page ran; what has changed on the page may have another cause"
_OTHER_CAUSE = "nothing on the page listens for clicks there; what has changed has another cause"
_ON_HOVER = "the page changed when the mouse moved there"
_REACTIONS: Mapping[Reaction, str] = {
    "disabled": "it is in a disabled part of the page",
    "no listener": "nothing on the page listens for {} there",
    "double click": "the page listens only for double clicks there",
    "no change": "listeners of the page received it and changed nothing",
    "only around": "only listeners around it received it, and the page shows nothing of what they did",
    "hidden change": "a script of the page ran, and the page does not show what it did",
    "closed shadow tree": "it has a closed shadow tree, and the page does not show what happens there",
}

_HOVER_REACTIONS: Mapping[HoverReaction | None, str] = {
    "appeared": "styles for :hover show something that the page had before, but out of sight",
    "restyled": "styles for :hover changed only the look",
    "hidden change": "listeners of the page received it, and the page shows nothing of what they did",
    "no listener": "nothing on the page reacts to the mouse there",
}


async def find_effect(call: ToolCall, trace: ActTrace) -> Effect:
    """Return the effect of an action. If it seems to have no effect, query the page's listeners."""
    if call.report.has_no_effect:
        return Effect("none", call.report.idle_reason or None)
    page, effect = call.maybe_page, judge(trace)
    may_be_chance = effect.text == "page" and not effect.reason and trace.may_be_chance()
    if page is None or page.closed or not (effect.text == "none" or may_be_chance):
        return effect
    try:
        async with asyncio.timeout(call.deadline.limit_reading(ASK_SECONDS)):
            if may_be_chance:
                return Effect("none", _OTHER_CAUSE) if await _has_no_listener(page, trace) else effect
            return await _ask_page(call, page, trace, effect)
    except TimeoutError:
        if may_be_chance:
            return effect
        return replace(effect, text="unknown", reason=effect.reason or "the page did not respond")


async def _has_no_listener(page: Page, trace: ActTrace) -> bool:
    """Return whether nothing on the page listens for the clicks, after which documents have changed."""
    for record in trace.records:
        if record.later:
            reaction = record.path and await find_reaction(
                page, record.path, record.point, types=record.types, root=record.root
            )
            if reaction not in ("no listener", "double click"):
                return False
    return True


async def _ask_page(call: ToolCall, page: Page, trace: ActTrace, effect: Effect) -> Effect:
    """Return the effect of an action that seems to have no effect, after querying the page."""
    if not trace.records:  # The page may have handled the input later, as with the wheel.
        trace = replace(trace, records=take_records(page, await read_records(page)))
        effect = judge(trace)
    if effect.text == "none" and not (call.report.idle_reason and not effect.reason):
        effect = await _ask_listeners(page, trace, effect)
    if effect.text == "none" and not effect.reason and call.report.has_hovered:
        reaction = await find_hover_reaction(page)
        return Effect("page" if reaction == "appeared" else "none", _HOVER_REACTIONS.get(reaction, SAME))
    if effect.text == "none" and trace.change == "some" and any(each.hovered for each in trace.records):
        return Effect("page", "; ".join(filter(None, (_ON_HOVER, effect.reason))))
    if effect.text == "none" and not effect.reason:
        is_same = trace.records and trace.change in ("none", "focus")
        return replace(effect, reason=call.report.idle_reason or (SAME if is_same else None))
    return effect


def note_repeat(call: ToolCall, tool: str, arguments: Mapping[str, Any], effect: Effect) -> Effect:
    """Count repetitions of an action without effect. Return its effect, with advice from the third one on.

    A repetition has the same tool and arguments. Arguments that only affect the answer are ignored.
    """
    page = call.maybe_page
    if page is None or tool == "evaluate":  # A script often reads the same thing again.
        return effect
    if not effect.is_idle:
        page.last_act = ("", 0)
        return effect
    count = _count_repeats(page, tool, arguments)
    if count < REPEATS:
        return effect
    advice = _ADVICE.get(tool, _USUAL_ADVICE)
    return replace(effect, advice=f"done {count} times in a row without a change to the page; try {advice}")


def advise_after_failures(call: ToolCall, tool: str, arguments: Mapping[str, Any], code: str) -> str | None:
    """Count repetitions of an action that fails with the same code. Return advice from the third one on."""
    page = call.maybe_page
    if page is None or (count := _count_repeats(page, tool, arguments, code)) < REPEATS:
        return None
    return f"It has failed {count} times in a row: look with snapshot, then try another element or way."


def _count_repeats(page: Page, tool: str, arguments: Mapping[str, Any], result: str = "") -> int:
    own = {name: value for name, value in arguments.items() if name not in _ABOUT_THE_ANSWER}
    # Only a digest is stored, because the arguments may contain typed text.
    key = sha256(json.dumps([tool, own, result], sort_keys=True, default=str).encode()).hexdigest()
    last, count = page.last_act
    page.last_act = (key, count + 1 if key == last else 1)
    return page.last_act[1]


async def _ask_listeners(page: Page, trace: ActTrace, effect: Effect) -> Effect:
    """Return the effect with the reaction of the page's listeners, unless there is another reason."""
    record = next((each for each in reversed(trace.records) if each.path), None)
    if record is None or record.path is None or (record.reason is not None and record.kind != "taken"):
        return effect
    reaction = await find_reaction(
        page,
        record.path,
        record.point,
        None if record.point else record.key,
        types=record.types,
        root=record.root,
    )
    if record.drawn and reaction not in ("disabled", "no listener", "double click", "no change"):
        return Effect("page", effect.reason)
    if reaction in ("hidden change", "closed shadow tree"):
        if await has_scrolled(page):
            return Effect("page", effect.reason)  # It scrolls smoothly, and has just begun to.
        reason = _MAYBE_OTHERS if trace.change == "some" else _REACTIONS[reaction]
        return Effect("script", effect.reason if trace.error else reason)
    if effect.reason or not reaction:
        return effect
    return Effect("none", _REACTIONS[reaction].format("clicks" if record.point else "keys"))


def take_records(page: Page, known: Sequence[ActRecord]) -> list[ActRecord]:
    """Return the records that were not returned for an earlier call, and remember them.

    If a pointer was pressed, scroll records are left out, because the scroll only brought the target into
    view.
    """
    fresh = [each for each in known if each.id not in page.reported_records]
    if any(each.by == "pointerdown" for each in fresh):
        fresh = [each for each in fresh if each.by != "scroll"]
    reported = page.reported_records if len(page.reported_records) < MAX_REPORTED else set[int]()
    page.reported_records = reported | {each.id for each in known}
    return fresh
