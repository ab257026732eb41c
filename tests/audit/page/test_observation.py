"""Shortening a server's answer for a model."""

from __future__ import annotations

import base64
import io

from PIL import Image

from footlight.audit.page.observation import (
    PageObservation,
    diff_lines,
    read_footlight_answer,
    read_playwright_mcp_answer,
    truncate_lines,
)
from footlight.protocol.results import Content, ToolResult

MARKDOWN = """\
### Ran Playwright code
```js
await page.goto('http://127.0.0.1/');
```
### Page
- Page URL: http://127.0.0.1/
- Page Title: Shop
### Snapshot
```yaml
- generic [active] [ref=e1]:
  - link "Lamps" [ref=e2] [cursor=pointer]
```"""


def markdown(text: str) -> ToolResult:
    return ToolResult(content=[Content("text", text=text)])


def test_footlight_answer_is_reduced_to_page_or_changes() -> None:
    moved = {
        "success": True,
        "data": {"url": "http://127.0.0.1/a", "dialogs": [{"message": "Sure?"}]},
        "observation": {
            "kind": "full",
            "title": "A",
            "text": 'e1 h1 "A"\n… cut: 1 of 9 lines shown; the whole: playwright:///answer/x/1',
            "console": ["oops"],
        },
    }

    seen = read_footlight_answer(ToolResult(structured_content=moved))

    assert seen.text_for_model == (
        "http://127.0.0.1/a · A\n"
        '{"dialogs": [{"message": "Sure?"}], "console": ["oops"]}\n'
        'e1 h1 "A"\n'
        "… cut: 1 of 9 lines shown; getPageStructure with a target shows a part"
    )
    assert seen.summary == (
        'http://127.0.0.1/a · A · {"dialogs": [{"message": "Sure?"}], "console": ["oops"]} · h1 "A"'
    )


def test_playwright_answer_omits_code_and_files() -> None:
    seen = read_playwright_mcp_answer(markdown(MARKDOWN))

    assert seen.text_for_model == 'http://127.0.0.1/ · Shop\n- generic [ref=e1]:\n  - link "Lamps" [ref=e2]'


def test_playwright_dialog_is_reported() -> None:
    dialog = (
        '### Page\n- Page URL: http://127.0.0.1/\n### Modal state\n- ["alert" dialog with message "1"]: …'
    )

    assert read_playwright_mcp_answer(markdown(dialog)).events == (
        'A dialog is open, answer it: "alert" dialog with message "1"]: …'
    )


def test_picture_is_scaled_down_for_the_model() -> None:
    out = io.BytesIO()
    Image.new("RGB", (1280, 800), "white").save(out, "PNG")
    part = Content("image", data=base64.b64encode(out.getvalue()).decode(), mime_type="image/png")

    picture = read_footlight_answer(ToolResult(content=[part])).picture

    assert picture is not None
    assert (picture.width, picture.height, picture.type) == (1024, 640, "jpeg")


def test_unchanged_page_is_reported_as_no_visible_change() -> None:
    assert PageObservation().text_for_model == "No visible change."


def test_truncated_page_explains_how_to_see_more() -> None:
    page = "\n".join(f"line {number}" for number in range(100))

    assert (
        truncate_lines(page, 20)
        == "line 0\nline 1\n… cut: 2 of 100 lines shown; getPageStructure with a target shows a part"
    )
    assert truncate_lines(page, 1_000) == page


def test_line_diff_is_used_only_when_shorter_than_the_page() -> None:
    before = "- a\n" * 20 + "- textbox [ref=e2]"

    assert diff_lines(before, before.replace("[ref=e2]", "[ref=e2]: lamp")) == (
        "- was: - textbox [ref=e2]\n- now: - textbox [ref=e2]: lamp"
    )
    assert diff_lines("- a\n- b", "- c\n- d") is None
