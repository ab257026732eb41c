"""The toolsets: one package for each toolset, one module for each family of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.toolset import Toolset

__all__ = ["find_toolset_class", "make_toolset"]


def make_toolset(settings: Settings) -> Toolset:
    """Return the toolset that the settings name. Only its own modules are imported.

    Raises:
        ConfigurationError: A setting does not go together with the toolset, or names what does not exist.
    """
    return _LOADERS[settings.toolset]()(settings)


def find_toolset_class(name: str) -> type[Toolset] | None:
    """Return the class of the toolset with this name, or None. Only its own modules are imported."""
    load = _LOADERS.get(name)
    return load() if load else None


def _load_browser() -> type[Toolset]:
    from footlight.toolsets.browser import BrowserToolset

    return BrowserToolset


def _load_szkrabok() -> type[Toolset]:
    from footlight.toolsets.szkrabok import SzkrabokToolset

    return SzkrabokToolset


def _load_metamask() -> type[Toolset]:
    from footlight.toolsets.metamask import AppToolset

    return AppToolset


_LOADERS = {"browser": _load_browser, "szkrabok": _load_szkrabok, "metamask": _load_metamask}
