"""Search the catalogue, read all of its pages, and download it."""

import hashlib
from dataclasses import asdict
from decimal import InvalidOperation

from anyio import Path

from footlight.demo.remote_browser import BrowserAnswer, UnexpectedAnswer
from footlight.demo.shop.catalogue import Product, read_product, search
from footlight.demo.shop.listing import COLUMNS
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["download_price_list", "read_products", "search_shop"]

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
    content = await Path(_find_path(answer)).read_bytes()
    stage.save("price-list.csv", content)
    return Check(stage.site.shop.price_list(), content, _describe_bytes)


async def _read_table(stage: DemoStage) -> list[Product]:
    table = await stage.browser.call("extract_table", selector="#products")
    keys = {text: key for key, text in COLUMNS.items()}
    rows = ({keys[header]: cell for header, cell in row.items()} for row in table.rows(*keys))
    try:
        return [read_product(row) for row in rows]
    except (ValueError, InvalidOperation) as error:
        raise UnexpectedAnswer("extract_table", f"a row that is not a product: {error}") from error


def _find_path(answer: BrowserAnswer) -> str:
    paths = [str(download["path"]) for download in answer.downloads() if "path" in download]
    if len(paths) != 1:
        raise UnexpectedAnswer(answer.tool, f"{len(paths)} downloaded files instead of one")
    return paths[0]


def _describe_names(products: list[Product]) -> str:
    return ", ".join(product.sku for product in products)


def _describe_number(products: list[Product]) -> str:
    return f"{len(products)} products, {sum(product.stock for product in products)} pieces"


def _describe_bytes(content: bytes) -> str:
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:12]}…"
