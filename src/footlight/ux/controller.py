"""An analysis as an object that a user interface watches (R004-45: what a hook is in React)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from footlight.client.observed import Observed
from footlight.ux.analysis import UXAnalysis
from footlight.ux.result import UXAnalysisResult
from footlight.ux.stream import AIStreamPart, ErrorPart, TextDeltaPart, ToolCallPart, ToolResultPart

__all__ = ["AnalysisStatus", "AnalysisView", "ToolCallView", "UXAnalysisController"]

AnalysisStatus = Literal["idle", "analyzing", "complete"]
"""`complete` when it has ended by itself, with an error too, which the view then has."""


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


class UXAnalysisController(Observed[AnalysisView]):
    """`analyze` runs one after the other. Who cancels it ends all of it, and the view is idle again."""

    def __init__(self) -> None:
        self._view = AnalysisView()
        super().__init__()

    @property
    def view(self) -> AnalysisView:
        return self._view

    async def analyze(self, analysis: UXAnalysis) -> UXAnalysisResult | None:
        """To its end. What `analyze_ux` gives is handed in.

        Raises:
            ConfigurationError: the model cannot be asked; it says what is missing.
            RuntimeError: another one is going on.
        """
        if self._view.status == "analyzing":
            raise RuntimeError("an analysis is going on")
        self._tell(AnalysisView(status="analyzing"))
        try:
            async with analysis:
                async for part in analysis:
                    self._tell(_after(self._view, part))
        except BaseException:
            self._tell(replace(self._view, status="idle"))
            raise
        self._tell(replace(self._view, status="complete"))
        return analysis.result

    def _tell(self, view: AnalysisView) -> None:
        self._view = view
        self._changed()


def _after(view: AnalysisView, part: AIStreamPart) -> AnalysisView:
    match part:
        case ToolCallPart(tool_call_id=id, tool_name=name):
            return replace(view, tool_calls=(*view.tool_calls, ToolCallView(id, name)))
        case ToolResultPart(tool_call_id=id, is_error=is_error):
            status = "error" if is_error else "success"
            calls = (replace(each, status=status) if each.id == id else each for each in view.tool_calls)
            return replace(view, tool_calls=tuple(calls))
        case TextDeltaPart(text_delta=text):
            return replace(view, analysis_text=view.analysis_text + text)
        case ErrorPart(error=error):
            return replace(view, error=error)
        case _:
            return view
