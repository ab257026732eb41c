"""Audits of a list of pages, some of which fail."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from footlight import MCPClient, __version__
from footlight.audit.analysis.config import UXAnalysisConfig
from footlight.audit.auditor import Auditor, AuditWatcher, Judge
from footlight.audit.findings import Skipped
from footlight.audit.model.stream import AIStreamPart, FinishPart
from footlight.audit.page.server import own_server
from footlight.audit.results import Audit, PageAudit
from footlight.client.transports.stdio import Stdio
from footlight.demo.shop.site import serve_shop
from footlight.protocol.errors import ServerNotAvailableError
from tests.audit.scripted import ScriptedModel
from tests.audit.shop_scripts import BUYER, SHOP_SCRIPTS
from tests.conftest import ENGINE
from tests.processes import children_of, descendants_of, kill_all
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 120.0
PAGE = "<!doctype html><html lang=en><title>Page</title><main><h1>Page</h1><p>Words</p></main>"
FAULTY = PAGE.replace("<p>", "<img src=/missing.png><p>")
NOWHERE = "http://127.0.0.1:9/"
AXE = "axe-core's rules"
ALT = "axe/image-alt"


class RecordingWatcher(AuditWatcher):
    """All that is told, and something that happens once: before a step of that name, on that page."""

    def __init__(self, at: str = "", happens: Callable[[], None] = lambda: None, *, page: int = 1) -> None:
        self.lines: list[str] = []
        self.steps: list[str] = []
        self.parts: list[AIStreamPart] = []
        self._at = page, at
        self._happens = happens
        self._page = 0

    def page_begins(self, number: int, count: int, url: str) -> None:
        self._page = number
        self.lines.append(f"{number} of {count}: {url}")

    def step(self, name: str) -> None:
        self.steps.append(name)
        if (self._page, name) == self._at:
            self._at = 0, ""
            self._happens()

    def part(self, part: AIStreamPart) -> None:
        self.parts.append(part)

    def result_changes(self, page: PageAudit) -> None:
        self.lines.append(f"{len(page.findings)} so far")

    def page_ends(self, audit: Audit) -> None:
        self.lines.append(f"{len(audit.pages)} ended")


@asynccontextmanager
async def own_client() -> AsyncGenerator[MCPClient]:
    async with MCPClient(own_server(["--browser", ENGINE], environ=os.environ), timeout_ms=60_000) as client:
        yield client


@pytest.fixture(scope="module")
async def client(anyio_backend: str) -> AsyncGenerator[MCPClient]:
    """Of our own server, the same for all tests that do not end it."""
    async with own_client() as client:
        yield client


def kill_server() -> None:
    """Kill the server that was started last."""
    server = max(children_of(psutil.Process()), key=lambda each: each.create_time())
    kill_all((*descendants_of(server), server))


def rules(page: PageAudit) -> set[str]:
    return {finding.rule for finding in page.findings}


@pytest.mark.slow
async def test_page_failure_does_not_affect_other_pages(client: MCPClient, site: Site) -> None:
    seen, ended = RecordingWatcher(), list[int]()
    urls = [site.page(FAULTY), NOWHERE, site.page(PAGE)]

    auditor = Auditor(client, watcher=seen, on_page=lambda audit: ended.append(len(audit.pages)))
    with anyio.fail_after(LIMIT_SECONDS):
        audit = await auditor.run(urls)

    faulty, nowhere, clean = audit.pages
    assert [(page.url, page.status) for page in audit.pages] == list(
        zip(urls, ("complete", "failed", "complete"), strict=True)
    )
    assert [ALT in rules(page) for page in audit.pages] == [True, False, False]
    assert nowhere.error is not None
    assert NOWHERE in nowhere.error
    assert ended == [1, 2, 3]
    assert audit == auditor.audit
    assert audit.finished_ms is not None
    assert audit.provenance.footlight == __version__
    assert audit.provenance.axe == (faulty.evidence.axe_version if faulty.evidence else "")
    assert seen.lines == [
        f"1 of 3: {urls[0]}",
        f"{len(faulty.findings)} so far",
        "1 ended",
        f"2 of 3: {urls[1]}",
        "2 ended",
        f"3 of 3: {urls[2]}",
        f"{len(clean.findings)} so far",
        "3 ended",
    ]


@pytest.mark.slow
async def test_error_page_is_measured_and_marked_as_partial(client: MCPClient, site: Site) -> None:
    (page,) = (await Auditor(client).run([site.page(FAULTY, status=404)])).pages

    assert page.status == "partial"
    assert ALT in rules(page)
    assert page.skipped == (
        Skipped(
            what="the requested page",
            why="the site answered 404, and its error page was measured",
        ),
    )


@pytest.mark.slow
async def test_page_that_never_loads_times_out(client: MCPClient, site: Site) -> None:
    audit = await Auditor(client, limit_s=5).run([site.never(), NOWHERE])

    never, nowhere = audit.pages
    assert (never.status, never.error) == ("failed", "it took more than 5 s")
    assert nowhere.error != never.error


@pytest.mark.slow
async def test_pages_are_audited_concurrently_and_shown_in_order(client: MCPClient, site: Site) -> None:
    """The first two pages load only once both were asked for, and are shown in order whichever ends first."""
    seen, asked, both = RecordingWatcher(), set[str](), anyio.Event()

    def page(text: str) -> str:
        async def answer(request: Request) -> Response:
            asked.add(request.url.path)
            if len(asked) == 2:
                both.set()
            await both.wait()
            return HTMLResponse(text)

        return site.route(answer)

    urls = [page(FAULTY), page(PAGE), NOWHERE]
    with anyio.fail_after(LIMIT_SECONDS):
        audit = await Auditor(client, watcher=seen, jobs=2).run(urls)

    assert [(page.url, page.status) for page in audit.pages] == list(
        zip(urls, ("complete", "complete", "failed"), strict=True)
    )
    assert [ALT in rules(page) for page in audit.pages] == [True, False, False]
    shown = [line for line in seen.lines if not line.endswith("so far")]
    assert shown == [
        *(f"1 of 3: {urls[0]}", "1 ended"),
        *(f"2 of 3: {urls[1]}", "2 ended"),
        *(f"3 of 3: {urls[2]}", "3 ended"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "found"), [(AXE, set[str]()), ("keyboard focus order", {ALT})], ids=["early", "late"]
)
async def test_interrupted_audit_keeps_earlier_measurements(
    client: MCPClient, site: Site, at: str, found: set[str]
) -> None:
    urls = [site.page(PAGE), site.page(FAULTY), site.page(PAGE)]
    scope = anyio.CancelScope()
    auditor = Auditor(client, watcher=RecordingWatcher(at.format(url=urls[1]), happens=scope.cancel, page=2))

    with scope:
        await auditor.run(urls)

    clean, faulty = auditor.audit.pages
    assert (clean.status, faulty.status) == ("complete", "partial")
    assert faulty.evidence is not None
    assert faulty.evidence.skipped == [Skipped(what="the rest of the measurement", why="it was interrupted")]
    assert rules(faulty) & {ALT} == found
    assert auditor.audit.finished_ms is None


async def test_page_not_yet_opened_at_interruption_has_failed(client: MCPClient, site: Site) -> None:
    url, scope = site.page(PAGE), anyio.CancelScope()
    auditor = Auditor(client, watcher=RecordingWatcher(f"open {url} at 1280 px", happens=scope.cancel))

    with scope:
        await auditor.run([url, url])

    assert [(page.status, page.error) for page in auditor.audit.pages] == [("failed", "it was interrupted")]


@pytest.mark.slow
async def test_crashed_server_is_restarted_and_the_page_retried(site: Site) -> None:
    async with own_client() as client:
        seen = RecordingWatcher(AXE, happens=kill_server)
        url = site.page(FAULTY)
        audit = await Auditor(client, watcher=seen).run([url, site.page(PAGE)])

    assert [page.status for page in audit.pages] == ["complete", "complete"]
    assert ALT in rules(audit.pages[0])
    (again,) = (step for step in seen.steps if step.startswith("retry"))
    assert again.startswith("retry with a new server: The server was ended by SIGKILL")
    assert seen.steps.count(f"open {url} at 1280 px") == 2


@pytest.mark.slow
async def test_walks_and_judgement_are_added_to_measurements(client: MCPClient) -> None:
    async with serve_shop() as shop:
        model = ScriptedModel(SHOP_SCRIPTS).model
        judge = Judge(model=model, config=UXAnalysisConfig(shop.url, [BUYER], "openai", None, ["trust"]))
        seen = RecordingWatcher()
        audit = await Auditor(client, judge=judge, watcher=seen).run([f"{shop.url}/"])

    (page,) = audit.pages
    assert page.status == "complete"
    assert [(walk.persona, walk.outcome) for walk in page.walks] == [
        ("Stage manager", "reached"),
        ("Stage manager", "stopped"),
    ]
    assert [finding.title for finding in page.judged] == ["Nobody can be reached by telephone"]
    assert [dropped.title for dropped in page.dropped] == ["The colours look dated"]
    assert page.usage.requests > 0
    assert seen.parts[-1] == FinishPart(finish_reason="stop")
    assert (audit.provenance.provider, audit.provenance.model) == (model.provider, model.name)
    assert (audit.provenance.personas, audit.provenance.focus_areas) == (("Stage manager",), ("trust",))


async def test_unavailable_server_is_reported_before_any_page() -> None:
    with pytest.raises(ServerNotAvailableError):
        await Auditor(MCPClient(Stdio("/nowhere/server"))).run([NOWHERE])
