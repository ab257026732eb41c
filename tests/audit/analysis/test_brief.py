"""The description of the evidence for a model."""

from __future__ import annotations

from dataclasses import replace

from footlight.audit.analysis.brief import describe_evidence, describe_walks
from footlight.audit.findings import Element, Evidence, Fact, Finding, Skipped
from footlight.audit.results import Walk, WalkStep

FINDING = Finding(
    id="F1",
    rule="axe/image-alt",
    severity="critical",
    title="Pictures have no text",
    advice="Give them one.",
    measured_by="axe",
    elements=[
        Element(selector="#logo", text="", note="no alt"),
        Element(selector="#b"),
        Element(selector="#c"),
    ],
    count=3,
)
EVIDENCE = Evidence(
    url="http://127.0.0.1/",
    status=200,
    title="Shop\n of things",
    server="a server",
    axe_version="4",
    widths=[1280, 360],
    started_ms=0,
    duration_ms=1,
    findings=[FINDING],
    facts=[Fact(id="P1", topic="outline", text="h1 Shop\nh2 Lamps")],
    metrics={"lcp_ms": 812.5, "cls": 0.02},
    skipped=[Skipped(what="links", why="too slow")],
)


def test_each_evidence_item_has_a_line_with_its_id() -> None:
    assert describe_evidence(EVIDENCE) == (
        "Page: http://127.0.0.1/ · Shop of things · status 200\n"
        "Measured at 1280, 360 px\n"
        "Measured: lcp_ms 812.5, cls 0.02\n"
        "Not measured: links: too slow\n"
        "Findings, measured:\n"
        "F1 critical axe/image-alt ×3: Pictures have no text · #logo no alt; #b\n"
        "Facts:\n"
        "P1 outline: h1 Shop h2 Lamps"
    )


def test_long_brief_shortens_mild_findings_but_keeps_all_ids() -> None:
    many = [replace(FINDING, id=f"F{number}") for number in range(1, 41)]

    brief = describe_evidence(replace(EVIDENCE, findings=many), characters=2_000)

    lines = [line for line in brief.splitlines() if line.startswith("F") and line[1].isdigit()]
    assert len(brief) <= 2_000
    assert [line.split()[0] for line in lines] == [finding.id for finding in many]
    assert (lines[0], lines[-1]) == (
        "F1 critical axe/image-alt ×3: Pictures have no text",
        "F40 critical axe/image-alt",
    )


def test_walk_is_described_by_its_steps_and_outcome() -> None:
    step = WalkStep(id="W1", tool="clickElement", input="target=e3", ok=False, answer="covered by\n #banner")
    walk = Walk(persona="Reader", goal="Find it", outcome="stopped", where="/x", why="No way", steps=[step])

    assert (describe_walks([walk]), describe_walks([])) == (
        "Reader, goal: Find it\n"
        "  W1 clickElement target=e3 → failed: covered by #banner\n"
        "  stopped: /x · No way",
        "No walks.",
    )
