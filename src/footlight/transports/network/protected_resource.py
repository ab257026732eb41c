"""Protected resource metadata (RFC 9728), in which clients find the authorization servers."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp.server.auth.routes import build_resource_metadata_url
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl

if TYPE_CHECKING:
    from footlight.config import ListenSettings

__all__ = ["metadata_path", "metadata_url", "resource_metadata"]


def metadata_url(settings: ListenSettings) -> str | None:
    """Return the URL of the metadata for a 401 response, or None without an authorization server."""
    if settings.public_url is None or not settings.authorization_servers:
        return None
    return str(build_resource_metadata_url(AnyHttpUrl(settings.public_url)))


def metadata_path(settings: ListenSettings) -> str | None:
    """Return the path of the metadata on this server, to which a reverse proxy forwards, or None."""
    url = metadata_url(settings)
    return urlsplit(url).path if url else None


def resource_metadata(settings: ListenSettings) -> str:
    """Return the metadata as JSON."""
    # Validate strings, because a parsed URL would get a final slash, which the issuer's URL may not have.
    return ProtectedResourceMetadata.model_validate(
        {"resource": settings.public_url, "authorization_servers": settings.authorization_servers}
    ).model_dump_json(exclude_none=True)
