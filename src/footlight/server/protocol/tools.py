"""Handle `tools/list` and `tools/call`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic.alias_generators import to_camel

from footlight.app_errors import APP_CODES
from footlight.errors import CODES
from footlight.protocol.versions import FULL_SCHEMAS
from footlight.server.answers.untrusted import META, point_into_meta
from footlight.server.calls.tool_caller import UnknownToolError
from footlight.server.help import InputRequired
from footlight.server.live_view import APP_URI, shows_apps
from footlight.server.protocol.elicitation import find_elicitation
from footlight.server.protocol.envelope import SuccessEnvelope
from footlight.server.protocol.paging import refuse_cursor
from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request

if TYPE_CHECKING:
    from footlight.server.calls.tool_caller import ToolCaller
    from footlight.server.help import TicketOffice
    from footlight.server.tools.declaration import Tool
    from footlight.server.toolset import Envelope, Toolset

__all__ = ["ToolHandlers", "compact_input_schema", "compact_tool", "full_tool", "list_tools"]

LOCATOR = "footlight/locator"
"""The key in `_meta` for a locator of the element that a ref identified. Models do not see it."""
DOCUMENTATION = "footlight/documentation"
"""The key in `_meta` of a failed result for the documentation of its error code, which is for people."""
ALWAYS_LISTED = frozenset(("sessionId",))
"""The only shared parameter that is listed, because calls in several sessions need it."""

_OMITTED = frozenset(
    (
        *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"),
        *("default", "additionalProperties", "patternProperties"),
    )
)
APP_META = {"ui": {"resourceUri": APP_URI, "visibility": ["model", "app"]}}


class ToolHandlers:
    """Handles `tools/list` and `tools/call`. Unknown tools are protocol errors, failed tools are answers.

    A client gets the list `compact`, if there is one, unless it declares the capability `FULL_SCHEMAS`.
    """

    def __init__(
        self,
        dispatcher: ToolCaller,
        envelope: Envelope,
        *,
        compact: list[dict[str, Any]] | None,
        documentation_url: str,
        tickets: TicketOffice | None = None,
        has_app: bool = False,
    ) -> None:
        self._dispatcher = dispatcher
        self._envelope = envelope
        self._compact = compact
        self._tickets = tickets
        self._has_app = has_app
        self._documentation = {
            error.code: error.documentation_link(documentation_url) for error in (*CODES, *APP_CODES)
        }

    @cached_property
    def _full_list(self) -> list[dict[str, Any]]:
        return [full_tool(tool, self._envelope) for tool in self._dispatcher.tools.values()]

    async def list(self, request: Request) -> dict[str, Any]:
        refuse_cursor(request)
        listed = self._compact
        if listed is None or _uses_full_schemas(request.client_capabilities):
            listed = self._full_list
        if self._has_app and shows_apps(request.client_capabilities):
            listed = [
                {**each, "_meta": APP_META} if tool.app else each
                for each, tool in zip(listed, self._dispatcher.tools.values(), strict=True)
            ]
        return {"tools": listed}

    async def call(self, request: Request) -> dict[str, Any]:
        name = request.text("name")
        try:
            answer = await self._dispatcher.call(
                name,
                dict(request.object("arguments")),
                caller=request.caller,
                report=None if request.progress_token is None else request.report_progress,
                elicitation=find_elicitation(request, self._tickets),
            )
        except InputRequired as question:
            return {
                "resultType": "input_required",
                "inputRequests": question.questions,
                "requestState": question.state,
            }
        except UnknownToolError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
        result = self._envelope.result(self._dispatcher.get(name), answer)
        if answer.locator is not None:
            meta = result.get("_meta", {})
            from_page = [*meta.get(META, ()), *point_into_meta(LOCATOR)]
            result["_meta"] = {**meta, LOCATOR: answer.locator, META: from_page}
        if not answer.success and (link := self._documentation.get(answer.content["error"]["code"])):
            result["_meta"] = {**result.get("_meta", {}), DOCUMENTATION: link}
        return result


def _uses_full_schemas(capabilities: Mapping[str, Any]) -> bool:
    experimental = capabilities.get("experimental")
    return isinstance(experimental, dict) and FULL_SCHEMAS in experimental


def compact_tool(tool: Tool) -> dict[str, Any]:
    """Return the compact form of a tool, without title, output schema, and hints that are the default."""
    annotations = {"readOnlyHint": True} if tool.read_only else {"destructiveHint": False}
    is_default = tool.destructive and not tool.read_only
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": compact_input_schema(tool),
        **({} if is_default else {"annotations": annotations}),
    }


def compact_input_schema(tool: Tool) -> dict[str, Any]:
    """Return the input schema of a tool in the compact form, which takes fewer tokens.

    Limits and default values are left out, because the server applies them. The shared parameters of a tool's
    scope are left out, because the server's instructions describe them once. They are accepted in every call.
    A fixed schema is returned unchanged.
    """
    schema = tool.input_schema
    if tool.schema is not None:
        return schema
    required: list[str] = schema.get("required", [])
    shared = {to_camel(name) for name in tool.shared} - ALWAYS_LISTED - {*required}
    properties = {
        name: _compact(parameter)
        for name, parameter in schema["properties"].items()
        if name not in shared or "description" in parameter
    }
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "description" in schema and schema["description"].startswith("{"):
        # The description lists the properties.
        return {"type": "object", "description": schema["description"]}
    compacted: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "anyOf" and "description" in schema:
            continue  # The description contains the types.
        if key == "properties":
            compacted[key] = {name: _compact(each) for name, each in value.items()}
        elif key not in _OMITTED:
            compacted[key] = _compact(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
    return compacted


def full_tool(tool: Tool, envelope: Envelope | None = None) -> dict[str, Any]:
    """Return a tool in the full form of `tools/list`."""
    output_schema = (envelope or SuccessEnvelope()).schema(tool)
    annotations = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    # These two are sent only if they differ from the protocol's defaults, because the list is long.
    if tool.idempotent and not tool.read_only:
        annotations["idempotentHint"] = True
    if not tool.open_world:
        annotations["openWorldHint"] = False
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        **({} if output_schema is None else {"outputSchema": output_schema}),
        "annotations": annotations,
    }


def list_tools(toolset: Toolset) -> list[dict[str, Any]]:
    """Return the offered tools in the full form of `tools/list`."""
    envelope = toolset.make_envelope()
    return [full_tool(tool, envelope) for tool in toolset.offered.values()]
