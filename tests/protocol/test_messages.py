"""JSON-RPC messages: creating them, classifying them, and parsing untrusted ones."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.protocol.errors import MCPError
from footlight.protocol.messages import (
    MAX_VALUES,
    UnreadableResult,
    answer_to,
    encode,
    has_more_values,
    is_id,
    kind_of,
    notification,
    parse,
    peer_error,
    request,
)
from tests.processor_time import limit_processor_time
from tests.tiers import examples

quick = examples(60)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(SCALARS, lambda each: st.lists(each) | st.dictionaries(st.text(), each), max_leaves=6)
ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | SCALARS,
        "id": JSON,
        "method": st.text() | JSON,
        "params": JSON,
        "result": JSON,
        "error": JSON | st.fixed_dictionaries({}, optional={"message": JSON, "code": JSON, "data": JSON}),
    },
)
"""Objects that could be messages."""


def test_request_notification_and_responses_are_built() -> None:
    assert [
        request(1, "ping", {}),
        notification("notifications/initialized", {}),
        answer_to(1, result={}),
        answer_to("a", error={"code": 1, "message": "No"}),
    ] == [
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": "a", "error": {"code": 1, "message": "No"}},
    ]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"id": 1, "method": "ping"}, "request"),
        ({"id": "", "method": "ping", "params": [1]}, "request"),
        ({"method": "x"}, "notification"),
        ({"id": None, "method": "x"}, "notification"),
        ({"id": True, "method": "x"}, "notification"),
        ({"id": 1, "result": None}, "response"),
        ({"id": "1", "result": {}}, "response"),
        ({"id": 1, "result": {}, "error": None}, "response"),
        ({"id": 1, "result": {}, "error": "odd"}, "response"),
        ({"id": 1, "error": {"message": "No"}}, "error"),
        ({"id": None, "error": {"message": ""}}, "error"),
        ({"error": {"message": "No"}}, "error"),
        ({"id": [], "error": {"message": "No"}}, "error"),
        ({"id": 1, "error": "No"}, "error"),
        ({"id": 1, "error": {"code": -1}}, "error"),
        ({"id": 1, "result": {}, "error": {"message": "No"}}, "error"),
        ({"id": None, "error": "No"}, None),
        ({"id": None, "result": {}}, None),
        ({"id": True, "result": {}}, None),
        ({"id": 1.0, "result": {}}, None),
        ({"id": 1}, None),
        ({"id": 1, "error": None}, None),
        ({"id": 1, "method": 5}, None),
        ({}, None),
    ],
)
def test_message_kind_is_recognized(message: dict[str, Any], kind: str | None) -> None:
    assert kind_of({"jsonrpc": "2.0", **message}) == kind
    assert kind_of({"jsonrpc": "1.0", **message}) is None
    assert kind_of([message]) is None


@pytest.mark.parametrize(
    "data",
    ["", "nothing", "{", b"\xff\xfe\xff", '{"jsonrpc":"2.0",}', "[" * 100_000, f'{{"id":{"9" * 5000}}}'],
    ids=["empty", "word", "open", "bytes", "comma", "deep", "huge"],
)
def test_invalid_json_is_refused(data: str | bytes) -> None:
    with pytest.raises(MCPError) as refused:
        parse(data, unit="line")

    assert refused.value.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "The server sent a line that is not JSON",
        "reason": "protocol",
        "rpcCode": -32700,
    }


@pytest.mark.parametrize("data", ["1", "null", "[]", "{}", '{"jsonrpc":"2.0"}', '{"id":1,"result":{}}'])
def test_json_that_is_not_a_message_is_refused(data: str) -> None:
    with pytest.raises(MCPError, match="a frame that is not a JSON-RPC") as refused:
        parse(data, unit="frame")

    assert (refused.value.reason, refused.value.rpc_code) == ("protocol", -32600)


def test_response_without_a_result_still_answers_its_request() -> None:
    for body in ({"id": 7}, {"id": 7, "error": None}):
        found = parse(json.dumps({"jsonrpc": "2.0", **body}), unit="line")

        assert kind_of(found) == "response"
        assert found["id"] == 7
        assert isinstance(found["result"], UnreadableResult)


def test_a_message_is_read_from_bytes_and_from_text() -> None:
    line = '{"jsonrpc":"2.0","id":1,"result":{"text":"ä\\ud83c"}}'

    assert (
        parse(line, unit="line")
        == parse(line.encode(), unit="line")
        == {"jsonrpc": "2.0", "id": 1, "result": {"text": "ä\ud83c"}}
    )


def test_parsing_many_values_collects_no_garbage_in_between() -> None:
    collections: list[str] = []

    def note(phase: str, _: object) -> None:
        collections.append(phase)

    data = '{"jsonrpc":"2.0","id":1,"result":{"values":[' + ",".join(["[]"] * 300_000) + "]}}"
    gc.callbacks.append(note)
    try:
        message = parse(data, unit="line")
        during = len(collections)
    finally:
        gc.callbacks.remove(note)

    assert len(message["result"]["values"]) == 300_000
    assert during <= 2  # A single one may begin and end after the parsing.
    assert gc.isenabled()


def test_message_with_too_many_values_is_not_parsed() -> None:
    """A server may send millions of values in one message, which would occupy the event loop for seconds."""
    many = ",".join(["[]"] * (MAX_VALUES // 2 + 1))
    commas = json.dumps("a, " * MAX_VALUES)
    with limit_processor_time(1):
        refused = parse(f'{{"jsonrpc":"2.0","id":7,"result":[{many}]}}', unit="line")
        with pytest.raises(MCPError, match="sent a line that has more than 1,000,000 values"):
            parse(f'{{"jsonrpc":"2.0","method":"x","params":{{"a":[{many}]}}}}', unit="line")
        read = parse(f'{{"jsonrpc":"2.0","id":7,"result":{{"a":{commas}}}}}', unit="line")

    assert refused == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": UnreadableResult("has more than 1,000,000 values"),
    }
    assert len(read["result"]["a"]) == 3 * MAX_VALUES


def test_brackets_and_commas_in_strings_are_not_counted_as_values() -> None:
    written = json.dumps({"a": ['[,\\", {"\\\\', "\\", '"', "\\\\,"], "b,": ["\\u0022,"]})

    assert has_more_values(written, 6)
    assert not has_more_values(written, 7)


def test_message_is_encoded_as_one_ascii_line() -> None:
    message = request(1, "x", {"text": "a\nb ä \ud83c \u2028"})

    encoded = encode(message)

    assert encoded.isascii()
    assert b"\n" not in encoded
    assert json.loads(encoded) == message


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), float("-inf"), b"x", object(), {("a",): 1}])
def test_values_without_json_form_are_refused_before_sending(value: object) -> None:
    with pytest.raises(MCPError, match="This cannot be written as JSON") as refused:
        encode(request(1, "x", {"value": value}))

    assert (refused.value.reason, refused.value.rpc_code) == ("invalid", -32602)


def test_circular_value_is_refused_before_sending() -> None:
    circle: dict[str, Any] = {}
    circle["itself"] = circle

    with pytest.raises(MCPError, match="This cannot be written as JSON"):
        encode(request(1, "x", circle))


@pytest.mark.parametrize(
    ("value", "is_one"), [(0, True), (-1, True), ("", True), (True, False), (1.0, False)]
)
def test_message_id_is_an_integer_or_a_string(value: object, is_one: bool) -> None:
    assert is_id(value) is is_one


def test_server_error_keeps_its_code_message_and_data() -> None:
    error = peer_error({"code": -32050, "message": "No", "data": {"why": 1}}, status=400)

    assert error.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "No",
        "reason": "peer",
        "rpcCode": -32050,
        "status": 400,
        "data": {"why": 1},
    }


@pytest.mark.parametrize(
    ("code", "rpc_code"), [(0, 0), (-32601.0, -32601), (10**400, 10**400)], ids=["0", "float", "huge"]
)
def test_numeric_error_code_becomes_an_integer(code: float, rpc_code: int) -> None:
    assert peer_error({"code": code, "message": "No"}).rpc_code == rpc_code


@pytest.mark.parametrize("code", [None, "x", [], float("nan"), float("inf"), 1.5, True, {}])
def test_invalid_error_code_becomes_internal_error(code: object) -> None:
    assert peer_error({"code": code, "message": "No"}).rpc_code == -32603


def test_malformed_error_becomes_its_own_data() -> None:
    error = peer_error("it broke")

    assert (error.message, error.rpc_code, error.data) == (
        "The server gave an error without a message",
        -32603,
        "it broke",
    )


def read(data: bytes | str) -> str | None:
    """Return the kind of message, or None where it was refused."""
    try:
        return kind_of(parse(data, unit="line"))
    except MCPError as error:
        return None if error.reason == "protocol" else error.reason


@quick
@given(JSON | ALMOST)
def test_any_json_is_a_message_or_refused(value: object) -> None:
    assert read(json.dumps(value)) == kind_of(value)


@quick
@given(st.binary() | st.text())
def test_any_bytes_are_a_message_or_refused(data: bytes | str) -> None:
    assert read(data) in ("request", "notification", "response", "error", None)


@quick
@given(JSON)
def test_any_server_error_becomes_an_mcp_error(value: object) -> None:
    error = peer_error(value)

    assert error.reason == "peer"
    assert isinstance(error.rpc_code, int)
    assert isinstance(error.message, str)
