"""Find the built-in functions that a page has replaced, and measure it without them."""

from __future__ import annotations

from collections.abc import Sequence

from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.collectors.behaviour import Behaviour
from footlight.audit.evidence.collectors.focus import FocusOrder
from footlight.audit.evidence.collectors.shortcuts import CharacterShortcuts
from footlight.audit.evidence.scripts import bare_script
from footlight.audit.findings import Skipped
from footlight.audit.page.page import AuditedPage, AuditViewport
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.protocol.untrusted_json import items, text

__all__ = ["PageFunctions", "find_replaced"]

_ATTEMPTS = 3
UNKNOWN = "functions that every script needs"
_NAMES = """
Array Boolean Date Error Function JSON Map Math Number Object Promise Reflect RegExp Set String Symbol
TypeError WeakMap WeakRef WeakSet decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt
AbortController AbortSignal Animation Attr CSS CSSAnimation CSSStyleDeclaration CSSStyleSheet CharacterData
DOMRect DOMRectReadOnly DOMTokenList Document DocumentFragment Element Event EventTarget HTMLAnchorElement
HTMLCollection HTMLElement HTMLFormElement HTMLIFrameElement HTMLImageElement HTMLInputElement
HTMLLabelElement HTMLMediaElement HTMLSelectElement HTMLTextAreaElement KeyboardEvent MessageChannel
MessagePort MutationObserver NamedNodeMap Node NodeFilter NodeList Performance PerformanceObserver Range
Response SVGElement ShadowRoot StyleSheet Text TreeWalker URL URLSearchParams
addEventListener clearTimeout fetch getComputedStyle matchMedia performance postMessage removeEventListener
requestAnimationFrame scrollTo setTimeout
""".split()  # noqa: SIM905 - the words are easier to read
"""The built-ins that the scripts of the audit and axe-core use."""


class PageFunctions:
    """Chooses the built-in functions that scripts use on a page: the page's own, or the browser's.

    Scripts run in the page's world, unless the page has replaced functions that they need. Then they run in
    an isolated world, where the replacements have no effect.
    """

    def __init__(self, page: AuditedPage) -> None:
        self._page = page
        self._replaced: Sequence[str] = ()
        self._is_isolated = False

    async def choose(self) -> None:
        """Look at the functions of the document. Call this after the page was opened or has moved on."""
        self._replaced = ()
        if await self._page.isolate(isolated=False):
            return
        self._replaced = await find_replaced(self._page)
        self._is_isolated = bool(self._replaced) and await self._page.isolate(isolated=True)

    def select_reliable(
        self, collectors: Sequence[Collector], view: AuditViewport
    ) -> tuple[Sequence[Collector], Sequence[Skipped]]:
        """Return the collectors that can measure the page as it is, and what is left out."""
        if not self._replaced:
            return collectors, ()
        why = f"the page replaced {', '.join(self._replaced)}"
        if not self._is_isolated:
            why = f"{why}, and this server and browser have no world apart from it to measure in"
            return (), [Skipped(what=f"everything at {view.width} px", why=why)]
        unseen = {
            FocusOrder: "click handlers that scripts set",
            Behaviour: "context menu handlers that scripts set",
            CharacterShortcuts: f"{CharacterShortcuts.name} at {view.width} px",
        }
        skipped = [
            Skipped(what=what, why=why)
            for kind, what in unseen.items()
            if any(isinstance(each, kind) for each in collectors)
        ]
        return [each for each in collectors if not isinstance(each, CharacterShortcuts)], skipped


async def find_replaced(page: AuditedPage) -> Sequence[str]:
    """Return the names of replaced built-ins, such as `Array.prototype.map`.

    Functions that many sites wrap, such as timers, are not among them as long as they work.

    Raises:
        MCPConnectionError: the connection was lost.
        MCPTimeoutError: the page does not answer.
    """
    # A page can also declare a variable of the name, which hides the built-in from scripts.
    here = ", ".join(f"{name}: typeof {name} === 'undefined' ? undefined : {name}" for name in _NAMES)
    function = bare_script("replaced", f"const KNOWN_HERE = {{ {here} }};")
    for _ in range(_ATTEMPTS):
        try:
            found = items(await page.evaluate(function))
        except (MCPConnectionError, MCPTimeoutError):
            raise
        except MCPError:  # Also where the page was being replaced.
            continue
        return [name for each in found if (name := text(each))]
    return (UNKNOWN,)
