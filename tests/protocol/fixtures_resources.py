"""Three listed resources, and a template."""

from __future__ import annotations

import json
import re

import mcp_types as types
from mcp import MCPError

from tests.protocol.fixtures import PIXEL

RESOURCES = (
    types.Resource(uri="test://static-text", name="static-text", mime_type="text/plain"),
    types.Resource(uri="test://static-binary", name="static-binary", mime_type="image/png"),
    types.Resource(uri="test://watched-resource", name="watched-resource", mime_type="text/plain"),
)

TEMPLATE = types.ResourceTemplate(
    uri_template="test://template/{id}/data", name="template", mime_type="application/json"
)

TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "This is the content of the watched resource.",
}


def read(uri: str) -> types.TextResourceContents | types.BlobResourceContents:
    """Raises: MCPError if there is no such resource."""
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    if uri in TEXTS:
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
    if match := re.fullmatch(r"test://template/([^/]+)/data", uri):
        data = json.dumps({"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"})
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
