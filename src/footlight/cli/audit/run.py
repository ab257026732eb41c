"""Run `footlight audit`: show the progress, write the reports, print the result."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio

from footlight.audit.auditor import Auditor, AuditWatcher
from footlight.audit.baseline import load_baseline
from footlight.audit.page.server import find_unpinned_package
from footlight.audit.report.json_report import render_json
from footlight.audit.report.presentable import make_presentable
from footlight.audit.report.report_file import write_report
from footlight.audit.report.text_report import WIDTH, render_text
from footlight.cli.audit.lines import AuditLines
from footlight.cli.audit.local_files import serve_local_pages
from footlight.cli.audit.options import (
    AuditArguments,
    check_outputs,
    count_jobs,
    make_judge,
    make_thresholds,
    make_transport,
    page_limit_s,
    read_sources,
    session_arguments,
)
from footlight.cli.audit.urls import read_urls
from footlight.cli.output import ignore_broken_pipe, say, warn
from footlight.cli.usage import BAD_USAGE, BY_SIGNAL, InvalidUsageError
from footlight.client.mcp_client import MCPClient
from footlight.errors import ConfigurationError
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from footlight.audit.results import Audit
    from footlight.audit.thresholds import Verdict

__all__ = ["run_audit"]

CALL_TIMEOUT_MS = 60_000


def run_audit(arguments: AuditArguments) -> int:
    """Run the audit and return the exit status.

    Raises:
        ConfigurationError: an option is not valid. No page was opened.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        _log_to(arguments.log_file)
        return asyncio.run(_audit(arguments))
    except (InvalidUsageError, MCPError) as error:
        warn(str(error))
        return BAD_USAGE


async def _audit(arguments: AuditArguments) -> int:
    with ExitStack() as stack:
        words, local = stack.enter_context(serve_local_pages(arguments.urls))
        urls, repeated = read_urls(words, arguments.lists, arguments.sitemaps)
        check_outputs(arguments.outs)
        sources = {**read_sources(arguments.sources), **local}
        known = load_baseline(arguments.baseline, sources) if arguments.baseline else None

        def prepare_audit(audit: Audit) -> Audit:
            audit = replace(audit, sources=sources, known=known)
            # The baseline contains presentable findings, so the compared findings must be presentable too.
            return audit if known is None else make_presentable(audit)

        return await _audit_pages(arguments, urls, repeated, prepare_audit)


async def _audit_pages(
    arguments: AuditArguments, urls: Sequence[str], repeated: int, prepare_audit: Callable[[Audit], Audit]
) -> int:
    reports = _Reports(arguments.outs, prepare_audit)
    with _temporary_folder() as folder, _catch_signals() as interrupt:
        transport, session = make_transport(arguments, folder), session_arguments(arguments)
        judge = make_judge(arguments, urls[0])
        _print_hints(arguments, repeated)
        async with AsyncExitStack() as stack:
            if judge is not None:
                await stack.enter_async_context(judge.model)
            client = MCPClient(transport, timeout_ms=CALL_TIMEOUT_MS)
            stack.push_async_callback(client.close)
            auditor = Auditor(
                client,
                judge=judge,
                watcher=stack.enter_context(_open_view(arguments)),
                on_page=reports.write,
                session=session,
                limit_s=page_limit_s(arguments),
                jobs=count_jobs(arguments),
            )
            with interrupt.scope:
                await client.connect()
                await auditor.run(urls)
        return _conclude(prepare_audit(auditor.audit), arguments, reports, interrupt.signal)


@contextmanager
def _temporary_folder() -> Generator[Path]:
    with TemporaryDirectory(prefix="footlight-audit-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _conclude(audit: Audit, arguments: AuditArguments, reports: _Reports, interrupted: int | None) -> int:
    thresholds = make_thresholds(arguments)
    verdict = thresholds.judge(audit) if interrupted is None else None
    if audit.pages:  # Without a page, keep the report of an earlier audit.
        reports.write(audit, verdict)
    try:
        _print(audit, verdict, arguments)
    except BrokenPipeError:
        ignore_broken_pipe()
    if interrupted is not None:
        return BY_SIGNAL + interrupted
    return BAD_USAGE if reports.failed else thresholds.exit_status(audit)


def _print(audit: Audit, verdict: Verdict | None, arguments: AuditArguments) -> None:
    if arguments.form == "json":
        say(render_json(audit, verdict=verdict).rstrip("\n"))
        return
    width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    for line in render_text(audit, verdict=verdict, width=width):
        say(line)
    if arguments.outs and audit.pages:
        say(f"\nWritten: {', '.join(map(str, arguments.outs))}")


class _Reports:
    """Writes the reports after each page. A report that cannot be written does not affect the others."""

    def __init__(self, outs: Sequence[Path], prepare_audit: Callable[[Audit], Audit]) -> None:
        self._outs = outs
        self._prepare_audit = prepare_audit
        self._reported: set[str] = set()
        self.failed = False

    def write(self, audit: Audit, verdict: Verdict | None = None) -> None:
        self.failed = False
        audit = self._prepare_audit(audit)
        for out in self._outs:
            try:
                write_report(audit, out, verdict=verdict)
            except ConfigurationError as error:
                self.failed = True
                if error.message not in self._reported:
                    self._reported.add(error.message)
                    warn(error.message)


def _print_hints(arguments: AuditArguments, repeated: int) -> None:
    if arguments.quiet:
        return
    if repeated:
        warn(f"{repeated} of the URLs are repetitions; each page is audited once")
    if arguments.server and (package := find_unpinned_package(arguments.server)):
        pinned = f"{package.removesuffix('@latest')}@VERSION"
        warn(f"{package} is not pinned to a version; {pinned} would give the same results each time")
    if arguments.provider is None:
        warn("only measurements; add --provider openai, anthropic or google to let a model judge them too")


@contextmanager
def _open_view(arguments: AuditArguments) -> Generator[AuditWatcher]:
    """Open the view of the progress, which is a screen on a terminal, and lines otherwise."""
    if arguments.quiet:
        yield AuditWatcher()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield AuditLines()
        return
    from footlight.cli.audit.screen import AuditScreen

    with AuditScreen(console) as screen:
        yield screen


class _Interrupt:
    """Cancels `scope` on a signal. The measurements so far are still reported."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.signal: int | None = None

    def cancel(self, number: int) -> None:
        """Cancel the work. Further signals have no effect, because the remaining work has a time limit."""
        self.signal = self.signal or number
        self.scope.cancel()


@contextmanager
def _catch_signals() -> Generator[_Interrupt]:
    interrupt, loop = _Interrupt(), asyncio.get_running_loop()

    def on_signal(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(interrupt.cancel, number)

    before = {each: signal.signal(each, on_signal) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupt
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _log_to(file: Path | None) -> None:
    """Log to the file, or not at all, because the view uses the terminal."""
    if file is None:
        logging.getLogger().addHandler(logging.NullHandler())
        return
    from footlight.config import LoggingSettings
    from footlight.log import configure

    settings = {"level": "info", "format": "text", "destination": "file", "file": file}
    configure(LoggingSettings.model_validate(settings), stdout_is_protocol=True)
