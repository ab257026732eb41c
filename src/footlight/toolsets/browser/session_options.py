"""What create_session takes: as it comes in, and as the browser's package has it.

An error shows what it was given. No error shows a password here, nor what may hold one.
"""

import re
from typing import Annotated, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, WithJsonSchema

from footlight.browser import options
from footlight.browser.dialogs import DialogType
from footlight.config import DialogAnswer
from footlight.errors import InvalidParameter
from footlight.server.secrets import SecretText
from footlight.server.tool import Number, Whole

__all__ = ["DialogPolicy", "ExtraHeaders", "Geolocation", "HttpCredentials", "Proxy", "Viewport"]

Pixels = Annotated[Whole, Field(ge=1, le=10_000)]


class Viewport(BaseModel):
    """CSS pixels."""

    model_config = ConfigDict(extra="forbid", strict=True)

    width: Pixels
    height: Pixels

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height


class _Unshown:
    """Stands in for what is wrong and may be a password."""

    def __repr__(self) -> str:
        return "something else"


def _text(value: object) -> object:
    return value if isinstance(value, str) else _Unshown()


def _object(value: object) -> object:
    return cast("object", value) if isinstance(value, dict) else _Unshown()


Private = Annotated[SecretText, BeforeValidator(_text)]
"""A text that no error shows."""


def _brief(shape: str) -> WithJsonSchema:
    """In a list of tools, a word for what is rarely used."""
    return WithJsonSchema({"type": "object", "description": shape})


class _Place(BaseModel):
    """Degrees, and metres."""

    model_config = ConfigDict(extra="forbid", strict=True)

    latitude: Annotated[Number, Field(ge=-90, le=90)]
    longitude: Annotated[Number, Field(ge=-180, le=180)]
    accuracy: Annotated[Number, Field(ge=0)] = 0

    @property
    def option(self) -> options.Geolocation:
        return options.Geolocation(latitude=self.latitude, longitude=self.longitude, accuracy=self.accuracy)


class _Headers(RootModel[dict[str, Private]]):
    """By name."""

    @property
    def option(self) -> dict[str, str]:
        for name, value in self.root.items():
            if not re.fullmatch(_HEADER_NAME, name):
                raise InvalidParameter(
                    f"extraHeaders: {name!r} is no name of a header", parameter="extraHeaders"
                )
            if not re.fullmatch(_HEADER_VALUE, value):
                raise InvalidParameter(
                    f"extraHeaders.{name}: its value has a character that no header can have",
                    parameter=f"extraHeaders.{name}",
                )
        return self.root


_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEADER_VALUE = r"[\t\x20-\x7e\x80-\xff]*"


class _Credentials(BaseModel):
    """What a site asks for by HTTP."""

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


class _Proxy(BaseModel):
    """`bypass` are hosts, with commas."""

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


Geolocation = Annotated[_Place, _brief("{latitude, longitude, accuracy?}")]
ExtraHeaders = Annotated[_Headers, BeforeValidator(_object), _brief("Sent with every request")]
HttpCredentials = Annotated[_Credentials, BeforeValidator(_object), _brief("{username, password, origin?}")]
Proxy = Annotated[_Proxy, BeforeValidator(_object), _brief("{server, username?, password?, bypass?}")]
DialogPolicy = Annotated[
    dict[DialogType, DialogAnswer], _brief("{alert|confirm|prompt|beforeunload: accept|dismiss|ask}")
]
