"""What a HAR may not tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from footlight.browser.har import masked


def har(**request: Any) -> bytes:
    return json.dumps({"log": {"entries": [{"request": request, "response": {"status": 200}}]}}).encode()


def after(data: bytes, *secrets: str) -> Any:
    (entry,) = json.loads(masked(data, secrets))["log"]["entries"]
    return entry["request"]


@pytest.mark.parametrize(
    "name", ["Authorization", "cookie", "SET-COOKIE", "Proxy-Authorization", "X-Api-Key", "x-csrf-token"]
)
def test_the_headers_that_carry_logins_are_masked(name: str) -> None:
    headers = [{"name": name, "value": "x"}, {"name": "accept", "value": "y"}]

    assert after(har(headers=headers))["headers"] == [
        {"name": name, "value": "[REDACTED]"},
        {"name": "accept", "value": "y"},
    ]


def test_cookies_are_masked() -> None:
    request = after(har(cookies=[{"name": "sid", "value": "x", "path": "/"}]))

    assert request == {"cookies": [{"name": "sid", "value": "[REDACTED]", "path": "/"}]}


def test_the_secrets_of_the_server_are_masked_wherever_they_are() -> None:
    secret = 'pa"ss 200/ö'
    data = har(
        url="http://h/?a=pa%22ss+200%2F%C3%B6",
        queryString=[{"name": "a", "value": secret}],
        postData={"text": json.dumps({"password": secret}, ensure_ascii=False)},
        status=200,
    )

    assert after(data, secret, "200") == {
        "url": "http://h/?a=[REDACTED]",
        "queryString": [{"name": "a", "value": "[REDACTED]"}],
        "postData": {"text": '{"password": "[REDACTED]"}'},
        "status": 200,
    }
