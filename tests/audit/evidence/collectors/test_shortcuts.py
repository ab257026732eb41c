"""Single-character shortcuts: their effects are prevented, and the page is restored."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.shortcuts import CharacterShortcuts
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.audit.faults.fault import reply
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


def listening(script: str) -> str:
    return (
        "<!doctype html><html lang=en><title>Teas</title><main><h1>Teas</h1>"
        "<img id=tea src=/leaf.svg alt=Leaf></main><script>"
        f"addEventListener('keydown', (event) => {{ {script} }})</script>"
    )


ACTIONS = [
    ("new Worker('/asked.js')", "starts a worker"),
    ("new EventSource('/asked')", "sends a request"),
    ("tea.src = '/asked.svg'", "changes an image"),
    ("tea.setAttribute('src', '/asked.svg')", "changes an image"),
    ("new Image().src = '/asked.svg'", None),
]


@pytest.mark.parametrize(("action", "note"), sample_parameters(ACTIONS, *ACTIONS[::2]))
async def test_requests_made_by_a_shortcut_are_blocked(
    page: AuditedPage, site: Site, action: str, note: str | None
) -> None:
    site.route(reply(DOT, type="image/svg+xml"), path="/leaf.svg")

    collected = await collect_at(
        site.page(listening(f"if (event.key === 'n') {action}")), page, CharacterShortcuts()
    )

    assert summarize(collected) == (
        {"keys/character-shortcut": [("body", f"“n” {note}")]} if note is not None else {}
    )
    assert [path for _, path in site.requests if path.startswith("/asked")] == []
    after = (
        "() => { const it = new Image(); it.setAttribute('src', '/later'); it.src = '/later'; return it.src }"
    )
    assert await page.evaluate(after) == f"{site.url}/later"
