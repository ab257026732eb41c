"""Who makes the model: a provider, asked through its own API with a key from the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args
from urllib.parse import urlsplit

import anyio
from pydantic import SecretStr

from footlight.errors import ConfigurationError
from footlight.ux.model.client import is_loopback, signing_client

if TYPE_CHECKING:
    import httpx2

__all__ = ["DEFAULT_MODELS", "KEY_VARIABLES", "AIProvider", "ChatModel", "chat_model"]

AIProvider = Literal["openai", "anthropic", "google"]

DEFAULT_MODELS: Mapping[AIProvider, str] = {
    "openai": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
}
"""Of each provider's current ones, one in the middle of its prices that takes pictures and tools."""

KEY_VARIABLES: Mapping[AIProvider, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Where a key is looked for. The first that is set is taken."""

_VENDOR_URLS: Mapping[AIProvider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
"""Always given: their libraries would look for another address in the environment."""

_HELD_ELSEWHERE = "held-elsewhere"
"""What a vendor's library is given for a key. The client puts the real one in as a request leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModel:
    """A model that can be asked, and the HTTP connections to it, which whoever made it closes."""

    provider: str
    name: str
    model: Any = field(repr=False)
    """Of pydantic-ai, for the run of a model alone."""
    key: SecretStr = field(default=SecretStr(""), repr=False)
    client: httpx2.AsyncClient | None = field(default=None, repr=False)

    def masked(self, text: str) -> str:
        """Without the key, which a provider may repeat in what it says about it."""
        key = self.key.get_secret_value()
        return text.replace(key, "[the key]") if key else text

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close its connections. Nothing can be asked afterwards."""
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
    """A model of this provider. Nothing is sent yet.

    Args:
        model: its name; the provider's in `DEFAULT_MODELS` if none is given.
        base_url: another server that speaks the provider's wire format, for `openai` any that is compatible,
            as far as `/v1`. It needs no key; one that is set is sent to it.
        environ: where a key is looked for, and nowhere else. No other variable of a vendor has an effect.

    OpenAI is spoken to through Chat Completions, its own servers too: one wire format for all that speak it.

    Raises:
        ConfigurationError: the extra is not installed, there is no key, or a value cannot be used.
    """
    if provider not in get_args(AIProvider):
        raise ConfigurationError(
            f"no provider is called {provider}: there are {', '.join(get_args(AIProvider))}"
        )
    url = _VENDOR_URLS[provider] if base_url is None else _checked(base_url)
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


def _checked(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        # Not repeated: it may have a password in it.
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
            suggestion="Set it there, and nowhere else; or name a server of your own by its base URL.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"the key in {variable} has characters that no key has")
    if key and base_url is not None and not _is_private(base_url):
        raise ConfigurationError(
            f"the key in {variable} would go over the network to the base URL for all to read",
            suggestion=f"Use https, or unset {variable} if that server needs no key.",
        )
    return SecretStr(key)


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent."""
    return urlsplit(url).scheme == "https" or is_loopback(url)


def _openai(name: str, url: str, key: SecretStr) -> ChatModel:
    try:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider
    except ImportError as error:
        raise _extra_missing("openai") from error
    client = signing_client(url, "authorization", key, prefix="Bearer ")
    provider = OpenAIProvider(api_key=_HELD_ELSEWHERE, base_url=url, http_client=client)
    # A stream without its end was cut, whatever came before.
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
    client = signing_client(url, "x-api-key", key)
    provider = AnthropicProvider(api_key=_HELD_ELSEWHERE, base_url=url, http_client=client)
    # Each request repeats those before it. The others notice; this one wants to be asked.
    model = AnthropicModel(name, provider=provider, settings=ModelSettings(cache=True))
    return ChatModel(provider="anthropic", name=name, model=model, key=key, client=client)


def _google(name: str, url: str, key: SecretStr) -> ChatModel:
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError as error:
        raise _extra_missing("google") from error
    client = signing_client(url, "x-goog-api-key", key)
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
        f"{provider} needs the extra `ux`, which is not installed",
        suggestion="Install it: pip install 'footlight[ux]'",
    )
