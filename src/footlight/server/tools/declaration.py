"""Declare a tool with `@tool` on a typed function.

The function's name, docstring and signature define the tool's name, description and input schema, and its
return type defines the output schema. The decorator defines the effects and requirements of a call. The MCP
list, the dispatcher and the reference page read all facts about a tool from its declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from footlight.errors import PermissionDeniedError
from footlight.server.selection import Group
from footlight.server.tools.arguments import ExpectedArguments, parse_arguments
from footlight.server.tools.parameter_types import Expect, MaybeBudget, Observe, Settle, Timeout
from footlight.server.tools.schema import (
    Function,
    make_arguments_model,
    make_input_schema,
    make_output_schema,
    make_returned_schema,
)

if TYPE_CHECKING:
    from footlight.config import SecuritySettings
    from footlight.server.answers.secrets import Secrets
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["Effect", "Function", "Permission", "Scope", "Tool", "tool"]

Scope = Literal["page", "session", "server"]
"""The object of a call. The dispatcher provides the session and page, under the session's lock."""

Effect = Literal["read", "act", "configure"]
"""The effect of a tool. `read` makes no changes, `act` acts in a page, `configure` changes the session."""

Permission = Literal["evaluation", "upload", "page tools"]
"""The setting that must permit the tool."""

