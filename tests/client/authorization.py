"""A server that requires OAuth, with the SDK's authorization server, on a real socket."""

# ruff: noqa: ARG002 - the SDK's signatures

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import httpx2
import mcp_types as types
import uvicorn
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.server import Server, ServerRequestContext
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyHttpUrl, AnyUrl

SCOPE = "browse"
CALLBACK = "http://127.0.0.1/callback"


@dataclass
class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """An authorization server that grants every request, or none."""

    willing: bool = True
    grants: list[str] = field(default_factory=list[str])
    clients: dict[str, OAuthClientInformationFull] = field(
        default_factory=dict[str, OAuthClientInformationFull]
    )
    codes: dict[str, AuthorizationCode] = field(default_factory=dict[str, AuthorizationCode])
    access: dict[str, AccessToken] = field(default_factory=dict[str, AccessToken])
    refreshing: dict[str, RefreshToken] = field(default_factory=dict[str, RefreshToken])

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if not self.willing:
            raise AuthorizeError("access_denied", "not you")
        code = AuthorizationCode(
            code=secrets.token_hex(),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            **params.model_dump(
                include={"code_challenge", "redirect_uri", "redirect_uri_provided_explicitly", "resource"}
            ),
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._grant("authorization_code", authorization_code)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refreshing[refresh_token.token]
        return self._grant("refresh_token", refresh_token)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    def _grant(self, kind: str, asked: AuthorizationCode | RefreshToken) -> OAuthToken:
        self.grants.append(kind)
        access, refresh = secrets.token_hex(), secrets.token_hex()
        known = asked.model_dump(include={"client_id", "scopes", "resource"})
        self.access[access] = AccessToken(token=access, **known)
        self.refreshing[refresh] = RefreshToken(token=refresh, **known)
        return OAuthToken(
            access_token=access,
            refresh_token=refresh,
            expires_in=3600,
            scope=" ".join(asked.scopes),
        )


@asynccontextmanager
async def serve_guarded(authority: Authority) -> AsyncGenerator[str]:
    """Yield the URL of an MCP server with a tool, `whoami`, which says for whom it is called."""
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = _make_server(authority).streamable_http_app(
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE]),
            required_scopes=[SCOPE],
            validate_token_resource=True,
        ),
        auth_server_provider=authority,
        token_verifier=ProviderTokenVerifier(authority),
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"{origin}/mcp"
    finally:
        server.should_exit = True
        await serving


def _make_server(authority: Authority) -> Server:
    schema = {"type": "object"}

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="whoami", description=".", input_schema=schema)])

    async def call_tool(
        context: ServerRequestContext, _: types.CallToolRequestParams
    ) -> types.CallToolResult:
        await context.session.report_progress(1, 2, "looking")
        assert context.request is not None
        token = context.request.headers["Authorization"].removeprefix("Bearer ")
        name = authority.clients[authority.access[token].client_id].client_name
        return types.CallToolResult(content=[types.TextContent(type="text", text=name or "nobody")])

    return Server("guarded", on_list_tools=list_tools, on_call_tool=call_tool)


class Memory(TokenStorage):
    """The tokens that a client stores between its runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def oauth(url: str, memory: Memory) -> OAuthClientProvider:
    """Return the SDK's provider, with a person who follows every link at once."""
    came_back: asyncio.Queue[dict[str, list[str]]] = asyncio.Queue()

    async def follow(link: str) -> None:
        async with httpx2.AsyncClient() as browser:
            response = await browser.get(link)
        came_back.put_nowait(parse_qs(urlsplit(response.headers["Location"]).query))

    async def answer() -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in (await came_back.get()).items()}
        if "error" in query:
            raise PermissionError(query["error_description"])
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query.get("iss"))

    metadata = OAuthClientMetadata(client_name="Ida", redirect_uris=[AnyUrl(CALLBACK)], scope=SCOPE)
    return OAuthClientProvider(url, metadata, memory, follow, answer)
