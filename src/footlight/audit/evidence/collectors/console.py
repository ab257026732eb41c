"""Read the browser's console: errors and failed requests while the page loaded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import Rule
from footlight.audit.evidence.scripts import script
from footlight.audit.findings import Fact, Finding
from footlight.audit.page.page import AuditedPage, AuditViewport, ConsoleMessage
from footlight.protocol.untrusted_json import an_object, items, text

__all__ = ["ConsoleErrors", "kind_of"]

MessageKind = Literal["not-loaded", "mixed", "policy", "exception", "error"]

PAGE_URL = "() => location.href.replace(/#.*/, '')"
MAX_ADDRESSES = 50
MAX_WARNINGS = 5
MAX_WARNING_LENGTH = 100

CODE = Rule(
    id="console/missing-script",
    severity="high",
    title="Scripts or styles of the page cannot be loaded",
    advice="Correct the address, or put the file there. What it was to do or to show is missing now.",
)
IMAGE = Rule(
    id="console/missing-image",
    severity="medium",
    title="Images cannot be loaded",
    advice="Correct the address of the image, or put the file there.",
)
OTHER = Rule(
    id="console/missing-resource",
    severity="medium",
    title="Part of what the page asks for cannot be loaded",
    advice="Correct the address, or let the server answer there.",
)
BY_LOADER: Mapping[str, Rule] = {"code": CODE, "image": IMAGE}
BY_KIND: Mapping[MessageKind, Rule] = {
    "exception": Rule(
        id="console/exception",
        severity="medium",
        title="A script of the page fails",
        advice="Find out at the given place why it fails. What it was to do is not done.",
    ),
    "mixed": Rule(
        id="console/mixed-content",
        severity="medium",
        title="A secure page asks for parts that are not secure",
        advice="Ask for them over https. Browsers refuse them, or warn of the page.",
        help_url="https://developer.mozilla.org/docs/Web/Security/Mixed_content",
    ),
    "policy": Rule(
        id="console/content-security-policy",
        severity="medium",
        title="The page's own security policy refuses parts of it",
        advice="Allow what the page needs in its Content-Security-Policy, or remove it from the page.",
        help_url="https://developer.mozilla.org/docs/Web/HTTP/CSP",
    ),
    "error": Rule(
        id="console/error",
        severity="low",
        title="The page reports errors of its own",
        advice="Find out whether readers miss something because of them.",
    ),
}
RULES = (CODE, IMAGE, OTHER, *BY_KIND.values())

_PLACE = re.compile(r"(?::\d+){1,2}$")
_EXCEPTION = re.compile(r"(Uncaught |(\w+Error|DOMException|Error)\b: )")
_ANSWER = re.compile(r"status of (\d+)|(net::\w+)")


class ConsoleErrors:
    """Read the console. Runs before the collectors that run scripts, which may write there too."""

    name = "the console"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        messages = await page.console()
        errors = [each for each in messages if each.level == "error"]
        warnings = [each.text for each in messages if each.level == "warning"]
        page_url = text(await page.evaluate(PAGE_URL)) if errors else None
        missing = {
            _request_url(each): _failure_reason(each)
            for each in errors
            if kind_of(each) == "not-loaded" and _request_url(each) != page_url
        }
        icon = next((each for each in missing if each.endswith("/favicon.ico")), None)
        if icon is not None:
            del missing[icon]
        how = f"the browser's console while the page loaded at {view.width} px"
        return Collected(
            findings=[
                *await _find_missing(page, missing, view, how),
                *_find_errors(errors, missing, view, how),
            ],
            facts=list(_describe_console(errors, warnings, icon)),
            metrics={"console_errors": len(errors), "console_warnings": len(warnings)},
        )


def kind_of(message: ConsoleMessage) -> MessageKind:
    """Classify a message by the words that Chromium uses."""
    if message.text.startswith("Failed to load resource"):
        return "not-loaded"
    if message.text.startswith("Mixed Content"):
        return "mixed"
    if "Content Security Policy" in message.text:
        return "policy"
    return "exception" if _EXCEPTION.match(message.text) else "error"


async def _find_missing(
    page: AuditedPage, missing: Mapping[str, str], view: AuditViewport, how: str
) -> Sequence[Finding]:
    addresses = list(missing)[:MAX_ADDRESSES]
    if not addresses:
        return []
    answer = await page.evaluate(script("console", before=f"const ADDRESSES = {json.dumps(addresses)};"))
    loaders = [an_object(each) for each in items(an_object(answer).get("loaders"))]
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for address, loader in zip(addresses, loaders, strict=False):
        rule = BY_LOADER.get(text(loader.get("kind")) or "", OTHER)
        note = f"{missing[address]}: {address}"
        by_rule.setdefault(rule.id, []).append({"selector": "html", **loader, "note": note})
    found = [
        rule.finding(_describe_elements(by_rule.get(rule.id, ())), view, how) for rule in (CODE, IMAGE, OTHER)
    ]
    return [each for each in found if each is not None]


def _find_errors(
    errors: Iterable[ConsoleMessage], missing: Mapping[str, str], view: AuditViewport, how: str
) -> Sequence[Finding]:
    by_kind: dict[MessageKind, list[Mapping[str, Any]]] = {}
    for error in errors:
        kind = kind_of(error)
        # Chromium reports a request that another origin refused twice: the reason, and that it failed.
        if kind != "not-loaded" and not any(f"'{address}'" in error.text for address in missing):
            note = f"{error.text} ({error.source})" if error.source else error.text
            by_kind.setdefault(kind, []).append({"selector": "html", "note": note})
    found = [
        rule.finding(_describe_elements(by_kind.get(kind, ())), view, how) for kind, rule in BY_KIND.items()
    ]
    return [each for each in found if each is not None]


def _describe_elements(found: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"count": len(found), "elements": list(found)}


def _describe_console(
    errors: Sequence[ConsoleMessage], warnings: Sequence[str], icon: str | None
) -> Iterable[Fact]:
    excerpts = "; ".join(each[:MAX_WARNING_LENGTH] for each in warnings[:MAX_WARNINGS])
    counted = f"Console: {len(errors)} errors, {len(warnings)} warnings"
    yield Fact(topic="console", text=f"{counted}: {excerpts}." if excerpts else f"{counted}.")
    if icon is not None:
        yield Fact(topic="console", text=f"There is no icon at {icon}.")


def _request_url(message: ConsoleMessage) -> str:
    return _PLACE.sub("", message.source)


def _failure_reason(message: ConsoleMessage) -> str:
    found = _ANSWER.search(message.text)
    return (f"status {found[1]}" if found[1] else found[2]) if found else "not loaded"
