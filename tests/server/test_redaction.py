"""Recognising and masking secrets in prompts."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.server.prompt_redaction import MARK, ends_in_secret, make_secret_mask, mask_json, names_secret
from tests.processor_time import limit_processor_time

NAMES_OF_SECRETS = [
    "password",
    "Password",
    "user_password",
    "user-password",
    "user password",
    "userPassword",
    "password2",
    "passwordAgain",
    "passwd",
    "passphrase",
    "client_secret",
    "accessToken",
    "api_key",
    "apiKey",
    "API-Key",
    "APIKey",
    "apikey",
    "X Api Key",
    "cvv",
    "CVC",
    "card[cvc]",
    "pin",
    "userPIN",
    "PINCode",
    "otp_1",
]
NAMES_OF_OTHERS = [
    "",
    "shipping",
    "pinned",
    "spin",
    "tokenizer",
    "secretary",
    "api",
    "key",
    "keyboard",
    "key_api",
    "épin",
    "caféPinned",
    "laptop",
    "username",
]


@pytest.mark.parametrize("name", NAMES_OF_SECRETS)
def test_secret_word_in_a_name_is_recognized_in_any_casing(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", NAMES_OF_OTHERS)
def test_part_of_a_word_does_not_mark_a_secret(name: str) -> None:
    assert not names_secret(name)


def test_last_word_of_a_name_decides_if_it_is_secret() -> None:
    names = ["password", "api_key", "apiKey", "password_selector", "tokenCount", "username"]

    assert [name for name in names if ends_in_secret(name)] == ["password", "api_key", "apiKey"]


def test_values_under_secret_keys_are_masked_at_any_depth() -> None:
    value = {
        "name": "Ann",
        "password": "hunter2",
        "pin": 1234,
        "token": {"value": "abc"},
        "rows": [{"apiKey": "abc", "city": "Bonn"}, None, True, 1.5],
    }

    assert mask_json(value) == {
        "name": "Ann",
        "password": MARK,
        "pin": MARK,
        "token": MARK,
        "rows": [{"apiKey": MARK, "city": "Bonn"}, None, True, 1.5],
    }


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://ann:hunter2@example.com/a?b#c", "https://ann:[REDACTED]@example.com/a?b#c"),
        ("https://:hunter2@example.com", "https://:[REDACTED]@example.com"),
        ("https://ann:a:b@c@example.com", "https://ann:[REDACTED]@example.com"),
        ("see ws://a:b@c and ftp://d:e@f", "see ws://a:[REDACTED]@c and ftp://d:[REDACTED]@f"),
        ("https://ann@example.com", "https://ann@example.com"),
        ("https://example.com:8080/@ann:x@y", "https://example.com:8080/@ann:x@y"),
        ("http://localhost:8080, or mail ann@example.com", "http://localhost:8080, or mail ann@example.com"),
        ("//child::a[@href]", "//child::a[@href]"),
    ],
)
def test_a_password_in_a_url_is_masked(text: str, masked: str) -> None:
    assert mask_json(text) == masked
    assert mask_json([{"a": text}]) == [{"a": masked}]


@pytest.mark.parametrize(
    ("text", "secrets", "masked"),
    [
        ("it is hunter2, hunter2!", ["hunter2"], "it is [REDACTED], [REDACTED]!"),
        ("abc", ["abc"], "abc"),
        ("?pw=p%40ss%2F1", ["p@ss/1"], "?pw=[REDACTED]"),
        (r'{"a":"p\"ss\\"}', ['p"ss\\'], '{"a":"[REDACTED]"}'),
        ("long longer", ["long", "longer"], "[REDACTED] [REDACTED]"),
        ("a.c* abcd", ["a.c*"], "[REDACTED] abcd"),
        ("nothing", [], "nothing"),
    ],
)
def test_a_known_secret_is_masked_in_any_text(text: str, secrets: list[str], masked: str) -> None:
    assert make_secret_mask(secrets)(text) == masked


@given(
    st.text(
        st.characters(categories=["Ll", "Nd", "Po", "Zs"], exclude_characters="[]"), min_size=4, max_size=8
    ),
    st.lists(st.text(max_size=5)),
)
def test_every_spelling_of_a_secret_is_masked(secret: str, around: list[str]) -> None:
    spellings = [secret, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")]

    text = make_secret_mask([secret])("|".join([*around, *spellings, *around]))

    assert not [each for each in spellings if each in text]


def test_a_long_secret_is_searched_in_linear_time() -> None:
    """An expression of its spellings, which begin alike, would compare each place with most of them."""
    mask = make_secret_mask(["a" * 50_000 + '"'])

    with limit_processor_time(1):
        assert mask("a" * 100_000 + '"') == "a" * 50_000 + MARK
