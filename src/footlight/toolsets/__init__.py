"""What clients can call: one package for each toolset, one module for each family of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.toolset import Toolset

__all__ = ["make_toolset"]


def make_toolset(settings: Settings) -> Toolset:
    """Return the toolset that the settings name. Only its own modules are imported.

    Raises:
        ConfigurationError: a setting does not go together with the toolset, or names what does not exist.
    """
    return _MAKE[settings.toolset](settings)


def _make_browser(settings: Settings) -> Toolset:
    from footlight.toolsets.browser import BrowserToolset

    return BrowserToolset(settings)


def _make_szkrabok(settings: Settings) -> Toolset:
    from footlight.toolsets.szkrabok import SzkrabokToolset

    return SzkrabokToolset(settings)


def _make_metamask(settings: Settings) -> Toolset:
    from footlight.toolsets.metamask import AppToolset

    return AppToolset(settings)


_MAKE = {"browser": _make_browser, "szkrabok": _make_szkrabok, "metamask": _make_metamask}
