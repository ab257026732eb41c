"""Serve the methods on the SDK's low-level `Server`, for HTTP, WebSocket and the local socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel, ValidationError

from footlight.caller import get_caller
from footlight.protocol.versions import STATELESS_VERSIONS
from footlight.server.protocol.methods import TITLE, ServerMethods
from footlight.server.requests import ClientRequestError, Handler, ProtocolError, Request

if TYPE_CHECKING:
    from mcp.server.connection import Connection

__all__ = ["make_server"]

Context = ServerRequestContext[Any]

PARAMS: Mapping[str, type[BaseModel]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
    "subscriptions/listen": types.SubscriptionsListenRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
    "server/discover": types.RequestParams,
}
NOTIFICATIONS: Mapping[str, type[Any]] = {
    "notifications/resources/updated": types.ResourceUpdatedNotification,
    "notifications/resources/list_changed": types.ResourceListChangedNotification,
    "notifications/subscriptions/acknowledged": types.SubscriptionsAcknowledgedNotification,
    "notifications/progress": types.ProgressNotification,
    "notifications/elicitation/complete": types.ElicitCompleteNotification,
}


def make_server(methods: ServerMethods) -> Server[Any]:
    """Return an SDK server with these methods. The transport must attach the caller to each message."""
    server: Server[Any] = Server(
        methods.name,
        title=TITLE,
        version=methods.version,
        instructions=methods.instructions,
        # Without this, the SDK would list all tools for every call over HTTP.
        get_tool_input_schema=methods.input_schema,
    )
    server.extensions = dict(methods.extensions)
    for method, handler in {**methods.handlers, "server/discover": methods.discover}.items():
        server.add_request_handler(method, PARAMS[method], _adapt(methods, method, handler))
    return server


def _adapt(
    methods: ServerMethods, method: str, handler: Handler
) -> Callable[[Context, BaseModel], Awaitable[dict[str, Any]]]:
    async def handle(context: Context, _: BaseModel) -> dict[str, Any]:
        declared = context.session.client_capabilities
        request = Request(
            id=context.request_id if context.request_id is not None else "",
            params=context.params or {},
            caller=get_caller(context.request),
            # The SDK closes `exit_stack` at the end of a connection, but does not pass it to handlers.
            connection=_Connection(context.session._connection),  # pyright: ignore[reportPrivateUsage]
            notify=_notify_of(context),
            version=context.protocol_version,
            send_request=_send_request_of(context) if context.session.can_send_request else None,
            client_capabilities=declared.model_dump(by_alias=True, exclude_none=True) if declared else {},
        )
        try:
            result = await handler(request)
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from None
        is_stateless = context.protocol_version in STATELESS_VERSIONS
        return methods.stateless_result(method, result) if is_stateless else result

    return handle


def _notify_of(context: Context) -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
    async def notify(method: str, params: Mapping[str, Any]) -> None:
        message = NOTIFICATIONS[method].model_validate({"method": method, "params": params}, by_name=False)
        await context.session.send_notification(message, related_request_id=context.request_id)

    return notify


def _send_request_of(context: Context) -> Callable[[str, Mapping[str, Any]], Awaitable[Any]]:
    async def send_request(method: str, params: Mapping[str, Any]) -> Any:
        request = types.ElicitRequest.model_validate({"method": method, "params": params}, by_name=False)
        related = ServerMessageMetadata(related_request_id=context.request_id)
        try:
            result = await context.session.send_request(request, types.ElicitResult, metadata=related)
        except (MCPError, ValidationError) as error:
            raise ClientRequestError(str(error)) from None
        return result.model_dump(by_alias=True, exclude_none=True)

    return send_request


@dataclass(frozen=True)
class _Connection:
    """Adapts a connection of the SDK to `ClientConnection`."""

    connection: Connection

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self.connection.outbound.notify(method, params)

    def on_close(self, callback: Callable[[], None]) -> None:
        self.connection.exit_stack.callback(callback)
