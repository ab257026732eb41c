"""The results of the typed Playwright client: rules, limits and JSON form."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from footlight.browser_client.accessibility_tree import MAX_LEVELS, AccessibilityNode
from footlight.browser_client.results import (
    MAX_SCREENSHOT_LENGTH,
    MAX_SNAPSHOT_BYTES,
    InvalidResultError,
    NavigateResult,
    ScreenshotResult,
    SnapshotResult,
)

PAGE = "http://example.com/"


def picture(kind: str, width: int = 3, height: int = 2, *, mode: str = "RGB") -> str:
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, kind)
    return base64.b64encode(file.getvalue()).decode()


def why_not(make: Callable[[], object]) -> str:
    with pytest.raises(InvalidResultError) as caught:
        make()
    return str(caught.value)


def test_navigation_json_omits_unknown_values() -> None:
    whole = NavigateResult(success=True, url=PAGE, title="Example", status=404)

    assert (whole.to_dict(), NavigateResult(success=True, url=PAGE).to_dict()) == (
        {"success": True, "url": PAGE, "title": "Example", "status": 404},
        {"success": True, "url": PAGE},
    )


@pytest.mark.parametrize("status", [100, 599])
def test_valid_status_is_accepted(status: int) -> None:
    assert NavigateResult(success=False, url="about:blank", status=status).status == status


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"url": ""}, "url is not a URL: "),
        ({"url": "/x"}, "url is not a URL: /x"),
        ({"url": None}, "url is not a URL: None"),
        ({"success": "yes"}, "success must be true or false"),
        ({"title": 7}, "title must be a string"),
        ({"status": 99}, "status is not an HTTP status: 99"),
        ({"status": 600}, "status is not an HTTP status: 600"),
        ({"status": True}, "status is not an HTTP status: True"),
        ({"status": 200.0}, "status is not an HTTP status: 200.0"),
    ],
)
def test_invalid_navigation_result_is_refused(fields: dict[str, Any], problem: str) -> None:
    assert why_not(lambda: NavigateResult(**{"success": True, "url": PAGE, **fields})) == problem


@pytest.mark.parametrize(
    ("kind", "mode"), [("png", "RGB"), ("png", "P"), ("png", "RGBA"), ("jpeg", "RGB"), ("jpeg", "L")]
)
def test_a_screenshot_has_the_size_and_format_of_its_image(kind: str, mode: str) -> None:
    """An earlier implementation said 0 by 0."""
    image = picture(kind, 640, 360, mode=mode)

    shot = ScreenshotResult.of(image)

    assert shot.to_dict() == {"screenshot": image, "width": 640, "height": 360, "format": kind}
    assert shot.image == base64.b64decode(image)


def test_a_very_large_image_is_measured_without_a_warning() -> None:
    """Only its header is read."""
    image = picture("png", 20_000, 10_000, mode="1")

    shot = ScreenshotResult.of(image)

    assert (shot.width, shot.height) == (20_000, 10_000)


@pytest.mark.parametrize(
    ("screenshot", "problem"),
    [
        ("", "screenshot must not be empty"),
        ("####", "screenshot is not valid base64"),
        ("abc", "screenshot is not valid base64"),
        ("aGk=\n", "screenshot is not valid base64"),
        ("äöü=", "screenshot is not valid base64"),
        (base64.b64encode(b"GIF89a").decode(), "screenshot is not an image: it is neither a PNG nor a JPEG"),
        (
            base64.b64encode(b"\x89PNG\r\n\x1a\nxx").decode(),
            "screenshot is not an image: its PNG header is invalid",
        ),
        (
            base64.b64encode(b"\xff\xd8\xff\xe0\x00").decode(),
            "screenshot is not an image: its JPEG header is invalid",
        ),
        (
            "A" * MAX_SCREENSHOT_LENGTH,
            "screenshot has 10485760 characters; there must be fewer than 10485760",
        ),
    ],
)
def test_invalid_screenshot_data_is_refused(screenshot: str, problem: str) -> None:
    assert why_not(lambda: ScreenshotResult.of(screenshot)) == problem


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"width": 0}, "width must be a positive number of pixels: 0"),
        ({"height": -1}, "height must be a positive number of pixels: -1"),
        ({"width": True}, "width must be a positive number of pixels: True"),
        ({"height": 1.5}, "height must be a positive number of pixels: 1.5"),
        ({"format": "webp"}, "format must be png or jpeg: webp"),
    ],
)
def test_inconsistent_screenshot_result_is_refused(fields: dict[str, Any], problem: str) -> None:
    whole = {"screenshot": picture("png"), "width": 3, "height": 2}

    assert why_not(lambda: ScreenshotResult(**{**whole, **fields})) == problem


def test_screenshot_at_the_size_limit_is_accepted() -> None:
    image = "A" * (MAX_SCREENSHOT_LENGTH - 4)

    assert ScreenshotResult(screenshot=image, width=1, height=1).format == "png"


def test_repr_omits_image_and_snapshot() -> None:
    shot = ScreenshotResult.of(picture("png"))
    snapshot = SnapshotResult(snapshot='{"role":"document"}', timestamp=1)

    assert (repr(shot), repr(snapshot)) == (
        "ScreenshotResult(width=3, height=2, format='png')",
        "SnapshotResult(timestamp=1)",
    )


def test_a_snapshot_is_json_of_the_whole_page() -> None:
    nodes: list[AccessibilityNode] = [
        {"role": "main", "children": [{"role": "button", "name": "Größe \U0001f600", "ref": "e1"}]}
    ]

    taken = SnapshotResult.of(nodes, url=PAGE, title="Example")

    assert taken.timestamp is not None
    assert taken.to_dict() == {
        "snapshot": (
            '{"role":"document","name":"Example","url":"http://example.com/","children":'
            '[{"role":"main","children":[{"role":"button","name":"Größe \U0001f600","ref":"e1"}]}]}'
        ),
        "timestamp": taken.timestamp,
    }
    assert taken.tree == {"role": "document", "name": "Example", "url": PAGE, "children": nodes}


def test_empty_page_is_an_empty_document() -> None:
    assert SnapshotResult.of([], url="about:blank", title=None).tree == {
        "role": "document",
        "url": "about:blank",
        "children": [],
    }


def test_lone_surrogate_is_escaped() -> None:
    """A page may have it, UTF-8 may not."""
    snapshot = SnapshotResult.of([{"role": "text", "name": "\ud800"}], url=PAGE, title=None).snapshot

    assert (snapshot.isascii(), json.loads(snapshot)["children"]) == (
        True,
        [{"role": "text", "name": "\ud800"}],
    )


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ([], "the root is not an object"),
        ("x", "the root is not an object"),
        ({}, "the root has no role"),
        ({"role": ""}, "the root has no role"),
        ({"role": "a", "name": 1}, "the root (a) has a name that is not a string"),
        ({"role": "a", "ref": None}, "the root (a) has a ref that is not a string"),
        ({"role": "a", "states": "x"}, "the root (a) has states that are not a list of strings"),
        ({"role": "a", "states": [1]}, "the root (a) has states that are not a list of strings"),
        ({"role": "a", "box": [1, 2, 3]}, "the root (a) has a box that is not four numbers"),
        ({"role": "a", "box": [1, 2, 3, True]}, "the root (a) has a box that is not four numbers"),
        ({"role": "a", "children": {}}, "the root (a) has children that are not a list"),
        ({"role": "a", "children": [{"role": "b"}, 7]}, "a child of a in the root is not an object"),
        (
            {"role": "a", "children": [{"role": "b", "children": [{"name": "c"}]}]},
            "a child of b in a child of a in the root has no role",
        ),
    ],
)
def test_invalid_snapshot_tree_is_refused(tree: object, problem: str) -> None:
    assert why_not(lambda: SnapshotResult(snapshot=json.dumps(tree))) == (
        f"snapshot is not an accessibility tree: {problem}"
    )


@pytest.mark.parametrize("snapshot", ["", "- button", "{'role': 'a'}", "{", "[" * 100_000])
def test_invalid_snapshot_json_is_refused(snapshot: str) -> None:
    """An earlier implementation took Markdown for it."""
    assert why_not(lambda: SnapshotResult(snapshot=snapshot)) == "snapshot is not valid JSON"


def nest(levels: int) -> str:
    return '{"role":"a","children":[' * (levels - 1) + '{"role":"a"}' + "]}" * (levels - 1)


def test_snapshot_depth_is_limited() -> None:
    SnapshotResult(snapshot=nest(MAX_LEVELS))

    assert why_not(lambda: SnapshotResult(snapshot=nest(MAX_LEVELS + 1))) == (
        "snapshot is not an accessibility tree: it is more than 200 levels deep"
    )


def test_snapshot_size_is_limited_in_bytes() -> None:
    """Bytes are counted, not characters."""
    room = MAX_SNAPSHOT_BYTES - len('{"role":"a","name":""}')

    def snapshot(name: str) -> SnapshotResult:
        return SnapshotResult(snapshot=f'{{"role":"a","name":"{name}"}}')

    snapshot("x" * room)
    assert why_not(lambda: snapshot("é" * (room // 2 + 1))).startswith("snapshot has 52428")


@pytest.mark.parametrize("timestamp", [0, -1, 1.5, True])
def test_invalid_timestamp_is_refused(timestamp: Any) -> None:
    assert why_not(lambda: SnapshotResult(snapshot='{"role":"a"}', timestamp=timestamp)) == (
        f"timestamp must be a positive number of milliseconds: {timestamp}"
    )
