"""The demo's shop over real HTTP."""

import csv
import hashlib
import io
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest

from footlight.demo.shop.catalogue import load_catalogue, read_product
from footlight.demo.shop.order_form import FIELDS
from footlight.demo.shop.records import PASSWORD, USER, SignIn
from footlight.demo.shop.site import ShopSite, serve_shop

pytestmark = pytest.mark.anyio

ORDER = {
    "product": "SC-401",
    "quantity": "3",
    "gel": "#3366cc",
    "level": "75",
    "extras": ["Spare lamps", "Flight case"],
    "production": "Macbeth",
    "opening": "2031-05-17T19:30",
    "rehearsals": "2031-W14",
    "delivery_date": "2031-05-09",
    "delivery_time": "08:30",
    "method": "Our van",
    "country": "Austria",
    "contact": "Props",
    "email": "props@example.org",
    "phone": "+43 1 234",
    "website": "https://example.org/?a=1&b=2",
    "invoice": "2031-06",
    "password": "out-damned-spot",
    "notes": "One\r\n<b>two</b>",
    "insured": "yes",
    "terms": "yes",
}
PAGES = (
    "/",
    "/products",
    "/products/LX-101",
    "/login",
    "/order",
    "/upload",
    "/uploads",
    "/offers",
    "/account",
    "/no",
)


async def test_product_table_pages_show_the_whole_catalogue(site: ShopSite, visitor: "Visitor") -> None:
    pages = [await visitor.open(f"/products?page={number}") for number in (1, 2, 3, 4)]

    assert [page.rows[0] for page in pages] == [["SKU", "Name", "Category", "Price", "Stock"]] * 4
    assert [row for page in pages for row in page.rows[1:]] == [
        [item.sku, item.name, item.category, f"€ {item.price}", str(item.stock)]
        for item in site.shop.products
    ]


async def test_next_page_links_reach_all_table_pages(visitor: "Visitor") -> None:
    visited = ["/products"]
    while following := (await visitor.open(visited[-1])).next_page:
        visited.append(following)

    assert visited == ["/products"] + [f"/products?sort=sku&order=up&page={number}" for number in (2, 3, 4)]


async def test_search_matches_all_words_in_any_column(visitor: "Visitor") -> None:
    found = await visitor.open("/products?q=TAPE+scenery")

    assert [row[0] for row in found.rows[1:]] == ["SC-401", "SC-402"]


async def test_search_without_matches_is_reported(visitor: "Visitor") -> None:
    assert "Nothing of that name." in (await visitor.open("/products?q=%3Cscript%3E")).text


async def test_numeric_columns_are_sorted_by_number(site: ShopSite, visitor: "Visitor") -> None:
    dearest = sorted(site.shop.products, key=lambda item: item.price_cents, reverse=True)[:12]

    page = await visitor.open("/products?sort=price&order=down")

    assert [row[0] for row in page.rows[1:]] == [item.sku for item in dearest]


@pytest.mark.parametrize("query", ["page=0", "page=-3", "page=x", "page=²", "sort=nonsense"])
async def test_invalid_table_query_shows_the_first_page(visitor: "Visitor", query: str) -> None:
    beginning = await visitor.open("/products")

    assert (await visitor.open(f"/products?{query}")).rows == beginning.rows


async def test_a_wrong_password_is_refused_and_the_right_one_accepted(
    site: ShopSite, visitor: "Visitor"
) -> None:
    refused = await visitor.sign_in(password="guess")
    accepted = await visitor.sign_in()

    assert (refused.status, refused.by_id["problem"]) == (401, "The user name or the password is wrong.")
    assert (accepted.status, accepted.path, accepted.by_id["user"]) == (200, "/account", USER)
    assert accepted.rows[1:] == [[USER, "refused"], [USER, "accepted"]]
    assert site.shop.sign_ins == [SignIn(USER, accepted=False), SignIn(USER, accepted=True)]


@pytest.mark.parametrize("path", ["/account", "/order", "/orders/PC-0001"])
async def test_login_redirects_back_to_the_requested_page(visitor: "Visitor", path: str) -> None:
    asked = await visitor.open(path)

    assert (asked.path, asked.read_value("next")) == ("/login", path)
    assert (await visitor.sign_in(target=path)).path == path


async def test_login_does_not_redirect_to_another_site(visitor: "Visitor") -> None:
    assert (await visitor.sign_in(target="//example.org/account")).path == "/account"


async def test_logout_ends_the_session(visitor: "Visitor") -> None:
    await visitor.sign_in()
    await visitor.send("/logout", {})

    assert (await visitor.open("/account")).path == "/login"


async def test_order_form_has_every_kind_of_field() -> None:
    kinds = (
        "checkbox color datalist date datetime-local email file month multiselect number password radio range"
    )
    kinds += " select tel text textarea time url week"

    assert {entry.kind for entry in FIELDS} == set(kinds.split())


