"""A controller for user interfaces that show the progress of an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from footlight.audit.model.stream import (
    AIStreamPart,
    ErrorPart,
    TextDeltaPart,
    ToolCallPart,
    ToolResultPart,
)
from footlight.audit.results import UXAnalysisResult
from footlight.audit.ux_analysis import UXAnalysis
from footlight.browser_client.controllers import Observable

__all__ = ["AnalysisStatus", "AnalysisView", "ToolCallView", "UXAnalysisController", "apply_part"]

AnalysisStatus = Literal["idle", "analyzing", "complete"]
"""The state of an analysis. `complete`: it ended on its own, maybe with an error, which the view then has."""


@dataclass(frozen=True, slots=True)
class ToolCallView:
    id: str
    name: str
    status: Literal["running", "success", "error"] = "running"


@dataclass(frozen=True, slots=True)
class AnalysisView:
    status: AnalysisStatus = "idle"
    tool_calls: Sequence[ToolCallView] = ()
    analysis_text: str = ""
    error: str | None = None


class UXAnalysisController(Observable[AnalysisView]):
    """Runs one analysis at a time. Cancelling `analyze` ends the analysis, and the view is idle again."""

    def __init__(self) -> None:
        self._view = AnalysisView()
        super().__init__()

    @property
    def view(self) -> AnalysisView:
        return self._view

    async def analyze(self, analysis: UXAnalysis) -> UXAnalysisResult | None:
        """Run an analysis, the return value of `analyze_ux`, to its end.

        Raises:
            ConfigurationError: the model cannot be asked; it says what is missing.
            RuntimeError: another one is going on.
        """
        if self._view.status == "analyzing":
            raise RuntimeError("an analysis is already running")
        self._update(AnalysisView(status="analyzing"))
        try:
            async with analysis:
                async for part in analysis:
                    self._update(apply_part(self._view, part))
        except BaseException:
            self._update(replace(self._view, status="idle"))
            raise
        self._update(replace(self._view, status="complete"))
        return analysis.result

    def _update(self, view: AnalysisView) -> None:
        self._view = view
        self._notify_if_changed()


def apply_part(view: AnalysisView, part: AIStreamPart) -> AnalysisView:
    """Return the view updated with this part."""
    match part:
        case ToolCallPart(tool_call_id=id, tool_name=name):
            return replace(view, tool_calls=(*view.tool_calls, ToolCallView(id, name)))
        case ToolResultPart(tool_call_id=id, is_error=is_error):
            return replace(
                view, tool_calls=_end_call(view.tool_calls, id, "error" if is_error else "success")
            )
        case TextDeltaPart(text_delta=text):
            return replace(view, analysis_text=view.analysis_text + text)
        case ErrorPart(error=error):
            return replace(view, error=error)
        case _:
            return view


def _end_call(
    calls: Sequence[ToolCallView], id: str, status: Literal["success", "error"]
) -> Sequence[ToolCallView]:
    """Return the calls with this status for the running call: an earlier one may have the same id."""
    running = (at for at, each in enumerate(calls) if each.id == id and each.status == "running")
    at = next(running, None)
    return calls if at is None else (*calls[:at], replace(calls[at], status=status), *calls[at + 1 :])
