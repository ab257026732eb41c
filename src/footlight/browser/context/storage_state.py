"""The storage state of a session: cookies, localStorage, sessionStorage, and a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from footlight.errors import InvalidParameterError

__all__ = ["SessionState", "Storage", "is_origin", "to_playwright"]

Storage = dict[str, dict[str, str]]
"""Items by origin."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """A storage state.

    `local_storage` and `session_storage` are items by origin; `url` is the current page's.
    """

    cookies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    local_storage: Storage = field(default_factory=dict[str, dict[str, str]])
    session_storage: Storage = field(default_factory=dict[str, dict[str, str]])
    url: str = "about:blank"

    def to_json(self) -> dict[str, Any]:
        return {
            "cookies": self.cookies,
            "localStorage": self.local_storage,
            "sessionStorage": self.session_storage,
            "url": self.url,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionState:
        """Parse a state. Raise InvalidParameterError, which names the invalid field."""
        unknown = sorted(set(data) - {"cookies", "localStorage", "sessionStorage", "url"})
        if unknown:
            raise InvalidParameterError(
                f"state: unknown field {unknown[0]!r}; it has cookies, localStorage, sessionStorage and url",
                parameter="state",
            )
        url = data.get("url", "about:blank")
        if not isinstance(url, str):
            raise InvalidParameterError("state.url: must be a string", parameter="state.url")
        return cls(
            cookies=_cookies(data.get("cookies", [])),
            local_storage=_storage(data.get("localStorage", {}), "localStorage"),
            session_storage=_storage(data.get("sessionStorage", {}), "sessionStorage"),
            url=url,
        )


def _cookies(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise InvalidParameterError("state.cookies: must be an array of cookies", parameter="state.cookies")
    cookies = cast("list[object]", value)
    if not all(isinstance(cookie, dict) for cookie in cookies):
        raise InvalidParameterError("state.cookies: each cookie must be an object", parameter="state.cookies")
    return cast("list[dict[str, Any]]", cookies)


def _storage(value: object, name: str) -> Storage:
    if isinstance(value, dict):
        origins = cast("dict[str, object]", value)
        for origin in origins:
            if not is_origin(origin):
                raise InvalidParameterError(
                    f"state.{name}: {origin[:100]!r} is not an origin, such as https://example.com",
                    parameter=f"state.{name}",
                )
        if all(_is_items(items) for items in origins.values()):
            return cast("Storage", origins)
    raise InvalidParameterError(
        f"state.{name}: must be an object of origins (https://…), each with an object of string items",
        parameter=f"state.{name}",
    )


def is_origin(text: str) -> bool:
    """Return whether the text has a scheme, usually a host and at most a port, as `location.origin` has."""
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s/?#@\\*A-Z]*", text):
        return False
    try:
        return urlsplit(text).port != 0
    except ValueError:
        return False


def _is_items(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, str) for item in cast("dict[str, object]", value).values()
    )


def to_playwright(state: SessionState) -> dict[str, Any]:
    """Return Playwright's storage state, which has neither sessionStorage nor a URL."""
    origins = [
        {"origin": origin, "localStorage": [{"name": key, "value": value} for key, value in items.items()]}
        for origin, items in state.local_storage.items()
    ]
    return {"cookies": state.cookies, "origins": origins}
