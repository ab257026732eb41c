"""What is analysed, for whom, and by which model (document 004, entity 9); and what else may be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from footlight.client.errors import MCPError
from footlight.client.validation import checked_url
from footlight.errors import ConfigurationError
from footlight.ux.model.ai_tool import AITool
from footlight.ux.model.provider import AIProvider
from footlight.ux.model.request import Limits
from footlight.ux.persona import Persona
from footlight.ux.tools import AIToolDefinition

__all__ = ["AnalysisOptions", "UXAnalysisConfig"]


@dataclass(frozen=True, slots=True)
class UXAnalysisConfig:
    """A page, at least one persona with its goals, and the provider of the model. `ai_model` may be missing:
    then it is the provider's default one.

    Raises:
        ConfigurationError: one of them cannot be; it names the field.
    """

    url: str
    personas: Sequence[Persona]
    ai_provider: AIProvider
    ai_model: str | None = None
    focus_areas: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            checked_url(self.url, tool="analyze_ux")
        except MCPError as error:
            raise ConfigurationError(error.message.removeprefix("analyze_ux: ")) from None
        _check_list("personas", self.personas, Persona)
        if not self.personas:
            raise ConfigurationError("personas must have at least one")
        if self.ai_provider not in get_args(AIProvider):
            raise ConfigurationError(f"ai_provider must be one of {', '.join(get_args(AIProvider))}")
        if self.ai_model is not None and not self.ai_model.strip():
            raise ConfigurationError("ai_model must not be empty; without one it is the provider's default")
        _check_list("focus_areas", self.focus_areas, str)
        if not all(area.strip() for area in self.focus_areas):
            raise ConfigurationError("focus_areas must have no empty ones")
        object.__setattr__(self, "personas", tuple(self.personas))
        object.__setattr__(self, "focus_areas", tuple(self.focus_areas))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """`goal_requests` bounds what a goal may take of the `limits`, beside its share of what is left of them.

    `tools` are offered to a model on the page beside ours: of the server, or one's own (R004-56).
    `server` is a target for MCPClient; without one our own server is started. `environ` has the key: if it
    is None, the process's environment.
    """

    base_url: str | None = None
    limits: Limits = field(default_factory=Limits)
    goal_requests: int = 12
    pictures: bool = True
    """Whether the model is shown the page; not all of them can see."""
    tools: Sequence[AIToolDefinition | AITool] = ()
    server: object = None
    timeout_ms: int = 60_000
    """Of a call to the server."""
    environ: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.goal_requests < 1:
            raise ConfigurationError("goal_requests must be at least 1")


def _check_list(field: str, given: object, kind: type) -> None:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigurationError(f"{field} must be a list")
    if not all(isinstance(each, kind) for each in cast("Sequence[object]", given)):
        raise ConfigurationError(f"{field} must be a list of {'texts' if kind is str else 'personas'}")
