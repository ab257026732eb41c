"""A fake server of OpenAI's Chat Completions, streamed with `stream_options.include_usage`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.audit.vendors.script import Failure, Received, Turn
from tests.audit.vendors.serving import event

__all__ = ["OpenAI"]

_TYPES = {401: "invalid_request_error", 429: "rate_limit_exceeded"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


class OpenAI:
    name = "openai"
    variable = "OPENAI_API_KEY"
    model = "gpt-6.1-terra"

    def base_url(self, url: str) -> str:
        return f"{url}/v1"

    def beginning(self, turn: Turn) -> Iterator[bytes]:
        yield _chunk({"role": "assistant", "content": "", "refusal": None})
        field = "refusal" if turn.end == "refusal" else "content"
        for piece in turn.text:
            yield _chunk({field: piece})

    def rest(self, turn: Turn) -> Iterator[bytes]:
        for index, call in enumerate(turn.calls):
            begun = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
            yield _chunk({"tool_calls": [{"index": index, **begun}]})
            for piece in call.pieces:
                yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        finished = "length" if turn.end == "length" else "tool_calls" if turn.calls else "stop"
        yield _chunk({}, finish_reason=finished)
        total = turn.input_tokens + turn.output_tokens
        counts = {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}
        yield event({**_HEAD, "choices": [], "usage": {**counts, "total_tokens": total}})
        yield b"data: [DONE]\n\n"

    def error(self, failure: Failure) -> dict[str, Any]:
        kind, code = _TYPES.get(failure.status, "server_error"), _CODES.get(failure.status)
        return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}

    def error_event(self, failure: Failure) -> bytes:
        return event(self.error(failure))

    def key(self, received: Received) -> str | None:
        return received.headers.get("authorization", "").removeprefix("Bearer ") or None

    def tools(self, received: Received) -> list[str]:
        return [tool["function"]["name"] for tool in received.body.get("tools", ())]

    def results(self, received: Received) -> list[tuple[str, str]]:
        messages = received.body["messages"]
        return [(said["tool_call_id"], said["content"]) for said in messages if said["role"] == "tool"]

    def images(self, received: Received) -> list[str]:
        contents = [
            said["content"] for said in received.body["messages"] if isinstance(said["content"], list)
        ]
        urls = [
            part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"
        ]
        return [url.partition(";base64,")[2] for url in urls]


_HEAD = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1_700_000_000,
    "model": OpenAI.model,
}


def _chunk(delta: dict[str, Any], *, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return event({**_HEAD, "choices": [choice], "usage": None})
