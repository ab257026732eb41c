"""Steps on single pages of the shop: the front page, the login, and the offers."""

import io

from PIL import Image

from footlight.demo.remote_browser import BrowserAnswer, UnexpectedAnswer
from footlight.demo.shop.records import PASSWORD, USER
from footlight.demo.shop.views import HOME_TITLE, LOGIN_PROBLEM, THEME_COLOUR
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["WRONG_PASSWORD", "open_shop", "reveal_voucher", "sign_in", "take_screenshot"]

WRONG_PASSWORD = "curtain-up-at-nine"

_TIMEOUT_MS = 1000


async def open_shop(stage: DemoStage) -> Check:
    """Open the shop and read its metadata."""
    await stage.visit("/")
    metadata = await stage.browser.call("get_page_metadata")
    holds = {"url": f"{stage.site.url}/", "title": f"{HOME_TITLE} · Prompt Corner", "language": "en"}
    return Check(holds, {key: metadata.text(key) for key in holds}, lambda value: value["title"])


async def sign_in(stage: DemoStage) -> Check:
    """Sign in at the second attempt, and read what the account says about both."""
    await stage.visit("/login")
    await stage.browser.call("fill", selector="#user", value=USER)
    await _try(stage, WRONG_PASSWORD)
    problem = await stage.browser.call("get_text", selector="#problem")
    await _try(stage, PASSWORD)
    attempts = await stage.browser.call("extract_table", selector="#sign-ins")
    return Check(
        holds=[
            LOGIN_PROBLEM,
            *({"User": entry.user, "Result": entry.result} for entry in stage.site.shop.sign_ins),
        ],
        got=[problem.text("text").strip(), *attempts.rows("User", "Result")],
        describe=lambda value: ", ".join(row["Result"] for row in value[1:]),
    )


async def _try(stage: DemoStage, password: str) -> None:
    await stage.browser.call("fill", selector="#password", value=password)
    await stage.browser.call("click", selector="main button[type=submit]")


async def reveal_voucher(stage: DemoStage) -> Check:
    """Click a missing button, then a covered one, close what covers it, and click again."""
    await stage.visit("/offers")
    missing = await stage.browser.call_refused("click", selector="#reveal-the-code", timeout=_TIMEOUT_MS)
    covered = await stage.browser.call_refused("click", selector="#reveal", timeout=_TIMEOUT_MS)
    issued_too_early = list(stage.site.shop.vouchers)
    await stage.browser.call("click", selector="#accept-cookies")
    await stage.browser.call("click", selector="#reveal")
    await stage.browser.call("wait_for_selector", selector="#voucher:not(:empty)")
    voucher = await stage.browser.call("get_text", selector="#voucher")
    return Check(
        holds=["ELEMENT_NOT_FOUND", "ELEMENT_NOT_INTERACTIVE", *stage.site.shop.vouchers],
        got=[missing.code, covered.code, *issued_too_early, voucher.text("text")],
        describe=lambda value: f"two errors, then {value[-1]}",
    )


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
