"""Playwright's list of devices, by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footlight.errors import InvalidParameterError

__all__ = ["Device", "Devices"]

MAX_NAMED = 6
MAX_NAME_LENGTH = 100
"""The maximum length of a name in an error, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The properties of an emulated device. Sizes are (width, height) in CSS pixels."""

    name: str
    user_agent: str
    viewport: tuple[int, int]
    screen: tuple[int, int]
    scale: float
    """Device pixels per CSS pixel."""
    mobile: bool
    touch: bool


class Devices:
    """The list of devices. `descriptors` is `playwright.devices`."""

    def __init__(self, descriptors: Mapping[str, Any] | None = None) -> None:
        self._descriptors: Mapping[str, Mapping[str, Any]] = descriptors or {}

    def get(self, name: str) -> Device:
        """Return the device with this name, ignoring case.

        Raises:
            InvalidParameterError: no device has this name; the error has the closest names.
        """
        by_name = {each.lower(): each for each in self._descriptors}
        if known := by_name.get(name.strip().lower()):
            return _device(known, self._descriptors[known])
        if len(name) > MAX_NAME_LENGTH:
            name = f"{name[:MAX_NAME_LENGTH]}…"
        closest = self._closest(name)
        raise InvalidParameterError(
            f"device: no device is named {name!r}; the closest are {', '.join(closest)}",
            parameter="device",
            closest=closest,
        )

    def _closest(self, name: str) -> list[str]:
        """Return the closest names, first those with a common word: by letters, `Nokia` is like `Nexus`."""
        words = set(name.lower().split())

        def likeness(known: str) -> tuple[int, float]:
            shared = words & set(known.lower().split())
            return len(shared), difflib.SequenceMatcher(None, name.lower(), known.lower()).ratio()

        return sorted(self._descriptors, key=likeness, reverse=True)[:MAX_NAMED]


def _device(name: str, descriptor: Mapping[str, Any]) -> Device:
    viewport = _size(descriptor["viewport"])
    return Device(
        name=name,
        user_agent=descriptor["user_agent"],
        viewport=viewport,
        screen=_size(descriptor["screen"]) if "screen" in descriptor else viewport,
        scale=descriptor["device_scale_factor"],
        mobile=descriptor["is_mobile"],
        touch=descriptor["has_touch"],
    )


def _size(size: Mapping[str, int]) -> tuple[int, int]:
    return size["width"], size["height"]
