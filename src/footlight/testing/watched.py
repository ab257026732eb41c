"""One test: the connections that its fixtures opened, what it called, and what is told when it fails."""

from __future__ import annotations

import base64
import io
import os
import warnings
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from footlight.client.adapters import ADAPTERS, Adapter, fitting_adapter, passing
from footlight.client.mcp_client import MCPClient
from footlight.client.playwright_client import PlaywrightClient
from footlight.client.runtime.dynamic import connect_dynamic
from footlight.client.runtime.handle import Handle
from footlight.client.runtime.logger import CallLog, create_logger
from footlight.steering import harmless
from footlight.testing.bridge import Bridge, BridgedInvoker, bridged_client
from footlight.testing.evidence import Evidence, gather
from footlight.testing.generated import connect_generated, made_from
from footlight.testing.logged_client import LoggedClient
from footlight.testing.naming import file_name, session_name
from footlight.testing.options import Options
from footlight.testing.server import runs_already, server_of
from footlight.testing.tracebacks import end_with_the_test

__all__ = ["WatchedTest"]

CLOSE_SECONDS = 10.0
EVIDENCE_SECONDS = 10.0
LONGEST_SECTION = 20_000
"""Characters; the files have all of it."""


@dataclass(frozen=True, slots=True)
class _Open:
    fixture: str
    bridge: Bridge
    client: MCPClient
    session: Callable[[], Mapping[str, Any] | None]
    """The arguments that name its session; None as long as it has used no tool."""


