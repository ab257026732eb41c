"""Secrets that must not appear in a HAR."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from footlight.browser.recording.har import mask_har
from footlight.server.answers.masking import Masker
from footlight.server.answers.secrets import Secrets


def har(**request: Any) -> bytes:
    return json.dumps({"log": {"entries": [{"request": request, "response": {"status": 200}}]}}).encode()


def mask_request(data: bytes, mask: Callable[[Any], Any] = lambda value: value) -> Any:
    (entry,) = json.loads(mask_har(data, mask))["log"]["entries"]
    return entry["request"]


@pytest.mark.parametrize(
    "name", ["Authorization", "cookie", "SET-COOKIE", "Proxy-Authorization", "X-Api-Key", "x-csrf-token"]
)
def test_authentication_headers_are_masked(name: str) -> None:
    headers = [{"name": name, "value": "x"}, {"name": "accept", "value": "y"}]

    assert mask_request(har(headers=headers))["headers"] == [
        {"name": name, "value": "[REDACTED]"},
        {"name": "accept", "value": "y"},
    ]


def test_cookies_are_masked() -> None:
    request = mask_request(har(cookies=[{"name": "sid", "value": "x", "path": "/"}]))

    assert request == {"cookies": [{"name": "sid", "value": "[REDACTED]", "path": "/"}]}


def test_server_secrets_are_masked_in_every_encoding() -> None:
    secret = 'pa"ss 200/ö'
    data = har(
        url="http://h/?a=pa%22ss+200%2F%C3%B6",
        queryString=[{"name": "a", "value": secret}],
        postData={"text": json.dumps({"password": secret}, ensure_ascii=False)},
        status=200,
    )

    assert mask_request(data, Masker(Secrets({"WORD": secret, "url": "postData"}))) == {
        "url": "http://h/?a=[secret WORD]",
        "queryString": [{"name": "a", "value": "[secret WORD]"}],
        "postData": {"text": '{"password": "[secret WORD]"}'},
        "status": 200,
    }


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_rest_of_a_har_is_masked_and_kept(indent: int | None, separators: tuple[str, str]) -> None:
    pages = [{"title": '"entries": [ hunter2', "pageTimings": {"onLoad": 4}}]
    written = {"log": {"version": "1.2", "pages": pages, "entries": [{"time": 1}, {"time": 2}]}}
    mask = Masker(Secrets({"WORD": "hunter2"}))

    masked = json.loads(mask_har(json.dumps(written, indent=indent, separators=separators).encode(), mask))

    pages[0]["title"] = '"entries": [ [secret WORD]'
    assert masked == written
    assert json.loads(mask_har(b'{"log": {"entries": []}}')) == {"log": {"entries": []}}


def test_entries_are_read_one_by_one() -> None:
    """Reading all of them at once would keep other threads from running."""
    seen: list[Any] = []

    def mask(value: Any) -> Any:
        seen.append(value)
        return value

    with pytest.raises(json.JSONDecodeError):
        mask_har(b'{"log": {"entries": [{"comment": "first"}, {"comment": ', mask)

    assert seen == ["first"]
