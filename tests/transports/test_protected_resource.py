"""The metadata that tell a client without a token where to get one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.http_client import raw, request, served

pytestmark = pytest.mark.anyio

PUBLIC = "https://browser.example.com/mcp"
ISSUER = "https://login.example.com"
VERIFIER = """
class Nobody:
    async def verify_token(self, token):
        return None
"""


@pytest.mark.slow
async def test_challenge_points_to_the_authorization_servers(tmp_path: Path) -> None:
    """RFC 9728: by the challenge, to a document that needs no token itself."""
    (tmp_path / "verifier.py").write_text(VERIFIER)
    config = {
        "listen": {
            "tokenVerifier": "verifier:Nobody",
            "publicUrl": PUBLIC,
            "authorizationServers": [ISSUER],
        }
    }
    async with served(tmp_path, config=config, PYTHONPATH=str(tmp_path)) as server, raw(server) as client:
        public = {"Host": "browser.example.com"}
        without = await client.send(request("ping"), headers=public)
        wrong = await client.send(request("ping"), headers={**public, "Authorization": "Bearer wrong"})
        answer = await client.send(
            method="GET", path="/.well-known/oauth-protected-resource/mcp", headers=public
        )

    where = 'resource_metadata="https://browser.example.com/.well-known/oauth-protected-resource/mcp"'
    assert (without.status_code, without.headers["www-authenticate"]) == (401, f"Bearer {where}")
    assert wrong.headers["www-authenticate"] == f'Bearer error="invalid_token", {where}'
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json() == {
        "resource": PUBLIC,
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
    }
