"""The steps of the demo. Each step ends with a comparison."""

import hashlib
import io
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import InvalidOperation
from pathlib import Path
from typing import NamedTuple

import anyio
from PIL import Image

from footlight.demo.remote_browser import BrowserAnswer, RemoteBrowser, UnexpectedAnswerError
from footlight.demo.shop.catalogue import Product, read_product, search
from footlight.demo.shop.listing import COLUMNS
from footlight.demo.shop.order_check import judge
from footlight.demo.shop.order_form import FIELDS, OrderField
from footlight.demo.shop.records import PASSWORD, USER, Order, Upload
from footlight.demo.shop.site import ShopSite
from footlight.demo.shop.views import HOME_TITLE, LOGIN_PROBLEM, THEME_COLOUR
from footlight.demo.verdict import Check

__all__ = ["SECRETS", "STEPS", "DemoStage", "DemoStep"]


@dataclass(frozen=True, kw_only=True)
class DemoStage:
    """The context of a step: a browser, the site, a folder to upload from, and the output folder."""

    browser: RemoteBrowser
    site: ShopSite
    files: Path
    output: Path

    async def visit(self, path: str) -> None:
        """Open a page of the shop."""
        await self.browser.call("navigate", url=f"{self.site.url}{path}")

    def prepare_upload(self, upload: Upload) -> str:
        """Write a file where the browser may upload it from, and return its path."""
        path = self.files / upload.name
        path.write_bytes(upload.content)
        return str(path)

    def save(self, name: str, content: bytes) -> None:
        """Save a file in the output folder."""
        (self.output / name).write_bytes(content)

    def save_json(self, name: str, value: object) -> None:
        """Save a value as JSON in the output folder."""
        self.save(name, f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode())


class DemoStep(NamedTuple):
    """A step with its name."""

    name: str
    run: Callable[[DemoStage], Awaitable[Check]]


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
            raise UnexpectedAnswerError(answer.tool, f"the picture is {image.width} × {image.height}")
        line = image.convert("RGB").crop((0, 0, image.width, 1))
    colours = line.tobytes()
    return sorted({f"#{colours[start : start + 3].hex()}" for start in range(0, len(colours), 3)})


_WORDS = "tape"
_NEXT = "nav[aria-label=Pages] a[rel=next]"


async def search_shop(stage: DemoStage) -> Check:
    """Type into the search box and press Enter."""
    await stage.visit("/")
    await stage.browser.call("type", selector="#q", text=_WORDS)
    await stage.browser.call("press", key="Enter")
    found = await _read_table(stage)
    return Check(list(search(stage.site.shop.products, _WORDS)), found, _describe_names)


async def read_products(stage: DemoStage) -> Check:
    """Read the table of every page into one list."""
    await stage.visit("/products")
    products = await _read_table(stage)
    while (await stage.browser.call("element_exists", selector=_NEXT)).flag("exists"):
        await stage.browser.call("click", selector=_NEXT)
        products += await _read_table(stage)
    stage.save_json("products.json", [asdict(product) for product in products])
    return Check(list(stage.site.shop.products), products, _describe_number)


async def download_price_list(stage: DemoStage) -> Check:
    """Click the link that downloads the price list, and take the file."""
    await stage.visit("/products")
    answer = await stage.browser.call("click", selector="#price-list")
    content = await anyio.Path(_find_path(answer)).read_bytes()
    stage.save("price-list.csv", content)
    return Check(stage.site.shop.price_list(), content, _describe_bytes)


async def _read_table(stage: DemoStage) -> list[Product]:
    table = await stage.browser.call("extract_table", selector="#products")
    keys = {text: key for key, text in COLUMNS.items()}
    rows = ({keys[header]: cell for header, cell in row.items()} for row in table.rows(*keys))
    try:
        return [read_product(row) for row in rows]
    except (ValueError, InvalidOperation) as error:
        raise UnexpectedAnswerError("extract_table", f"a row that is not a product: {error}") from error


def _find_path(answer: BrowserAnswer) -> str:
    paths = [str(download["path"]) for download in answer.downloads() if "path" in download]
    if len(paths) != 1:
        raise UnexpectedAnswerError(answer.tool, f"{len(paths)} downloaded files instead of one")
    return paths[0]


def _describe_names(products: list[Product]) -> str:
    return ", ".join(product.sku for product in products)


def _describe_number(products: list[Product]) -> str:
    return f"{len(products)} products, {sum(product.stock for product in products)} pieces"


def _describe_bytes(content: bytes) -> str:
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:12]}…"


COLLECTION_PASSWORD = "the-ghost-light-is-on"

