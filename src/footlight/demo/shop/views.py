"""Render the pages of the shop."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from footlight.demo.shop.catalogue import Product
from footlight.demo.shop.controls import section
from footlight.demo.shop.listing import COLUMNS, Listing
from footlight.demo.shop.markup import page, rows
from footlight.demo.shop.order_form import FIELDS, SECTIONS
from footlight.demo.shop.records import Order, Shop, Upload
from footlight.markup import Html, element, join

__all__ = [
    "HOME_TITLE",
    "LOGIN_PROBLEM",
    "THEME_COLOUR",
    "account",
    "home",
    "layout",
    "login",
    "offers",
    "order_form",
    "order_received",
    "product",
    "products",
    "render_missing",
    "upload_form",
    "uploads",
]

THEME_COLOUR = "#7a1f35"
HOME_TITLE = "Theatre supplies"
LOGIN_PROBLEM = "The user name or the password is wrong."

_LINKS = {"/products": "Products", "/order": "Order", "/upload": "Upload", "/offers": "Offers"}
_NUMBERS = {"price", "stock"}


def layout(
    title: str, main: Html, *, path: str, user: str | None, query: str = "", notice: bool = False
) -> Html:
    """Render a whole page around its content."""
    links = _LINKS | ({"/account": "Account"} if user else {"/login": "Sign in"})
    return page(
        "layout",
        title=title,
        main=main,
        theme_colour=THEME_COLOUR,
        query=query,
        links=join(element("li", _navigation_link(target, text, path)) for target, text in links.items()),
        notice=page("notice") if notice else "",
    )


def home(products: Sequence[Product]) -> Html:
    """Render the front page."""
    categories = dict.fromkeys(product.category for product in products)
    cards = (_department(name, [item for item in products if item.category == name]) for name in categories)
    return page("home", count=len(products), departments=join(cards))


def products(listing: Listing) -> Html:
    """Render the catalogue or the results of a search."""
    named = f" for “{listing.query}”" if listing.query else ""
    return page(
        "products",
        heading=f"Results{named}" if listing.query else "Products",
        summary=f"{listing.found} article{'' if listing.found == 1 else 's'}{named}.",
        results=_products_table(listing) if listing.found else element("p", "Nothing of that name."),
    )


def product(item: Product) -> Html:
    """Render a product."""
    return page(
        "product", sku=item.sku, name=item.name, category=item.category, price=item.price, stock=item.stock
    )


def login(*, user: str = "", next_path: str = "/account", refused: bool = False) -> Html:
    """Render the login form."""
    problem = _problem(LOGIN_PROBLEM) if refused else ""
    return page("login", user=user, next=next_path, problem=problem)


def account(shop: Shop, user: str) -> Html:
    """Render the account page."""
    attempts = ((entry.user, entry.result) for entry in shop.sign_ins)
    orders = (
        element(
            "li", element("a", order.number, href=f"/orders/{order.number}"), ", ", order.received["Product"]
        )
        for order in shop.orders
    )
    return page(
        "account",
        user=user,
        sign_ins=rows(attempts),
        orders=element("ul", *orders) if shop.orders else element("p", "None yet."),
    )


def order_form(values: Mapping[str, Sequence[str]], problems: Mapping[str, str]) -> Html:
    """Render the order form with the given values and their problems."""
    return page(
        "order",
        problems=_problem("Please look at these fields again.", problems) if problems else "",
        sections=join(section(part, values, problems) for part in SECTIONS),
    )


def order_received(order: Order) -> Html:
    """Render a received order."""
    received = (_pair(label, value) for label, value in order.received.items())
    return page("order-received", number=order.number, rows=join(received))


def upload_form(problem: str = "") -> Html:
    """Render the upload form."""
    return page("upload", problem=_problem(problem) if problem else "")


def uploads(received: Sequence[Upload]) -> Html:
    """Render the list of uploaded files."""
    table = page("uploads-table", rows=rows((entry.name, entry.size, entry.sha256) for entry in received))
    return page("uploads", results=table if received else element("p", "None yet."))


def offers() -> Html:
    """Render an offer whose code the script of the page shows."""
    return page("offers")


def render_missing(path: str) -> Html:
    """Render the page for an unknown URL."""
    return page("missing", path=path)


def _navigation_link(target: str, text: str, path: str) -> Html:
    return element("a", text, href=target, aria_current="page" if path == target else None)


def _department(name: str, items: Sequence[Product]) -> Html:
    cheapest = min(items, key=lambda item: item.price_cents)
    heading = element("h3", element("a", name, href="/products?" + urlencode({"q": name})))
    return element(
        "li", heading, element("p", f"{len(items)} articles, from € {cheapest.price}"), class_="card"
    )


def _products_table(listing: Listing) -> Html:
    numbers = range(1, listing.pages + 1)
    return page(
        "products-table",
        page=listing.page,
        pages=listing.pages,
        heads=join(_column_head(key, text, listing) for key, text in COLUMNS.items()),
        rows=join(map(_product_row, listing.products)),
        links=join(
            (
                _page_link("Previous", listing.page - 1, listing, rel="prev") if listing.page > 1 else "",
                *(_page_link(str(number), number, listing) for number in numbers),
                _page_link("Next", listing.page + 1, listing, rel="next")
                if listing.page < listing.pages
                else "",
            )
        ),
    )


def _column_head(key: str, text: str, listing: Listing) -> Html:
    down = key == listing.sort and not listing.descending
    direction = ("descending" if listing.descending else "ascending") if key == listing.sort else None
    link = element("a", text, href=listing.address(sort=key, order="down" if down else "up", page=1))
    return element("th", link, scope="col", aria_sort=direction, class_="number" if key in _NUMBERS else None)


def _product_row(item: Product) -> Html:
    return element(
        "tr",
        element("th", element("code", item.sku), scope="row"),
        element("td", element("a", item.name, href=f"/products/{item.sku}")),
        element("td", item.category),
        element("td", f"€ {item.price}", class_="number"),
        element("td", item.stock, class_="number"),
    )


def _page_link(text: str, number: int, listing: Listing, *, rel: str | None = None) -> Html:
    aria_current = "page" if text == str(listing.page) else None
    return element("a", text, href=listing.address(page=number), rel=rel, aria_current=aria_current)


def _pair(label: str, value: str) -> Html:
    return element("tr", element("th", label, scope="row"), element("td", value or "none", class_="lines"))


def _problem(text: str, problems: Mapping[str, str] | None = None) -> Html:
    known = [entry.name for entry in FIELDS if entry.name in (problems or {})]
    links = [element("li", element("a", (problems or {})[name], href=f"#{name}")) for name in known]
    details = element("ul", *links) if links else Html()
    return element("div", element("p", text), details, class_="problem", role="alert", id="problem")
