"""Implement `analyze_ux`: measure a page, let a model use and judge it, and stream every part."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace

import anyio

from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.auditor import AuditWatcher, Judge, PageAuditor
from footlight.audit.model.provider import ChatModel, chat_model
from footlight.audit.model.stream import AIStreamPart, ErrorPart, FinishPart, PartStream, TextDeltaPart
from footlight.audit.page.server import minimal_environment, own_server
from footlight.audit.page.server_page import page_of
from footlight.audit.results import PageAudit, UXAnalysisResult
from footlight.browser_client.mcp_config import MCPConfig
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError

__all__ = ["UXAnalysis", "analyze_ux"]

CLOSE_SECONDS = 5.0


def analyze_ux(
    config: UXAnalysisConfig,
    *,
    options: AnalysisOptions | None = None,
    model: ChatModel | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> UXAnalysis:
    """Return an analysis, which does its work while it is iterated.

    Args:
        model: replaces the model of the config. The caller closes it.
        progress: called with the name of each step of the measurement.
    """
    return UXAnalysis(config, options or AnalysisOptions(), model, progress)


class UXAnalysis(PartStream):
    """Yields its parts in order; the last is a FinishPart or an ErrorPart, and then `result` is set.

    The server, the client and the model's connections are closed before the last part.

    Raises:
        ConfigurationError: at the first part, if the model cannot be used; it names what is missing.
    """

    def __init__(
        self,
        config: UXAnalysisConfig,
        options: AnalysisOptions,
        model: ChatModel | None,
        progress: Callable[[str], None],
    ) -> None:
        self.result: UXAnalysisResult | None = None
        self._config = config
        self._options = options
        self._model = model
        self._progress = progress
        self._began = time.monotonic()
        self._audit = PageAudit(url=config.url, status="failed")
        super().__init__()

    async def _work(self) -> AsyncGenerator[AIStreamPart]:
        self._began = time.monotonic()
        last: AIStreamPart | None = None
        try:
            async with self._open() as auditor, aclosing(auditor.parts()) as parts:
                try:
                    async for part in parts:
                        if isinstance(part, FinishPart | ErrorPart):
                            last = part
                        else:
                            yield part
                finally:
                    self._audit = auditor.audit
            error = self._audit.error
        except MCPError as failure:
            error = failure.message
        if error is not None:
            last = ErrorPart(error=error)
            if not self._audit.analysis_text.strip():
                text = f"The page could not be analysed: {error}"
                self._audit = replace(self._audit, analysis_text=text)
                yield TextDeltaPart(text_delta=text)
        assert last is not None, "the last part of an analysis says how it ended"
        self.result = self._make_result(last)
        yield last

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[PageAuditor]:
        async with AsyncExitStack() as stack:
            model = self._model or await stack.enter_async_context(self._make_model())
            client = await stack.enter_async_context(
                MCPClient(_transport(self._options), timeout_ms=self._options.timeout_ms)
            )
            judge = Judge(model=model, config=self._config, options=self._options)
            auditor = PageAuditor(
                self._config.url,
                await page_of(client),
                client,
                judge=judge,
                watcher=_ProgressWatcher(self._progress),
            )
            stack.push_async_callback(_close, auditor)
            yield auditor

    def _make_model(self) -> ChatModel:
        return chat_model(
            self._config.ai_provider,
            model=self._config.ai_model,
            base_url=self._options.base_url,
            environ=_environ(self._options),
        )

    def _make_result(self, last: AIStreamPart) -> UXAnalysisResult:
        audit = self._audit
        return UXAnalysisResult(
            url=self._config.url,
            analysis_text=audit.analysis_text,
            tool_calls=audit.tool_calls,
            personas=[persona.name for persona in self._config.personas],
            timestamp=int(time.time() * 1000),
            duration=max((time.monotonic() - self._began) * 1000, 0.001),
            status=audit.status,
            findings=audit.findings,
            walks=audit.walks,
            dropped=audit.dropped,
            usage=audit.usage,
            error=last.error if isinstance(last, ErrorPart) else None,
        )


class _ProgressWatcher(AuditWatcher):
    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress

    def step(self, name: str) -> None:
        self._progress(name)


def _transport(options: AnalysisOptions) -> object:
    match options.server:
        case None:
            return own_server(environ=_environ(options))
        case MCPConfig() as config:
            return config.transport(env=minimal_environment(_environ(options)))
        case server:
            return server


def _environ(options: AnalysisOptions) -> Mapping[str, str]:
    return os.environ if options.environ is None else options.environ


async def _close(auditor: PageAuditor) -> None:
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        await auditor.page.close()
