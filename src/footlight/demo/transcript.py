"""Print the demo: each call, its answer, and the verdicts."""

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from footlight.demo.remote_browser import BrowserAnswer
from footlight.demo.verdict import StepVerdict

__all__ = ["DemoTranscript", "describe_arguments", "describe_data", "open_screen"]

_MASK = "••••••"

_MAX_VALUE_LENGTH = 100
_COLUMNS = ("Step", "The site holds", "What came back", "Verdict")


class DemoTranscript:
    """Prints to a console: with colours on a terminal, as plain unwrapped lines elsewhere."""

    def __init__(self, console: Console, *, secrets: Collection[str] = ()) -> None:
        self._console = console
        self._secrets = secrets
        self._url = ""

    def fact(self, name: str, value: object) -> None:
        """Print a line about the demo itself."""
        self._line(0, (f"{name:<10}", "dim"), str(value))

    def heading(self, number: int, text: str) -> None:
        """Print the heading of a step."""
        self._console.print()
        self._line(0, (f"{number}. {text}", "bold"))

    def call(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Print a call."""
        description = describe_arguments(arguments)
        self._line(2, (tool, "bold cyan"), f" {description}" if description else "")

    def answer(self, answer: BrowserAnswer) -> None:
        """Print an answer and the elapsed time."""
        time = (f"  {answer.elapsed_ms:.0f} ms", "dim")
        if answer.error is None:
            fact = describe_data(answer.tool, answer.data, url_before=self._url)
            self._url = answer.data.get("url", self._url)
            self._line(4, (fact, "green"), time)
            return
        self._line(4, (answer.error.code, "bold yellow"), " ", answer.error.message, time)
        if answer.error.suggestion:
            self._line(4, ("suggestion: ", "dim"), answer.error.suggestion)

    def failure(self, text: str) -> None:
        """Print a failure."""
        self._line(4, ("failed: ", "bold red"), text)

    def verdicts(self, verdicts: Sequence[StepVerdict]) -> None:
        """Print a table of the steps: what the shop has and what was returned."""
        self._console.print()
        if self._console.is_terminal:
            self._console.print(_table(verdicts))
        else:
            self._plain_table(verdicts)
        for verdict in verdicts:
            if verdict.difference:
                self._line(0, (f"{verdict.step}: ", "bold red"), verdict.difference)

    def remark(self, text: str, quoted: Sequence[str] = ()) -> None:
        """Print a closing remark with quoted lines below it."""
        self._console.print()
        self._line(0, (text, "bold"))
        for line in quoted:
            self._line(4, line)

    def _plain_table(self, verdicts: Sequence[StepVerdict]) -> None:
        rows = [_COLUMNS, *(_row(verdict) for verdict in verdicts)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self._line(
                0, "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            )

    def _line(self, indent: int, *parts: str | tuple[str, str]) -> None:
        text = Text.assemble(*map(self._mask, parts))
        if self._console.is_terminal:
            self._console.print(Padding(text, (0, 0, 0, indent), expand=False))
        else:
            self._console.print(Text(" " * indent) + text, soft_wrap=True)

    def _mask(self, part: str | tuple[str, str]) -> tuple[str, str]:
        text, style = (part, "") if isinstance(part, str) else part
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text, style


def describe_arguments(arguments: Mapping[str, object]) -> str:
    """Return the arguments of a call on one line."""
    return " ".join(f"{name}={_shorten(value)}" for name, value in arguments.items())


def describe_data(tool: str, data: Mapping[str, Any], *, url_before: str = "") -> str:
    """Return the main fact of an answer, with downloads and navigations."""
    describe = _FACTS.get(tool)
    facts = [describe(data)] if describe else []
    facts += [f"downloaded {download.get('suggestedFilename')}" for download in data.get("downloads", ())]
    url = data.get("url", url_before)
    if tool != "navigate" and url != url_before:
        facts.append(f"now at {url}")
    return ", ".join(facts) or "done"


def _describe_table(data: Mapping[str, Any]) -> str:
    rows: Sequence[Mapping[str, str] | Sequence[str]] = data.get("rows", ())
    if not rows:
        return "no rows"
    first = rows[0].values() if isinstance(rows[0], Mapping) else rows[0]
    return f"{len(rows)} row{'s' * (len(rows) > 1)}, the first: {', '.join(map(str, first))}"


def _describe_picture(data: Mapping[str, Any]) -> str:
    return f"{data.get('width')} × {data.get('height')} {data.get('format')}, {data.get('bytes')} bytes"


_FACTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "element_exists": lambda data: "yes" if data.get("exists") else "no",
    "extract_table": _describe_table,
    "get_page_metadata": lambda data: f"{_shorten(data.get('title'))}, language {data.get('language')}",
    "get_text": lambda data: _shorten(data.get("text")),
    "navigate": lambda data: f"status {data.get('status')}",
    "screenshot": _describe_picture,
    "select": lambda data: f"selected {', '.join(data.get('selected', ()))}",
    "upload_file": lambda data: f"the field holds {', '.join(data.get('files', ()))}",
}


def _shorten(value: object) -> str:
    text = value if isinstance(value, str) and value and not set(value) & set(' "\n') else _to_json(value)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _table(verdicts: Sequence[StepVerdict]) -> Table:
    table = Table(*_COLUMNS, box=None, header_style="bold", padding=(0, 2, 0, 0))
    for verdict in verdicts:
        *cells, judgement = _row(verdict)
        table.add_row(
            *map(Text, cells), Text(judgement, style="bold green" if verdict.agrees else "bold red")
        )
    return table


def _row(verdict: StepVerdict) -> tuple[str, str, str, str]:
    return verdict.step, verdict.holds, verdict.got, "same" if verdict.agrees else "NOT THE SAME"


class _QuietConsole(Console):
    """Standard output. If its reader is gone, the demo continues without output."""

    def on_broken_pipe(self) -> None:
        """Stop printing, but do not exit."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def open_screen() -> _QuietConsole:
    """Return standard output, which prints `?` for characters that its encoding lacks."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return _QuietConsole()
