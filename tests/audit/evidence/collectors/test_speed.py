"""Loading speed and page weight, from the browser's timings."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from footlight.audit.evidence.collectors.speed import LayoutShift, Speed
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import Fact
from footlight.audit.page.page import DESKTOP, AuditedPage
from tests.audit.conftest import WALL_CLOCK
from tests.audit.evidence.seen import collect_at, summarize
from tests.audit.faults.fault import reply
from tests.audit.faults.pictures import noise
from tests.site import Site

pytestmark = pytest.mark.anyio


def document(body: str) -> str:
    return f"<!doctype html><html lang=en><title>Teas</title><body><h1>Teas</h1>{body}"


def replace_numbers(fact: Fact) -> Fact:
    return replace(fact, text=re.sub(r"\d[\d.,]*", "N", fact.text))


async def test_load_times_and_transfer_sizes_are_reported(any_page: AuditedPage, site: Site) -> None:
    image = site.route(reply(noise(30, 20), type="image/png"))
    url = site.page(document(f"<img src={image} alt=Leaves width=30 height=20>"), path="/teas")

    collected = await collect_at(url, any_page, Speed())

    assert [each.rule for each in collected.findings if each.rule not in WALL_CLOCK] == []
    assert sorted(collected.metrics) == [
        "blocking_ms",
        "elements",
        "fcp_ms",
        "lcp_ms",
        "load_ms",
        "redirects",
        "requests",
        "status",
        "transferred_bytes",
        "ttfb_ms",
    ]
    assert {name: collected.metrics[name] for name in ("status", "requests", "redirects", "elements")} == {
        "status": 200,
        "requests": 2,
        "redirects": 0,
        "elements": 6,
    }
    assert [replace_numbers(each) for each in collected.facts] == [
        Fact(
            topic="speed",
            text="The server answered after N ms, something was shown after N ms, the largest part "
            "after N ms, all was loaded after N ms, scripts blocked it for N ms.",
        ),
        Fact(
            topic="speed",
            text="Requests: N N kB: N document N kB, N image N kB. Largest: http://N:N/N N kB, "
            "http://N:N/teas N kB. Elements: N",
        ),
    ]


async def test_page_status_is_taken_from_the_browser(any_page: AuditedPage, site: Site) -> None:
    url = site.page(document("Not here"), status=404)

    evidence = await collect_evidence(any_page, url, collectors=[Speed()], views=[DESKTOP])

    assert evidence.status == 404


async def test_exceeded_limits_are_reported_with_measurements(page: AuditedPage, site: Site) -> None:
    work = "const until = performance.now() + 1000; while (performance.now() < until);"
    url = site.page(document(f"<script>setTimeout(() => {{ {work} }}, 200)</script>"))

    collected = await collect_at(url, page, Speed())

    (finding,) = collected.findings
    blocked = f"{collected.metrics['blocking_ms']:,.0f} ms, good is at most 200 ms"
    assert (finding.rule, finding.severity) == ("speed/blocking", "high")
    assert finding.measured_by == f"the browser's own timings of one load at 1280 px: {blocked}"
    assert summarize(collected) == {"speed/blocking": [("html", blocked)]}
    assert 900 <= collected.metrics["blocking_ms"] < 5000


async def test_layout_shift_after_load_is_counted(page: AuditedPage, site: Site) -> None:
    bar = "const bar = document.createElement('div'); bar.style.height = '300px'; document.body.prepend(bar);"
    late = f"addEventListener('late', () => {{ {bar} }});"
    url = site.page(document(f"<p id=news style='height: 500px'>News</p><script>{late}</script>"))
    await collect_at(url, page, Speed())
    shown = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    await page.evaluate(f"async () => {{ dispatchEvent(new Event('late')); await {shown}; return null }}")

    collected = await LayoutShift().collect(page, DESKTOP)

    assert collected.metrics["cls"] > 0.1
    assert "speed/layout-shift" in summarize(collected)


async def test_redirects_are_counted(page: AuditedPage, site: Site) -> None:
    url = site.redirect(site.redirect(site.page(document(""))))

    collected = await collect_at(url, page, Speed())

    assert summarize(collected) == {"speed/redirects": [("html", "2, good is at most 1")]}


async def test_image_is_oversized_only_for_its_display_size(page: AuditedPage, site: Site) -> None:
    image = site.route(reply(noise(400, 300), type="image/png"))
    url = site.page(
        document(
            f"<img id=small src={image} alt=Leaves width=80 height=60>"
            f"<img src={image} srcset='{image} 400w' sizes=80px alt=Leaves width=80 height=60>"
            f"<img src={image} alt=Leaves width=200 height=150>"
        )
    )

    collected = await collect_at(url, page, Speed())

    assert summarize(collected) == {
        "speed/oversized-image": [("#small", "400 × 300 px and 360 kB for 80 × 60 px on the screen")]
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "<script>setInterval(() => fetch('/again?' + Math.random()), 100)</script>",
        "<script>(function again() { requestAnimationFrame(again) })()</script>",
        "<script>onload = () => fetch('/never')</script>",
        "<script>setTimeout(() => alert('Welcome'), 100)</script>",
    ],
    ids=["asks on and on", "draws on and on", "waits for ever", "alerts"],
)
async def test_never_idle_page_is_still_measured(page: AuditedPage, site: Site, body: str) -> None:
    site.page("[]", path="/again")
    site.never(path="/never")

    collected = await collect_at(site.page(document(body)), page, Speed())

    assert [each.rule for each in collected.findings if each.rule not in WALL_CLOCK] == []
    assert collected.metrics["status"] == 200


async def test_self_reloading_page_is_found(page: AuditedPage, site: Site) -> None:
    script = (
        "if (!sessionStorage.again) { sessionStorage.again = 1; setTimeout(() => location.reload(), 200); }"
    )

    collected = await collect_at(site.page(document(f"<script>{script}</script>")), page, Speed())

    assert summarize(collected) == {"page/reloads": [("html", "it reloaded itself")]}
