"""The steps of a session before redaction, as tools report them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from footlight.knowledge.redaction_rules import TypedField

__all__ = ["RawStep", "RepositoryFacts", "StepObservation", "TypedField", "find_target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepObservation:
    """The page after the step, in the types of the schema: ExtensionState, TestIdItem and A11yNodeTrimmed."""

    state: Mapping[str, Any]
    test_ids: Sequence[Mapping[str, Any]] = ()
    nodes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawStep:
    """A tool call before redaction."""

    tool: str
    session_id: str | None
    at: datetime
    """The time of the step, in UTC."""

    ok: bool
    duration_ms: int = 0
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: Mapping[str, Any] | None = None
    field: TypedField | None = None
    """The field that received the typed text, or None if nothing was typed or the field was not found."""

    typed: Sequence[tuple[str, TypedField | None]] = ()
    """Further typed texts, which `input` does not contain, each with its field if that was found."""

    error: Mapping[str, Any] | None = None
    """The error with `code`, `message` and `details`."""

    observation: StepObservation | None = None
    """The page after the step, or None if there is no page."""

    screenshot: Mapping[str, Any] | None = None
    """The `path`, `width` and `height` of the screenshot, without the image itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """Facts that all steps of a session share, with the key names of the schema."""

    environment: Mapping[str, Any] = field(default_factory=dict[str, Any])
    git: Mapping[str, Any] = field(default_factory=dict[str, Any])
    build: Mapping[str, Any] = field(default_factory=dict[str, Any])


def find_target(step: RawStep) -> dict[str, str]:
    """Return the target under the schema's names, taken from the input of the call if necessary."""
    source = step.input if step.target is None else step.target
    return {
        key: value for key in ("a11yRef", "testId", "selector") if isinstance(value := source.get(key), str)
    }
