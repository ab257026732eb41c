"""What an audit does, on a terminal: where it is, the model's last calls and words, what was found."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from footlight.cli.audit_lines import Called, Calls, told_page, told_usage
from footlight.ux.audited import Audit, PageAudit
from footlight.ux.findings import SEVERITIES, Severity
from footlight.ux.report.counts import severities
from footlight.ux.report.presentable import plain
from footlight.ux.shortened import shortened
from footlight.ux.stream import AIStreamPart, TextDeltaPart, ToolCallPart, ToolResultPart
from footlight.ux.watcher import Watcher

__all__ = ["AuditScreen"]

CALLS = 6
LINES = 10
"""Of the model's text."""
KEPT = 4_000
"""Characters of it: more than any screen shows of them."""
REFRESHES = 8
"""A second."""

_COLOURS: dict[Severity, str] = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}


class AuditScreen(Watcher):
    """To be entered: it draws below what was printed, and takes itself away at the end.

    Pages and models wrote most of the words: all are shown as `Text`, in which nothing is markup.
    """

    def __init__(self, console: Console) -> None:
        self._spinner = Spinner("dots")
        self._place = ""
        self._url = ""
        self._step = ""
        self._calls = Calls()
        self._called: deque[Called] = deque(maxlen=CALLS)
        self._text = ""
        self._ended: Audit | None = None
        self._page: PageAudit | None = None
        self._live = Live(
            console=console, get_renderable=self._drawn, refresh_per_second=REFRESHES, transient=True
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def page_begins(self, number: int, count: int, url: str) -> None:
        self._place, self._url = f"Page {number} of {count}", _line(url)
        self._step, self._text, self._page = "", "", None
        self._called.clear()

    def step(self, name: str) -> None:
        self._step = _line(name)

    def part(self, part: AIStreamPart) -> None:
        match part:
            case TextDeltaPart():
                self._text = f"{self._text}{part.text_delta}"[-KEPT:]
                self._step = "the model writes"
            case ToolCallPart():
                self._calls.begin(part)
            case ToolResultPart():
                self._called.append(self._calls.end(part))
                self._step = "the model thinks"
            case _:
                pass

    def page_grows(self, page: PageAudit) -> None:
        self._page = page

    def page_ends(self, audit: Audit) -> None:
        self._ended, self._page = audit, None
        told = Text.assemble((self._place, "bold"), f"  {self._url}  ", told_page(audit.pages[-1]))
        self._live.console.print(told, soft_wrap=True)

    def _drawn(self) -> RenderableType:
        return Group(*self._rows())

    def _rows(self) -> Iterator[RenderableType]:
        if self._place:
            yield _one_line((self._place, "bold"), f"  {self._url}")
        self._spinner.update(text=_one_line(self._calls.pending or self._step or "starting the server"))
        yield self._spinner
        for call in self._called:
            yield _one_line((f"  {call.text}", "dim" if call.ok else "red"))
        yield from self._words()
        if self._place:
            yield self._found()

    def _words(self) -> Iterator[Text]:
        """The last lines of the model's text, as wide as the terminal is now."""
        if words := plain(self._text, KEPT).strip():
            console = self._live.console
            yield from Text(words).wrap(console, max(console.width - 1, 1))[-LINES:]

    def _found(self) -> Text:
        pages = [*(self._ended.pages if self._ended else ()), *([self._page] if self._page else ())]
        counts = severities(finding for page in pages for finding in page.findings)
        told = [
            (f"{counts[each]:,} {each}  ", _COLOURS[each] if counts[each] else "dim") for each in SEVERITIES
        ]
        usage = sum((page.usage for page in pages[1:]), pages[0].usage) if pages else None
        return _one_line(*told, (told_usage(usage), "dim") if usage and usage.requests else "")


def _one_line(*parts: str | tuple[str, str]) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def _line(text: str) -> str:
    return plain(shortened(text))
