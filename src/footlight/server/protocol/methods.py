"""The methods and the introduction of the server, for all revisions of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.protocol.versions import HANDSHAKE_VERSIONS, SERVER_INFO_KEY, STATELESS_VERSIONS
from footlight.server.live_view import EXTENSION
from footlight.server.requests import Handler, ProtocolError, Request

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.answers.masking import Mask
    from footlight.server.calls.tool_caller import ToolCaller
    from footlight.server.help import TicketOffice
    from footlight.server.prompt_library import PromptLibrary
    from footlight.server.resources.resources import ResourceReader
    from footlight.server.resources.subscriptions import Subscriptions
    from footlight.server.toolset import Envelope

__all__ = ["METHODS", "TITLE", "ServerMethods", "defer_methods", "make_methods"]

TITLE = "Footlight"
"""The name that clients show to their users. The name and version in the settings are for programs."""
METHODS = (
    *("tools/list", "tools/call"),
    *("resources/list", "resources/templates/list", "resources/read"),
    *("resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
    *("prompts/list", "prompts/get", "completion/complete"),
)
"""The methods with a handler, excluding those that only describe the server."""
CACHE_MS = 60_000
"""The time for which a client may cache a list that does not change while the server runs."""
CACHED = frozenset({"prompts/list", "resources/templates/list"})
"""Methods whose results are the same for all callers."""
CACHED_BY_CLIENT = frozenset({"tools/list"})
"""Methods whose results depend on the capabilities of the client."""
ONLY_WITH_HANDSHAKE = frozenset({"resources/subscribe", "resources/unsubscribe"})
ONLY_STATELESS = frozenset({"server/discover", "subscriptions/listen"})


@dataclass(frozen=True, kw_only=True)
class ServerMethods:
    """The handlers by method, except `initialize` and `ping`, which belong to a connection."""

    name: str
    version: str
    instructions: str
    handlers: Mapping[str, Handler]
    input_schema: Callable[[str], dict[str, Any] | None] | None = None
    """Returns the input schema of a tool, or None if there is no such tool. Only HTTP uses it."""
    extensions: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The settings of the protocol extensions that the server supports, by name."""

    def find(self, method: str, version: str) -> Handler | None:
        """Return the handler of a method, or None if the revision or this server does not support it."""
        wrong_era = ONLY_STATELESS if version in HANDSHAKE_VERSIONS else ONLY_WITH_HANDSHAKE
        if method in wrong_era:
            return None
        return self.discover if method == "server/discover" else self.handlers.get(method)

    def initialize_result(self, requested: str) -> dict[str, Any]:
        """Return the result of `initialize`, with the requested or the newest revision with a handshake."""
        version = requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": version,
            "capabilities": self._capabilities(),
            "serverInfo": self._info,
            "instructions": self.instructions,
        }

    def stateless_result(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Add the fields to a result that all results have in stateless revisions."""
        if method in CACHED:
            result = {"ttlMs": CACHE_MS, "cacheScope": "public", **result}
        elif method in CACHED_BY_CLIENT:
            result = {"ttlMs": CACHE_MS, "cacheScope": "private", **result}
        elif method in ("resources/list", "resources/read", "server/discover"):
            result = {"ttlMs": 0, "cacheScope": "private", **result}
        meta = {SERVER_INFO_KEY: self._info, **result.get("_meta", {})}
        return {"resultType": "complete", **result, "_meta": meta}

    async def discover(self, request: Request) -> dict[str, Any]:
        del request
        return {
            "supportedVersions": list(STATELESS_VERSIONS),
            "capabilities": self._capabilities(list_changed=True),
            "instructions": self.instructions,
        }

    @property
    def _info(self) -> dict[str, str]:
        return {"name": self.name, "title": TITLE, "version": self.version}

    def _capabilities(self, *, list_changed: bool = False) -> dict[str, Any]:
        """Return the capabilities.

        Only the list of resources can change, and only subscription streams send notifications of this.
        """
        return {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"listChanged": list_changed, "subscribe": True},
            "tools": {"listChanged": False},
            **({"extensions": dict(self.extensions)} if self.extensions else {}),
        }


def make_methods(
    settings: Settings,
    *,
    instructions: str,
    dispatcher: ToolCaller,
    envelope: Envelope,
    resources: ResourceReader,
    subscriptions: Subscriptions,
    prompts: Callable[[], PromptLibrary],
    mask: Mask | None = None,
    compact_list: list[dict[str, Any]] | None = None,
    tickets: TicketOffice | None = None,
    read_app: Callable[[], str] | None = None,
) -> ServerMethods:
    """Return the methods of the server, for any transport.

    `tickets` creates tickets for the watch page, if there is one. Clients with MCP Apps show the page that
    `read_app` returns.
    """
    from footlight.server.answers.masking import keep_unmasked
    from footlight.server.protocol.prompts import CompletionHandler, PromptHandlers
    from footlight.server.protocol.resources import ResourceHandlers
    from footlight.server.protocol.tools import ToolHandlers

    mask = mask or keep_unmasked
    has_app = read_app is not None and any(tool.app for tool in dispatcher.tools.values())
    tools = ToolHandlers(
        dispatcher,
        envelope,
        compact=compact_list,
        documentation_url=settings.documentation_url,
        tickets=tickets,
        has_app=has_app,
    )
    reading = ResourceHandlers(resources, subscriptions, read_app=read_app if has_app else None)
    prompting = PromptHandlers(prompts, mask=mask)
    handlers: dict[str, Handler] = {
        "tools/list": tools.list,
        "tools/call": tools.call,
        "resources/list": reading.list,
        "resources/templates/list": reading.list_templates,
        "resources/read": reading.read,
        "resources/subscribe": reading.subscribe,
        "resources/unsubscribe": reading.unsubscribe,
        "subscriptions/listen": reading.listen,
        "prompts/list": prompting.list,
        "prompts/get": prompting.get,
        "completion/complete": CompletionHandler(prompts, resources).complete,
    }
    return ServerMethods(
        name=settings.name,
        version=settings.version,
        instructions=instructions,
        handlers={method: _mask_errors(handle, mask) for method, handle in handlers.items()},
        extensions={EXTENSION: {}} if has_app else {},
        input_schema=lambda name: tool.input_schema if (tool := dispatcher.tools.get(name)) else None,
    )


def _mask_errors(handle: Handler, mask: Mask) -> Handler:
    """Return a handler whose errors, which may quote the request, contain no secrets."""

    async def handle_masked(request: Request) -> dict[str, Any]:
        try:
            return await handle(request)
        except ProtocolError as error:
            raise ProtocolError(error.code, mask(error.message), mask(error.data)) from None

    return handle_masked


def defer_methods(
    settings: Settings,
    *,
    instructions: str,
    has_app: bool,
    load: Callable[[], Awaitable[ServerMethods]],
) -> ServerMethods:
    """Return methods that describe the server at once. All other methods wait for `load`.

    A client therefore gets the answer to `initialize` before the tools are imported.
    """

    def defer(method: str) -> Handler:
        async def handle(request: Request) -> dict[str, Any]:
            methods = await load()
            return await methods.handlers[method](request)

        return handle

    return ServerMethods(
        name=settings.name,
        version=settings.version,
        instructions=instructions,
        handlers={method: defer(method) for method in METHODS},
        extensions={EXTENSION: {}} if has_app else {},
    )
