"""The SDK's OAuth providers for clients of the conformance suite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

CALLBACK = AnyUrl("http://127.0.0.1/callback")
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The only client metadata document that the suite takes."""


class Memory(TokenStorage):
    """What a client remembers while it runs."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class Person:
    """Follows every link at once, and brings back what the place it leads to was told."""

    def __init__(self) -> None:
        self._came_back: asyncio.Queue[dict[str, list[str]]] = asyncio.Queue()

    async def follow(self, link: str) -> None:
        async with httpx2.AsyncClient() as browser:
            response = await browser.get(link)
        self._came_back.put_nowait(parse_qs(urlsplit(response.headers["Location"]).query))

    async def answer(self) -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in (await self._came_back.get()).items()}
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


def provider(url: str, scenario: str, given: Mapping[str, Any]) -> httpx2.Auth:
    """`given` are the credentials that the scenario brings, if it does."""
    if scenario == "auth/client-credentials-basic":
        return ClientCredentialsOAuthProvider(url, Memory(), given["client_id"], given["client_secret"])
    if scenario == "auth/client-credentials-jwt":
        return _signing(url, given)
    return _asking(url, _register_client(given) if "client_secret" in given else None)


def _signing(url: str, given: Mapping[str, Any]) -> PrivateKeyJWTOAuthProvider:
    parameters = SignedJWTParameters(
        issuer=given["client_id"],
        subject=given["client_id"],
        signing_key=given["private_key_pem"],
        signing_algorithm=given["signing_algorithm"],
    )
    return PrivateKeyJWTOAuthProvider(
        url, Memory(), given["client_id"], parameters.create_assertion_provider()
    )


def _asking(url: str, client: OAuthClientInformationFull | None) -> OAuthClientProvider:
    """With a person who consents. Without a `client` it introduces itself."""
    person = Person()
    metadata = OAuthClientMetadata(
        client_name="footlight",
        redirect_uris=[CALLBACK],
        grant_types=["authorization_code", "refresh_token"],
    )
    return OAuthClientProvider(url, metadata, Memory(client), person.follow, person.answer, DOCUMENT)


def _register_client(given: Mapping[str, Any]) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=given["client_id"],
        client_secret=given["client_secret"],
        issuer=given.get("issuer"),
        redirect_uris=[CALLBACK],
        token_endpoint_auth_method="client_secret_basic",
    )
