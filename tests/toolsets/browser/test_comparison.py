"""Comparing a page with a baseline screenshot."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><body style='margin: 0'>
<div id=a style='width: 100px; height: 50px; background: #00f'></div>
<div id=b style='width: 100px; height: 50px; background: #0f0'></div>
<div style='height: 2000px'></div><div id=end style='width: 30px; height: 20px; background: #f00'></div>"""
CHANGED = PAGE.replace("#0f0", "#f0f")
SAME = {"different": False, "percent": 0, "pixels": 0, "sizesDiffer": False, "regions": []}


async def compare(browser: SessionBrowser, **arguments: Any) -> tuple[dict[str, Any], Image.Image]:
    """Return the data of a comparison, and its picture, which is also saved."""
    result = await browser.answer("visual_diff", **arguments)
    assert result.structured_content is not None
    assert result.structured_content["success"], result.structured_content
    _, content, link = result.content
    data = result.structured_content["data"]
    assert data.pop("uri") == link.uri
    return data, Image.open(io.BytesIO(base64.b64decode(content.data))).convert("RGB")


async def test_a_page_is_compared_with_an_earlier_screenshot(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    baseline = (await browser.call("screenshot"))["uri"]

    same, _ = await compare(browser, baseline=baseline)
    await browser.show(CHANGED)
    changed, picture = await compare(browser, baseline=baseline)

    assert same == {"width": 1280, "height": 720, **SAME}
    assert changed == {
        "width": 1280,
        "height": 720,
        "different": True,
        "percent": round(100 * 5000 / (1280 * 720), 4),
        "pixels": 5000,
        "sizesDiffer": False,
        "regions": [{"x": 0, "y": 50, "width": 100, "height": 50}],
    }
    assert [picture.getpixel(at) for at in ((50, 75), (700, 500))] == [(230, 0, 35), (255, 255, 255)]


@pytest.mark.one_machine("the file is on another machine there")
async def test_saved_baseline_is_found_by_its_name(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    saved = await browser.call("visual_diff", save="front", fullPage=True)
    path = saved.pop("saved")
    assert saved == {"width": 1280, "height": 2120}
    with Image.open(path) as picture:
        assert picture.size == (1280, 2120)

    await browser.show(PAGE.replace("#f00", "#0ff"))
    name = Path(path).stem
    changed, _ = await compare(browser, baseline=name, fullPage=True, save=name)
    assert changed["regions"] == [{"x": 0, "y": 2100, "width": 30, "height": 20}]
    again, _ = await compare(browser, baseline=Path(changed["saved"]).name, fullPage=True)
    assert (changed["saved"] != path, again) == (True, {"width": 1280, "height": 2120, **SAME})


async def test_an_element_is_compared_alone(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    baseline = (await browser.call("screenshot_element", selector="#b"))["uri"]

    await browser.show(CHANGED)
    changed, _ = await compare(browser, baseline=baseline, selector="#b")

    assert (changed["width"], changed["height"], changed["percent"]) == (100, 50, 100)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "different"),
    [
        ({}, True),
        ({"maxPercent": 1}, False),
        ({"threshold": 1}, False),
        ({"masks": ["#b"]}, False),
        ({"masks": ["#a", "#nothing"]}, True),
    ],
)
async def test_threshold_of_difference_is_configurable(
    browser: SessionBrowser, arguments: dict[str, Any], different: bool
) -> None:
    await browser.show(PAGE)
    baseline = (await browser.call("screenshot"))["uri"]
    await browser.show(CHANGED)

    changed, _ = await compare(browser, baseline=baseline, **arguments)

    assert changed["different"] == different


@pytest.mark.parametrize("scope", [{"fullPage": True}, {"selector": "#box"}])
async def test_mask_covers_its_element_in_the_picture(browser: SessionBrowser, scope: dict[str, Any]) -> None:
    html = """<!doctype html><body style='margin: 0; height: 3000px'>
    <div id=box style='position: absolute; left: 33.5px; top: 1500px; width: 200px; height: 200px'>
    <i id=now style='position: absolute; left: 50px; top: 60px; width: 40px; height: 30px;
      background: COLOUR'></i></div>"""
    await browser.show(html.replace("COLOUR", "red"))
    baseline = (await browser.call("visual_diff", save="masked", **scope))["saved"]
    await browser.show(html.replace("COLOUR", "blue"))
    await browser.call("scroll", y=700)

    masked, _ = await compare(browser, baseline=baseline, masks=["#now"], **scope)
    plain, _ = await compare(browser, baseline=baseline, **scope)

    assert (masked["pixels"], plain["pixels"] >= 1200) == (0, True)


async def test_different_size_is_reported(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    baseline = (await browser.call("screenshot_element", selector="#a"))["uri"]

    changed, _ = await compare(browser, baseline=baseline)

    assert (changed["sizesDiffer"], changed["different"], changed["width"]) == (True, True, 1280)


@pytest.mark.slow
async def test_animations_are_stopped_for_the_comparison(browser: SessionBrowser) -> None:
    await browser.show("""<style>@keyframes go { to { margin-left: 500px; } }
      div { width: 99px; height: 99px; background: red; animation: go 0.3s infinite; }</style><div></div>""")
    saved = (await browser.call("visual_diff", save="moving"))["saved"]

    same, _ = await compare(browser, baseline=saved)

    assert same["pixels"] == 0


async def test_image_in_the_upload_root_can_be_the_baseline(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    Image.new("RGB", (1280, 720), "white").save(browser.uploads / "white.jpg")

    changed, _ = await compare(browser, baseline="white.jpg")

    assert changed["pixels"] == 10_000


async def test_invalid_baseline_is_refused(browser: SessionBrowser, tmp_path: Path) -> None:
    await browser.show(PAGE)
    outside = tmp_path / "outside.png"
    Image.new("RGB", (9, 9)).save(outside)
    (browser.uploads / "link.png").symlink_to(outside)
    (browser.uploads / "text.png").write_text("no picture")
    ended = f"playwright:///screenshot/{browser.session_id}/page-1/2020-01-01T00:00:00.000Z"

    codes = {
        baseline: (await browser.refused("visual_diff", baseline=baseline))["code"]
        for baseline in (str(outside), "link.png", "../outside.png", "text.png", "none.png", ended)
    }

    assert codes == {
        str(outside): "PERMISSION_DENIED",
        "link.png": "INVALID_PARAMETER",
        "../outside.png": "PERMISSION_DENIED",
        "text.png": "INVALID_PARAMETER",
        "none.png": "INVALID_PARAMETER",
        ended: "INVALID_PARAMETER",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "parameter"),
    [
        ({}, "MISSING_PARAMETER", "baseline"),
        ({"save": "x", "selector": "#a", "fullPage": True}, "INVALID_PARAMETER", "fullPage"),
        ({"save": "../x"}, "INVALID_PARAMETER", "save"),
        ({"baseline": "playwright:///screenshot/x"}, "INVALID_PARAMETER", "baseline"),
        ({"baseline": "x", "threshold": 2}, "INVALID_PARAMETER", "threshold"),
    ],
)
async def test_visual_diff_error_names_its_parameter(
    browser: SessionBrowser, arguments: dict[str, Any], code: str, parameter: str
) -> None:
    error = await browser.refused("visual_diff", **arguments)

    assert (error["code"], error["details"]["parameter"]) == (code, parameter)