async def test_order_is_received_and_shown_as_sent(site: ShopSite, visitor: "Visitor") -> None:
    await visitor.sign_in()

    displayed = await visitor.send("/order", ORDER, plan=("plan.txt", b"stage left"))

    expected = {
        "Product": "SC-401",
        "Quantity": "3",
        "Gel colour": "#3366cc",
        "Dimmer level": "75",
        "Extras": "Spare lamps, Flight case",
        "Production": "Macbeth",
        "Opening night": "2031-05-17T19:30",
        "First rehearsal week": "2031-W14",
        "Delivery date": "2031-05-09",
        "Delivery time": "08:30",
        "Delivery": "Our van",
        "Country": "Austria",
        "Stage plan": f"plan.txt, 10 bytes, SHA-256 {hashlib.sha256(b'stage left').hexdigest()}",
        "Contact": "Props",
        "Email": "props@example.org",
        "Phone": "+43 1 234",
        "Website": "https://example.org/?a=1&b=2",
        "Invoice month": "2031-06",
        "Collection password": "set, 15 characters",
        "Notes": "One\n<b>two</b>",
        "Insure the hire": "yes",
        "I accept the terms of hire": "yes",
    }
    assert dict(displayed.rows[1:]) == expected
    assert [order.received for order in site.shop.orders] == [expected]
    assert site.shop.orders[0].password_sha256 == hashlib.sha256(b"out-damned-spot").hexdigest()
    assert "/orders/PC-0001" in (await visitor.open("/account")).addresses


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("product", "XX-000", "“XX-000” is not on offer."),
        ("quantity", "0", "Quantity is a whole number from 1 to 50."),
        ("quantity", "", "Please enter: quantity."),
        ("gel", "blue", "Gel colour is not in the expected form, for example #ffb347."),
        ("level", "1e2", "Dimmer level is a whole number from 0 to 100."),
        ("extras", "Caviar", "“Caviar” is not on offer."),
        ("opening", "tonight", "Opening night is not in the expected form, for example 2031-05-17T19:30."),
        ("rehearsals", "2031-W54", "First rehearsal week is not in the expected form, for example 2031-W14."),
        ("delivery_date", "2031-02-30", "Delivery date is not in the expected form, for example 2031-05-09."),
        ("delivery_time", "25:00", "Delivery time is not in the expected form, for example 08:30."),
        ("method", "", "Please choose: delivery."),
        ("country", "Illyria", "“Illyria” is not on offer."),
        ("email", "props@", "Email is not in the expected form, for example name@example.org."),
        ("phone", "call me", "Phone is not in the expected form, for example +43 1 234 56 78."),
        ("website", "http://[", "Website is not in the expected form, for example https://example.org."),
        (
            "website",
            "javascript:alert(1)",
            "Website is not in the expected form, for example https://example.org.",
        ),
        ("invoice", "2031-13", "Invoice month is not in the expected form, for example 2031-06."),
        ("password", "spot", "Collection password has at least 8 characters."),
        ("terms", "", "Please tick “I accept the terms of hire”."),
    ],
)
async def test_invalid_order_field_is_named_and_nothing_is_ordered(
    site: ShopSite, visitor: "Visitor", name: str, value: str, problem: str
) -> None:
    await visitor.sign_in()

    answer = await visitor.send("/order", ORDER | {name: value})

    assert (answer.status, answer.by_id[f"{name}-problem"]) == (422, problem)
    assert f"#{name}" in answer.addresses
    assert site.shop.orders == []


async def test_redisplayed_form_keeps_entered_values(visitor: "Visitor") -> None:
    await visitor.sign_in()

    again = await visitor.send("/order", ORDER | {"quantity": "99"})

    kept = {
        name: again.read_value(name)
        for name in ORDER
        if name not in {"extras", "method", "country", "password"}
    }
    assert kept == {name: ORDER[name] for name in kept} | {"quantity": "99", "notes": "One\n<b>two</b>"}
    assert again.chosen == ["Spare lamps", "Flight case", "Our van", "Austria", "yes", "yes"]
    assert again.read_value("password") == ""


async def test_uploads_are_stored_unchanged_and_listed_with_size_and_hash(
    site: ShopSite, visitor: "Visitor"
) -> None:
    content = bytes(range(256)) * 300

    displayed = await visitor.send("/uploads", {}, files=("cue <1>.bin", content))

    digest = hashlib.sha256(content).hexdigest()
    assert displayed.rows == [["File", "Bytes", "SHA-256"], ["cue <1>.bin", "76800", digest]]
    assert [upload.content for upload in site.shop.uploads] == [content]


async def test_an_upload_without_a_file_is_refused(site: ShopSite, visitor: "Visitor") -> None:
    answer = await visitor.send("/uploads", {}, other=("x", b"x"))

    assert (answer.status, answer.by_id["problem"], site.shop.uploads) == (422, "Please choose a file.", [])


