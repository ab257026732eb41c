"""The interface of a toolset, which is a set of tools that are offered together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
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

__all__ = ["Envelope", "ToolTable", "Toolset"]


class Envelope(Protocol):
    """Converts answers to results of the protocol, and provides their schema."""

    def schema(self, tool: Tool) -> dict[str, Any] | None:
        """Return the JSON Schema of the structured content, or None if the tool returns only text."""
        ...

    def result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        """Return the result of `tools/call`."""
        ...


class ToolTable(Mapping[str, "Tool"]):
    """Tools by name. Each one is loaded when it is first needed."""

    def __init__(self, names: Sequence[str], load: Callable[[str], Tool]) -> None:
        self._tools: dict[str, Tool | None] = dict.fromkeys(names)
        self._load = load

    def __getitem__(self, name: str) -> Tool:
        tool = self._tools[name]
        if tool is None:
            tool = self._tools[name] = self._load(name)
        return tool

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools


class Toolset(ABC):
    """A set of tools that are offered together, with the settings of a server.

    A toolset defines how sessions are created, how answers are sent, what is recorded, and which settings are
    allowed.

    Raises:
        ConfigurationError: a setting conflicts with the toolset, or names something that does not exist.
    """

    refused_settings: ClassVar[Mapping[str, str]]
    """Settings that must not be set, such as `app.profile`, each with the toolsets that use it."""
    needs_own_chromium: ClassVar[bool] = False
    """Whether the server must start Chromium itself."""
    minimal: Sequence[str]
    """The names of the most used tools."""
    secret_use: ClassVar[str]
    """The actions that accept a secret, such as `type or fill in`."""
    named_sessions: ClassVar[bool] = False
    """Whether each session has a separate browser, with a profile on disk that has the session's name."""
    shareable: ClassVar[bool] = True
    """Whether independent clients can share a server, because its state is only in their sessions."""
    opens_display: ClassVar[bool] = False
    """Whether browsers open a virtual display if the machine has no display."""

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
        """Return the instructions that a model needs to use the tools."""

    @abstractmethod
    def make_envelope(self) -> Envelope:
        """Return the envelope in which answers are sent."""

    @property
    def compact_list(self) -> list[dict[str, Any]] | None:
        """Return the compact form of the offered tools for `tools/list`, or None to list the full form."""
        return None

    def make_session_table(self, store: KnowledgeStore | None) -> MakeTable | None:
        """Return a function that creates the session table, or None to use that of the browser package."""
        del store
        return None

    def make_store(self, secrets: Sequence[str], mask: Callable[[Any], Any]) -> KnowledgeStore | None:
        """Return the store in which steps are recorded, or None if they are not recorded.

        `mask` is applied to all written data. `secrets` are texts that are recognized in any encoding.
        """
        del secrets, mask
        return None

    def make_recorder(self, store: KnowledgeStore) -> Recorder | None:
        """Return the recorder that writes calls to the store, or None."""
        del store
        return None

    @cached_property
    def groups(self) -> Mapping[str, Group]:
        """Return the group of each tool by name. A toolset may override this to avoid importing the tools."""
        return {tool.name: tool.group for tool in self.tools}

    @cached_property
    def offered_names(self) -> tuple[str, ...]:
        """Return the names of the tools that the settings select.

        Raises:
            ConfigurationError: a group or a tool in the settings does not exist, or no tool is left.
        """
        return choose_tools(self.groups, self.settings.tools, minimal=self.minimal)

    @cached_property
    def offered(self) -> ToolTable:
        """Return the tools that the settings select. Raises what `offered_names` raises."""
        timeout_ms = self.settings.session.default_timeout
        names = [name for name in self.groups if name in self.offered_names]
        return ToolTable(names, lambda name: replace(self.load_tool(name), usual_timeout_ms=timeout_ms))

    @property
    def withheld(self) -> Mapping[str, Group]:
        """Return the groups of the tools that the settings do not select, by name."""
        return {name: group for name, group in self.groups.items() if name not in self.offered_names}

    def load_tool(self, name: str) -> Tool:
        """Return a tool. A toolset may override this to import only the module of this tool."""
        return next(tool for tool in self.tools if tool.name == name)

    def describe(self, secret_names: Sequence[str] | None) -> str:
        """Return the instructions for the offered tools, and for the secrets if there is a secrets file."""
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
