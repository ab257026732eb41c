"""A toolset: tools that are offered together, and everything that differs between toolsets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from footlight.errors import ConfigurationError
from footlight.server.selection import choose_tools, instructions_for

if TYPE_CHECKING:
    from footlight.browser.sessions.engine import MakeTable
    from footlight.config import Settings
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.answers.answer import Answer
    from footlight.server.calls.recording import Recorder
    from footlight.server.selection import Group
    from footlight.server.tools.declaration import Tool

__all__ = ["Envelope", "Toolset"]


class Envelope(Protocol):
    """Turns answers into messages of the protocol, and describes their schema."""

    def schema(self, tool: Tool) -> dict[str, Any] | None:
        """Return the JSON Schema of the structured content, or None if the tool answers with text only."""
        ...

    def result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        """Return the result of `tools/call`."""
        ...


class Toolset(ABC):
    """Tools that are offered together, made for the settings of a server.

    A toolset decides how sessions are created, how answers are sent, what is recorded, and which settings
    are allowed with it.

    Raises:
        ConfigurationError: a setting conflicts with the toolset, or names something that does not exist.
    """

    refused_settings: ClassVar[Mapping[str, str]]
    """Settings that may not be given, such as `app.profile`, each with the toolsets that use it."""
    needs_own_chromium: ClassVar[bool] = False
    """Whether the server must start a Chromium itself."""
    minimal: Sequence[str]
    """The names of the few tools that most work needs."""
    secret_use: ClassVar[str]
    """The actions that accept a secret, such as `type or fill in`."""
    named_sessions: ClassVar[bool] = False
    """Whether each session has its own browser, with a profile on disk that has the name of the session."""
    shareable: ClassVar[bool] = True
    """Whether independent clients can share a server, because all of its state is in their sessions."""
    opens_display: ClassVar[bool] = False
    """Whether its browsers open a virtual display if the machine has no display."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        if self.needs_own_chromium and not settings.browser.starts_chromium:
            raise ConfigurationError(
                f"setting 'toolset' to be '{settings.toolset}' needs 'browser.type' to be 'chromium', "
                "and no 'browser.cdpEndpoint'"
            )
        for setting, toolsets in self.refused_settings.items():
            if _is_given(settings, setting):
                raise ConfigurationError(
                    f"setting '{setting}' needs 'toolset' to be {toolsets}, not '{settings.toolset}'"
                )

    @property
    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """Return all tools, in the order of `tools/list`."""

    @property
    @abstractmethod
    def instructions(self) -> str:
        """Return what a model must know to use the tools."""

    @abstractmethod
    def make_envelope(self) -> Envelope:
        """Return the envelope in which answers are sent."""

    @property
    def compact_list(self) -> bool:
        """Return whether `tools/list` has the short form of the tools."""
        return False

    def make_session_table(self, store: KnowledgeStore | None) -> MakeTable | None:
        """Return a function that makes the session table, or None if the browser package makes it."""
        del store
        return None

    def make_store(self, secrets: Sequence[str], mask: Callable[[Any], Any]) -> KnowledgeStore | None:
        """Return the store in which steps are recorded, or None if they are not recorded.

        `mask` is applied to everything that is written. `secrets` are texts that are recognized in any form.
        """
        del secrets, mask
        return None

    def make_recorder(self, store: KnowledgeStore) -> Recorder | None:
        """Return the recorder that writes calls to the store, or None."""
        del store
        return None

    @cached_property
    def groups(self) -> Mapping[str, Group]:
        """Return the group of each tool by its name. A toolset may know it without importing the tools."""
        return {tool.name: tool.group for tool in self.tools}

    @cached_property
    def offered_names(self) -> tuple[str, ...]:
        """Return the names of the tools that the settings choose.

        Raises:
            ConfigurationError: the settings name a group or a tool that does not exist, or leave no tool.
        """
        return choose_tools(self.groups, self.settings.tools, minimal=self.minimal)

    @cached_property
    def offered(self) -> tuple[Tool, ...]:
        """Return the tools that the settings choose. Raise ConfigurationError as `offered_names` does."""
        timeout_ms = self.settings.session.default_timeout
        offered = [tool for tool in self.tools if tool.name in self.offered_names]
        return tuple(replace(tool, usual_timeout_ms=timeout_ms) for tool in offered)

    @property
    def withheld(self) -> list[Tool]:
        return [tool for tool in self.tools if tool.name not in self.offered_names]

    def describe(self, secret_names: Sequence[str] | None) -> str:
        """Return the instructions for the offered tools, and for the secrets where the server has a file."""
        text = instructions_for(self.offered_names, self.instructions, self.groups)
        return text if secret_names is None else text + self._describe_secrets(secret_names)

    def _describe_secrets(self, names: Sequence[str]) -> str:
        return (
            f"\nSecrets: {', '.join(names) or 'none'}. Give secret:NAME as the whole text to "
            f"{self.secret_use}. You never see the value, only [secret NAME] in its place.\n"
        )


def _is_given(settings: Settings, key: str) -> bool:
    section, name = key.split(".")
    values = getattr(settings, section)
    return name in values.model_fields_set and bool(getattr(values, name))
