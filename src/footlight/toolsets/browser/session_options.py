"""The options of create_session: validated, and converted for the browser package.

Validation errors show the value that was given, except where it may contain a password.
"""

import re
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, WithJsonSchema

from footlight.browser.context import options
from footlight.browser.context.options import DialogType
from footlight.config import DialogAnswer
from footlight.errors import InvalidParameter
from footlight.server.secrets.secrets import SecretText
from footlight.server.tools import Number, Whole

__all__ = ["DialogPolicy", "ExtraHeaders", "Geolocation", "HttpCredentials", "Proxy", "ViewportInput"]

Pixels = Annotated[Whole, Field(ge=1, le=10_000)]


class ViewportInput(BaseModel):
    """CSS pixels."""

    model_config = ConfigDict(extra="forbid", strict=True)

    width: Pixels
    height: Pixels

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height


class _HiddenInput:
    """Stands for an invalid value that may be a password, and is shown in its place."""

    def __repr__(self) -> str:
        return "something else"


def _hide_unless_text(value: object) -> object:
    return value if isinstance(value, str) else _HiddenInput()


def _hide_unless_object(value: object) -> object:
    return cast("object", value) if isinstance(value, dict) else _HiddenInput()


Private = Annotated[SecretText, BeforeValidator(_hide_unless_text)]
"""A text that errors never show."""


def _summarize_schema(shape: str) -> WithJsonSchema:
    """Describe a rarely used object by its shape alone, to keep the list of tools short."""
    return WithJsonSchema({"type": "object", "description": shape})


class _GeolocationInput(BaseModel):
    """Coordinates in degrees, accuracy in metres."""

    model_config = ConfigDict(extra="forbid", strict=True)

    latitude: Annotated[Number, Field(ge=-90, le=90)]
    longitude: Annotated[Number, Field(ge=-180, le=180)]
    accuracy: Annotated[Number, Field(ge=0)] = 0

    @property
    def option(self) -> options.Geolocation:
        return options.Geolocation(latitude=self.latitude, longitude=self.longitude, accuracy=self.accuracy)


class _HeadersInput(RootModel[dict[str, Private]]):
    """Header values by name."""

    @property
    def option(self) -> dict[str, str]:
        for name, value in self.root.items():
            if not re.fullmatch(_HEADER_NAME, name):
                raise InvalidParameter(
                    f"extraHeaders: {name!r} is not a valid header name", parameter="extraHeaders"
                )
            if not re.fullmatch(_HEADER_VALUE, value):
                raise InvalidParameter(
                    f"extraHeaders.{name}: the value has a character that is not allowed in a header",
                    parameter=f"extraHeaders.{name}",
                )
        return self.root


_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEADER_VALUE = r"[\t\x20-\x7e\x80-\xff]*"


class _CredentialsInput(BaseModel):
    """Credentials for HTTP authentication."""

    model_config = ConfigDict(extra="forbid", strict=True)

    username: SecretText
    password: Private
    origin: str | None = None

    @property
    def option(self) -> options.Credentials:
        origin = self.origin
        if origin is not None and not re.fullmatch(r"https?://[^\s/?#@]+/?", origin):
            raise InvalidParameter(
                "httpCredentials.origin: must be like https://example.com", parameter="httpCredentials.origin"
            )
        return options.Credentials(
            username=self.username, password=self.password, origin=origin and origin.rstrip("/")
        )


class _ProxyInput(BaseModel):
    """`bypass` is a comma-separated list of hosts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    server: Private
    username: SecretText | None = None
    password: Private | None = None
    bypass: str | None = None

    @property
    def option(self) -> options.Proxy:
        if not _is_server(self.server):
            raise InvalidParameter(
                "proxy.server: must be like http://host:3128 or socks5://host:1080; a name and a password go "
                "into proxy.username and proxy.password",
                parameter="proxy.server",
            )
        return options.Proxy(
            server=self.server, username=self.username, password=self.password, bypass=self.bypass
        )


def _is_server(server: str) -> bool:
    try:
        parts = urlsplit(server if "://" in server else f"http://{server}")
        return (
            parts.scheme in ("http", "https", "socks4", "socks5")
            and bool(parts.hostname)
            and parts.port != 0
            and not (parts.username or parts.password or parts.path.strip("/") or parts.query)
            and not re.search(r"[\s,;]", server)
        )
    except ValueError:
        return False


Geolocation = Annotated[_GeolocationInput, _summarize_schema("{latitude, longitude, accuracy?}")]
ExtraHeaders = Annotated[
    _HeadersInput, BeforeValidator(_hide_unless_object), _summarize_schema("Sent with every request")
]
HttpCredentials = Annotated[
    _CredentialsInput,
    BeforeValidator(_hide_unless_object),
    _summarize_schema("{username, password, origin?}"),
]
Proxy = Annotated[
    _ProxyInput,
    BeforeValidator(_hide_unless_object),
    _summarize_schema("{server, username?, password?, bypass?}"),
]
DialogPolicy = Annotated[
    dict[DialogType, DialogAnswer],
    _summarize_schema("{alert|confirm|prompt|beforeunload: accept|dismiss|ask}"),
]
