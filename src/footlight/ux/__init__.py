"""Whether a page can be used by its readers: evidence that code measures, and a model's judgement of it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.ux.analysis import UXAnalysis, analyze_ux
    from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
    from footlight.ux.controller import UXAnalysisController
    from footlight.ux.errors import ModelError
    from footlight.ux.evidence.collecting import collect_evidence
    from footlight.ux.findings import Evidence, Finding
    from footlight.ux.model.ai_tool import AITool, ToolAnswer
    from footlight.ux.model.provider import ChatModel, chat_model
    from footlight.ux.model.run import Limits
    from footlight.ux.page_tools import page_of
    from footlight.ux.persona import Persona
    from footlight.ux.personas import SHIPPED_PERSONAS, load_personas
    from footlight.ux.result import UXAnalysisResult
    from footlight.ux.stream import (
        AIStreamPart,
        ErrorPart,
        FinishPart,
        TextDeltaPart,
        ToolCallPart,
        ToolCallRecord,
        ToolResultPart,
    )
    from footlight.ux.tools import AIToolDefinition, ai_tool_from_mcp

__all__ = [
    "SHIPPED_PERSONAS",
    "AIStreamPart",
    "AITool",
    "AIToolDefinition",
    "AnalysisOptions",
    "ChatModel",
    "ErrorPart",
    "Evidence",
    "Finding",
    "FinishPart",
    "Limits",
    "ModelError",
    "Persona",
    "TextDeltaPart",
    "ToolAnswer",
    "ToolCallPart",
    "ToolCallRecord",
    "ToolResultPart",
    "UXAnalysis",
    "UXAnalysisConfig",
    "UXAnalysisController",
    "UXAnalysisResult",
    "ai_tool_from_mcp",
    "analyze_ux",
    "chat_model",
    "collect_evidence",
    "load_personas",
    "page_of",
]

_HOMES = {
    "model.ai_tool": ("AITool", "ToolAnswer"),
    "analysis": ("UXAnalysis", "analyze_ux"),
    "config": ("AnalysisOptions", "UXAnalysisConfig"),
    "controller": ("UXAnalysisController",),
    "errors": ("ModelError",),
    "evidence.collecting": ("collect_evidence",),
    "findings": ("Evidence", "Finding"),
    "model.run": ("Limits",),
    "page_tools": ("page_of",),
    "persona": ("Persona",),
    "personas": ("SHIPPED_PERSONAS", "load_personas"),
    "model.provider": ("ChatModel", "chat_model"),
    "result": ("UXAnalysisResult",),
    "tools": ("AIToolDefinition", "ai_tool_from_mcp"),
}
"""Which module has a name; the others are the stream's."""


def __getattr__(name: str) -> Any:
    """Imported when they are asked for: facts alone need no model."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "stream")
    return getattr(importlib.import_module(f"footlight.ux.{home}"), name)


def __dir__() -> list[str]:
    return __all__
