"""Examples of audits, written by hand, with everything that a report can show."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Any

from PIL import Image, ImageDraw

from footlight.audit.findings import (
    Element,
    ElementBox,
    Evidence,
    EvidencePicture,
    Fact,
    Finding,
    ScreenPicture,
    Skipped,
)
from footlight.audit.model.stream import ToolCallRecord, Usage
from footlight.audit.page.page import VIEWPORTS
from footlight.audit.results import Audit, DroppedFinding, PageAudit, Provenance, Walk, WalkStep

BEGAN_MS = 1_768_478_400_000  # 2026-01-15 12:00:00 UTC

HOSTILE = (
    '"><script>document.title="owned"</script><img src="http://127.0.0.1:9/x" onerror="document.title=1">'
    "\x1b[31mred\x07\x00 \u202egnp.exe\u2066 half \ud83d @everyone #1 [a](javascript:alert(1)) "
    "![p](http://evil/p) | `x` ``y`` www.evil.example\nhttp://evil.example\n# heading\n"
    "<!-- -->&lt; {0} *b* _i_ ~~s~~ $x$"
)


ANALYSIS = """# What works

The **basket** is *very* plain (P1).

- `Pay` is small: F2
- W3 fails, as F9 does

1. First
2. Then
"""


@cache
def picture(width: int = 320, height: int = 90, *, noise: int = 0) -> EvidencePicture:
    """Return a JPEG that is not empty. With `noise` it has at least that many bytes."""
    image = Image.new("RGB", (width, height), "#f3f4f8")
    ImageDraw.Draw(image).rectangle((20, 20, width - 20, height - 20), outline="#c2185b", width=2)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return EvidencePicture(data=out.getvalue() + b"\0" * noise, width=width, height=height)


def finding(rule: str = "axe/image-alt", severity: Any = "critical", **others: Any) -> Finding:
    given: dict[str, Any] = {
        "id": "F1",
        "title": "Images must have alternative text",
        "advice": "Give each image an alt that says what it shows.",
        "measured_by": "axe-core 4.12.1 at 1280 px",
        "elements": [element()],
        "count": 1,
        **others,
    }
    return Finding(rule=rule, severity=severity, **given)


def element(selector: str = "main > img", **others: Any) -> Element:
    given: dict[str, Any] = {
        "html": '<img src="/soup.jpg">',
        "note": "Element does not have an alt attribute",
        "box": ElementBox(20, 120, 300, 200),
        "width": 1280,
        **others,
    }
    return Element(selector=selector, **given)


def evidence(findings: Sequence[Finding] = (), **others: Any) -> Evidence:
    given: dict[str, Any] = {
        "url": "https://shop.test/order",
        "status": 200,
        "title": "Order · Prompt Corner",
        "server": "footlight 1.0.0",
        "axe_version": "4.12.1",
        "widths": [1280, 768, 360],
        "started_ms": BEGAN_MS,
        "duration_ms": 8400,
        **others,
    }
    return Evidence(findings=findings, **given)


def page(findings: Sequence[Finding] = (), **others: Any) -> PageAudit:
    given: dict[str, Any] = {
        "url": "https://shop.test/order",
        "status": "complete",
        "evidence": evidence(findings),
        "duration_ms": 9100,
        **others,
    }
    return PageAudit(**given)


def audit(*pages: PageAudit, **others: Any) -> Audit:
    given: dict[str, Any] = {
        "provenance": Provenance(footlight="1.0.0", server="footlight 1.0.0", axe="4.12.1"),
        "started_ms": BEGAN_MS,
        "finished_ms": BEGAN_MS + 95_000,
        **others,
    }
    return Audit(pages=pages, **given)


def screenshots() -> Sequence[ScreenPicture]:
    return [
        ScreenPicture(
            width=view.width, picture=picture(view.width, view.height, noise=noise), marked=bool(noise)
        )
        for view in VIEWPORTS
        for noise in (0, 1)
    ]


def shop() -> Audit:
    """Return an audit of two pages: one that a model analysed, and one that failed."""
    return audit(
        order_page(),
        PageAudit(
            url="https://shop.test/gone", status="failed", error="net::ERR_CONNECTION_REFUSED", duration_ms=40
        ),
        provenance=Provenance(
            footlight="1.0.0",
            server="footlight 1.0.0",
            axe="4.12.1",
            provider="anthropic",
            model="some-model",
            personas=["Ana", "Ben"],
            focus_areas=["checkout"],
        ),
    )


def three_pages() -> Audit:
    """Return an audit of three pages with the same findings, and one more on the second."""
    return audit(
        *(
            page(
                [
                    finding(elements=[element(f"#soup-{number}")], wcag=["1.1.1 A"]),
                    *([finding("layout/overflow", "high", id="F2", title="Too wide")] if number == 2 else []),
                ],
                url=f"https://shop.test/{number}",
            )
            for number in (1, 2, 3)
        )
    )


def order_page() -> PageAudit:
    small = element(
        "#pay", html='<button id="pay">Pay</button>', note="18 × 16 px, needed 24 × 24", width=360
    )
    measured = [
        finding(
            elements=[element(picture=picture()), *(element(f"#soup-{number}") for number in range(2, 6))],
            count=8,
            help_url="https://dequeuniversity.com/rules/axe/4.12/image-alt",
        ),
        finding(
            "layout/target-size",
            "medium",
            id="F2",
            title="What is to be touched is too small",
            advice="Make it 24 by 24 pixels, or keep others away from it.",
            measured_by="boxes at 360 px",
            elements=[small],
        ),
        finding(
            "console/error",
            "low",
            id="F3",
            title="The page reports an error",
            advice="Open the console and repair what is reported.",
            measured_by="the browser's console",
            elements=[],
            count=0,
        ),
    ]
    return page(
        status="partial",
        evidence=evidence(
            measured,
            facts=[
                Fact(id="P1", topic="outline", text="h1 Order\n  h2 Your basket"),
                Fact(id="P2", topic="focus", text="Tab: Skip, Home, Basket, Pay"),
            ],
            metrics={
                "lcp_ms": 2100.4,
                "cls": 0.31,
                "ttfb_ms": 900,
                "requests": 23,
                "transferred_bytes": 812_345,
            },
            screenshots=screenshots(),
            skipped=[Skipped(what="axe-core's rules at 768 px", why="timed out after 60 s")],
        ),
        walks=walks(),
        judged=[
            finding(
                "judged/wording",
                "high",
                id="J1",
                title="The total is told only after paying",
                advice="Say the total, with delivery, above the button.",
                measured_by="",
                source="judged",
                persona="Ana",
                cites=["F2", "W3", "P1"],
                elements=[element("#pay", html="", note="")],
            )
        ],
        dropped=[DroppedFinding(title="The colours are sad", why="it cites F9, which does not exist")],
        analysis_text=ANALYSIS,
        tool_calls=[
            ToolCallRecord(
                id="c1", name="clickElement", timestamp=BEGAN_MS + 9000, duration=120.5, status="success"
            ),
            ToolCallRecord(
                id="c2",
                name="clickElement",
                timestamp=BEGAN_MS + 9500,
                duration=90,
                status="error",
                error="gone",
            ),
        ],
        usage=Usage(requests=7, input_tokens=21_000, output_tokens=1_900),
    )


def walks() -> Sequence[Walk]:
    return [
        Walk(
            persona="Ana",
            goal="Pay for a soup",
            outcome="stopped",
            where="https://shop.test/order",
            why="Enter on the button does nothing.",
            steps=[
                WalkStep(
                    id="W1", tool="navigateToPage", input="https://shop.test/order", ok=True, answer="Order"
                ),
                WalkStep(id="W2", tool="pressKey", input="Tab", ok=True, answer="focus: button Pay [e7]"),
                WalkStep(id="W3", tool="pressKey", input="Enter", ok=False, answer="nothing happened"),
            ],
            duration_ms=12_300,
        ),
        Walk(persona="Ben", goal="Find the opening hours", outcome="reached", duration_ms=3100),
    ]
