"""A small example of a page's evidence, written by hand."""

from __future__ import annotations

from footlight.audit.analysis.personas import Persona
from footlight.audit.findings import Element, Evidence, Fact, Finding
from footlight.audit.results import Walk, WalkStep

__all__ = ["EVIDENCE", "READER", "WALK", "evidence_of"]

READER = Persona("Reader", "Reads everything.", ["Find the date"])
WALK = Walk(
    persona="Reader",
    goal="Find the date",
    outcome="stopped",
    steps=[WalkStep(id=f"W{number}", tool="goBack", input="", ok=True, answer="there") for number in (1, 2)],
)


def evidence_of(url: str) -> Evidence:
    return Evidence(
        url=url,
        status=200,
        title="Shop",
        server="a server",
        axe_version=None,
        widths=[1280],
        started_ms=0,
        duration_ms=1,
        findings=[
            Finding(
                id="F1",
                rule="axe/image-alt",
                severity="critical",
                title="Pictures have no text in their place",
                advice="Give them one.",
                measured_by="axe",
                elements=[Element(selector="#logo", html="<img>")],
                count=1,
            )
        ],
        facts=[Fact(id="P1", topic="outline", text="h1 Shop")],
    )


EVIDENCE = evidence_of("http://127.0.0.1/")
