"""The URIs of resources."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.server.resources.uris import PATTERNS, Address, Kind, template

SEGMENT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text not in (".", "..")
)


@st.composite
def addresses(draw: st.DrawFn) -> Address:
    kind: Kind = draw(st.sampled_from(list(PATTERNS)))
    return Address(kind, tuple(draw(SEGMENT) for _ in PATTERNS[kind]))


@given(addresses())
def test_address_survives_the_uri_round_trip(address: Address) -> None:
    assert Address.parse(address.uri) == address
    assert address.uri.isascii()


@given(addresses())
def test_percent_encoded_uri_is_parsed_to_the_same_address(address: Address) -> None:
    encoded = [
        "".join(f"%{byte:02x}" for byte in segment.encode()) for segment in (address.kind, *address.segments)
    ]

    assert Address.parse("playwright:///" + "/".join(encoded)) == address


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("playwright:///session/abc123", Address("session", ("abc123",))),
        ("playwright:///page/abc123/page-1", Address("page", ("abc123", "page-1"))),
        (
            "playwright:///element/abc123/page-1/element-5",
            Address("element", ("abc123", "page-1", "element-5")),
        ),
        (
            "playwright:///screenshot/abc123/page-1/2025-11-27T10:30:00Z",
            Address("screenshot", ("abc123", "page-1", "2025-11-27T10:30:00Z")),
        ),
    ],
)
def test_documented_uris_are_parsed(uri: str, address: Address) -> None:
    """Colons stay as they are."""
    assert Address.parse(uri) == address
    assert address.uri == uri
    assert Address.parse(uri.replace(":00", "%3A00")) == address


def test_uri_segment_is_decoded_once() -> None:
    assert Address.parse("playwright:///session/a%2541").segments == ("a%41",)
    assert Address("session", ("a/b?c#d%",)).uri == "playwright:///session/a%2Fb%3Fc%23d%25"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "playwright:///",
        "playwright:///session",
        "playwright:///session/",
        "playwright:///session//",
        "playwright:///session/a/",
        "playwright:///session/a/b",
        "playwright:///page/a",
        "playwright:///page//page-1",
        "playwright:///page/a/page-1/b",
        "playwright:///pages/a/page-1",
        "playwright:///session/a?b=c",
        "playwright:///session/a#b",
        "playwright:///session/.",
        "playwright:///session/..",
        "playwright:///session/%2e%2E",
        "playwright:///page/../session/a",
        "playwright:///session/%",
        "playwright:///session/%zz",
        "playwright:///session/%ff",
        "playwright://host/session/a",
        "playwright:/session/a",
        "playwrite:///session/a",
        "file:///session/a",
        "session/a",
    ],
)
def test_invalid_resource_uri_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match=r"^(it |a |'pages' is not one of |'' is not one of )"):
        Address.parse(uri)


@given(st.text())
def test_any_text_is_parsed_as_address_or_refused(text: str) -> None:
    for uri in (text, f"playwright:///{text}", f"playwright:///session/{quote(text, errors='replace')}"):
        try:
            address = Address.parse(uri)
        except ValueError:
            continue
        assert Address.parse(address.uri) == address


def test_uri_templates_name_every_part() -> None:
    assert [template(kind) for kind in PATTERNS] == [
        "playwright:///session/{sessionId}",
        "playwright:///page/{sessionId}/{pageId}",
        "playwright:///element/{sessionId}/{pageId}/{elementId}",
        "playwright:///screenshot/{sessionId}/{pageId}/{timestamp}",
        "playwright:///network-log/{sessionId}/{pageId}",
        "playwright:///answer/{sessionId}/{answerId}",
        "playwright:///file/{sessionId}/{fileName}",
    ]