@dataclass(eq=False)
class WatchedTest:
    """The fixtures of a test share it. `folder` is for what nobody said where to put."""

    nodeid: str
    options: Options
    folder: Path
    worker: str | None = None
    pictures: bool = False
    """Whether reports take pictures: those of pytest-html do."""
    _calls: io.StringIO = field(default_factory=io.StringIO)
    _open: list[_Open] = field(default_factory=list[_Open])
    _troubles: list[str] = field(default_factory=list[str])
    _failed: bool = False
    log: CallLog = field(init=False)

    def __post_init__(self) -> None:
        file = None
        if self.options.log_dir is not None:
            file = self.options.log_dir / f"{file_name(self.nodeid)}.jsonl"
            file.unlink(missing_ok=True)  # It is about this run.
        self.log = create_logger(console=self._calls, file=file)

    @contextmanager
    def handle(self) -> Generator[Handle]:
        """Calls by name; closed on return."""
        name = self.options.session or session_name(self.nodeid, worker=self.worker, run=str(os.getpid()))
        with self._bridge() as bridge:
            handle = bridge.run(self._connected(name))
            bound = handle.bound
            session = bound.adapter.inject_session({}, bound.session_name)
            with self._closing(_Open("mcp", bridge, bound.client, lambda: session), handle.close):
                yield type(handle)(
                    replace(
                        bound,
                        invoker=BridgedInvoker(bridge, bound.invoker),
                        client=bridged_client(bridge, bound.client),
                    )
                )

    @contextmanager
    def client(self) -> Generator[MCPClient]:
        """The connection alone; closed on return."""
        with self._bridge() as bridge:
            client = LoggedClient(self._server_of_module(), log=self.log)
            bridge.run(client.connect())
            opened = _Open("mcp_client", bridge, client, lambda: _session_of(client))
            with self._closing(opened, client.close):
                yield bridged_client(bridge, client)

    @contextmanager
    def browser(self) -> Generator[PlaywrightClient]:
        """A browser with types; its session and its connection are closed on return."""
        with self._bridge() as bridge:
            client = LoggedClient(self._server(), log=self.log)
            bridge.run(client.connect())
            browser = PlaywrightClient(bridged_client(bridge, client))

            async def close() -> None:
                try:
                    await browser.close()
                finally:
                    await client.close()

            opened = _Open("browser_session", bridge, client, lambda: _session_of(client))
            with self._closing(opened, close):
                yield browser

    async def _connected(self, session: str) -> Handle:
        module = self.options.module
        server = self._server_of_module()

        def chosen(fitting: Adapter) -> Adapter:
            adapter = fitting if self.options.adapter is None else ADAPTERS[self.options.adapter]
            # On a server that goes on after the tests, nothing is to stay of them.
            return passing(adapter) if self.options.session is None and runs_already(server) else adapter

        if module is not None:
            return await connect_generated(module, session, chosen, server=server, log=self.log)
        return await connect_dynamic(
            session, lambda tools: chosen(fitting_adapter(tools)), server=server, log=self.log
        )

    def _server_of_module(self) -> object:
        module = self.options.module
        return self._server(None if module is None else made_from(module))

    def _server(self, of_module: object = None) -> object:
        return server_of(self.options, of_module=of_module, profiles=self.folder / "profiles")

    @contextmanager
    def _bridge(self) -> Generator[Bridge]:
        bridge = Bridge()
        try:
            yield bridge
        finally:
            bridge.end()

    @contextmanager
    def _closing(self, opened: _Open, close: Callable[[], Coroutine[Any, Any, None]]) -> Generator[None]:
        self._open.append(opened)
        try:
            yield
        finally:
            self._open.remove(opened)
            opened.bridge.abandon()
            self._close(opened.bridge, close)
            self.log.close()

    def _close(self, bridge: Bridge, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """What goes wrong now is a warning: the test has said what it had to say."""
        try:
            bridge.run(close(), timeout_s=CLOSE_SECONDS)
        except TimeoutError:
            self._trouble(f"The server did not close its session within {CLOSE_SECONDS:.0f} s; it was ended")
        except Exception as error:  # noqa: BLE001 - also a bug in an adapter of one's own
            self._trouble(f"The session could not be closed: {error}")

    def _trouble(self, what: str) -> None:
        self._troubles.append(what)
        if not self._failed:
            warnings.warn(pytest.PytestWarning(what), stacklevel=2)

    def shorten(self, error: BaseException) -> None:
        """Its traceback is about to be printed."""
        end_with_the_test(error)

    def tell(self, report: pytest.TestReport) -> None:
        """Add what was called and what the browser shows to the report of a failure."""
        if report.failed:
            self._failed = True
            report.sections.append(("mcp calls", _end(self._calls.getvalue()) or "none"))
            for opened in self._open:
                self._show(report, opened)
        if report.when == "teardown" and self._troubles:
            report.sections.append(("mcp teardown", "\n".join(self._troubles)))

    def _show(self, report: pytest.TestReport, opened: _Open) -> None:
        session = opened.session()
        if session is None:
            return
        opened.bridge.abandon()
        try:
            seen = opened.bridge.run(gather(opened.client, session), timeout_s=EVIDENCE_SECONDS)
        except TimeoutError:
            seen = Evidence(missing=["no snapshot and no screenshot: the server does not answer"])
        missing = list(seen.missing)
        if seen.snapshot is not None:
            report.sections.append((f"{opened.fixture} page", _start(seen.snapshot)))
        if seen.picture is not None and self.pictures:
            _add_picture(report, seen)
        try:
            picture = self._keep(seen, opened.fixture)
        except OSError as error:  # A full disk is no reason to end the run.
            missing.append(f"not kept: {error}")
        else:
            if picture is not None:
                report.sections.append((f"{opened.fixture} screenshot", str(picture)))
        if missing:
            report.sections.append((f"{opened.fixture} evidence", _start("\n".join(missing))))

    def _keep(self, seen: Evidence, fixture: str) -> Path | None:
        """Files with all of it; the picture's, where there is one. Raises OSError."""
        beside = self._beside(fixture)
        if seen.snapshot is not None:
            beside.with_suffix(".txt").write_text(seen.snapshot, "utf-8", errors="backslashreplace")
        if seen.picture is None:
            return None
        file = beside.with_suffix(f".{seen.ending}")
        file.write_bytes(seen.picture)
        return file

    def _beside(self, fixture: str) -> Path:
        folder = self.options.log_dir or self.folder
        folder.mkdir(parents=True, exist_ok=True)
        name = file_name(self.nodeid)
        return folder / (name if fixture == "mcp" else f"{name}-{fixture}")


def _session_of(client: LoggedClient) -> Mapping[str, Any] | None:
    """As the last call named it."""
    if client.last_arguments is None:
        return None
    keys = {key for adapter in ADAPTERS.values() for key in adapter.injected_keys}
    return {key: value for key, value in client.last_arguments.items() if key in keys}


def _add_picture(report: pytest.TestReport, seen: Evidence) -> None:
    """As `pytest_html.extras.image` makes it."""
    extras: list[Any] = [*getattr(report, "extras", [])]
    extras.append(
        {
            "name": "mcp screenshot",
            "format_type": "image",
            "content": base64.b64encode(seen.picture or b"").decode(),
            "mime_type": seen.mime_type,
            "extension": seen.ending,
        }
    )
    report.extras = extras  # pyright: ignore[reportAttributeAccessIssue]


def _end(text: str) -> str:
    text = harmless(text)
    return text if len(text) <= LONGEST_SECTION else f"[cut]…\n{text[-LONGEST_SECTION:]}"


def _start(text: str) -> str:
    text = harmless(text)
    return text if len(text) <= LONGEST_SECTION else f"{text[:LONGEST_SECTION]}\n…[cut]"
