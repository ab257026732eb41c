"""Pages that replaced functions of the browser have the same findings as others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.collector_sets import standard_collectors
from footlight.audit.evidence.collectors.photograph import Photograph
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.evidence.replaced import find_replaced
from footlight.audit.findings import Evidence, Fact
from footlight.audit.page.page import DESKTOP, AuditedPage, AuditViewport
from tests.audit.conftest import WALL_CLOCK
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><html lang=en><title>Teas</title><script>SCRIPT</script>
<main><h1>Teas</h1><h3>Green</h3>
<p style='color: #999; background: #fff'>Steamed leaves from Shizuoka, picked in May.</p><img src=/leaves.png>
<a href=/sencha>here</a> <div onclick='order()' style='cursor: pointer'>Order</div>
<form><input name=color><button></button></form>
<div style='width: 1500px'>Wide</div></main>"""
BROKEN = (
    "window.Map = null",
    "window.Set = function () {}",
    "const Node = class {}, URL = null",
    "window.JSON = null",
    "JSON.stringify = () => '[]'",
    "window.Promise = null",
    "window.Array = null",
    "Array.prototype.map = () => { throw 1 }",
    "Array.prototype.filter = () => []",
    "Array.prototype[Symbol.iterator] = () => ({ next: () => ({ done: true }) })",
    "Array.from = () => []",
    "Object.prototype.toJSON = () => 1",
    "Object.entries = () => []",
    "Function.prototype.call = () => 1",
    "Function.prototype.apply = () => 1",
    "Function.prototype.toString = () => { throw 1 }; String.prototype.trim = () => ''",
    "RegExp.prototype.test = () => true",
    "Element.prototype.querySelectorAll = () => []",
    "Document.prototype.createElement = () => null; Document.prototype.createElementNS = () => null",
    "document.querySelectorAll = () => []",
    "Element.prototype.getBoundingClientRect = () => ({})",
    "delete Element.prototype.matches",
    "Object.defineProperty(Node.prototype, 'parentNode', { get: () => null })",
    "window.getComputedStyle = () => ({})",
    "window.setTimeout = () => 0",
    "performance.now = () => 0; Date.now = () => 0",
    "window.MutationObserver = null; window.PerformanceObserver = null",
    "window.performance = null",
    "EventTarget.prototype.addEventListener = () => {}",
    "window.fetch = null",
    "window.eval = null",
    "Node.prototype.appendChild = () => null",
    "Object.defineProperty(HTMLElement.prototype, 'onclick', { get: () => null, set: () => {} })",
    "Element.prototype.checkVisibility = () => false; window.CSS = null",
)
MEASURED = (
    "window.Map = null",
    "window.Array = null",
    "Array.prototype[Symbol.iterator] = () => ({ next: () => ({ done: true }) })",
    "Function.prototype.call = () => 1",
    "Element.prototype.querySelectorAll = () => []",
    "window.setTimeout = () => 0",
)
"""Those of `BROKEN` with which a page is measured, which takes some seconds."""
SOUND = (
    "",
    "const timeout = window.setTimeout; window.setTimeout = (...all) => timeout(...all)",
    "const listen = EventTarget.prototype.addEventListener; "
    "EventTarget.prototype.addEventListener = function (...all) { return listen.apply(this, all); }",
    "const ask = window.fetch; window.fetch = (...all) => ask(...all)",
    "const text = Function.prototype.toString; "
    "Function.prototype.toString = function toString() { return text.call(this); }",
    "Array.prototype.last = function () {}; delete Array.prototype.last; document.extra = () => 1",
    "const insert = CSSStyleSheet.prototype.insertRule; "
    "CSSStyleSheet.prototype.insertRule = function (...all) { return insert.apply(this, all); }",
    "const remove = Node.prototype.removeChild; "
    "Node.prototype.removeChild = function (...all) { return remove.apply(this, all); }",
    "const onclick = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'onclick'); "
    "Object.defineProperty(HTMLElement.prototype, 'onclick', "
    "{ ...onclick, get() { return onclick.get.call(this); } })",
)
UNMEASURED = (
    "click handlers that scripts set",
    "context menu handlers that scripts set",
    "keyboard shortcuts at 1280 px",
)


class Mapped:
    """Measures whether `map` works."""

    name = "map"
    every_view = True

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        text = f"{view.name}: {await page.evaluate('() => [1].map(String).length')}"
        return Collected(facts=[Fact(topic="page", text=text)])


async def test_functions_replaced_at_one_width_are_noticed(page: AuditedPage, site: Site) -> None:
    url = site.page(PAGE.replace("SCRIPT", "if (innerWidth < 600) Array.prototype.map = () => []"))

    evidence = await collect_evidence(page, url, collectors=[Mapped()])

    assert {each.text for each in evidence.facts} >= {"desktop: 1", "tablet: 1", "phone: 1"}


async def measure(page: AuditedPage, site: Site, script: str) -> Evidence:
    collectors = [each for each in standard_collectors() if not isinstance(each, Photograph)]
    url = site.page(PAGE.replace("SCRIPT", script))
    return await collect_evidence(page, url, collectors=collectors, views=(DESKTOP,))


def findings_of(evidence: Evidence) -> Sequence[tuple[str, Sequence[str]]]:
    return sorted(
        (found.rule, [each.selector for each in found.elements])
        for found in (*evidence.findings, *evidence.to_check)
        if found.rule not in WALL_CLOCK and not found.rule.startswith("console/")
    )


@pytest.fixture(scope="module")
async def sound(page: AuditedPage, site: Site) -> Evidence:
    """The evidence of the page without a script."""
    return await measure(page, site, "")


@pytest.mark.sampled(18)
@pytest.mark.parametrize("script", BROKEN)
async def test_broken_browser_functions_are_detected(page: AuditedPage, site: Site, script: str) -> None:
    await page.open(site.page(PAGE.replace("SCRIPT", script)), DESKTOP)

    assert await find_replaced(page)


@pytest.mark.slow
@pytest.mark.parametrize("script", sample_parameters(MEASURED, MEASURED[0]))
async def test_broken_browser_functions_do_not_change_findings(
    page: AuditedPage, site: Site, sound: Evidence, script: str
) -> None:
    broken = await measure(page, site, script)

    assert findings_of(broken) == findings_of(sound)
    assert [each.what for each in broken.skipped] == [*UNMEASURED]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("script", SOUND)
async def test_wrapped_browser_functions_are_not_reported(page: AuditedPage, site: Site, script: str) -> None:
    await page.open(site.page(PAGE.replace("SCRIPT", script)), DESKTOP)

    assert not await find_replaced(page)


@pytest.mark.slow
async def test_page_with_wrapped_functions_is_fully_measured(page: AuditedPage, site: Site) -> None:
    evidence = await measure(page, site, SOUND[1])

    assert evidence.skipped == []
