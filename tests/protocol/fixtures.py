"""The declaration of fixtures: a function with a name, a docstring and a schema is a tool."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPDeprecationWarning

Context = ServerRequestContext[Any]
Outcome = types.CallToolResult | types.InputRequiredResult
Schema = Mapping[str, Any]
Capability = Literal["sampling", "elicitation", "roots"]


@dataclass(frozen=True, slots=True)
class Stage:
    """What the calls of one server share."""

    events: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    cancelled: defaultdict[str, anyio.Event] = field(default_factory=lambda: defaultdict(anyio.Event))
    """Set when the `test_wait` of this name is."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a tool or a prompt."""

    context: Context
    params: types.CallToolRequestParams | types.GetPromptRequestParams
    stage: Stage

    def argument(self, name: str) -> str:
        """Raises: MCPError if there is none."""
        value = (self.params.arguments or {}).get(name)
        if not isinstance(value, str):
            raise MCPError(types.INVALID_PARAMS, f"{self.params.name} needs the string {name}")
        return value

    def answer(self, key: str) -> types.InputResponse | None:
        """Return the client's answer to a question of an earlier round."""
        return (self.params.input_responses or {}).get(key)

    def offers(self, capability: Capability) -> bool:
        declared = self.context.session.client_capabilities
        return declared is not None and getattr(declared, capability) is not None

    def require(self, *capabilities: Capability) -> None:
        """Raises: MCPError if the client does not offer all of these."""
        missing: dict[str, Schema] = {
            capability: {} for capability in capabilities if not self.offers(capability)
        }
        if missing:
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                f"{self.params.name} needs a client that offers {', '.join(missing)}",
                {"requiredCapabilities": missing},
            )

    async def log(self, text: str) -> None:
        with warnings.catch_warnings():
            # Deprecated, and still to be tested: clients of the older revisions rely on it.
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            sending = self.context.session.send_log_message(  # pyright: ignore[reportDeprecated]
                "info", text, related_request_id=self.context.request_id
            )
        await sending


Run = Callable[[Call], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Fixture:
    """A tool and what it does."""

    tool: types.Tool
    run: Run


def strings(*names: str) -> Schema:
    """Return an input schema of required strings."""
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


def fixture(schema: Schema | None = None) -> Callable[[Run], Fixture]:
    """Make a tool of a function; without a schema it takes no arguments."""

    def declare(run: Run) -> Fixture:
        assert run.__doc__
        tool = types.Tool(
            name=getattr(run, "__name__", ""),
            description=run.__doc__,
            input_schema=dict(schema or {"type": "object"}),
        )
        return Fixture(tool, run)

    return declare


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def content(*blocks: types.ContentBlock) -> types.CallToolResult:
    return types.CallToolResult(content=list(blocks))


def embed(uri: str, mime_type: str, said: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    )


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
"""A PNG of one red pixel."""
