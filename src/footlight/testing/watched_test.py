"""Manage the connections of a test's fixtures, record its calls, and extend its report if it fails."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import warnings
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from footlight.atomic_files import write_atomically
from footlight.browser_client.playwright_client import PlaywrightClient
from footlight.client.handles.adapters import ADAPTERS, Adapter, choose_fitting_adapter, without_traces
from footlight.client.handles.call_log import CallLog, create_logger
from footlight.client.handles.dynamic import connect_dynamic
from footlight.client.handles.handle import Handle
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.safe_text import escape_control_characters, replace_surrogates
from footlight.testing.bridge import BlockingProxy, BridgedInvoker, bridge_client
from footlight.testing.connections import CLOSE_SECONDS, PluginConnection, PluginConnections
from footlight.testing.evidence import FailureEvidence, collect_evidence
from footlight.testing.generated import connect_generated, get_module_server
from footlight.testing.logged_client import BorrowedClient, LoggedClient
from footlight.testing.options import Options
from footlight.testing.server import choose_server, is_external
from footlight.testing.tracebacks import trim_traceback

__all__ = ["WatchedTest", "file_name", "session_name"]

EVIDENCE_SECONDS = 10.0
MAX_SECTION = 20_000
"""The maximum number of characters of a section of the report. Files contain the whole text."""

MAX_FILE_NAME = 120
MAX_TITLE = 40
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class _OpenFixture:
    fixture: str
    connection: PluginConnection
    client: MCPClient
    session: Callable[[], Mapping[str, Any] | None]
    """Returns the arguments that identify the session, or None before the first tool call."""


@dataclass(eq=False)
class WatchedTest:
    """The shared state of the fixtures of one test. `folder` is for files if `--mcp-log-dir` is not given."""

    nodeid: str
    options: Options
    folder: Path
    connections: PluginConnections
    worker: str | None = None
    pictures: bool = False
    """Whether the report can show pictures, as a report of pytest-html can."""
    _calls: io.StringIO = field(default_factory=io.StringIO)
    _open: list[_OpenFixture] = field(default_factory=list[_OpenFixture])
    _problems: list[str] = field(default_factory=list[str])
    _failed: bool = False
    log: CallLog = field(init=False)

    def __post_init__(self) -> None:
        file = None
        if self.options.log_dir is not None:
            file = self.options.log_dir / f"{file_name(self.nodeid)}.jsonl"
            try:
                file.unlink(missing_ok=True)  # It may be from an earlier run.
            except OSError as error:
                raise pytest.UsageError(
                    f"--mcp-log-dir: {file} cannot be replaced: {error.strerror}"
                ) from None
        self.log = create_logger(console=self._calls, file=file)

    @contextmanager
    def handle(self, *, blocking: bool = False) -> Generator[Any]:
        """Yield a connected handle with a new session, which is closed on exit."""
        name = self.options.session or session_name(self.nodeid, worker=self.worker, run=str(os.getpid()))
        server = self._server_of_module()
        with self._connection(server) as connection:
            bridge, client = connection.bridge, BorrowedClient.of(connection.client)
            handle = bridge.run(self._connect(name, server, client))
            bound = handle.bound
            session = bound.adapter.inject_session({}, bound.session_name)
            with self._close_after(_OpenFixture("mcp", connection, client, lambda: session), handle.close):
                if blocking:
                    yield BlockingProxy(bridge, handle)
                    return
                yield type(handle)(
                    replace(
                        bound,
                        invoker=BridgedInvoker(bridge, bound.invoker),
                        client=bridge_client(bridge, client),
                    )
                )

    @contextmanager
    def client(self, *, blocking: bool = False) -> Generator[Any]:
        """Yield a connected client, which is closed on exit."""
        with self._connection(self._server_of_module()) as connection:
            bridge, client = connection.bridge, LoggedClient.with_log(connection.client, self.log)
            opened = _OpenFixture("mcp_client", connection, client, lambda: _session_of(client))
            with self._close_after(opened, client.close):
                yield BlockingProxy(bridge, client) if blocking else bridge_client(bridge, client)

    @contextmanager
    def browser(self, *, blocking: bool = False) -> Generator[Any]:
        """Yield a typed browser client. Its session is closed on exit."""
        with self._connection(self._server()) as connection:
            bridge, client = connection.bridge, LoggedClient.with_log(connection.client, self.log)
            browser = PlaywrightClient(client if blocking else bridge_client(bridge, client))

            async def close() -> None:
                try:
                    await browser.close()
                finally:
                    await client.close()

            opened = _OpenFixture("browser_session", connection, client, lambda: _session_of(client))
            with self._close_after(opened, close):
                yield BlockingProxy(bridge, browser) if blocking else browser

    async def _connect(self, session: str, server: object, client: MCPClient) -> Handle:
        module = self.options.module

        def choose(fitting: Adapter) -> Adapter:
            adapter = fitting if self.options.adapter is None else ADAPTERS[self.options.adapter]
            # No data of the tests may remain on a server that keeps running after them.
            return (
                without_traces(adapter) if self.options.session is None and is_external(server) else adapter
            )

        if module is not None:
            return await connect_generated(module, session, choose, server=client, log=self.log)
        return await connect_dynamic(
            session, lambda tools: choose(choose_fitting_adapter(tools)), server=client, log=self.log
        )

    def _server_of_module(self) -> object:
        module = self.options.module
        return self._server(None if module is None else get_module_server(module))

    def _server(self, of_module: object = None) -> object:
        return choose_server(self.options, of_module=of_module, profiles=self.folder / "profiles")

    @contextmanager
    def _connection(self, server: object) -> Generator[PluginConnection]:
        connection = self.connections.open(server)
        try:
            yield connection
        finally:
            if not self._open or not connection.is_shared:
                self._release(connection)

    def _release(self, connection: PluginConnection) -> None:
        try:
            self.connections.release(connection)
        except TimeoutError:
            self._add_problem(f"The server did not answer within {CLOSE_SECONDS:.0f} s and was ended")
        except Exception as error:  # noqa: BLE001 - the result of the test is already known
            self._add_problem(f"The connection could not be closed: {error}")

    @contextmanager
    def _close_after(
        self, opened: _OpenFixture, close: Callable[[], Coroutine[Any, Any, None]]
    ) -> Generator[None]:
        self._open.append(opened)
        try:
            yield
        finally:
            self._open.remove(opened)
            opened.connection.bridge.abandon()
            self._close(opened.connection, close)
            self.log.close()

    def _close(self, connection: PluginConnection, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Close the fixture. Errors become warnings, because the result of the test is already known."""
        try:
            connection.bridge.run(close(), timeout_s=CLOSE_SECONDS)
        except TimeoutError:
            self._add_problem(
                f"The server did not close its session within {CLOSE_SECONDS:.0f} s and was ended"
            )
            self.connections.discard(connection)
        except Exception as error:  # noqa: BLE001 - it may be a bug in an adapter of the test
            self._add_problem(f"The session could not be closed: {error}")

    def _add_problem(self, what: str) -> None:
        self._problems.append(what)
        if not self._failed:
            warnings.warn(pytest.PytestWarning(what), stacklevel=2)

    def trim_traceback(self, error: BaseException) -> None:
        trim_traceback(error)

    def extend_report(self, report: pytest.TestReport) -> None:
        """Add the calls and the state of the browser to the report of a failure."""
        if report.failed:
            self._failed = True
            _add_section(report, "mcp calls", _keep_end(self._calls.getvalue()) or "none")
            for opened in self._open:
                try:
                    self._add_evidence(report, opened)
                except Exception as error:  # noqa: BLE001 - a server's answer must not end the test run
                    _add_section(report, f"{opened.fixture} evidence", f"not collected: {error!r}")
        if report.when == "teardown" and self._problems:
            _add_section(report, "mcp teardown", "\n".join(self._problems))

    def _add_evidence(self, report: pytest.TestReport, opened: _OpenFixture) -> None:
        session = opened.session()
        if session is None:
            return
        opened.connection.bridge.abandon()
        try:
            evidence = opened.connection.bridge.run(
                collect_evidence(opened.client, session), timeout_s=EVIDENCE_SECONDS
            )
        except TimeoutError:
            evidence = FailureEvidence(missing=["no snapshot and no screenshot: the server does not answer"])
        missing = list(evidence.missing)
        if evidence.snapshot is not None:
            _add_section(report, f"{opened.fixture} page", _keep_start(evidence.snapshot))
        if evidence.picture is not None and self.pictures:
            _add_picture(report, evidence)
        try:
            picture = self._write_files(evidence, opened.fixture)
            story = self._write_story(evidence, opened.fixture)
        except OSError as error:  # A full disk must not stop the test run.
            missing.append(f"the files could not be written: {error}")
        else:
            if story is not None:
                _add_section(report, f"{opened.fixture} report", str(story))
            if picture is not None:
                _add_section(report, f"{opened.fixture} screenshot", str(picture))
        if missing:
            _add_section(report, f"{opened.fixture} evidence", _keep_start("\n".join(missing)))

    def _write_files(self, evidence: FailureEvidence, fixture: str) -> Path | None:
        """Write the snapshot and the screenshot to files. Return the file of the screenshot, or None.

        Like the log of the calls, only their owner can read them.

        Raises:
            OSError: a file cannot be written.
        """
        base = self._file_base(fixture)
        if evidence.snapshot is not None:
            text = evidence.snapshot.encode("utf-8", "backslashreplace")
            write_atomically(base.with_suffix(".txt"), text, private=True)
        if evidence.picture is None:
            return None
        file = base.with_suffix(f".{evidence.file_ending}")
        write_atomically(file, evidence.picture, private=True)
        return file

    def _write_story(self, evidence: FailureEvidence, fixture: str) -> Path | None:
        """Write the calls as one HTML file, with the screenshot at the last call. Return the file, or None.

        Raises:
            OSError: the file cannot be written.
        """
        from footlight.watch.call_log import read_call_log
        from footlight.watch.report import render_report

        try:
            story = read_call_log(self._calls.getvalue().encode("utf-8", "replace"), name=self.nodeid)
        except MCPError:  # The test itself has written invalid lines to the log.
            return None
        if not story.entries:
            return None
        story.entries[-1].picture = evidence.picture
        file = self._file_base(fixture).with_suffix(".html")
        write_atomically(file, render_report(story).encode("utf-8", "replace"), private=True)
        return file

    def _file_base(self, fixture: str) -> Path:
        folder = self.options.log_dir or self.folder
        folder.mkdir(parents=True, exist_ok=True)
        name = file_name(self.nodeid)
        return folder / (name if fixture == "mcp" else f"{name}-{fixture}")


