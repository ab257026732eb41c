"""What `footlight audit` does, once it is known what is wanted."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio

from footlight.cli.arguments import BadUsage
from footlight.cli.audit_lines import AuditLines
from footlight.cli.auditing_options import (
    Wanted,
    check_outs,
    limit_s_of,
    make_judge,
    read_urls,
    session_of,
    thresholds_of,
    transport_of,
)
from footlight.cli.printing import nobody_reads, say, warn
from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.errors import ConfigurationError
from footlight.ux.audit import Auditor
from footlight.ux.report.as_json import as_json
from footlight.ux.report.as_text import WIDTH, as_text
from footlight.ux.report.writing import write_report
from footlight.ux.server import unpinned
from footlight.ux.watcher import Watcher

if TYPE_CHECKING:
    from footlight.ux.audited import Audit
    from footlight.ux.thresholds import Judgement

__all__ = ["run_audit"]

BAD_USAGE = 2
BY_SIGNAL = 128
CALL_TIMEOUT_MS = 60_000


def run_audit(wanted: Wanted) -> int:
    """The exit status.

    Raises:
        ConfigurationError: an option cannot be; nothing was begun.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        _log_to(wanted.log_file)
        return asyncio.run(_audit(wanted))
    except (BadUsage, MCPError) as error:
        warn(str(error))
        return BAD_USAGE


async def _audit(wanted: Wanted) -> int:
    urls, repeated = read_urls(wanted)
    check_outs(wanted.outs)
    reports = _Reports(wanted.outs)
    with _folder() as folder, _interruptible() as interrupt:
        transport, session = transport_of(wanted, folder), session_of(wanted)
        judge = make_judge(wanted, urls[0])
        _remark(wanted, repeated)
        async with AsyncExitStack() as stack:
            if judge is not None:
                await stack.enter_async_context(judge.model)
            client = MCPClient(transport, timeout_ms=CALL_TIMEOUT_MS)
            stack.push_async_callback(client.close)
            auditor = Auditor(
                client,
                judge=judge,
                watcher=stack.enter_context(_view(wanted)),
                on_page=reports.write,
                session=session,
                limit_s=limit_s_of(wanted),
            )
            with interrupt.scope:
                await client.connect()
                await auditor.run(urls)
        return _conclude(auditor.audit, wanted, reports, interrupt.signal)


@contextmanager
def _folder() -> Generator[Path]:
    with TemporaryDirectory(prefix="footlight-audit-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _conclude(audit: Audit, wanted: Wanted, reports: _Reports, interrupted: int | None) -> int:
    thresholds = thresholds_of(wanted)
    verdict = thresholds.judge(audit) if interrupted is None else None
    if audit.pages:  # Otherwise what an earlier audit has left is worth more.
        reports.write(audit, verdict)
    try:
        _print(audit, verdict, wanted)
    except BrokenPipeError:
        nobody_reads()
    if interrupted is not None:
        return BY_SIGNAL + interrupted
    return BAD_USAGE if reports.failed else thresholds.exit_status(audit)


def _print(audit: Audit, verdict: Judgement | None, wanted: Wanted) -> None:
    if wanted.form == "json":
        say(as_json(audit, verdict=verdict).rstrip("\n"))
        return
    width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    for line in as_text(audit, verdict=verdict, width=width):
        say(line)
    if wanted.outs and audit.pages:
        say(f"\nWritten: {', '.join(map(str, wanted.outs))}")


class _Reports:
    """Written anew after each page. One that cannot be written any more is no reason to lose the others."""

    def __init__(self, outs: Sequence[Path]) -> None:
        self._outs = outs
        self._told: set[str] = set()
        self.failed = False

    def write(self, audit: Audit, verdict: Judgement | None = None) -> None:
        self.failed = False
        for out in self._outs:
            try:
                write_report(audit, out, verdict=verdict)
            except ConfigurationError as error:
                self.failed = True
                if error.message not in self._told:
                    self._told.add(error.message)
                    warn(error.message)


def _remark(wanted: Wanted, repeated: int) -> None:
    if wanted.quiet:
        return
    if repeated:
        warn(f"{repeated} of the URLs named a page once more; each is audited once")
    if wanted.server and (package := unpinned(wanted.server)):
        pinned = f"{package.removesuffix('@latest')}@VERSION"
        warn(f"{package} is whatever version is the newest today; {pinned} would stay the same")
    if wanted.provider is None:
        warn("facts only; with --provider openai, anthropic or google a model judges them too")


@contextmanager
def _view(wanted: Wanted) -> Generator[Watcher]:
    """Of what is being done."""
    if wanted.quiet:
        yield Watcher()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield AuditLines()
        return
    from footlight.cli.audit_screen import AuditScreen

    with AuditScreen(console) as screen:
        yield screen


class _Interrupt:
    """A wish to stop. `scope` is left then, and what was measured is still written."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.signal: int | None = None

    def take(self, number: int) -> None:
        """Further ones change nothing: all that is left to do has its end."""
        self.signal = self.signal or number
        self.scope.cancel()


@contextmanager
def _interruptible() -> Generator[_Interrupt]:
    interrupt, loop = _Interrupt(), asyncio.get_running_loop()

    def taken(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(interrupt.take, number)

    before = {each: signal.signal(each, taken) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _log_to(file: Path | None) -> None:
    """Nowhere else: the terminal is the view's."""
    if file is None:
        logging.getLogger().addHandler(logging.NullHandler())
        return
    from footlight.config import LoggingSettings
    from footlight.log import configure

    settings = {"level": "info", "format": "text", "destination": "file", "file": file}
    configure(LoggingSettings.model_validate(settings), stdout_is_protocol=True)
