"""Parameters, results and text excerpts that several families of tools share, and the options of sessions.

Validation errors of options show the value that was given, except where it may contain a password.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from footlight.browser.context import options
from footlight.browser.context.options import DialogType
from footlight.browser.context.storage_state import is_origin
from footlight.config import DialogAnswer
from footlight.errors import InvalidParameterError
from footlight.server.answers.secrets import SecretText
from footlight.server.tools import Number, ToolCall, Whole

__all__ = [
    "ActionResult",
    "DialogPolicy",
    "Excerpt",
    "ExtraHeaders",
    "FormValues",
    "Geolocation",
    "HttpCredentials",
    "NoticedResult",
    "Offset",
    "Permissions",
    "Proxy",
    "Selector",
    "UserAgent",
    "ViewportInput",
    "WaitUntil",
    "action_result",
    "excerpt",
    "noticed_result",
]

Selector = str
"""A ref, CSS, XPath starting with //, or testid=NAME; `>>` goes into a frame. The first match is used."""

FormValues = Annotated[
    dict[Selector, SecretText | bool | Whole | Number | list[str]],
    Field(
        min_length=1,
        max_length=100,
        description="Values by selector: text, number, boolean, option or options",
    ),
]


class ActionResult(TypedDict):
    """`url` is the URL of the page after the action."""

    url: str


class NoticedResult(ActionResult):
    """`notice` says that the page did not take the action as it was meant."""

    notice: NotRequired[str]


def action_result(call: ToolCall) -> ActionResult:
    return {"url": call.page.url}


def noticed_result(call: ToolCall, notice: str | None) -> NoticedResult:
    """Return the result of an action, with a notice if there is one."""
    return {**action_result(call), "notice": notice} if notice else {**action_result(call)}


WaitUntil = Literal["load", "domcontentloaded", "networkidle"]

MAX_EXCERPT_CHARS = 10_000

Offset = Annotated[Whole, Field(ge=0, description="nextOffset of the previous answer")]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a text of `length` characters; `next_offset` is None for the last piece."""

    text: str
    length: int
    next_offset: int | None


def excerpt(text: str, offset: int, *, longest: int = MAX_EXCERPT_CHARS) -> Excerpt:
    """Return the piece of `text` that begins at `offset`.

    Raises:
        InvalidParameterError: The text ends before `offset`.
    """
    if offset > len(text):
        raise InvalidParameterError(
            f"offset: {offset} is beyond the end; the text has {len(text)} characters", parameter="offset"
        )
    end = offset + longest
    return Excerpt(text[offset:end], len(text), end if end < len(text) else None)


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
                raise InvalidParameterError(
                    f"extraHeaders: {name!r} is not a valid header name", parameter="extraHeaders"
                )
            if name.lower() in _UNSAFE_HEADERS or (name.lower(), value.lower()) == ("connection", "upgrade"):
                raise InvalidParameterError(
                    f"extraHeaders: {name} is set by the browser, which sends no request with another one",
                    parameter="extraHeaders",
                )
            if not re.fullmatch(_HEADER_VALUE, value):
                raise InvalidParameterError(
                    f"extraHeaders.{name}: the value has a character that is not allowed in a header",
                    parameter=f"extraHeaders.{name}",
                )
        return self.root


_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEADER_VALUE = r"[\t\x20-\x7e\x80-\xff]*"
_UNSAFE_HEADERS = frozenset(
    {
        *("content-length", "cookie2", "host", "keep-alive", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    }
)
"""Chromium fails each request that has one of them."""


class _CredentialsInput(BaseModel):
    """Credentials for HTTP authentication."""

    model_config = ConfigDict(extra="forbid", strict=True)

    username: SecretText
    password: Private
    origin: str | None = None

    @property
    def option(self) -> options.Credentials:
        origin = self.origin
        if origin is not None and not _is_site(origin):
            raise InvalidParameterError(
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
            raise InvalidParameterError(
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


def _is_site(origin: str) -> bool:
    return origin.startswith(("http://", "https://")) and is_origin(origin.removesuffix("/").lower())


def _check_user_agent(value: str) -> str:
    if re.search(r"[\r\n\0]", value):
        raise ValueError("must have no line breaks and no NUL")
    return value


UserAgent = Annotated[str, Field(min_length=1), AfterValidator(_check_user_agent)]
Permissions = list[Annotated[str, Field(min_length=1)]]
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
