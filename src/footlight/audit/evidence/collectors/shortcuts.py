"""Press single characters where no field has the focus, and find those that do something."""

from __future__ import annotations

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule
from footlight.audit.evidence.scripts import script
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.untrusted_json import an_object, items, text

__all__ = ["CharacterShortcuts"]

PROBE = "window[Symbol.for('footlight.shortcuts')]"
SHORTCUT = Rule(
    id="keys/character-shortcut",
    wcag=("2.1.4 A",),
    act=("ffbc54",),
    severity="medium",
    title="A single character is a keyboard shortcut that cannot be turned off",
    advice="Let readers turn it off or add a modifier key to it, or let it act only where a part has the "
    "focus: speech input and slips of the hand press characters that nobody meant.",
    help_url="https://www.w3.org/WAI/WCAG22/Understanding/character-key-shortcuts.html",
)


class CharacterShortcuts:
    """Find keyboard shortcuts of a single character.

    Runs last: a shortcut can change the page. Requests, navigations and dialogs are refused meanwhile.
    """

    name = "keyboard shortcuts"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = an_object(await page.evaluate(script("controls", "shortcuts")))
        keys = [key for each in items(answer.get("keys")) if len(key := text(each) or "") == 1]
        if not keys:
            return Collected()
        at_once = [text(each) or "" for each in items(answer.get("effects"))]
        notes = [
            f"“{key}” {effect}"
            for key, first in zip(keys, at_once, strict=False)
            if (effect := await _press(page, key, first))
        ]
        await page.evaluate(f"async () => {PROBE}?.end() ?? null")
        elements = [{"selector": "body", "note": note} for note in notes]
        how = f"single characters, pressed at {view.width} px while no field had the focus"
        found = SHORTCUT.finding({"elements": elements}, view, how)
        return Collected(findings=[found] if found else [])


async def _press(page: AuditedPage, key: str, first: str) -> str:
    """Press the key and return what it did, or nothing if the page changes without it.

    `first` is what it did when it was tried. Some can be done only once, such as to delete what is selected.
    """
    await page.evaluate(f"async () => {PROBE}?.begin() ?? null")
    if await page.evaluate(f"async () => {PROBE}?.effect() ?? ''"):
        return ""
    await page.press(key)
    return text(await page.evaluate(f"async () => {PROBE}?.effect() ?? ''")) or first
