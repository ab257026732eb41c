"""A fake server of Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.audit.vendors.script import Failure, Received, Turn
from tests.audit.vendors.serving import event

__all__ = ["Anthropic"]

_TYPES = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
_REASONS = {"length": "max_tokens", "refusal": "refusal"}


class Anthropic:
    name = "anthropic"
    variable = "ANTHROPIC_API_KEY"
    model = "claude-sonnet-5-5"

    def base_url(self, url: str) -> str:
        return url

    def beginning(self, turn: Turn) -> Iterator[bytes]:
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": self.model, "content": []}
        usage = {"input_tokens": turn.input_tokens, "output_tokens": 1}
        yield encode_event("message_start", message={**message, "stop_reason": None, "usage": usage})
        yield encode_event("ping")
        if turn.text:
            yield encode_event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            for piece in turn.text:
                yield encode_event(
                    "content_block_delta", index=0, delta={"type": "text_delta", "text": piece}
                )

    def rest(self, turn: Turn) -> Iterator[bytes]:
        if turn.text:
            yield encode_event("content_block_stop", index=0)
        for index, call in enumerate(turn.calls, start=len(turn.text[:1])):
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield encode_event("content_block_start", index=index, content_block=block)
            for piece in call.pieces:
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield encode_event("content_block_delta", index=index, delta=delta)
            yield encode_event("content_block_stop", index=index)
        reason = _REASONS.get(turn.end) or ("tool_use" if turn.calls else "end_turn")
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield encode_event("message_delta", delta=delta, usage={"output_tokens": turn.output_tokens})
        yield encode_event("message_stop")

    def error(self, failure: Failure) -> dict[str, Any]:
        answer = {"type": _TYPES.get(failure.status, "api_error"), "message": failure.message}
        return {"type": "error", "error": answer, "request_id": "req_1"}

    def error_event(self, failure: Failure) -> bytes:
        return event(self.error(failure), name="error")

    def key(self, received: Received) -> str | None:
        return received.headers.get("x-api-key")

    def tools(self, received: Received) -> list[str]:
        return [tool["name"] for tool in received.body.get("tools", ())]

    def results(self, received: Received) -> list[tuple[str, str]]:
        return [(block["tool_use_id"], _text(block["content"])) for block in _blocks(received, "tool_result")]

    def images(self, received: Received) -> list[str]:
        within = [
            part
            for block in _blocks(received, "tool_result")
            if isinstance(block["content"], list)
            for part in block["content"]
            if part["type"] == "image"
        ]
        return [block["source"]["data"] for block in (*_blocks(received, "image"), *within)]


def encode_event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, name=kind)


def _blocks(received: Received, kind: str) -> list[dict[str, Any]]:
    contents = [said["content"] for said in received.body["messages"] if isinstance(said["content"], list)]
    return [block for blocks in contents for block in blocks if block["type"] == kind]


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")
