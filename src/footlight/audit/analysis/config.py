"""The configuration of an analysis: the page, the personas, the model, and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from footlight.audit.analysis.personas import Persona
from footlight.audit.model.provider import AIProvider
from footlight.audit.model.request import Limits
from footlight.audit.model.tools import AITool, AIToolDefinition
from footlight.browser_client.validation import validate_url
from footlight.errors import ConfigurationError
from footlight.protocol.errors import MCPError

__all__ = ["AnalysisOptions", "UXAnalysisConfig"]


@dataclass(frozen=True, slots=True)
class UXAnalysisConfig:
    """The page, at least one persona, and the provider of the model. `ai_model` None is its default model.

    Raises:
        ConfigurationError: a value is invalid; the error names the field.
    """

    url: str
    personas: Sequence[Persona]
    ai_provider: AIProvider
    ai_model: str | None = None
    focus_areas: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            validate_url(self.url, tool="analyze_ux")
        except MCPError as error:
            raise ConfigurationError(error.message.removeprefix("analyze_ux: ")) from None
        _check_list("personas", self.personas, Persona)
        if not self.personas:
            raise ConfigurationError("personas must have at least one persona")
        if self.ai_provider not in get_args(AIProvider):
            raise ConfigurationError(f"ai_provider must be one of {', '.join(get_args(AIProvider))}")
        if self.ai_model is not None and not self.ai_model.strip():
            raise ConfigurationError("ai_model must not be empty; omit it for the provider's default")
        _check_list("focus_areas", self.focus_areas, str)
        if not all(area.strip() for area in self.focus_areas):
            raise ConfigurationError("focus_areas must not have empty entries")
        object.__setattr__(self, "personas", tuple(self.personas))
        object.__setattr__(self, "focus_areas", tuple(self.focus_areas))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """Options of an analysis.

    `goal_requests` limits the requests for one goal, in addition to its share of `limits`. `tools` are
    offered to the model besides the built-in ones. `server` is a target for MCPClient; None starts
    Footlight's own server. The key of the provider is read from `environ`; None is the environment of the
    process.
    """

    base_url: str | None = None
    limits: Limits = field(default_factory=Limits)
    goal_requests: int = 12
    pictures: bool = True
    """Whether the model gets pictures of the page; not every model accepts pictures."""
    tools: Sequence[AIToolDefinition | AITool] = ()
    server: object = None
    timeout_ms: int = 60_000
    """The time limit of a call to the server."""
    environ: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.goal_requests < 1:
            raise ConfigurationError("goal_requests must be at least 1")


def _check_list(field: str, value: object, kind: type) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigurationError(f"{field} must be a list")
    if not all(isinstance(each, kind) for each in cast("Sequence[object]", value)):
        raise ConfigurationError(f"{field} must be a list of {'texts' if kind is str else 'personas'}")
