"""Show the progress of an audit on a terminal: the page, the model's calls and text, and the findings."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from footlight.audit.auditor import AuditWatcher
from footlight.audit.findings import SEVERITIES, Severity, count_severities
from footlight.audit.model.stream import AIStreamPart, TextDeltaPart, ToolCallPart, ToolResultPart
from footlight.audit.page.page_text import shorten
from footlight.audit.report.presentable import make_plain
from footlight.audit.results import Audit, PageAudit
from footlight.cli.audit.lines import CompletedCall, PendingCalls, describe_page, describe_usage

__all__ = ["AuditScreen"]

MAX_CALLS = 6
MAX_LINES = 10
"""The maximum number of lines of the model's text."""
MAX_CHARACTERS = 4_000
"""The number of characters of the model's text that are kept, which is more than a screen shows."""
REFRESHES_PER_SECOND = 8

_COLOURS: dict[Severity, str] = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}


class AuditScreen(AuditWatcher):
    """A context manager that draws below earlier output and clears itself at the end.

    All text is shown as `Text`, without markup, because most of it comes from pages and models.
    """

    def __init__(self, console: Console) -> None:
        self._spinner = Spinner("dots")
        self._place = ""
        self._url = ""
        self._step = ""
        self._calls = PendingCalls()
        self._completed: deque[CompletedCall] = deque(maxlen=MAX_CALLS)
        self._text = ""
        self._audit: Audit | None = None
        self._page: PageAudit | None = None
        self._live = Live(
            console=console,
            get_renderable=self._draw,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def page_begins(self, number: int, count: int, url: str) -> None:
        self._place, self._url = f"Page {number} of {count}", _line(url)
        self._step, self._text, self._page = "", "", None
        self._completed.clear()

    def step(self, name: str) -> None:
        self._step = _line(name)

    def part(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                self._text = f"{self._text}{part.text_delta}"[-MAX_CHARACTERS:]
                self._step = "the model writes"
            case ToolCallPart():
                self._calls.begin(part)
            case ToolResultPart():
                self._completed.append(self._calls.end(part))
                self._step = "the model thinks"
            case _:
                pass

    def result_changes(self, page: PageAudit) -> None:
        self._page = page

    def page_ends(self, audit: Audit) -> None:
        self._audit, self._page = audit, None
        line = Text.assemble((self._place, "bold"), f"  {self._url}  ", describe_page(audit.pages[-1]))
        self._live.console.print(line, soft_wrap=True)

    def _draw(self) -> RenderableType:
        return Group(*self._rows())

    def _rows(self) -> Iterator[RenderableType]:
        if self._place:
            yield _one_line((self._place, "bold"), f"  {self._url}")
        self._spinner.update(text=_one_line(self._calls.first or self._step or "starting the server"))
        yield self._spinner
        for call in self._completed:
            yield _one_line((f"  {call.text}", "dim" if call.ok else "red"))
        yield from self._error_output()
        if self._place:
            yield self._findings()

    def _error_output(self) -> Iterator[Text]:
        """Yield the last lines of the model's text, wrapped to the width of the terminal."""
        if words := make_plain(self._text, MAX_CHARACTERS).strip():
            console = self._live.console
            yield from Text(words).wrap(console, max(console.width - 1, 1))[-MAX_LINES:]

    def _findings(self) -> Text:
        pages = [*(self._audit.pages if self._audit else ()), *([self._page] if self._page else ())]
        counts = count_severities(finding for page in pages for finding in page.findings)
        parts = [
            (f"{counts[each]:,} {each}  ", _COLOURS[each] if counts[each] else "dim") for each in SEVERITIES
        ]
        usage = sum((page.usage for page in pages[1:]), pages[0].usage) if pages else None
        return _one_line(*parts, (describe_usage(usage), "dim") if usage and usage.requests else "")


def _one_line(*parts: str | tuple[str, str]) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def _line(text: str) -> str:
    return make_plain(shorten(text))
