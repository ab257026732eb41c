"""The browser's console of a page."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.console import ConsoleErrors, kind_of
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import Fact
from footlight.audit.page.page import DESKTOP, AuditedPage, ConsoleMessage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio


def document(body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><title>Teas</title>{head}<body><main><h1>Teas</h1>{body}</main>"


async def test_each_error_is_classified_by_its_kind(any_page: AuditedPage, site: Site) -> None:
    policy = "<meta http-equiv=Content-Security-Policy content=\"img-src 'self'\">"
    url = site.page(
        document(
            "<img id=leaf src=/leaf.png alt=Leaf><script src=/shop.js></script>"
            "<img src=https://a.test/x.png alt=X>"
            "<script>console.error('no prices'); console.warn('old'); fetch('/prices.json')</script>"
            "<script>throw new TypeError('no tea')</script>",
            policy,
        ),
        path="/teas",
    )

    collected = await collect_at(url, any_page, ConsoleErrors())

    assert {
        rule: [remove_place(note) for _, note in elements] for rule, elements in summarize(collected).items()
    } == {
        "console/missing-script": [f"status 404: {site.url}/shop.js"],
        "console/missing-image": [f"status 404: {site.url}/leaf.png"],
        "console/missing-resource": [f"status 404: {site.url}/prices.json"],
        "console/exception": ["TypeError: no tea"],
        "console/content-security-policy": [
            "Loading the image 'https://a.test/x.png' violates the following Content Security Policy "
            "directive: \"img-src 'self'\". The action has been blocked."
        ],
        "console/error": ["no prices"],
    }
    assert [each.selector for each in collected.findings[1].elements] == ["#leaf"]
    assert [(each.rule, each.severity) for each in collected.findings] == [
        ("console/missing-script", "high"),
        ("console/missing-image", "medium"),
        ("console/missing-resource", "medium"),
        ("console/exception", "medium"),
        ("console/content-security-policy", "medium"),
        ("console/error", "low"),
    ]
    assert collected.facts == [Fact(topic="console", text="Console: 6 errors, 1 warnings: old.")]
    assert collected.metrics == {"console_errors": 6, "console_warnings": 1}


def remove_place(note: str) -> str:
    """As both servers have it: without the place, and what says that it was not caught."""
    return note.partition(" (http")[0].removeprefix("Uncaught ")


async def test_missing_page_and_missing_icon_raise_no_finding(page: AuditedPage, site: Site) -> None:
    head = "<link rel=icon href=/favicon.ico><script>new Image().src = '/favicon.ico'</script>"
    url = site.page(document("", head), status=404)

    collected = await collect_at(url, page, ConsoleErrors())

    assert collected.findings == []
    assert collected.facts == [
        Fact(topic="console", text="Console: 2 errors, 0 warnings."),
        Fact(topic="console", text=f"There is no icon at {site.url}/favicon.ico."),
    ]


@pytest.mark.slow
async def test_audit_itself_causes_no_console_findings(any_page: AuditedPage, site: Site) -> None:
    policy = "default-src 'none'; style-src 'unsafe-inline'; require-trusted-types-for 'script'"
    url = site.page(
        "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>Teas</title>"
        "<main><h1>Teas</h1><p><a href=/help>Help</a></main>",
        headers={"Content-Security-Policy": policy},
    )
    site.page("<title>Help</title>", path="/help")

    evidence = await collect_evidence(any_page, url, views=[DESKTOP])

    assert [each.rule for each in evidence.findings if each.rule.startswith("console/")] == []
    assert evidence.skipped == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Mixed Content: The page at 'https://a.test/' was loaded over HTTPS, but requested an insecure"
            " image 'http://a.test/x.png'. This content should also be served over HTTPS.",
            "mixed",
        ),
        ("Failed to load resource: net::ERR_NAME_NOT_RESOLVED", "not-loaded"),
        ("Uncaught (in promise) no tea", "exception"),
        ("ReferenceError: tea is not defined", "exception"),
        ("An Error: no", "error"),
    ],
)
def test_console_message_is_classified_by_its_text(text: str, kind: str) -> None:
    assert kind_of(ConsoleMessage(level="error", text=text)) == kind
