"""`analyze_ux`: a page is opened, measured, walked through and judged, and every part of it streamed."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.client.mcp_config import MCPConfig
from footlight.ux.audited import PageAudit, PageStatus
from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
from footlight.ux.evidence.collecting import collect_evidence
from footlight.ux.model.provider import ChatModel, chat_model
from footlight.ux.page_analysis import analyze_page
from footlight.ux.page_tools import page_of
from footlight.ux.result import UXAnalysisResult
from footlight.ux.server import minimal_environment, own_server
from footlight.ux.stream import AIStreamPart, ErrorPart, FinishPart, TextDeltaPart
from footlight.ux.transcript import Transcript

if TYPE_CHECKING:
    from footlight.ux.page import AuditedPage

__all__ = ["UXAnalysis", "analyze_page", "analyze_ux"]

CLOSE_SECONDS = 5.0


def analyze_ux(
    config: UXAnalysisConfig,
    *,
    options: AnalysisOptions | None = None,
    model: ChatModel | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> UXAnalysis:
    """Begin nothing yet: the work is done as it is iterated.

    Args:
        model: of another provider than the config's; it stays its owner's (R004-56).
        progress: is told what is measured, before there are parts.
    """
    return UXAnalysis(config, options or AnalysisOptions(), model, progress)


class UXAnalysis:
    """The parts, in order and live; the last is a FinishPart or an ErrorPart, and then there is a `result`.

    `async with` ends everything when it is left early, as does `aclose`. Whoever iterates to the end needs
    neither: the server, the client and the model's connections are closed before the last part comes.
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
        self._transcript = Transcript()
        self._audit = PageAudit(url=config.url, status="failed")
        self._parts = self._work()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End it now. May be called twice."""
        # Shielded: a cancelled caller must still not leave a server behind.
        with anyio.CancelScope(shield=True):
            await self._parts.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AIStreamPart:
        """
        Raises:
            ConfigurationError: at first: the model cannot be asked; it says what is missing.
        """
        return await anext(self._parts)

    async def _work(self) -> AsyncGenerator[AIStreamPart]:
        self._began = time.monotonic()
        last: AIStreamPart | None = None
        try:
            async with (
                self._opened() as (client, page, model),
                aclosing(self._analyzed(client, page, model)) as parts,
            ):
                async for part in parts:
                    if isinstance(part, FinishPart | ErrorPart):
                        last = part
                    else:
                        self._transcript.add(part)
                        yield part
        except MCPError as error:
            last = ErrorPart(error=error.message)
            if not self._transcript.text.strip():
                said = TextDeltaPart(text_delta=f"The page could not be analysed: {error.message}")
                self._transcript.add(said)
                yield said
        assert last is not None
        self.result = self._made(last)
        yield last

    async def _analyzed(
        self, client: MCPClient, page: AuditedPage, model: ChatModel
    ) -> AsyncGenerator[AIStreamPart]:
        evidence = await collect_evidence(page, self._config.url, progress=self._progress)
        status: PageStatus = "partial" if evidence.skipped else "complete"
        measured = replace(self._audit, status=status, evidence=evidence)
        async with analyze_page(page, client, evidence, self._config, self._options, model) as analysis:
            try:
                async for part in analysis:
                    yield part
            finally:
                self._audit = analysis.added_to(measured)

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[tuple[MCPClient, AuditedPage, ChatModel]]:
        async with AsyncExitStack() as stack:
            model = self._model or await stack.enter_async_context(self._asked_model())
            client = await stack.enter_async_context(
                MCPClient(_target(self._options), timeout_ms=self._options.timeout_ms)
            )
            page = await page_of(client)
            stack.push_async_callback(_close, page)
            yield client, page, model

    def _asked_model(self) -> ChatModel:
        return chat_model(
            self._config.ai_provider,
            model=self._config.ai_model,
            base_url=self._options.base_url,
            environ=_environ(self._options),
        )

    def _made(self, last: AIStreamPart) -> UXAnalysisResult:
        audit = self._audit
        return UXAnalysisResult(
            url=self._config.url,
            analysis_text=self._transcript.text,
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


def _target(options: AnalysisOptions) -> object:
    match options.server:
        case None:
            return own_server(environ=_environ(options))
        case MCPConfig() as config:
            return config.transport(env=minimal_environment(_environ(options)))
        case server:
            return server


def _environ(options: AnalysisOptions) -> Mapping[str, str]:
    return os.environ if options.environ is None else options.environ


async def _close(page: AuditedPage) -> None:
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        await page.close()