def _session_of(client: LoggedClient) -> Mapping[str, Any] | None:
    """Return the arguments of the last call that identify its session, or None without a call."""
    if client.last_arguments is None:
        return None
    keys = {key for adapter in ADAPTERS.values() for key in adapter.injected_keys}
    return {key: value for key, value in client.last_arguments.items() if key in keys}


def _add_section(report: pytest.TestReport, title: str, text: str) -> None:
    # The processes of pytest-xdist cannot send unpaired surrogates.
    report.sections.append((title, replace_surrogates(escape_control_characters(text))))


def _add_picture(report: pytest.TestReport, evidence: FailureEvidence) -> None:
    """Add the picture to the report in the format of `pytest_html.extras.image`."""
    extras: list[Any] = [*getattr(report, "extras", [])]
    extras.append(
        {
            "name": "mcp screenshot",
            "format_type": "image",
            "content": base64.b64encode(evidence.picture or b"").decode(),
            "mime_type": evidence.mime_type,
            "extension": evidence.file_ending,
        }
    )
    report.extras = extras  # pyright: ignore[reportAttributeAccessIssue]


def _keep_end(text: str) -> str:
    return text if len(text) <= MAX_SECTION else f"[cut]…\n{text[-MAX_SECTION:]}"


def _keep_start(text: str) -> str:
    return text if len(text) <= MAX_SECTION else f"{text[:MAX_SECTION]}\n…[cut]"


def session_name(nodeid: str, *, worker: str | None, run: str = "") -> str:
    """Return a session name that is unique for each test and worker, and also a valid profile name.

    `run` distinguishes concurrent runs, because the debugging port of a session is derived from its name.
    """
    title = _replace_other_characters(nodeid.rpartition("::")[2]).lower()[:MAX_TITLE]
    # The name begins with a word, so that it is neither a reserved name on Windows nor hidden.
    return "-".join(filter(None, ("test", title.removeprefix("test_"), _digest(f"{run}{nodeid}"), worker)))


def file_name(nodeid: str) -> str:
    """Return a file name without a suffix for the id of a test."""
    path, _, test = nodeid.replace(".py::", "::").partition("::")
    parts = (*path.split("/"), *test.split("::"))
    name = "-".join(_replace_other_characters(part) for part in parts if part)
    shortened = len(name) > MAX_FILE_NAME or any(_UNFIT.search(part) for part in parts)
    return f"{name[:MAX_FILE_NAME]}-{_digest(nodeid)}" if shortened else name


def _replace_other_characters(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
