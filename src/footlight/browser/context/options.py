"""The options of a session."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from footlight.browser.context.storage_state import SessionState
from footlight.config import DialogAnswer

__all__ = [
    "ColorScheme",
    "Contrast",
    "Credentials",
    "DialogType",
    "ForcedColors",
    "Geolocation",
    "Proxy",
    "ReducedMotion",
    "SessionOptions",
]

DialogType = Literal["alert", "beforeunload", "confirm", "prompt"]
ColorScheme = Literal["light", "dark", "no-preference"]
ReducedMotion = Literal["reduce", "no-preference"]
ForcedColors = Literal["active", "none"]
Contrast = Literal["more", "no-preference"]

_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|key|password|session|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geolocation:
    """A location in degrees, with its `accuracy` in metres."""

    latitude: float
    longitude: float
    accuracy: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """HTTP credentials, for one `origin` or for all origins."""

    username: str
    password: str = field(repr=False)
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy. `bypass` is a comma-separated list of hosts that are reached without it."""

    server: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    bypass: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The options of a session's context. The viewport is (width, height) in CSS pixels."""

    user_agent: str | None = None
    viewport: tuple[int, int] | None = None
    device: str | None = None
    """A name in Playwright's list. `user_agent` and `viewport` override those of the device."""
    locale: str | None = None
    timezone: str | None = None
    geolocation: Geolocation | None = None
    permissions: tuple[str, ...] | None = None
    """None grants only `geolocation`, if a location is set."""
    color_scheme: ColorScheme | None = None
    reduced_motion: ReducedMotion | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Headers that are sent with every request."""
    http_credentials: Credentials | None = None
    proxy: Proxy | None = None
    state: SessionState | None = field(default=None, repr=False)
    """The cookies and localStorage that the session starts with."""
    init_scripts: tuple[str, ...] = ()
    """Scripts that run in every document before its own scripts."""
    dialogs: Mapping[DialogType, DialogAnswer] = field(default_factory=dict[DialogType, DialogAnswer])
    """Answers to dialogs that override the server's settings."""
    offline: bool = False
    ignore_https_errors: bool = False

    @property
    def granted(self) -> tuple[str, ...]:
        """Return the permissions of the session's pages."""
        if self.permissions is not None:
            return self.permissions
        return ("geolocation",) if self.geolocation else ()

    def to_json(self, mask: Callable[[str], str] = str) -> dict[str, Any]:
        """Return the options that may be stored on disk: no credentials, and no headers that look like some.

        A stored session whose proxy needs credentials cannot log in to it. `mask` removes secrets from texts.
        """
        options = replace(
            self,
            http_credentials=None,
            state=None,
            proxy=self.proxy and replace(self.proxy, username=None, password=None),
            extra_headers={
                name: value
                for name, value in self.extra_headers.items()
                if not _SECRET_HEADER.search(name) and mask(value) == value
            },
        )
        return _make_adapter().dump_python(options, mode="json", exclude_defaults=True)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionOptions:
        """Parse stored options. Raise ValueError if they are damaged or from another version."""
        try:
            return _make_adapter().validate_python(data)
        except ValidationError as error:
            raise ValueError(f"{error.error_count()} of its fields are not options of a session") from None


@cache
def _make_adapter() -> TypeAdapter[SessionOptions]:
    """Return the adapter of stored options. It takes long to make, and few servers store options."""
    return TypeAdapter(SessionOptions)
