"""The figures that have a goal: what was measured for each server in this run, and whether the goal is met.

Most goals are ratios to `@playwright/mcp` in the same run, so that the speed of the machine does not matter.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["CHROME_DEVTOOLS_MCP", "FOOTLIGHT", "PLAIN", "PLAYWRIGHT_MCP", "Figures"]

FOOTLIGHT = "footlight"
PLAYWRIGHT_MCP = "@playwright/mcp"
CHROME_DEVTOOLS_MCP = "chrome-devtools-mcp"
PLAIN = "plain Playwright"
COLUMNS = (PLAYWRIGHT_MCP, CHROME_DEVTOOLS_MCP, PLAIN, FOOTLIGHT)


@dataclass(frozen=True)
class Goal:
    """A row of the table.

    `limit` is compared with the ratio to `peer`, or to the best of all other servers if `peer` is "best", or
    with the figure itself if `peer` is None.
    """

    figure: str
    unit: str
    limit: float
    peer: str | None = PLAYWRIGHT_MCP
    better: Literal["lower", "higher"] = "lower"

    @property
    def text(self) -> str:
        sign = "≤" if self.better == "lower" else "≥"
        if self.peer is None:
            return f"{sign} {self.limit:,.0f} {self.unit}"
        return f"{sign} {self.limit:g}×" + (" the best peer" if self.peer == "best" else "")


GOALS = (
    Goal("click, small form", "ms", 0.08),
    Goal("fill, small form", "ms", 1.0),
    Goal("click and look, 1,500 elements", "ms", 0.07),
    Goal("click and look, 10,000 elements", "ms", 0.06),
    Goal("snapshot, 1,500 elements", "ms", 0.15),
    Goal("snapshot, 10,000 elements", "ms", 0.11),
    Goal("navigate, small form", "ms", 0.9),
    Goal("evaluate, small form", "ms", 0.03),
    Goal("actions per second, 1 session", "1/s", 10, better="higher"),
    Goal("actions per second, 4 sessions", "1/s", 6, better="higher"),
    Goal("actions per second, 8 sessions", "1/s", 5, better="higher"),
    Goal("memory of 4 sessions", "MiB", 0.6, peer="best"),
    Goal("memory of the server without a session", "MiB", 1.0),
    Goal("initialize", "ms", 1.0),
    Goal("first page, default browser", "ms", 0.6),
    Goal("first page, same browser", "ms", 1.2),
    Goal("first page, shared server", "ms", 0.3),
    Goal("setup of a test's session", "ms", 150, peer=None),
    Goal("tools/list", "tokens", 4_400, peer=None),
    Goal("tools/list on the wire", "KB", 45, peer=None),
    Goal("click that adds ten rows, 1,500 elements", "tokens", 500, peer=None),
    Goal("click that adds ten rows, 10,000 elements", "tokens", 500, peer=None),
    Goal("first frame of the watch page", "ms", 300, peer=None),
    Goal("lag of a watched frame, p95", "ms", 250, peer=None),
    Goal("server while watched", "% of a core", 5, peer=None),
)

README_FIGURES = (
    "click and look, 1,500 elements",
    "click that adds ten rows, 1,500 elements",
    "snapshot, 1,500 elements",
    "tools/list",
    "memory of 4 sessions",
    "memory of the server without a session",
    "navigate, small form",
    "fill, small form",
    "first page, same browser",
)
"""The figures in the README."""
README_MARKS = ("<!-- figures of the last run -->\n", "<!-- end of the figures -->\n")


@dataclass
class Figures:
    """The samples of one run, by figure and server."""

    samples: dict[str, dict[str, list[float]]] = field(default_factory=dict[str, dict[str, list[float]]])
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])
    """The load of the machine before the run, which says whether other processes were running."""

    def add(self, figure: str, server: str, *values: float) -> None:
        """Add samples. Figures without a goal are ignored."""
        if any(goal.figure == figure for goal in GOALS):
            self.samples.setdefault(figure, {}).setdefault(server, []).extend(values)

    def table(self) -> str:
        """Return the figures of this run as a Markdown table."""
        rows = [_row(goal, self.samples[goal.figure]) for goal in GOALS if goal.figure in self.samples]
        if not rows:
            return ""
        head = ["figure", *COLUMNS, "p95 of Footlight", "ratio", "goal", ""]
        return "\n".join(_align_columns([head, *rows]))

    def write_page(self, path: Path) -> None:
        """Write the page of the documentation that has the last run."""
        behind = [goal for goal in GOALS if goal.figure in self.samples and not _is_met(goal, self.samples)]
        missing = [goal for goal in GOALS if goal.figure not in self.samples]
        path.write_text(_page(self.table(), behind, missing, self.load_before), encoding="utf-8")

    def write_excerpt(self, readme: Path) -> None:
        """Write `README_FIGURES` of this run between `README_MARKS`."""
        before, rest = readme.read_text(encoding="utf-8").split(README_MARKS[0])
        after = rest.split(README_MARKS[1])[1]
        goals = {goal.figure: goal for goal in GOALS if goal.figure in self.samples}
        shown = [goals[figure] for figure in README_FIGURES if figure in goals]
        rows = [_excerpt_row(goal, self.samples[goal.figure]) for goal in shown]
        head = ["", FOOTLIGHT.title(), *map(_describe_peer, (PLAYWRIGHT_MCP, CHROME_DEVTOOLS_MCP))]
        table = "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))
        where = (
            f"Medians of one run on {_today()} with default settings, on a machine with {os.cpu_count()} "
            "cores. Bold figures are better than Footlight's. Footlight's `navigate` also returns the page.\n"
        )
        text = f"{before}{README_MARKS[0]}\n{table}\n{where}\n{README_MARKS[1]}{after}"
        readme.write_text(text, encoding="utf-8")


def _row(goal: Goal, samples: dict[str, list[float]]) -> list[str]:
    ours = samples.get(FOOTLIGHT)
    cells = [_number(statistics.median(samples[name])) if name in samples else "" for name in COLUMNS]
    p95 = _number(_p95(ours)) if ours and len(ours) > 1 else ""
    ratio = _ratio(goal, samples)
    verdict = "" if ours is None else ("met" if _is_met(goal, {goal.figure: samples}) else "behind")
    name = f"{goal.figure} ({goal.unit})"
    return [name, *cells, p95, "" if ratio is None else f"{ratio:.3g}×", goal.text, verdict]


def _excerpt_row(goal: Goal, samples: dict[str, list[float]]) -> list[str]:
    medians = {name: statistics.median(values) for name, values in samples.items()}
    ours = medians[FOOTLIGHT]
    cells = [f"{goal.figure} ({goal.unit})", _number(ours)]
    for peer in (PLAYWRIGHT_MCP, CHROME_DEVTOOLS_MCP):
        figure = _number(medians[peer]) if peer in medians else ""
        cells.append(f"**{figure}**" if figure and medians[peer] < ours else figure)
    return cells


def _ratio(goal: Goal, samples: dict[str, list[float]]) -> float | None:
    """Return our figure as a multiple of the peer's, or None where there is nothing to compare."""
    medians = {name: statistics.median(values) for name, values in samples.items()}
    ours = medians.pop(FOOTLIGHT, None)
    peers = [medians[name] for name in (PLAYWRIGHT_MCP, CHROME_DEVTOOLS_MCP) if name in medians]
    if goal.peer is None or ours is None or not peers:
        return None
    if goal.peer == "best":
        return ours / min(peers)
    return ours / medians[goal.peer] if goal.peer in medians else None


