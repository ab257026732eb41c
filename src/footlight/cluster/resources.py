"""The resources of the sessions on all workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker, WorkerRefusal
from footlight.errors import SessionNotFoundError
from footlight.server.resources.resources import (
    TEMPLATES,
    ListedResource,
    ResourceNotFoundError,
    ResourceReader,
    UriTemplate,
)
from footlight.server.resources.uris import Address

if TYPE_CHECKING:
    from footlight.caller import Caller
    from footlight.cluster.fleet.fleet import Fleet
    from footlight.cluster.session_locations import SessionLocations
    from footlight.server.resources.contents import ResourceContent

__all__ = ["ClusterResources"]

ANSWER_SECONDS = 15.0


class ClusterResources:
    """Reads a resource on the worker that has its session, and lists those of all workers.

    Lists leave out the workers that do not answer in time.
    """

    def __init__(self, locations: SessionLocations, fleet: Fleet) -> None:
        self._locations = locations
        self._fleet = fleet

    def templates(self) -> tuple[UriTemplate, ...]:
        return TEMPLATES

    async def list(self, caller: Caller) -> tuple[ListedResource, ...]:
        found: list[ListedResource] = await self._ask_all(ResourceReader.list, caller)
        return tuple(sorted(found, key=lambda resource: resource.uri))

    async def read(self, uri: str, caller: Caller) -> ResourceContent:
        return await self._ask_one(ResourceReader.read, uri, caller)

    async def canonical(self, uri: str, caller: Caller) -> str:
        return await self._ask_one(ResourceReader.canonical, uri, caller)

    async def complete(
        self, template_uri: str, argument_name: str, prefix: str, known: Mapping[str, str], caller: Caller
    ) -> tuple[str, ...]:
        found = await self._ask_all(
            ResourceReader.complete, template_uri, argument_name, prefix, dict(known), caller
        )
        return tuple(dict.fromkeys(found))

    async def open_urls(self, caller: Caller) -> tuple[str, ...]:
        return tuple(dict.fromkeys(await self._ask_all(ResourceReader.open_urls, caller)))

    async def _ask_one(self, method: Callable[..., object], uri: str, caller: Caller) -> Any:
        try:
            address = Address.parse(uri)
            worker = await self._locations.find(address.session_id, caller)
        except ValueError as error:
            raise ResourceNotFoundError(uri, str(error)) from None
        except SessionNotFoundError as error:
            raise ResourceNotFoundError(uri, error.message) from None
        if worker is None:
            raise ResourceNotFoundError(uri, f'Session "{address.session_id}" does not exist')
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await worker.actor.call(Worker.ask_resources, method.__name__, uri, caller)
        except (ActorLostError, TimeoutError):
            raise ResourceNotFoundError(uri, f"worker {worker.name} does not answer") from None
        if isinstance(found, WorkerRefusal):
            raise ResourceNotFoundError(uri, found.message)
        return found

    async def _ask_all(self, method: Callable[..., object], *arguments: Any) -> Any:
        answers = await self._fleet.ask_all(
            Worker.ask_resources, method.__name__, *arguments, seconds=ANSWER_SECONDS
        )
        return [each for answer in answers.values() for each in answer]
