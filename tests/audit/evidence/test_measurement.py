"""Measuring a page: the order of collectors, the widths, and partial results after failures."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from PIL import Image

from footlight.audit.evidence.collector import Collected, Collector
from footlight.audit.evidence.collector_sets import standard_collectors
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.collectors.photograph import Photograph
from footlight.audit.evidence.measurement import Measurement, collect_evidence
from footlight.audit.findings import Element, ElementBox, Fact, Finding, Severity
from footlight.audit.page.page import DESKTOP, PHONE, TABLET, AuditedPage, AuditViewport
from footlight.audit.page.server_page import page_of
from footlight.protocol.errors import MCPConnectionError, MCPError, ToolInvocationError
from tests.audit.conftest import client_of, connect_client
from tests.processes import children_of
from tests.site import Site

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><html lang=en><title>Page</title><main><h1>Page</h1>
<button id=send style='position:absolute;left:100px;top:100px;width:80px;height:30px'>Send</button></main>"""


class Says:
    """A collector that says what the test wants, after what it wants to happen."""

    def __init__(
        self,
        *findings: Finding,
        name: str = "a look",
        every_view: bool = False,
        facts: Sequence[Fact] = (),
        happens: Callable[[AuditViewport], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.every_view = every_view
        self._findings = findings
        self._facts = facts
        self._happens = happens
        self.asked: list[tuple[str, int]] = []

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        self.asked.append((await page.evaluate("() => document.title"), view.width))
        self._happens(view)
        return Collected(findings=self._findings, facts=self._facts, metrics={f"at_{view.width}": 1})


def finding(rule: str, severity: Severity, *selectors: str, **more: str) -> Finding:
    return Finding(
        rule=rule,
        severity=severity,
        title=f"What {rule} says",
        advice="Mend it",
        measured_by=more.get("measured_by", "looking"),
        elements=[
            Element(selector=each, box=ElementBox(100, 100, 80, 30), width=DESKTOP.width)
            for each in selectors
        ],
        count=len(selectors),
    )


def fails(error: MCPError) -> Callable[[AuditViewport], None]:
    def happens(_: AuditViewport) -> None:
        raise error

    return happens


async def test_findings_are_sorted_by_severity_and_numbered(page: AuditedPage, site: Site) -> None:
    said = Says(
        *(finding(f"test/{each}", each) for each in ("low", "critical", "medium", "high")),
        finding("test/more", "critical"),
        facts=[Fact(topic="page", text="one"), Fact(topic="outline", text="two")],
    )

    evidence = await collect_evidence(page, site.page(PAGE), collectors=[said], views=[DESKTOP])

    assert [(each.id, each.rule) for each in evidence.findings] == [
        ("F1", "test/critical"),
        ("F2", "test/more"),
        ("F3", "test/high"),
        ("F4", "test/medium"),
        ("F5", "test/low"),
    ]
    assert [(each.id, each.text) for each in evidence.facts] == [("P1", "one"), ("P2", "two")]
    assert (evidence.title, evidence.widths, evidence.skipped) == ("Page", [1280], [])
    assert evidence.metrics == {"at_1280": 1}
    assert evidence.duration_ms > 0


async def test_collectors_run_at_the_widths_they_request(page: AuditedPage, site: Site) -> None:
    once, always = Says(), Says(every_view=True)
    steps: list[str] = []
    url = site.page(PAGE)

    await collect_evidence(page, url, collectors=[once, always], progress=steps.append)

    assert once.asked == [("Page", 1280)]
    assert sorted(always.asked) == [("Page", 360), ("Page", 768), ("Page", 1280)]
    assert steps[:2] == [f"open {url} at 1280 px", "a look"]
    assert sorted(steps[2:-1]) == [
        "a look",
        "a look",
        "a look",
        f"open {url} at 360 px",
        f"open {url} at 768 px",
    ]
    assert steps[-1] == f"open {url} at 1280 px"
    assert await page.evaluate("() => innerWidth") == 1280


async def test_page_that_may_close_is_opened_once_per_width(page: AuditedPage, site: Site) -> None:
    steps: list[str] = []
    url = site.page(PAGE)
    said = Says(finding("test/send", "low", "#send"))

    evidence = await Measurement(
        page, url, [said], [DESKTOP, PHONE], progress=steps.append, leaves_open=False
    ).run()

    assert steps == [f"open {url} at 1280 px", "a look", f"open {url} at 360 px"]
    assert evidence.findings[0].elements[0].ref is None


async def test_same_finding_at_several_widths_is_merged(page: AuditedPage, site: Site) -> None:
    class Wide:
        name, every_view = "a look", True

        async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
            del page
            found = finding(
                "test/wide", "low", "#send", f"#at{view.width}", measured_by=f"looking at {view.width} px"
            )
            return Collected(findings=[found])

    evidence = await collect_evidence(page, site.page(PAGE), collectors=[Wide()])

    (found,) = evidence.findings
    assert [each.selector for each in found.elements] == ["#send", "#at1280", "#at768", "#at360"]
    assert (found.count, found.measured_by) == (4, "looking at 1280, 768 and 360 px")


async def test_finding_elements_have_picture_and_ref(any_page: AuditedPage, site: Site) -> None:
    said = Says(finding("test/button", "high", "#send", "#nowhere"), finding("test/page", "low", "html"))

    evidence = await collect_evidence(
        any_page, site.page(PAGE), collectors=[Photograph(), said], views=[DESKTOP]
    )

    button, nowhere = evidence.findings[0].elements
    (whole,) = evidence.findings[1].elements
    assert button.picture is not None
    assert (button.picture.width, button.picture.height) == (160, 110)
    assert button.ref is not None
    assert (nowhere.ref, whole.picture) == (None, None)
    assert [(each.width, each.marked) for each in evidence.screenshots] == [(1280, False), (1280, True)]


@pytest.mark.slow
async def test_picture_shows_element_despite_late_layout_shift(any_page: AuditedPage, site: Site) -> None:
    """The button is red, and moves between the time when it is found and the picture, and meanwhile."""
    button = "<button style='display: block; width: 80px; height: 30px; border: 0; background: red'></button>"
    shift = "let n = 0; setInterval(() => { if (n < 20) gap.style.height = `${++n * 15}px`; }, 60);"
    url = site.page(
        f"<!doctype html><html lang=en><title>Late</title><div id=gap></div>{button}<script>{shift}</script>"
    )

    evidence = await collect_evidence(any_page, url, collectors=[AxeRules(), Photograph()], views=[DESKTOP])

    found = next(each for each in evidence.findings if each.rule == "axe/button-name")
    picture = found.elements[0].picture
    assert picture is not None
    with Image.open(io.BytesIO(picture.data)) as image:
        middle = image.convert("RGB").getpixel((image.width // 4, image.height // 2))
    assert isinstance(middle, tuple)
    assert middle[0] > 200 > 60 > middle[1]


async def test_endless_page_is_pictured_by_its_first_screen(page: AuditedPage, site: Site) -> None:
    url = site.page("<!doctype html><title>Long</title><div style='height:20000px'>Long</div>")

    evidence = await collect_evidence(page, url, collectors=[Photograph()], views=[DESKTOP])

    assert [each.text for each in evidence.facts] == [
        "Pictures at 1280 px show the first screen only: it is 20016 px high"
    ]
    assert [(each.picture.width, each.picture.height) for each in evidence.screenshots] == [(1280, 800)]


async def test_page_without_body_is_pictured_by_its_first_screen(page: AuditedPage, site: Site) -> None:
    url = site.page(
        "<!doctype html><title>Bare</title><script>onload = () => document.body.remove()</script>"
    )

    evidence = await collect_evidence(page, url, collectors=[Photograph()], views=[DESKTOP])

    assert [each.text for each in evidence.facts] == [
        "Pictures at 1280 px show the first screen only: it has no body"
    ]
    assert evidence.skipped == []


async def test_collector_failure_is_reported_and_others_continue(page: AuditedPage, site: Site) -> None:
    broken = Says(name="speed", happens=fails(ToolInvocationError("no clock", tool_name="evaluate")))
    later = Says(finding("test/later", "low"))

    evidence = await collect_evidence(page, site.page(PAGE), collectors=[broken, later], views=[DESKTOP])

    assert [each.rule for each in evidence.findings] == ["test/later"]
    assert [(each.what, each.why) for each in evidence.skipped] == [("speed at 1280 px", "no clock")]


async def test_failed_page_load_at_one_width_is_reported(page: AuditedPage, site: Site) -> None:
    url = site.page(PAGE)

    def remove_page(view: AuditViewport) -> None:
        if view == DESKTOP:
            site.page(PAGE, path=url.removeprefix(site.url), status=204)  # Which a browser does not go to.

    evidence = await collect_evidence(
        page,
        url,
        collectors=[Says(finding("test/first", "low"), happens=remove_page)],
        views=[DESKTOP, TABLET],
    )

    assert [each.rule for each in evidence.findings] == ["test/first"]
    assert [each.what for each in evidence.skipped] == ["everything at 768 px", "everything at 1280 px"]


async def test_evidence_before_a_lost_connection_is_kept(site: Site, tmp_path: Path) -> None:
    async with connect_client("footlight", tmp_path) as client:

        def kill_browser(view: AuditViewport) -> None:
            if view == DESKTOP:
                for each in children_of(psutil.Process()):
                    if str(tmp_path) == each.cwd():
                        each.kill()

        said = Says(finding("test/seen", "low", "#send"))
        killing, after = Says(happens=kill_browser), Says()
        evidence = await collect_evidence(
            await page_of(client),
            site.page(PAGE),
            collectors=[Photograph(), said, killing, after],
            views=[DESKTOP, TABLET, PHONE],
        )

    assert [each.rule for each in evidence.findings] == ["test/seen"]
    assert [each.what for each in evidence.skipped] == ["everything after the connection was lost"]
    assert after.asked == []
    assert [each.width for each in evidence.screenshots] == [1280, 1280]


async def test_page_load_failure_raises_an_error(page: AuditedPage) -> None:
    with pytest.raises(MCPError):
        await collect_evidence(page, "http://127.0.0.1:9/", collectors=[Says()])


@pytest.mark.slow
async def test_connection_lost_at_start_raises_an_error(site: Site, tmp_path: Path) -> None:
    async with connect_client("footlight", tmp_path) as client:
        page = await page_of(client)

    with pytest.raises(MCPConnectionError):
        await collect_evidence(page, site.page(PAGE), collectors=[Says()])


def test_standard_collectors_have_unique_names() -> None:
    collectors: Sequence[Collector] = standard_collectors()

    names = [each.name for each in collectors]
    kinds = [type(each) for each in collectors]
    assert len(set(names)) == len(names)
    assert {Photograph, AxeRules} <= set(kinds)


@pytest.mark.slow
async def test_page_hung_by_a_collector_is_reopened(page: AuditedPage, site: Site) -> None:
    """The server closes a page whose script does not end."""
    said = Says(finding("test/after", "low"))
    impatient = await page_of(client_of(page), timeout_ms=8_000)

    evidence = await collect_evidence(impatient, site.page(PAGE), collectors=[Halts(), said], views=[DESKTOP])
    await impatient.close()

    assert [each.rule for each in evidence.findings] == ["test/after"]
    assert [each.what for each in evidence.skipped] == ["an endless look at 1280 px"]
    assert (said.asked, evidence.moves) == ([("Page", 1280)], ())


class Halts:
    """A collector whose script does not end."""

    name, every_view = "an endless look", False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        del view
        await page.evaluate("() => { for (;;); }")
        return Collected()
