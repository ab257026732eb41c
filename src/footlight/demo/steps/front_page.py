"""The front page: its metadata, and its picture."""

import io

from PIL import Image

from footlight.demo.answer import Answer, UnexpectedAnswer
from footlight.demo.steps.stage import Stage
from footlight.demo.verdict import Check
from footlight.demo.views import HOME_TITLE, THEME_COLOUR

__all__ = ["open_shop", "take_screenshot"]


async def open_shop(stage: Stage) -> Check:
    """Open the shop and read who it says it is."""
    await stage.visit("/")
    metadata = await stage.browser.call("get_page_metadata")
    holds = {"url": f"{stage.site.url}/", "title": f"{HOME_TITLE} · Prompt Corner", "language": "en"}
    return Check(holds, {key: metadata.text(key) for key in holds}, lambda value: value["title"])


async def take_screenshot(stage: Stage) -> Check:
    """Take a picture of the front page; its topmost line has the shop's colour from edge to edge."""
    await stage.visit("/")
    answer = await stage.browser.call("screenshot")
    stage.bring_home("shop.png", answer.picture())
    return Check([THEME_COLOUR], _top_colours(answer), lambda colours: f"{', '.join(colours)} at the top")


def _top_colours(answer: Answer) -> list[str]:
    with Image.open(io.BytesIO(answer.picture())) as image:
        if image.size != (answer.data.get("width"), answer.data.get("height")):
            raise UnexpectedAnswer(answer.tool, f"the picture is {image.width} × {image.height}")
        line = image.convert("RGB").crop((0, 0, image.width, 1))
    colours = line.tobytes()
    return sorted({f"#{colours[start : start + 3].hex()}" for start in range(0, len(colours), 3)})
