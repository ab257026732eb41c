"""`resources/*` and `subscriptions/listen`."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from footlight.caller import caller_of
from footlight.server.handlers.paging import Context, page_of
from footlight.server.resources import Content, Resource, ResourceNotFound, Resources, Template

if TYPE_CHECKING:
    from footlight.server.subscriptions import Subscriptions

__all__ = ["ResourceHandlers"]


MOST_URIS = 1_000
"""Each is looked up at once, while nobody else is served."""


class ResourceHandlers:
    """A resource that is not there is an error of the request, in both eras (-32602, with its URI)."""

    def __init__(self, resources: Resources, subscriptions: Subscriptions) -> None:
        self._resources = resources
        self._subscriptions = subscriptions

    async def list(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found, following = page_of(self._resources.list(caller_of(context.request)), params)
        return types.ListResourcesResult(
            resources=[_resource(resource) for resource in found], next_cursor=following
        )

    async def list_templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found, following = page_of(self._resources.templates(), params)
        return types.ListResourceTemplatesResult(
            resource_templates=[_template(template) for template in found], next_cursor=following
        )

    async def read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            content = await self._resources.read(params.uri, caller_of(context.request))
        except ResourceNotFound as error:
            raise _not_found(error) from None
        return types.ReadResourceResult(contents=[_contents(params.uri, content)])

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._subscriptions.subscribe(context, params.uri, self._canonical(context, params.uri))
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscriptions.unsubscribe(context, params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """The acknowledgement tells the URIs under which the news will come: those that are listed.

        And that there will be none of tools and prompts, whose lists are fixed.
        """
        wanted = params.notifications
        given = dict.fromkeys(wanted.resource_subscriptions or ())
        if len(given) > MOST_URIS:
            raise MCPError(types.INVALID_PARAMS, f"At most {MOST_URIS} resources on one stream")
        uris = list(dict.fromkeys(self._listed_form(context, uri) for uri in given))
        notifications = types.SubscriptionFilter(
            resources_list_changed=wanted.resources_list_changed, resource_subscriptions=uris or None
        )
        return await self._subscriptions.listen(
            context, params.model_copy(update={"notifications": notifications})
        )

    def _canonical(self, context: Context, uri: str) -> str:
        try:
            return self._resources.canonical(uri, caller_of(context.request))
        except ResourceNotFound as error:
            raise _not_found(error) from None

    def _listed_form(self, context: Context, uri: str) -> str:
        """One that is not there may come; a stream for several is not refused for one."""
        try:
            return self._resources.canonical(uri, caller_of(context.request))
        except ResourceNotFound:
            return uri


def _not_found(error: ResourceNotFound) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"Resource not found: {error.why}", {"uri": error.uri})


def _resource(resource: Resource) -> types.Resource:
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        description=resource.description,
        mime_type=resource.mime_type,
        size=resource.size,
    )


def _template(template: Template) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=template.uri_template,
        name=template.name,
        description=template.description,
        mime_type=template.mime_type,
    )


def _contents(uri: str, content: Content) -> types.TextResourceContents | types.BlobResourceContents:
    """Under the URI that was asked for, which a client compares."""
    meta = {"metadata": dict(content.metadata)} if content.metadata else None
    if isinstance(content.data, str):
        return types.TextResourceContents(uri=uri, mime_type=content.mime_type, text=content.data, _meta=meta)
    blob = base64.b64encode(content.data).decode("ascii")
    return types.BlobResourceContents(uri=uri, mime_type=content.mime_type, blob=blob, _meta=meta)