async def test_price_list_download_contains_the_whole_catalogue(visitor: "Visitor") -> None:
    response = await visitor.take("/price-list.csv")

    rows = csv.DictReader(io.StringIO(response.content.decode(), newline=""))
    assert response.headers["content-disposition"] == 'attachment; filename="price-list.csv"'
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert tuple(map(read_product, rows)) == load_catalogue()


async def test_each_voucher_is_new_and_known_to_the_shop(site: ShopSite, visitor: "Visitor") -> None:
    issued = [await visitor.send("/vouchers", {}) for _ in range(2)]

    assert [entry.text for entry in issued] == [f'{{"code":"{code}"}}' for code in site.shop.vouchers]
    assert len(set(site.shop.vouchers)) == 2


async def test_unknown_address_returns_a_404_page(visitor: "Visitor") -> None:
    answer = await visitor.open("/products/XX-000")

    assert (answer.status, answer.title) == (404, "Not found · Prompt Corner")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", PAGES)
async def test_pages_load_nothing_from_other_origins(visitor: "Visitor", path: str) -> None:
    await visitor.sign_in()

    page = await visitor.open(path)

    assert [address for address in page.addresses if not address.startswith(("/", "#"))] == []
    assert page.headers["content-security-policy"].startswith("default-src 'self'")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", PAGES)
async def test_every_control_has_a_label_and_every_page_one_heading(visitor: "Visitor", path: str) -> None:
    await visitor.sign_in()

    page = await visitor.open(path)

    assert [name for name in page.controls if name not in page.labelled] == []
    assert (page.tags.count("h1"), page.tags.count("main"), page.tags.count("title")) == (1, 1, 1)
    assert page.tags.count("caption") == page.tags.count("table")


async def test_port_is_closed_when_the_site_context_exits() -> None:
    async with serve_shop() as site:
        address = urlsplit(site.url)

    with pytest.raises(ConnectionRefusedError), socket.create_connection((address.hostname, address.port)):
        pass


async def test_port_is_closed_when_the_task_is_cancelled() -> None:
    with anyio.CancelScope() as scope:
        async with serve_shop() as site:
            address = urlsplit(site.url)
            scope.cancel()
            await anyio.sleep_forever()

    with pytest.raises(ConnectionRefusedError), socket.create_connection((address.hostname, address.port)):
        pass


@pytest.fixture
async def site() -> AsyncGenerator[ShopSite]:
    async with serve_shop() as site:
        yield site


@pytest.fixture
async def visitor(site: ShopSite) -> "AsyncGenerator[Visitor]":
    async with httpx2.AsyncClient(base_url=site.url, follow_redirects=True, trust_env=False) as client:
        yield Visitor(client)


@dataclass(frozen=True)
class Visitor:
    """Someone in the shop, with a cookie jar."""

    client: httpx2.AsyncClient

    async def open(self, path: str) -> "Reading":
        return Reading(await self.client.get(path))

    async def send(
        self, path: str, data: Mapping[str, str | Sequence[str]], **files: tuple[str, bytes]
    ) -> "Reading":
        return Reading(await self.client.post(path, data=dict(data), files=files or None))

    async def sign_in(self, *, password: str = PASSWORD, target: str = "") -> "Reading":
        return await self.send("/login", {"user": USER, "password": password, "next": target})

    async def take(self, path: str) -> httpx2.Response:
        return await self.client.get(path)


class Reading(HTMLParser):
    """What stands on a page."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__()
        self.status = response.status_code
        self.path = response.url.path
        self.headers = response.headers
        self.text = response.text
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.by_id: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.chosen: list[str] = []
        self.addresses: list[str] = []
        self.controls: list[str] = []
        self.labelled: set[str] = set()
        self.title = ""
        self.next_page: str | None = None
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(response.text)

    def read_value(self, name: str) -> str:
        return self.values.get(name) or self.by_id.get(name, "").removeprefix("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.addresses += [value for name in ("href", "src", "action") if (value := given.get(name))]
        if tag in {"input", "select", "textarea"} and given.get("type") != "hidden":
            self.controls.append(str(given["id"]))
        if tag == "label":
            self.labelled.add(str(given["for"]))
        if tag == "input":
            self.values[str(given["name"])] = given.get("value") or ""
        if "checked" in given or "selected" in given:
            self.chosen.append(str(given["value"]))
        if given.get("rel") == "next":
            self.next_page = given["href"]
        if tag == "tr":
            self.rows.append([])
        if tag in {"th", "td"}:
            self.rows[-1].append("")
        if tag not in _VOID:
            self._open.append((tag, given))

    def handle_data(self, data: str) -> None:
        for tag, given in self._open:
            if "id" in given:
                self.by_id[given["id"]] = self.by_id.get(given["id"], "") + data
            if tag in {"th", "td"}:
                self.rows[-1][-1] += data
            if tag == "title":
                self.title += data

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag


_VOID = {"meta", "link", "input"}
