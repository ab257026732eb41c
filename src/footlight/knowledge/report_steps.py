"""The steps of a report, with their start, duration and previous step, grouped by screen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from footlight.figures import format_count, format_duration, format_time
from footlight.knowledge.rows import UNKNOWN, RecordedView, StepRow, explain_rows, list_node_states, make_row
from footlight.markup import Html, element, join

__all__ = [
    "Picture",
    "ReportedStep",
    "as_mapping",
    "format_clock",
    "format_json",
    "read_steps",
    "render_visits",
]


@dataclass(frozen=True, slots=True)
class ReportedStep:
    number: int
    row: StepRow
    record: Mapping[str, Any]
    earlier: StepRow | None
    """The previous step."""

    start_ms: int
    """Milliseconds since the first step."""

    same_as: int
    """Number of the first of the consecutive steps, up to this one, that saw the same elements."""

    @property
    def screenshot(self) -> Mapping[str, Any]:
        return as_mapping(as_mapping(self.record.get("artifacts")).get("screenshot"))

    @property
    def bar(self) -> str:
        """The CSS class of the step's bar."""
        return "ok-bar" if self.row.ok else "failed-bar"

    def extent(self, total_ms: int, *, least: float) -> dict[str, str]:
        """Return position and width of the step's bar in percent. The width is at least `least`."""
        width = max(least, 100 * self.duration_ms / total_ms)
        return {"x": f"{min(100 * self.start_ms / total_ms, 100 - least):.3f}%", "width": f"{width:.3f}%"}

    @property
    def duration_ms(self) -> int:
        return self.row.duration_ms or 0


def read_steps(records: Iterable[Mapping[str, Any]], session_id: str) -> Iterator[ReportedStep]:
    """Yield the valid step records in chronological order."""
    read = [(row, record) for record in records if (row := make_row(record, session_id=session_id))]
    read.sort(key=lambda each: each[0].at_ms)
    earlier: StepRow | None = None
    same_as = 0
    rows = explain_rows(row for row, _ in read)
    for number, (row, (_, record)) in enumerate(zip(rows, read, strict=True), 1):
        same_as = same_as if earlier and earlier.look.nodes == row.look.nodes else number
        yield ReportedStep(number, row, record, earlier, row.at_ms - read[0][0].at_ms, same_as)
        earlier = row


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def format_clock(ms: int) -> str:
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{f'{hours}:' if hours else ''}{minutes:0{2 if hours else 1}}:{rest / 1000:04.1f}"


def format_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


MAX_NODES = 250
MAX_IDS = 60

Picture = Callable[[str], str | None]
"""A function that returns the data URI of a picture path, or None if it cannot be shown."""


def render_visits(steps: Sequence[ReportedStep], total_ms: int, picture: Picture) -> Iterator[Html]:
    longest_ms = max(1, *(step.duration_ms for step in steps))
    for screen, group in groupby(steps, lambda step: step.row.before or step.row.screen):
        some = [*group]
        name = element("span", screen if screen != UNKNOWN else "unknown screen", class_="text")
        heading = element("h2", name, element("span", format_count(len(some), "step"), class_="quiet"))
        yield element(
            "section",
            heading,
            element("ol", *(_render_step(step, total_ms, longest_ms, picture) for step in some)),
            class_="visit",
        )


def _render_step(step: ReportedStep, total_ms: int, longest_ms: int, picture: Picture) -> Html:
    row = step.row
    moved = bool(row.next_screen)
    return element(
        "li",
        element(
            "details",
            element(
                "summary",
                element("span", step.number, class_="number"),
                _render_heading(row),
                element("span", *_render_tags(step), class_="tags"),
                _render_time(step, total_ms),
            ),
            element("div", *_render_details(step, longest_ms, picture), class_="inside"),
        ),
        id=f"step-{step.number}",
        class_=f"step {'ok' if row.ok else 'failed'}{' moved' if moved else ''}",
        data_tool=row.tool,
    )


def _render_heading(row: StepRow) -> Html:
    typed = f"({row.text_length} characters)" if row.text_length is not None else ""
    what = " ".join(filter(None, [row.target.description if row.target else "", row.input, typed]))
    tool = element("span", row.tool, class_="tool")
    return element("h3", tool, element("span", what, class_="text") if what else None)


def _render_tags(step: ReportedStep) -> Iterator[Html]:
    row = step.row
    if not row.ok:
        yield element("span", f"failed: {row.code or 'no code'}", class_="tag bad")
    if row.next_screen:
        yield element("span", f"→ {row.next_screen}", class_="tag move")
    if step.screenshot:
        yield element("span", "picture", class_="tag new")


def _render_time(step: ReportedStep, total_ms: int) -> Html:
    bar = element("rect", class_=step.bar, height="100%", rx=2, **step.extent(total_ms, least=1.5))
    track = element("rect", class_="track", width="100%", height="100%", rx=2)
    return element(
        "span",
        element("span", f"+{format_clock(step.start_ms)}"),
        element("span", format_duration(step.duration_ms)),
        element("svg", track, bar, aria_hidden="true"),
        class_="time",
    )