Limits = Callable[[BaseModel], tuple[float, float]]
"""Returns the time limits, in milliseconds, of a whole call and for an element to appear during it."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A declared tool. Values that depend on the signature are computed on first use."""

    name: str
    title: str
    description: str
    function: Function
    scope: Scope
    effect: Effect
    destructive: bool
    idempotent: bool
    open_world: bool
    permission: Permission | None
    group: Group
    untrusted: bool | None
    """Whether the tool's `data` comes from a page. None means all parts that contain text."""
    queued: bool
    """Whether a call waits for other calls in the session."""
    observed: bool
    """Whether the answer includes the changes on the page."""
    shared: Mapping[str, Any]
    """The parameters of the scope, which follow those of the function."""
    leading: Mapping[str, Any]
    """Parameters that precede those of the function."""
    default_timeout_ms: float | None
    """The time limit of a call without `timeout`, or None for that of the settings."""
    limits: Limits | None = None
    """Computes the time limits from the arguments, for a tool without the parameter `timeout`."""
    usual_timeout_ms: float | None = None
    """The time limit in the settings for a call without `timeout`, for schemas that list a default."""
    schema: Mapping[str, Any] | None = None
    """A fixed input schema, which is listed unchanged. The signature accepts at least as much."""
    whole: bool = False
    """Whether an answer of any length is sent whole."""
    batch: bool = False
    """Whether the tool runs other tools as steps."""
    app: bool = False
    """Whether clients with MCP Apps show the live view next to the answer."""
    followed: bool = True
    """Whether calls are shown on the watch page and in reports."""

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Return the model that validates the arguments."""
        return make_arguments_model(self.function, self.shared, self.leading)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments for the full form of `tools/list`."""
        if self.schema is not None:
            return dict(self.schema)
        schema = make_input_schema(self.arguments)
        timeout: dict[str, Any] = schema["properties"].get("timeout", {})
        is_usual = self.default_timeout_ms is None and self.usual_timeout_ms is not None
        if "default" in timeout and is_usual:
            timeout["default"] = self.usual_timeout_ms
        return schema

    @property
    def returned_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the function's result, without the fields of an envelope."""
        return make_returned_schema(self.function)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the structured content, in the envelope `{success, data}`."""
        return make_output_schema(
            self.returned_schema, effect=self.effect, scope=self.scope, observed=self.observed
        )

    @property
    def read_only(self) -> bool:
        return self.effect == "read"

    def parse(self, arguments: Mapping[str, Any], secrets: Secrets | None = None) -> BaseModel:
        """Return the validated arguments, with the values of secrets inserted.

        Raises:
            MissingParameterError, InvalidParameterError: The message names the field and the expected value.
        """
        expected = ExpectedArguments(
            tool=self.name,
            function=self.function,
            model=self.arguments,
            schema=self.input_schema,
            is_fixed=self.schema is not None,
        )
        return parse_arguments(expected, arguments, secrets)

    def check_permission(self, security: SecuritySettings) -> None:
        """Check that the settings of the server permit the tool.

        Raises:
            PermissionDeniedError: a setting disables the tool.
        """
        setting, is_enabled = {
            None: ("", True),
            "evaluation": ("security.enableScriptEvaluation", security.enable_script_evaluation),
            "upload": ("security.enableFileUpload", security.enable_file_upload),
            "page tools": ("security.enablePageTools", security.enable_page_tools),
        }[self.permission]
        if not is_enabled:
            raise PermissionDeniedError(
                f"{self.name} is disabled on this server",
                suggestion=f"Ask the server operator to enable `{setting}`.",
                setting=setting,
            )

    async def run(self, call: ToolCall, arguments: BaseModel) -> Mapping[str, Any]:
        own = inspect.signature(self.function).parameters
        values = {name: getattr(arguments, name) for name in own if name != "call"}
        return await self.function(call, **values)


def tool(
    *,
    scope: Scope = "page",
    effect: Effect,
    destructive: bool = False,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    permission: Permission | None = None,
    name: str | None = None,
    names_session: bool = False,
    timeout: Any = None,
    group: Group = "core",
    untrusted: bool | None = None,
    queued: bool = True,
    observed: bool | None = None,
    shared: Mapping[str, Any] | None = None,
    leading: Mapping[str, Any] | None = None,
    default_timeout_ms: float | None = None,
    limits: Limits | None = None,
    schema: Mapping[str, Any] | None = None,
    whole: bool = False,
    batch: bool = False,
    app: bool = False,
    followed: bool = True,
) -> Callable[[Function], Tool]:
    """Declare a tool.

    - `destructive`: a call may make changes that cannot be undone.
    - `idempotent`: a second call makes no further changes. Default: true for tools that read.
    - `names_session`: `sessionId` is required.
    - `timeout`: replaces the type of the shared parameter of that name.
    - `untrusted`: whether the `data` comes from a page. Default: false for tools of the server, true for
      tools that read, and for others all parts that contain text.
    - `queued`: a call waits for other calls in the session.
    - `observed`: the answer includes the changes on the page. Default: true for tools that act in a page. A
      tool of a session selects the page with `call.use_page`.
    - `app`: clients with MCP Apps show the live view next to the answer.
    - `followed`: calls are shown on the watch page and in reports.
    - `shared`, `leading`: the first replaces the parameters of the scope, the second adds parameters before
      those of the function.
    """

    def declare(function: Function) -> Tool:
        title, description = _read_docstring(function)
        observes = scope == "page" and effect == "act" if observed is None else observed
        return Tool(
            name=name or function.__name__,
            title=title,
            description=description,
            function=function,
            scope=scope,
            effect=effect,
            destructive=destructive,
            idempotent=effect == "read" if idempotent is None else idempotent,
            open_world=scope == "page" if open_world is None else open_world,
            permission=permission,
            group=group,
            untrusted=_is_untrusted(scope, effect) if untrusted is None else untrusted,
            queued=queued,
            observed=observes,
            shared=_build_shared_parameters(
                scope, effect, names_session=names_session, observed=observes, timeout=timeout
            )
            if shared is None
            else shared,
            leading=leading or {},
            default_timeout_ms=default_timeout_ms,
            limits=limits,
            schema=schema,
            whole=whole,
            batch=batch,
            app=app,
            followed=followed,
        )

    return declare


def _is_untrusted(scope: Scope, effect: Effect) -> bool | None:
    if scope == "server":
        return False
    return True if effect == "read" else None


def _read_docstring(function: Function) -> tuple[str, str]:
    """Return the title (the first sentence) and the description (the whole docstring on one line)."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    description = " ".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return paragraphs[0].partition("\n")[0].split(". ")[0].rstrip("."), description


def _build_acting_parameters() -> dict[str, Any]:
    return {
        "settle": (Settle | None, None),
        "expect": (Expect | None, None),
        "locator": (bool | None, None),
    }


def _build_shared_parameters(
    scope: Scope, effect: Effect, *, names_session: bool, observed: bool, timeout: Any
) -> dict[str, Any]:
    """Return the parameters that all tools of a scope share. The server's instructions describe them once."""
    if scope == "server":
        return {}
    session = {"session_id": (str, ...) if names_session else (str | None, None)}
    page = {"page_id": (str | None, None), "timeout": (timeout or Timeout, None)}
    observing = {
        "observe": (Observe | None, None),
        **(_build_acting_parameters() if effect == "act" else {}),
        "budget": (MaybeBudget, None),
    }
    return {**session, **(page if scope == "page" else {}), **(observing if observed else {})}
