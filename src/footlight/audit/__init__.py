"""Accessibility and usability audits of web pages: findings measured by code, and a model's judgement."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
    from footlight.audit.analysis.personas import SHIPPED_PERSONAS, Persona, load_personas
    from footlight.audit.controller import UXAnalysisController
    from footlight.audit.evidence.measurement import collect_evidence
    from footlight.audit.findings import Evidence, Finding
    from footlight.audit.model.failures import ModelError
    from footlight.audit.model.provider import ChatModel, chat_model
    from footlight.audit.model.request import Limits
    from footlight.audit.model.stream import (
        AIStreamPart,
        ErrorPart,
        FinishPart,
        TextDeltaPart,
        ToolCallPart,
        ToolCallRecord,
        ToolResultPart,
    )
    from footlight.audit.model.tools import AITool, AIToolDefinition, ToolAnswer, ai_tool_from_mcp
    from footlight.audit.page.server_page import page_of
    from footlight.audit.results import UXAnalysisResult
    from footlight.audit.ux_analysis import UXAnalysis, analyze_ux

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
    "analysis.config": ("AnalysisOptions", "UXAnalysisConfig"),
    "analysis.personas": ("SHIPPED_PERSONAS", "Persona", "load_personas"),
    "controller": ("UXAnalysisController",),
    "evidence.measurement": ("collect_evidence",),
    "findings": ("Evidence", "Finding"),
    "model.failures": ("ModelError",),
    "model.provider": ("ChatModel", "chat_model"),
    "model.request": ("Limits",),
    "model.stream": (
        "AIStreamPart",
        "ErrorPart",
        "FinishPart",
        "TextDeltaPart",
        "ToolCallPart",
        "ToolCallRecord",
        "ToolResultPart",
    ),
    "model.tools": ("AITool", "AIToolDefinition", "ToolAnswer", "ai_tool_from_mcp"),
    "page.server_page": ("page_of",),
    "results": ("UXAnalysisResult",),
    "ux_analysis": ("UXAnalysis", "analyze_ux"),
}
"""The module that defines each name. Modules are imported on first use: measuring needs no model."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"footlight.audit.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
