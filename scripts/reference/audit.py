"""The page of the Python API of audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footlight import audit
from footlight.audit import findings
from scripts.reference.markdown import join
from scripts.reference.python_code import render_definition

INTRO = """\
The public Python API of audits, all of it imported from `footlight.audit`. [The guide](../audit.md) describes
what an audit measures and judges.
"""

SECTIONS: Mapping[str, Sequence[object]] = {
    "Measuring": (
        audit.page_of,
        audit.collect_evidence,
        audit.Evidence,
        findings.Finding,
        findings.Element,
        findings.Fact,
    ),
    "Analysis by a model": (
        audit.analyze_ux,
        audit.UXAnalysisConfig,
        audit.Persona,
        audit.load_personas,
        audit.AnalysisOptions,
        audit.Limits,
        audit.UXAnalysis,
        audit.UXAnalysisResult,
        audit.UXAnalysisController,
    ),
    "Parts of the stream": (
        audit.ToolCallPart,
        audit.ToolResultPart,
        audit.TextDeltaPart,
        audit.FinishPart,
        audit.ErrorPart,
        audit.ToolCallRecord,
    ),
    "Your own tools and models": (
        audit.AIToolDefinition,
        audit.ai_tool_from_mcp,
        audit.AITool,
        audit.ToolAnswer,
        audit.chat_model,
        audit.ChatModel,
        audit.ModelError,
    ),
}


def render() -> str:
    parts = [
        part
        for heading, definitions in SECTIONS.items()
        for part in (
            f"## {heading}",
            *(render_definition(each, is_constructed=each is not audit.UXAnalysis) for each in definitions),
        )
    ]
    return join(["# Audits from Python", INTRO.strip(), *parts])
