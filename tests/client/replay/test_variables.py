"""Variables in a sequence: what is filled in, what is plain text, and what is missing."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.variables import VariableMask, fill_calls
from footlight.protocol.errors import MCPError


def fill(arguments: Mapping[str, Any], *, raw: bool = False, redacted: bool = False, **variables: str) -> Any:
    call = LoggedCall(1, "fill", arguments, raw=raw, redacted=redacted)
    return fill_calls([call], variables, name="calls.jsonl")[0].arguments


def test_variable_is_replaced_in_every_string() -> None:
    arguments = {
        "user": "${user}",
        "steps": [{"text": "<${user}> at ${shop.url}, ${user}"}],
        "n": 1,
        "${user}": True,
    }

    assert fill(arguments, **{"user": "Ada", "shop.url": "http://a"}) == {
        "user": "Ada",
        "steps": [{"text": "<Ada> at http://a, Ada"}],
        "n": 1,
        "${user}": True,
    }


def test_variable_value_stays_a_string() -> None:
    assert fill({"n": "${n}", "o": "${o}"}, n="7", o='{"a": 1}') == {"n": "7", "o": '{"a": 1}'}


def test_variables_within_values_are_not_expanded() -> None:
    assert fill({"a": "${a}"}, a="${b} $${c}") == {"a": "${b} $${c}"}


def test_doubled_dollar_sign_escapes_a_variable() -> None:
    assert fill({"a": "$${user} $ {user} ${} ${1} $user $$${user}"}, user="Ada") == {
        "a": "${user} $ {user} ${} ${1} $user $${user}"
    }


def test_all_missing_variables_are_reported_with_their_lines() -> None:
    calls = [
        LoggedCall(2, "a", {"x": "${one} ${two} ${one}"}),
        LoggedCall(5, "b", {"x": ["${three}", "${two}"]}),
    ]

    with pytest.raises(MCPError) as raised:
        fill_calls(calls, {"three": "3"}, name="calls.jsonl")

    assert str(raised.value) == (
        "calls.jsonl: no value was given for ${one} (line 2); ${two} (lines 2, 5); give --var NAME=VALUE"
    )


def test_unset_variables_in_a_log_are_sent_unchanged(caplog: pytest.LogCaptureFixture) -> None:
    """A script may well have `${…}` in it; only what is given a value is a variable there."""
    script = "`${count} of $${price} ${all}`"

    with caplog.at_level(logging.WARNING):
        assert fill({"script": script}, raw=True) == {"script": script}
        assert fill({"script": script}, raw=True, count="3", price="9") == {"script": "`3 of $9 ${all}`"}
    assert caplog.messages[0] == (
        "calls.jsonl, line 1: ${count}, ${price}, ${all} was given no value, and is sent as it is"
    )


def test_redacted_log_value_must_be_given_as_variable() -> None:
    arguments = {"value": "${password}"}

    assert fill(arguments, raw=True, redacted=True, password="x") == {"value": "x"}
    with pytest.raises(MCPError, match=r"no value was given for \$\{password\} \(line 1\)"):
        fill(arguments, raw=True, redacted=True)
    with pytest.raises(MCPError) as raised:
        fill({"value": "***"}, raw=True, redacted=True, password="x")
    assert str(raised.value) == (
        "calls.jsonl, line 1: fill was redacted when it was logged, so its arguments are not known; "
        "write ${NAME} where the value was, and give it with --var NAME=VALUE"
    )


def test_variable_values_are_replaced_by_their_names_in_output() -> None:
    hide = VariableMask({"password": "open sesame", "long": "open sesame street", "n": "3", "none": ""})

    assert hide("open sesame street, open sesame, 3 of 33") == "${long}, ${password}, 3 of 33"
    assert hide("3") == "${n}"
    assert (
        VariableMask({"the_name": "Macbeth", "who": "the_name"})("Macbeth, the_name") == "${the_name}, ${who}"
    )
    assert hide.entry({"name": "open sesame", "arguments": {"a": ["open sesame"]}, "_seq": 3}) == {
        "name": "open sesame",
        "arguments": {"a": ["${password}"]},
        "_seq": 3,
    }
