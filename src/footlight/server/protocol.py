"""Our tools, resources and prompts onto the SDK's low-level `Server`, in both protocol eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from footlight.server.handlers.completion import Completion
from footlight.server.handlers.paging import Context
from footlight.server.handlers.prompts import PromptHandlers
from footlight.server.handlers.resources import ResourceHandlers
from footlight.server.handlers.tools import ToolHandlers
from footlight.server.masking import Mask, unmasked

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.dispatch import Dispatcher
    from footlight.server.prompts import PromptLibrary
    from footlight.server.resources import Resources
    from footlight.server.subscriptions import Subscriptions
    from footlight.server.toolset import Envelope

__all__ = ["make_server"]

FIXED = CacheHint(ttl_ms=60_000, scope="public")
"""Tools, prompts and templates are the same for everybody, and for as long as the server runs."""


def make_server(
    settings: Settings,
    *,
    instructions: str,
    dispatcher: Dispatcher,
    envelope: Envelope,
    resources: Resources,
    subscriptions: Subscriptions,
    prompts: Callable[[], PromptLibrary],
    mask: Mask = unmasked,
) -> Server[Any]:
    """A server for any transport. Who calls is told by what the transport attached (`caller_of`)."""
    tools = ToolHandlers(dispatcher, envelope)
    reading = ResourceHandlers(resources, subscriptions)
    prompting = PromptHandlers(prompts, mask=mask)
    server: Server[Any] = Server(
        settings.name,
        version=settings.version,
        instructions=instructions,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=reading.list,
        on_list_resource_templates=reading.list_templates,
        on_read_resource=reading.read,
        on_subscribe_resource=reading.subscribe,
        on_unsubscribe_resource=reading.unsubscribe,
        on_subscriptions_listen=reading.listen,
        on_list_prompts=prompting.list,
        on_get_prompt=prompting.get,
        on_completion=Completion(prompts, resources).complete,
        cache_hints={
            "tools/list": FIXED,
            "prompts/list": FIXED,
            "resources/templates/list": FIXED,
        },
        # Without it, the SDK lists all tools again for every call over HTTP.
        get_tool_input_schema=lambda name: next(
            (tool.input_schema for tool in dispatcher.tools if tool.name == name), None
        ),
    )
    server.add_request_handler("server/discover", types.RequestParams, _discovering(server))
    return server


def _discovering(
    server: Server[Any],
) -> Callable[[Context, types.RequestParams], Awaitable[types.DiscoverResult]]:
    """The SDK promises news of every list to those who listen. Ours of tools and prompts do not change."""

    async def discover(context: Context, _: types.RequestParams) -> types.DiscoverResult:
        capabilities = server.get_capabilities(protocol_version=context.protocol_version)
        fixed = {
            "tools": types.ToolsCapability(list_changed=False),
            "prompts": types.PromptsCapability(list_changed=False),
        }
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=capabilities.model_copy(update=fixed),
            instructions=server.instructions,
        )

    return discover
