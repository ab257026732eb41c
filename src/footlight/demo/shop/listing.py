"""A page of the catalogue: filtered, sorted and paginated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from footlight.demo.shop.catalogue import Product, search

__all__ = ["COLUMNS", "Listing", "list_products"]

_PAGE_SIZE = 12
COLUMNS = {"sku": "SKU", "name": "Name", "category": "Category", "price": "Price", "stock": "Stock"}


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A page of products with its query."""

    products: Sequence[Product]
    found: int
    page: int
    pages: int
    query: str
    sort: str
    descending: bool

    def address(self, **changes: object) -> str:
        """Return the URL of this listing with some parameters changed."""
        now = {
            "q": self.query,
            "sort": self.sort,
            "order": "down" if self.descending else "up",
            "page": self.page,
        }
        return "/products?" + urlencode({key: value for key, value in (now | changes).items() if value})


def list_products(products: Sequence[Product], query: Mapping[str, str]) -> Listing:
    """Return the page for a query. Invalid parameters are ignored."""
    words, sort, descending = query.get("q", "").strip(), query.get("sort", ""), query.get("order") == "down"
    sort = sort if sort in COLUMNS else "sku"
    found = sorted(search(products, words), key=_SORT_KEYS[sort], reverse=descending)
    pages = max(1, -(-len(found) // _PAGE_SIZE))
    page = min(max(_number(query.get("page", "")), 1), pages)
    return Listing(
        products=found[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE],
        found=len(found),
        page=page,
        pages=pages,
        query=words,
        sort=sort,
        descending=descending,
    )


_SORT_KEYS: Mapping[str, Callable[[Product], str | int]] = {
    "sku": lambda item: item.sku,
    "name": lambda item: item.name.casefold(),
    "category": lambda item: item.category,
    "price": lambda item: item.price_cents,
    "stock": lambda item: item.stock,
}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
