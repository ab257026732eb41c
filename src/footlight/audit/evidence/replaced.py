"""Find the built-in functions that a page has replaced: scripts in its own world rely on them."""

from __future__ import annotations

from collections.abc import Sequence

from footlight.audit.evidence.scripts import bare_script
from footlight.audit.page.page import AuditedPage
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError
from footlight.protocol.untrusted_json import items, text

__all__ = ["find_replaced"]

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
