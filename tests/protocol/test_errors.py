"""The classes of errors: their messages, their JSON form, and their predicates."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import Any, get_args

import pytest

from footlight.protocol.errors import (
    LOCAL_CODES,
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    Reason,
    ServerNotAvailableError,
    ToolInvocationError,
    is_network_error,
    is_session_expired,
    is_timeout,
    is_tool_not_found,
)
from footlight.protocol.results import read_result

PLAIN = MCPError("Not that", rpc_code=-32602, data={"why": [1]}, status=400)
LOST = MCPConnectionError("It ended", server_command="npx server")
ABSENT = ServerNotAvailableError("Nobody there", reason="spawn", server_command="nothing")
LATE = MCPTimeoutError("Too slow", timeout_ms=30_000, tool_name="navigate")
FAILED = ToolInvocationError(
    "It failed",
    tool_name="login",
    tool_args={"user": "me", "password": "hunter2"},
    result=read_result({"content": [{"type": "text", "text": "no"}], "isError": True}),
)
ALL = [PLAIN, LOST, ABSENT, LATE, FAILED]
QUESTIONS = (is_tool_not_found, is_timeout, is_session_expired, is_network_error)


def make_error(reason: Reason) -> MCPError:
    return MCPError("x", reason=reason)


# Forms


def test_errors_convert_to_plain_dictionaries() -> None:
    assert [error.to_dict() for error in ALL] == [
        {
            "name": "MCPError",
            "code": "MCP_ERROR",
            "message": "Not that",
            "reason": "peer",
            "rpcCode": -32602,
            "status": 400,
            "data": {"why": [1]},
        },
        {
            "name": "ConnectionError",
            "code": "CONNECTION_ERROR",
            "message": "It ended",
            "reason": "network",
            "rpcCode": -32001,
            "serverCommand": "npx server",
        },
        {
            "name": "ServerNotAvailableError",
            "code": "SERVER_NOT_AVAILABLE",
            "message": "Nobody there",
            "reason": "spawn",
            "rpcCode": -32001,
            "serverCommand": "nothing",
        },
        {
            "name": "TimeoutError",
            "code": "TIMEOUT_ERROR",
            "message": "Too slow",
            "reason": "timeout",
            "rpcCode": -32000,
            "toolName": "navigate",
            "timeout": 30_000,
        },
        {
            "name": "ToolInvocationError",
            "code": "TOOL_INVOCATION_ERROR",
            "message": "It failed",
            "reason": "tool",
            "rpcCode": -32603,
            "toolName": "login",
            "toolArgs": {"user": "me", "password": "***"},
        },
    ]


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.name)
def test_error_json_equals_its_dictionary(error: MCPError) -> None:
    assert json.loads(error.to_json()) == error.to_dict()


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.name)
@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copied_error_keeps_all_attributes(error: MCPError, again: Any) -> None:
    """What Python's OSError is too loses its message in a copy, if nobody minds."""
    error.add_note("seen on a Monday")

    copied = again(error)

    assert copied is not error
    assert type(copied) is type(error)
    assert (str(copied), copied.args, repr(copied)) == (str(error), error.args, repr(error))
    assert vars(copied) == vars(error)
    assert copied.to_dict() == error.to_dict()
    del error.__notes__


def test_str_of_an_error_is_its_message() -> None:
    assert [str(error) for error in ALL] == [error.message for error in ALL]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [(LOST, ConnectionError), (ABSENT, ConnectionError), (LATE, TimeoutError), (FAILED, MCPError)],
    ids=lambda each: getattr(each, "name", None),
)
def test_errors_are_also_builtin_exceptions(error: MCPError, builtin: type[Exception]) -> None:
    assert isinstance(error, builtin)
    assert isinstance(error, MCPError)


def test_error_classes_are_not_subclasses_of_each_other() -> None:
    kinds = [MCPConnectionError, ServerNotAvailableError, MCPTimeoutError, ToolInvocationError]

    assert [(a, b) for a, b in itertools.permutations(kinds, 2) if issubclass(a, b)] == []


def test_secrets_in_tool_arguments_are_masked_at_any_depth() -> None:
    error = ToolInvocationError(
        "x",
        tool_name="t",
        tool_args={
            "PassWord": "a",
            "apiKey": "b",
            "api_key": "b",
            "X-Authorization": {"scheme": "c"},
            "fields": [{"accessToken": "d", "name": "user"}, ({"cookie": 1},)],
            "nested": {"client_secret": ["e"], "plain": "stays"},
            "selector": "#password",
        },
    )

    assert error.to_dict()["toolArgs"] == {
        "PassWord": "***",
        "apiKey": "***",
        "api_key": "***",
        "X-Authorization": "***",
        "fields": [{"accessToken": "***", "name": "user"}, [{"cookie": "***"}]],
        "nested": {"client_secret": "***", "plain": "stays"},
        "selector": "#password",
    }
    assert error.tool_args is not None
    assert error.tool_args["PassWord"] == "a", "the caller's own are not touched"


def test_error_data_without_json_form_is_represented_as_text() -> None:
    error = MCPError("x", data={"at": object()})

    assert json.loads(error.to_json())["data"]["at"].startswith("<object object at")


# Numbers


def test_local_error_codes_match_the_specification() -> None:
    assert dict(LOCAL_CODES) == {
        "timeout": -32000,
        "session_expired": -32000,
        "network": -32001,
        "spawn": -32001,
        "handshake": -32600,
        "protocol": -32600,
        "http": -32603,
        "tool": -32603,
        "unknown_tool": -32601,
        "invalid": -32602,
        "not_connected": -32001,
    }
    assert set(get_args(Reason)) == {*LOCAL_CODES, "peer"}


def test_given_rpc_code_is_kept_and_missing_one_not_invented() -> None:
    assert MCPError("x", reason="http", rpc_code=500).rpc_code == 500
    assert MCPError("x", reason="network", rpc_code=0).rpc_code == 0
    assert MCPError("x").rpc_code is None


# The four questions


def answers(error: BaseException) -> list[bool]:
    return [question(error) for question in QUESTIONS]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (make_error("unknown_tool"), [True, False, False, False]),
        (MCPError("x", rpc_code=-32601), [True, False, False, False]),
        (LATE, [False, True, False, False]),
        (MCPConnectionError("Session expired", reason="session_expired"), [False, False, True, False]),
        (make_error("network"), [False, False, False, True]),
        (make_error("not_connected"), [False, False, False, True]),
        (ABSENT, [False, False, False, True]),
        # The protocol's SDKs use these numbers the other way round.
        (MCPError("x", rpc_code=-32000), [False] * 4),
        (MCPError("x", rpc_code=-32001), [False] * 4),
        (MCPError("x", reason="handshake", rpc_code=-32601), [False] * 4),
        # Python's own are not ours.
        (TimeoutError(), [False] * 4),
        (ConnectionResetError(), [False] * 4),
    ],
)
def test_error_predicates_recognize_each_error(error: BaseException, expected: list[bool]) -> None:
    assert answers(error) == expected


@pytest.mark.parametrize("reason", get_args(Reason))
@pytest.mark.parametrize("code", [None, -32000, -32001, -32601, -32602, -32603])
def test_at_most_one_error_predicate_is_true(reason: Reason, code: int | None) -> None:
    assert sum(answers(MCPError("x", reason=reason, rpc_code=code))) <= 1
