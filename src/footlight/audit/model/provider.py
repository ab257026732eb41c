"""The providers of models: each is called through its own API with a key from the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args
from urllib.parse import urlsplit

import anyio
from pydantic import SecretStr

from footlight.audit.model.http_client import is_loopback, make_signing_client
from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx2

__all__ = ["DEFAULT_MODELS", "KEY_VARIABLES", "AIProvider", "ChatModel", "chat_model"]

AIProvider = Literal["openai", "anthropic", "google"]

DEFAULT_MODELS: Mapping[AIProvider, str] = {
    "openai": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
}
"""A medium-priced current model of each provider that accepts pictures and tools."""

KEY_VARIABLES: Mapping[AIProvider, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""The variables that may have the key. The first one that is set is used."""

_VENDOR_URLS: Mapping[AIProvider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
"""Always passed: the libraries would otherwise read an address from the environment."""

_HELD_ELSEWHERE = "held-elsewhere"
"""A placeholder for the vendors' libraries. The HTTP client adds the real key to each request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModel:
    """A model and its HTTP connections. The caller that creates it closes it."""

    provider: str
    name: str
    model: Any = field(repr=False)
    """A model of pydantic-ai."""
    key: SecretStr = field(default=SecretStr(""), repr=False)
    client: httpx2.AsyncClient | None = field(default=None, repr=False)

    def mask(self, text: str) -> str:
        """Return the text without the key, which a provider may repeat in its errors."""
        key = self.key.get_secret_value()
        return text.replace(key, "[the key]") if key else text

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. The model cannot be used afterwards."""
        if self.client is not None:
            with anyio.CancelScope(shield=True):
                await self.client.aclose()


def chat_model(
    provider: AIProvider,
    *,
    model: str | None = None,
    base_url: str | None = None,
    environ: Mapping[str, str],
) -> ChatModel:
    """Return a model of this provider. Nothing is sent yet.

    Args:
        model: the name of the model; the default is in `DEFAULT_MODELS`.
        base_url: another server with the provider's wire format, up to `/v1`. It needs no key; a key that is
            set is sent to it.
        environ: the only place where the key is read. Other variables of the vendors have no effect.

    For `openai` the Chat Completions API is used, which compatible servers implement too.

    Raises:
        ConfigurationError: the extra is not installed, there is no key, or a value cannot be used.
    """
    if provider not in get_args(AIProvider):
        raise ConfigurationError(
            f"unknown provider {provider}: the providers are {', '.join(get_args(AIProvider))}"
        )
    url = _VENDOR_URLS[provider] if base_url is None else _check_base_url(base_url)
    name = (model or "").strip() or _default(provider, base_url)
    key = _key(provider, environ, url if base_url is not None else None)
    return _MAKERS[provider](name, url, key)


def _default(provider: AIProvider, base_url: str | None) -> str:
    if provider == "openai" and base_url is not None:
        raise ConfigurationError(
            "a model must be named when there is a base URL",
            suggestion="Give the name that the server knows.",
        )
    return DEFAULT_MODELS[provider]


def _check_base_url(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        # The error does not repeat the URL, which may contain a password.
        raise ConfigurationError("the base URL must start with http:// or https://, and have no user in it")
    return base_url


def _key(provider: AIProvider, environ: Mapping[str, str], base_url: str | None) -> SecretStr:
    variables = KEY_VARIABLES[provider]
    variable, key = next(
        ((name, value) for name in variables if (value := environ.get(name, "").strip())), (variables[0], "")
    )
    if not key and base_url is None:
        raise ConfigurationError(
            f"{provider} needs a key: set {' or '.join(variables)} in the environment",
            suggestion="Set it there, or name your own server by its base URL.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"the key in {variable} has characters that are not allowed in a key")
    if key and base_url is not None and not _is_private(base_url):
        raise ConfigurationError(
            f"the key in {variable} would be sent to the base URL without encryption",
            suggestion=f"Use https, or unset {variable} if that server needs no key.",
        )
    return SecretStr(key)


def _is_private(url: str) -> bool:
    """Return whether the connection is encrypted or stays on this machine."""
    return urlsplit(url).scheme == "https" or is_loopback(url)


def _openai(name: str, url: str, key: SecretStr) -> ChatModel:
    try:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider
    except ImportError as error:
        raise _extra_missing("openai") from error
    client = make_signing_client(url, "authorization", key, prefix="Bearer ")
    provider = OpenAIProvider(api_key=_HELD_ELSEWHERE, base_url=url, http_client=client)
    # A stream without a finish reason was cut.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    model = OpenAIChatModel(name, provider=provider, profile=profile)
    return ChatModel(provider="openai", name=name, model=model, key=key, client=client)


def _anthropic(name: str, url: str, key: SecretStr) -> ChatModel:
    try:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
        from pydantic_ai.settings import ModelSettings
    except ImportError as error:
        raise _extra_missing("anthropic") from error
    client = make_signing_client(url, "x-api-key", key)
    provider = AnthropicProvider(api_key=_HELD_ELSEWHERE, base_url=url, http_client=client)
    # Each request repeats the earlier ones. The other providers cache them on their own.
    model = AnthropicModel(name, provider=provider, settings=ModelSettings(cache=True))
    return ChatModel(provider="anthropic", name=name, model=model, key=key, client=client)


def _google(name: str, url: str, key: SecretStr) -> ChatModel:
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError as error:
        raise _extra_missing("google") from error
    client = make_signing_client(url, "x-goog-api-key", key)
    provider = GoogleProvider(api_key=_HELD_ELSEWHERE, base_url=url, http_client=client)
    model = GoogleModel(name, provider=provider)
    return ChatModel(provider="google", name=name, model=model, key=key, client=client)


_MAKERS: Mapping[AIProvider, Callable[[str, str, SecretStr], ChatModel]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}


def _extra_missing(provider: AIProvider) -> ConfigurationError:
    return ConfigurationError(
        f"{provider} needs the extra `audit`, which is not installed",
        suggestion="Install it: pip install 'footlight[audit]'",
    )
