"""The network speed that Chromium emulates for a page."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Throttling"]


@dataclass(frozen=True, slots=True)
class Throttling:
    """A network speed: bytes per second (-1 means no limit) and a latency in milliseconds."""

    download: float
    upload: float
    latency: float

    def conditions(self, *, offline: bool) -> dict[str, float | bool]:
        """Return the parameters of Chromium's Network.emulateNetworkConditions."""
        return {
            "offline": offline,
            "latency": self.latency,
            "downloadThroughput": self.download,
            "uploadThroughput": self.upload,
        }
