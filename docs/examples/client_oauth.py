"""A server that wants OAuth, for a script that has credentials of its own.

Run it: `python docs/examples/client_oauth.py`.

The provider is the MCP SDK's: an `auth=` like any other of httpx2's. It finds out where tokens are issued,
gets one, sends it, and gets another when it is over.
"""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from footlight import MCPClient, MCPError


class InMemory:
    """Tokens for as long as the script runs; another storage would keep them in a file or a keyring."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def main() -> None:
    with serve() as origin:
        url = f"{origin}/mcp"
        try:
            await MCPClient(url).connect()
        except MCPError as error:
            print(error.status, error.reason)

        auth = ClientCredentialsOAuthProvider(
            server_url=url, storage=InMemory(), client_id="nightly", client_secret="s3cret", issuer=origin
        )
        async with MCPClient(url, auth=auth) as client:
            print(client.get_server_info()["name"])


class Guarded(BaseHTTPRequestHandler):
    """An MCP server, and what issues its tokens."""

    def do_GET(self) -> None:
        origin = f"http://{self.headers['Host']}"
        documents = {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": f"{origin}/mcp",
                "authorization_servers": [origin],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": origin,
                "authorization_endpoint": f"{origin}/authorize",
                "token_endpoint": f"{origin}/token",
                "response_types_supported": ["code"],
            },
        }
        document = documents.get(self.path)
        self.answer(404 if document is None else 200, document or {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":
            self.answer(200, {"access_token": "good", "token_type": "Bearer", "expires_in": 3600})
        elif self.headers.get("Authorization") != "Bearer good":
            self.answer(401, {"error": "invalid_token"})
        else:
            self.answer_message(json.loads(body))

    def answer_message(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            return self.answer(202, None)
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {},
            "serverInfo": {"name": "vault", "version": "1"},
        }
        return self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def answer(self, status: int, document: dict[str, Any] | None) -> None:
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serve() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