def _render_details(step: ReportedStep, longest_ms: int, picture: Picture) -> Iterator[Html]:
    row, record = step.row, step.record
    if not row.ok:
        yield _render_error(as_mapping(as_mapping(record.get("outcome")).get("error")))
    state = as_mapping(as_mapping(record.get("observation")).get("state"))
    longest = ", the longest of all" if step.duration_ms == longest_ms and step.duration_ms else ""
    facts = [
        ("At", format_time(row.at_ms)),
        ("Took", f"{format_duration(step.duration_ms)}{longest}" if row.duration_ms is not None else ""),
        ("Target", row.target.description if row.target else ""),
        ("Screen", f"{row.before} → {row.screen}" if row.next_screen else row.screen),
        ("URL", str(state.get("currentUrl") or "")),
        *_describe_state(state),
    ]
    yield element(
        "dl",
        *(part for name, fact in facts if fact for part in (element("dt", name), element("dd", fact))),
    )
    tool = as_mapping(record.get("tool"))
    if arguments := tool.get("input"):
        yield _render_labelled("Input", element("pre", format_json(arguments), tabindex=0))
    yield from _render_picture(step, picture)
    yield from _render_view(step)


def _render_error(error: Mapping[str, Any]) -> Html:
    details = error.get("details")
    return element(
        "div",
        element("strong", error.get("code") or "no code", class_="mono"),
        element("p", error.get("message") or "", class_="text"),
        element("pre", format_json(details), tabindex=0) if details else None,
        class_="error",
    )


def _describe_state(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the state that the app reported, as name and text."""
    elsewhere_in_report = {"currentUrl", "currentScreen", "extensionId"}
    facts = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in state.items()
        if name not in elsewhere_in_report and value not in (None, "")
    ]
    yield "State", ", ".join(facts)


def _render_picture(step: ReportedStep, picture: Picture) -> Iterator[Html]:
    screenshot = step.screenshot
    if not screenshot:
        return
    path = str(screenshot.get("path") or "")
    size = f"{screenshot.get('width')} × {screenshot.get('height')}"
    data = picture(path)
    if data is None:
        yield element(
            "p",
            f"A picture ({size}) is missing, or too large to be shown: ",
            element("code", path),
            class_="quiet",
        )
        return
    yield element(
        "figure",
        element("img", src=data, alt=f"The screen after step {step.number}"),
        element("figcaption", element("code", path), f", {size}"),
        class_="picture",
    )


def _render_view(step: ReportedStep) -> Iterator[Html]:
    """Render the test ids that changed, and all test ids and elements in closed details."""
    look, earlier = step.row.look, step.earlier.look if step.earlier else RecordedView()
    now, before = ([*dict.fromkeys(s.test_id for s in each.test_ids)] for each in (look, earlier))
    new, removed = [id for id in now if id not in before], [id for id in before if id not in now]
    if now and (new or removed):
        ids = [*(element("li", id, class_="new") for id in new[:MAX_IDS])]
        ids += [element("li", id, class_="gone") for id in removed[: MAX_IDS - len(ids)]]
        summary = f"{format_count(len(new), 'test id')} appeared" + (
            f", {len(removed)} disappeared" if removed else ""
        )
        yield _render_labelled(summary, element("ul", *ids, class_="ids"))
    if now and len(now) > len(new):
        all = element("ul", *(element("li", id) for id in now[: 4 * MAX_IDS]), class_="ids")
        yield element("details", element("summary", f"All {format_count(len(now), 'test id')}"), all)
    if look.nodes and look.nodes == earlier.nodes:
        link = element("a", f"step {step.same_as}", href=f"#step-{step.same_as}")
        yield element(
            "p", f"The same {format_count(len(look.nodes), 'element')} as in ", link, ".", class_="quiet"
        )
    elif look.nodes:
        yield element(
            "details",
            element("summary", format_count(len(look.nodes), "element")),
            _render_nodes(step.record),
        )


def _render_nodes(record: Mapping[str, Any]) -> Html:
    found = list_node_states(record)
    rows = [element("tr", *(element("td", cell) for cell in each)) for each in found[:MAX_NODES]]
    head = element(
        "tr", *(element("th", name, scope="col") for name in ("Ref", "Role", "Name", "State", "In"))
    )
    more = len(found) - MAX_NODES
    return join(
        [
            element(
                "div",
                element("table", element("thead", head), element("tbody", *rows)),
                class_="scroll",
                tabindex=0,
                role="region",
                aria_label="Elements",
            ),
            element("p", f"and {more} more", class_="quiet") if more > 0 else None,
        ]
    )


def _render_labelled(label: str, content: Html) -> Html:
    return element("div", element("p", label, class_="quiet"), content)