def _is_met(goal: Goal, samples: dict[str, dict[str, list[float]]]) -> bool:
    ours = samples[goal.figure].get(FOOTLIGHT)
    if ours is None:
        return False
    value = statistics.median(ours) if goal.peer is None else _ratio(goal, samples[goal.figure])
    if value is None:
        return False
    return value <= goal.limit if goal.better == "lower" else value >= goal.limit


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(padded)} |"
        if number == 0:
            rules = [
                "-" * width if column == 0 else "-" * (width - 1) + ":" for column, width in enumerate(widths)
            ]
            yield f"| {' | '.join(rules)} |"


def _describe_peer(name: str) -> str:
    """Return the name and version of a server beside Footlight."""
    package = json.loads((Path(__file__).parents[1] / "peers/package.json").read_text("utf-8"))
    return f"`{name}` {package['dependencies'][name]}"


def _today() -> str:
    return f"{datetime.date.today():%d %B %Y}"


def _page(table: str, behind: Sequence[Goal], missing: Sequence[Goal], load_before: float) -> str:
    machine = f"{os.cpu_count()} cores ({platform.system()} {platform.machine()})"
    others = "Other processes were running. " if load_before > 0.5 else ""
    peers = " and ".join(map(_describe_peer, (PLAYWRIGHT_MCP, CHROME_DEVTOOLS_MCP)))
    where = (
        f"Measured on {_today()} with Python {platform.python_version()} on a machine with {machine}, beside "
        f"{peers}. {others}The load of the machine was "
        f"{load_before:.1f} before the run and {os.getloadavg()[0]:.1f} after it."
    )
    lost = "\n".join(f"- {goal.figure}: goal {goal.text}" for goal in behind) or "- nowhere"
    parts = [
        "# Performance",
        "This page is written by `make bench ARGS=--write`, which measures Footlight and its peers in one "
        "run. The servers take turns, call by call, on the same pages, each with its default settings. Times "
        "are medians. A ratio compares Footlight with `@playwright/mcp`, unless the goal says otherwise.",
        where,
        table,
        "## Where Footlight is behind its goals",
        lost,
    ]
    if missing:
        parts += ["## Not measured in this run", "\n".join(f"- {goal.figure}" for goal in missing)]
    return "\n\n".join(parts) + "\n"
