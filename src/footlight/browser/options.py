"""What a session is made with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from footlight.browser.dialogs import DialogType
from footlight.browser.storage import SessionState
from footlight.config import DialogAnswer

__all__ = [
    "ColorScheme",
    "Credentials",
    "Geolocation",
    "Proxy",
    "ReducedMotion",
    "SessionOptions",
]

ColorScheme = Literal["light", "dark", "no-preference"]
ReducedMotion = Literal["reduce", "no-preference"]

_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|key|password|session|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geolocation:
    """Degrees; `accuracy` in metres."""

    latitude: float
    longitude: float
    accuracy: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """For what asks by HTTP. With an `origin` they are for that one alone."""

    username: str
    password: str = field(repr=False)
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """`bypass` is a list of hosts, with commas, that are reached without it."""

    server: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    bypass: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a session's context is made. The viewport is (width, height) in CSS pixels."""

    user_agent: str | None = None
    viewport: tuple[int, int] | None = None
    device: str | None = None
    """A name of Playwright's list. `user_agent` and `viewport` count more than the device's."""
    locale: str | None = None
    timezone: str | None = None
    geolocation: Geolocation | None = None
    permissions: tuple[str, ...] | None = None
    """None grants the use of `geolocation`, where there is one, and nothing else."""
    color_scheme: ColorScheme | None = None
    reduced_motion: ReducedMotion | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent with every request."""
    http_credentials: Credentials | None = None
    proxy: Proxy | None = None
    state: SessionState | None = field(default=None, repr=False)
    """Its cookies and localStorage are there from the start."""
    init_scripts: tuple[str, ...] = ()
    """Run in every document, before its own scripts."""
    dialogs: Mapping[DialogType, DialogAnswer] = field(default_factory=dict[DialogType, DialogAnswer])
    """What is answered otherwise than the server's settings say."""
    offline: bool = False
    ignore_https_errors: bool = False

    @property
    def granted(self) -> tuple[str, ...]:
        """The permissions that its pages have."""
        if self.permissions is not None:
            return self.permissions
        return ("geolocation",) if self.geolocation else ()

    def to_json(self) -> dict[str, Any]:
        """What may be kept on disk: no credentials, and no headers that look like some.

        A proxy that needs credentials asks for them in vain when the session comes back.
        """
        kept = replace(
            self,
            http_credentials=None,
            state=None,
            proxy=self.proxy and replace(self.proxy, username=None, password=None),
            extra_headers={
                name: value for name, value in self.extra_headers.items() if not _SECRET_HEADER.search(name)
            },
        )
        return _ADAPTER.dump_python(kept, mode="json", exclude_defaults=True)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionOptions:
        """Raises ValueError where they are damaged, or of another version."""
        try:
            return _ADAPTER.validate_python(data)
        except ValidationError as error:
            raise ValueError(f"{error.error_count()} of its fields are no options of a session") from None


_ADAPTER = TypeAdapter(SessionOptions)
