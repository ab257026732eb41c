"""The settings of workers, and what they must have in common with the server that calls them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from footlight import __version__

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.toolset import Toolset

__all__ = ["build_of", "environment_of_worker", "settings_for_workers"]

OF_THE_FRONT = {"token", "transport", "port", "listen", "daemon", "watch", "prompts"}
"""Settings that workers do not get. The token is secret, and the others are about listening."""
_VARIABLES = tuple(f"FOOTLIGHT_{name.upper()}" for name in sorted(OF_THE_FRONT))
OF_NO_CALL = {"cluster", "logging"}
"""Settings in which workers of the same build may differ."""


def settings_for_workers(settings: Settings) -> dict[str, Any]:
    """Return the settings that were given, in the form of a settings file, without any secret."""
    given = settings.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=OF_THE_FRONT)
    given.get("cluster", {}).pop("address", None)
    # The page is served by the front, whatever the transport and the ports of a worker.
    watch = {"enabled": settings.has_watch_page, "keyframes": settings.watch.keyframes}
    return {**given, "watch": watch}


def environment_of_worker(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a machine without those of a server that may run there, too."""
    return {
        name: value
        for name, value in environment.items()
        if name not in _VARIABLES and not name.startswith(tuple(f"{each}_" for each in _VARIABLES))
    }


def build_of(toolset: Toolset, given: Mapping[str, Any]) -> str:
    """Return a text that is the same for workers of the same version with the same tools and settings.

    `given` are the settings for workers.
    """
    tools = [(tool.name, tool.input_schema) for tool in toolset.offered.values()]
    settings = {name: value for name, value in given.items() if name not in OF_NO_CALL}
    text = json.dumps([__version__, tools, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