_ORDER: Mapping[str, Sequence[str]] = {
    "product": ["SC-401"],
    "quantity": ["12"],
    "gel": ["#3366cc"],
    "level": ["75"],
    "extras": ["Cable ties", "Safety bonds"],
    "production": ["The Winter’s Tale"],
    "opening": ["2031-05-17T19:30"],
    "rehearsals": ["2031-W14"],
    "delivery_date": ["2031-05-09"],
    "delivery_time": ["08:30"],
    "method": ["Courier"],
    "country": ["Türkiye"],
    "contact": ["The stage manager"],
    "email": ["stage.manager@example.org"],
    "phone": ["+43 1 234 56 78"],
    "website": ["https://example.org/winter?act=4&scene=1"],
    "invoice": ["2031-06"],
    "password": [COLLECTION_PASSWORD],
    "notes": ["Ring at the stage door.\nMind the <trap> & the cat."],
    "insured": ["yes"],
    "terms": ["yes"],
}
_STAGE_PLAN = Upload(
    "stage-plan.svg",
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 50">'
    b'<path d="M5 5h70v30H5z" fill="none" stroke="#241a22"/>'
    b'<circle cx="24" cy="20" r="6" fill="#e9b44c"/><circle cx="56" cy="20" r="6" fill="#e9b44c"/></svg>\n',
)
_CUE_SHEET = Upload("cue sheet.csv", "cue,page,what\r\n1,3,house to half\r\n2,57,“Enter a bear”\r\n".encode())
_FILES: Mapping[str, Upload] = {"plan": _STAGE_PLAN}
_PASSWORD_SHA256 = hashlib.sha256(COLLECTION_PASSWORD.encode()).hexdigest()
_UPLOAD_HEADERS = ("File", "Bytes", "SHA-256")


async def upload_files(stage: DemoStage) -> Check:
    """Upload two files at once, and read the sizes that the shop shows."""
    sent = [_STAGE_PLAN, _CUE_SHEET]
    await stage.visit("/upload")
    await stage.browser.call(
        "upload_file", selector="#files", files=[stage.prepare_upload(upload) for upload in sent]
    )
    await stage.browser.call("click", selector="main button[type=submit]")
    table = await stage.browser.call("extract_table", selector="#uploads")
    uploads = [_describe_upload(upload) for upload in stage.site.shop.uploads]
    return Check(
        holds={"sent": uploads, "shown": uploads},
        got={"sent": [_describe_upload(upload) for upload in sent], "shown": table.rows(*_UPLOAD_HEADERS)},
        describe=lambda value: ", ".join(f"{row['File']} {row['SHA-256'][:8]}…" for row in value["shown"]),
    )


def _describe_upload(upload: Upload) -> dict[str, str]:
    return dict(zip(_UPLOAD_HEADERS, (upload.name, str(upload.size), upload.sha256), strict=True))


async def place_order(stage: DemoStage) -> Check:
    """Fill every field, send the order, and read what the shop says it received."""
    await stage.visit("/order")
    for field in FIELDS:
        await _fill(stage, field)
    await stage.browser.call("click", selector="main button[type=submit]")
    number = (await stage.browser.call("get_text", selector="#number")).text("text")
    received = await _read_received(stage)
    stage.save_json("order.json", {"number": number, "received": received})
    return Check(
        holds=_hold(stage.site.shop.find_order(number)),
        got={
            "number": number,
            "shown": received,
            "sent": judge(_ORDER, _FILES).received,
            "password": _PASSWORD_SHA256,
        },
        describe=lambda value: f"{value['number']}, {len(value['shown'])} fields",
    )


def _hold(order: Order | None) -> dict[str, object]:
    # What the shop received must be what was sent, and what it shows must be what it received.
    if order is None:
        return {"number": "no such order", "shown": {}, "sent": {}, "password": ""}
    return {
        "number": order.number,
        "shown": order.received,
        "sent": order.received,
        "password": order.password_sha256,
    }


async def _fill(stage: DemoStage, field: OrderField) -> None:
    call, selector = stage.browser.call, f"#{field.name}"
    match field.kind:
        case "checkbox":
            await call("check", selector=selector)
        case "radio":
            await call("check", selector=f"input[name={field.name}][value='{_ORDER[field.name][0]}']")
        case "select":
            await call("select", selector=selector, value=_ORDER[field.name][0])
        case "multiselect":
            await _choose_several(stage, selector, _ORDER[field.name])
        case "file":
            await call("upload_file", selector=selector, files=[stage.prepare_upload(_FILES[field.name])])
        case "datalist":
            await call("type", selector=selector, text=_ORDER[field.name][0])
        case _:
            await call("fill", selector=selector, value=_ORDER[field.name][0])


async def _choose_several(stage: DemoStage, selector: str, values: Sequence[str]) -> None:
    # As with a keyboard: the first by a click, its neighbours with Shift and the arrow.
    await stage.browser.call("click", selector=f"{selector} option[value='{values[0]}']")
    for _ in values[1:]:
        await stage.browser.call("press", key="ArrowDown", modifiers=["Shift"])


async def _read_received(stage: DemoStage) -> dict[str, str]:
    table = await stage.browser.call("extract_table", selector="#received")
    received = {row["Field"]: row["Value"] for row in table.rows("Field", "Value")}
    # A table's cell is one line of data; the element's own text keeps its lines.
    notes = await stage.browser.call("get_text", selector="//table[@id='received']//tr[th='Notes']/td")
    return received | {"Notes": notes.text("text")}


SECRETS = (PASSWORD, WRONG_PASSWORD, COLLECTION_PASSWORD)

STEPS = (
    DemoStep("Open the shop", open_shop),
    DemoStep("Sign in", sign_in),
    DemoStep("Search", search_shop),
    DemoStep("Read every product", read_products),
    DemoStep("Place an order", place_order),
    DemoStep("Upload files", upload_files),
    DemoStep("Survive an error", reveal_voucher),
    DemoStep("Download the price list", download_price_list),
    DemoStep("Take a screenshot", take_screenshot),
)
