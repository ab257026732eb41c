"""The products of the shop."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files

__all__ = ["Product", "load_catalogue", "price_list", "read_product", "search"]

_COLUMNS = ("sku", "name", "category", "price", "stock")


@dataclass(frozen=True, kw_only=True)
class Product:
    """One article, its price in cents."""

    sku: str
    name: str
    category: str
    price_cents: int
    stock: int

    @property
    def price(self) -> str:
        """Return the price in euros with two decimals."""
        return f"{self.price_cents // 100}.{self.price_cents % 100:02}"


def load_catalogue() -> tuple[Product, ...]:
    """Return every product, sorted by SKU."""
    text = files("footlight.demo").joinpath("catalogue.csv").read_text("utf-8")
    return tuple(
        sorted(map(read_product, csv.DictReader(io.StringIO(text))), key=lambda product: product.sku)
    )


def read_product(row: dict[str, str]) -> Product:
    """Return a product from texts. The price may include its currency."""
    return Product(
        sku=row["sku"],
        name=row["name"],
        category=row["category"],
        price_cents=int(Decimal(row["price"].removeprefix("€").strip()) * 100),
        stock=int(row["stock"]),
    )


def price_list(products: Iterable[Product]) -> bytes:
    """Return the products as a CSV file."""
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(_COLUMNS)
    lines.writerows((item.sku, item.name, item.category, item.price, item.stock) for item in products)
    return text.getvalue().encode()


def search(products: Iterable[Product], query: str) -> tuple[Product, ...]:
    """Yield the products with every word of `query` in their SKU, name or category."""
    words = query.casefold().split()
    return tuple(
        product
        for product in products
        if all(word in f"{product.sku} {product.name} {product.category}".casefold() for word in words)
    )
