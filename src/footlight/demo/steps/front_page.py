"""Read the metadata of the front page, and take a screenshot of it."""

import io

from PIL import Image

from footlight.demo.remote_browser import BrowserAnswer, UnexpectedAnswer
from footlight.demo.shop.views import HOME_TITLE, THEME_COLOUR
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["open_shop", "take_screenshot"]


async def open_shop(stage: DemoStage) -> Check:
    """Open the shop and read its metadata."""
    await stage.visit("/")
    metadata = await stage.browser.call("get_page_metadata")
    holds = {"url": f"{stage.site.url}/", "title": f"{HOME_TITLE} · Prompt Corner", "language": "en"}
    return Check(holds, {key: metadata.text(key) for key in holds}, lambda value: value["title"])


async def take_screenshot(stage: DemoStage) -> Check:
    """Take a screenshot of the front page. Its top line of pixels must have the colour of the shop."""
    await stage.visit("/")
    answer = await stage.browser.call("screenshot")
    stage.save("shop.png", answer.picture())
    return Check([THEME_COLOUR], _top_colours(answer), lambda colours: f"{', '.join(colours)} at the top")


def _top_colours(answer: BrowserAnswer) -> list[str]:
    with Image.open(io.BytesIO(answer.picture())) as image:
        if image.size != (answer.data.get("width"), answer.data.get("height")):
            raise UnexpectedAnswer(answer.tool, f"the picture is {image.width} × {image.height}")
        line = image.convert("RGB").crop((0, 0, image.width, 1))
    colours = line.tobytes()
    return sorted({f"#{colours[start : start + 3].hex()}" for start in range(0, len(colours), 3)})
