"""Handle `resources/*` and `subscriptions/listen`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from footlight.server.answers.untrusted import META
from footlight.server.live_view import APP_URI, MIME_TYPE, shows_apps
from footlight.server.protocol.paging import page_of
from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request
from footlight.server.resources.resources import (
    ListedResource,
    ResourceContent,
    ResourceNotFoundError,
    ResourceReader,
    UriTemplate,
)
from footlight.server.resources.subscriptions import SubscriptionFilter

if TYPE_CHECKING:
    from footlight.server.resources.subscriptions import Subscriptions

__all__ = ["ResourceHandlers"]


MAX_URIS = 1_000
"""The maximum number of URIs on a stream. They are looked up together, which blocks other requests."""


APP = ListedResource(
    uri=APP_URI, name="watch", description="The live view of a session, for clients", mime_type=MIME_TYPE
)


class ResourceHandlers:
    """Handles `resources/*`.

    In all revisions, a resource that does not exist is answered with the error -32602, with its URI.
    """

    def __init__(
        self,
        resources: ResourceReader,
        subscriptions: Subscriptions,
        *,
        read_app: Callable[[], str] | None = None,
    ) -> None:
        """Create the handlers. Clients with MCP Apps can also read the page that `read_app` returns."""
        self._read_app = read_app
        self._resources = resources
        self._subscriptions = subscriptions

    async def list(self, request: Request) -> dict[str, Any]:
        resources = await self._resources.list(request.caller)
        if self._read_app is not None and shows_apps(request.client_capabilities):
            resources = (*resources, APP)
        found, following = page_of(resources, request)
        return {"resources": [_resource(resource) for resource in found], **following}

    async def list_templates(self, request: Request) -> dict[str, Any]:
        found, following = page_of(self._resources.templates(), request)
        return {"resourceTemplates": [_template(template) for template in found], **following}

    async def read(self, request: Request) -> dict[str, Any]:
        uri = request.text("uri")
        if uri == APP_URI and self._read_app is not None:
            return {"contents": [_app_contents(self._read_app())]}
        try:
            content = await self._resources.read(uri, request.caller)
        except ResourceNotFoundError as error:
            raise _not_found(error) from None
        return {"contents": [_contents(uri, content)]}

    async def subscribe(self, request: Request) -> dict[str, Any]:
        uri = request.text("uri")
        try:
            resource = await self._resources.canonical(uri, request.caller)
        except ResourceNotFoundError as error:
            raise _not_found(error) from None
        self._subscriptions.subscribe(request.connection, uri, resource)
        return {}

    async def unsubscribe(self, request: Request) -> dict[str, Any]:
        self._subscriptions.unsubscribe(request.connection, request.text("uri"))
        return {}

    async def listen(self, request: Request) -> dict[str, Any]:
        """Send notifications until the client or the server closes the stream.

        The acknowledgement has the URIs that updates will contain, in the form of `resources/list`.
        """
        if "notifications" not in request.params:
            request.text("notifications")  # Raises ProtocolError, because it is required.
        for unused in ("toolsListChanged", "promptsListChanged"):
            request.flag("notifications", unused)
        uris = dict.fromkeys(request.texts("notifications", "resourceSubscriptions"))
        if len(uris) > MAX_URIS:
            raise ProtocolError(INVALID_PARAMS, f"At most {MAX_URIS} resources on one stream")
        subscription_filter = SubscriptionFilter(
            list_changes=request.flag("notifications", "resourcesListChanged"),
            uris=tuple(dict.fromkeys([await self._find_listed_uri(request, uri) for uri in uris])),
        )
        return await self._subscriptions.listen(request, subscription_filter)

    async def _find_listed_uri(self, request: Request, uri: str) -> str:
        """Return the URI in the form of `resources/list`, or unchanged if the resource does not exist yet."""
        try:
            return await self._resources.canonical(uri, request.caller)
        except ResourceNotFoundError:
            return uri


def _app_contents(page: str) -> dict[str, Any]:
    """Return the page for clients. It needs no connections, because the client forwards its tool calls."""
    csp: dict[str, list[str]] = {"connectDomains": [], "resourceDomains": []}
    meta = {"ui": {"csp": csp, "prefersBorder": True}}
    return {"uri": APP_URI, "mimeType": MIME_TYPE, "text": page, "_meta": meta}


def _not_found(error: ResourceNotFoundError) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"Resource not found: {error.why}", {"uri": error.uri})


def _resource(resource: ListedResource) -> dict[str, Any]:
    fields = {
        "uri": resource.uri,
        "name": resource.name,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.size,
        "_meta": {META: ["/description"]} if resource.description_from_page else None,
    }
    return _without_none(fields)


def _template(template: UriTemplate) -> dict[str, Any]:
    fields = {
        "uriTemplate": template.uri_template,
        "name": template.name,
        "description": template.description,
        "mimeType": template.mime_type,
    }
    return _without_none(fields)


def _contents(uri: str, content: ResourceContent) -> dict[str, Any]:
    """Return the content under the URI of the request, because clients compare the two."""
    meta: dict[str, Any] = {
        **({"metadata": dict(content.metadata)} if content.metadata else {}),
        **({META: list(content.from_page)} if content.from_page else {}),
    }
    text = content.data if isinstance(content.data, str) else None
    blob = None if isinstance(content.data, str) else base64.b64encode(content.data).decode("ascii")
    return _without_none(
        {"uri": uri, "mimeType": content.mime_type, "text": text, "blob": blob, "_meta": meta or None}
    )


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
