"""How far each persona came with its goals, call by call."""

from __future__ import annotations

from collections.abc import Iterator

from footlight.figures import duration, number_of
from footlight.markup import Html, element
from footlight.ux.audited import Audit, Walk, WalkStep
from footlight.ux.report.html_parts import labelled, section, tag
from footlight.ux.report.placed import anchor

__all__ = ["walks"]

_KINDS = {"reached": "good", "stopped": "bad", "unfinished": "fair"}


def walks(audit: Audit) -> Html | None:
    """By persona. None where nothing was tried."""
    found = [(walk, number) for number, page in enumerate(audit.pages, 1) for walk in page.walks]
    if not found:
        return None
    reached = sum(walk.outcome == "reached" for walk, _ in found)
    return section(
        "walks",
        "Walks",
        *(
            element(
                "section",
                element("h3", persona, class_="text"),
                *(
                    _walk(walk, number, len(audit.pages) > 1)
                    for walk, number in found
                    if walk.persona == persona
                ),
                class_="group",
            )
            for persona in dict.fromkeys(walk.persona for walk, _ in found)
        ),
        count=f"{reached} of {number_of(len(found), 'goal')} reached",
    )


def _walk(walk: Walk, number: int, many: bool) -> Html:
    return element(
        "article",
        element("h4", walk.goal, class_="text"),
        element("p", *_line(walk, number, many), class_="line"),
        labelled("Where", element("code", walk.where), kind="how") if walk.where else None,
        labelled("Why", walk.why, kind="how") if walk.why else None,
        element(
            "details",
            element("summary", number_of(len(walk.steps), "step")),
            element("ol", *(_step(step, number) for step in walk.steps), class_="steps"),
            open=walk.outcome != "reached",
        )
        if walk.steps
        else None,
        class_=f"walk card {walk.outcome}",
    )


def _line(walk: Walk, number: int, many: bool) -> Iterator[Html]:
    yield tag(walk.outcome, _KINDS[walk.outcome])
    if many:
        yield element("a", f"page {number}", href=f"#page-{number}")
    yield element("span", f"in {duration(walk.duration_ms)}", class_="quiet")


def _step(step: WalkStep, number: int) -> Html:
    return element(
        "li",
        element("span", step.id, class_="cite"),
        element(
            "div",
            element("p", element("code", step.tool), " ", element("span", step.input, class_="text")),
            element("p", tag("failed", "bad") if not step.ok else None, " ", step.said, class_="said text"),
        ),
        id=anchor(number, step.id),
        class_="ok" if step.ok else "failed",
    )
