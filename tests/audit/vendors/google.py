"""A fake server of Gemini's `streamGenerateContent`, with server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.audit.vendors.script import Failure, Received, Turn
from tests.audit.vendors.serving import event

__all__ = ["Google"]

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY", "broken": "MALFORMED_FUNCTION_CALL"}


class Google:
    name = "google"
    variable = "GOOGLE_API_KEY"
    model = "gemini-3.8-flash"

    def base_url(self, url: str) -> str:
        return url

    def beginning(self, turn: Turn) -> Iterator[bytes]:
        for piece in turn.text:
            yield self._chunk(turn, [{"text": piece}])

    def rest(self, turn: Turn) -> Iterator[bytes]:
        for call in turn.calls:
            # Whole: its arguments do not come in pieces.
            asked = {"id": call.id, "name": call.name, "args": json.loads("".join(call.pieces))}
            yield self._chunk(turn, [{"functionCall": asked}])
        yield self._chunk(turn, [{"text": ""}], finishReason=_REASONS[turn.end])

    def error(self, failure: Failure) -> dict[str, Any]:
        status = _STATUSES.get(failure.status, "INTERNAL")
        return {"error": {"code": failure.status, "message": failure.message, "status": status}}

    def error_event(self, failure: Failure) -> bytes:
        return event(self.error(failure))

    def key(self, received: Received) -> str | None:
        return received.headers.get("x-goog-api-key")

    def tools(self, received: Received) -> list[str]:
        tools = received.body.get("tools", ())
        return [declared["name"] for tool in tools for declared in tool["functionDeclarations"]]

    def results(self, received: Received) -> list[tuple[str, str]]:
        reported = [part["functionResponse"] for part in _parts(received) if "functionResponse" in part]
        return [(result["id"], next(iter(result["response"].values()))) for result in reported]

    def images(self, received: Received) -> list[str]:
        within = [
            inner for part in _parts(received) for inner in part.get("functionResponse", {}).get("parts", ())
        ]
        # Its JSON knows both spellings of a name.
        images = [part.get("inlineData") or part.get("inline_data") for part in (*_parts(received), *within)]
        return [image["data"] for image in images if image]

    def _chunk(self, turn: Turn, parts: list[dict[str, Any]], **more: Any) -> bytes:
        usage = {
            "promptTokenCount": turn.input_tokens,
            "candidatesTokenCount": turn.output_tokens,
            "totalTokenCount": turn.input_tokens + turn.output_tokens,
        }
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
        return event(
            {
                "candidates": [candidate],
                "usageMetadata": usage,
                "modelVersion": self.model,
                "responseId": "r1",
            }
        )


def _parts(received: Received) -> list[dict[str, Any]]:
    return [part for said in received.body["contents"] for part in said["parts"]]
