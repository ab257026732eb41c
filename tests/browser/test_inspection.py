"""The inspection script in a real Chromium, on pages written here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from playwright.async_api import Page

from footlight.browser.page.inspection import (
    INSPECT,
    Description,
    TableData,
    closest_request,
    describe_all_request,
    describe_kept_request,
    describe_request,
    links_request,
    metadata_request,
    obstacle_request,
    read_closest,
    read_description,
    read_descriptions,
    read_kept_description,
    read_links,
    read_obstacle,
    read_page_metadata,
    read_table_data,
    table_request,
)
from tests.tiers import examples, sample_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio


@pytest.fixture
def inspected(empty_tab: Page) -> Page:
    return empty_tab


async def describe(page: Page, selector: str) -> Description:
    return read_description(await page.locator(selector).first.evaluate(INSPECT, describe_request()))


async def selector_of(page: Page, selector: str) -> str:
    return (await describe(page, selector))["selector"]


async def role_and_name(page: Page, selector: str) -> tuple[str | None, str]:
    found = await describe(page, selector)
    return found["role"], found["name"]


async def table(page: Page, html: str, selector: str = "table") -> TableData:
    await page.set_content(html)
    return read_table_data(await page.locator(selector).first.evaluate(INSPECT, table_request()))


# describe


async def test_an_element_is_described_in_one_round_trip(inspected: Page) -> None:
    await inspected.set_content(
        """<body style="margin: 0"><button id="go" class="big"
        style="position: fixed; left: 10px; top: 20px; width: 100px; height: 30px">Send <b>it</b></button>"""
    )

    assert await describe(inspected, "button") == {
        "tagName": "button",
        "selector": "#go",
        "text": "Send it",
        "attributes": {
            "id": "go",
            "class": "big",
            "style": "position: fixed; left: 10px; top: 20px; width: 100px; height: 30px",
        },
        "boundingBox": {"x": 10, "y": 20, "width": 100, "height": 30},
        "visible": True,
        "enabled": True,
        "role": "button",
        "name": "Send it",
    }


async def test_password_value_is_never_described(inspected: Page) -> None:
    await inspected.set_content('<input type="password" name="pw" value="hunter2" placeholder="Password">')

    found = await describe(inspected, "input")

    assert "hunter2" not in json.dumps(found)
    assert found["attributes"] == {"type": "password", "name": "pw", "placeholder": "Password"}


@pytest.mark.parametrize(
    ("html", "visible", "enabled"),
    [
        ("<button>x</button>", True, True),
        ("<button disabled>x</button>", True, False),
        ('<button aria-disabled="true">x</button>', True, False),
        ("<fieldset disabled><button>x</button></fieldset>", True, False),
        ('<div aria-disabled="true"><button>x</button></div>', True, False),
        ('<button style="visibility: hidden">x</button>', False, True),
        ('<div style="display: none"><button>x</button></div>', False, True),
        ('<button style="display: contents">x</button>', True, True),
        ("<details><summary>s</summary><button>x</button></details>", False, True),
    ],
)
async def test_visible_and_enabled_match_playwright(
    inspected: Page, html: str, visible: bool, enabled: bool
) -> None:
    await inspected.set_content(html)

    found = await describe(inspected, "button")

    assert (found["visible"], found["enabled"]) == (visible, enabled)
    button = inspected.locator("button")
    assert (await button.is_visible(), await button.is_enabled()) == (visible, enabled)


async def test_text_is_the_visible_text(inspected: Page) -> None:
    await inspected.set_content(
        """<main>One <b>t</b>wo<p>three</p><br>four <span hidden>no</span><i style="visibility: hidden">no</i>
        <script>no</script><select><option>no<option selected>five</select><input type="submit" value="six">
        <details><summary>seven</summary>no</details><textarea>no</textarea></main>"""
    )

    assert (await describe(inspected, "main"))["text"] == "One two three four five six seven"


@pytest.mark.slow
async def test_element_description_is_bounded(inspected: Page) -> None:
    await inspected.set_content("<p>")
    await inspected.evaluate(
        """() => {
          const p = document.querySelector('p');
          p.textContent = 'word '.repeat(1000000);
          p.title = 'x'.repeat(1000000);
          for (let i = 0; i < 500; i++) p.setAttribute('data-' + i, '😀'.repeat(1000));
        }"""
    )

    found = await describe(inspected, "p")

    assert len(found["text"]) == 200
    assert found["text"].endswith("…")
    assert len(found["attributes"]) == 60
    assert len(json.dumps(found, ensure_ascii=False)) < 40_000
    assert found["attributes"]["data-1"] == "😀" * 249 + "…"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="/x">Home <img alt="page"></a>', ("link", "Home page")),
        ("<a>Not a link</a>", (None, "")),
        ('<button aria-label="Close">×</button>', ("button", "Close")),
        ('<input type="submit">', ("button", "Submit")),
        ('<input type="checkbox" id="c"><label for="c">Agree</label>', ("checkbox", "Agree")),
        ("<label>Size <select><option>S</select></label>", ("combobox", "Size")),
        ('<p id="l">Your</p><p id="m">name</p><input aria-labelledby="l m">', ("textbox", "Your name")),
        ('<p id="l" hidden>Hidden label</p><input aria-labelledby="l">', ("textbox", "Hidden label")),
        ('<input placeholder="Search…" type="search">', ("searchbox", "Search…")),
        ('<img alt="A cat">', ("img", "A cat")),
        ('<img alt="">', ("presentation", "")),
        ("<h2>Title</h2>", ("heading", "Title")),
        ('<div role="tab">Two</div>', ("tab", "Two")),
        ("<fieldset><legend>Address</legend></fieldset>", ("group", "Address")),
        ('<span title="Why">?</span>', (None, "Why")),
        ("<svg><title>Chart</title></svg>", ("img", "Chart")),
    ],
)
async def test_role_and_name_are_computed(
    inspected: Page, html: str, expected: tuple[str | None, str]
) -> None:
    await inspected.set_content(html)
    subject = "a, button, input, select, img:only-child, h2, [role], fieldset, span, svg"

    assert await role_and_name(inspected, subject) == expected


async def test_described_elements_are_limited(inspected: Page) -> None:
    await inspected.set_content("<li>a<li>b<li>c")

    reply = await inspected.locator("li").evaluate_all(INSPECT, describe_all_request(limit=2))

    assert [(found["selector"], found["text"]) for found in read_descriptions(reply)] == [
        ("li:nth-of-type(1)", "a"),
        ("li:nth-of-type(2)", "b"),
    ]


async def test_bounding_box_in_a_frame_is_relative_to_the_page(inspected: Page) -> None:
    await inspected.set_content(
        """<body style="margin: 0"><iframe style="position: fixed; left: 50px; top: 60px; border: 2px solid"
        srcdoc="<body style='margin: 0'><p style='margin: 5px; width: 10px; height: 10px'>"></iframe>"""
    )
    inner = inspected.frame_locator("iframe").locator("p")

    found = read_description(await inner.evaluate(INSPECT, describe_request()))

    assert found["boundingBox"] == await inner.bounding_box() == {"x": 57, "y": 67, "width": 10, "height": 10}


# selectors


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<i data-testid="a b" id="x">', '[data-testid="a b"]'),
        ('<i data-testid="a" id="x"></i><b data-testid="a"></b>', "#x"),
        ('<i data-testid="say &quot;hi&quot; \\">', '[data-testid="say \\"hi\\" \\\\"]'),
        ('<i data-testid="a>>b" id="x">', "#x"),
        ('<i id="form:name.first" name="n">', 'i[name="n"]'),
        ('<i id="2nd">', '[id="2nd"]'),
        ('<i id=":r1:">', "i:nth-of-type(1)"),
        ('<i id="item-84732">', "i:nth-of-type(1)"),
        ('<i id="x"></i><b id="x"></b>', "i:nth-of-type(1)"),
        ("<p><i></i></p><p><b></b></p>", "i:nth-of-type(1)"),
        ('<div id="main"><p><i></i></p></div><p><i></i></p>', "#main > p:nth-of-type(1) > i:nth-of-type(1)"),
        (
            '<input type="radio" name="n" value="1"><input type="radio" name="n" value="2">',
            'input[name="n"][value="1"]',
        ),
    ],
)
async def test_most_descriptive_unique_selector_is_chosen(inspected: Page, html: str, expected: str) -> None:
    await inspected.set_content(html)

    assert await selector_of(inspected, "i, input") == expected


_SHADOWS = """() => {
  const random = (() => { let seed = %d; return n => (seed = (seed * 48271) %% 2147483647) %% n; })();
  const build = (root, depth) => {
    for (let i = 0, n = 1 + random(3); i < n || (depth === 4 && i < 4); i++) {
      const element = document.createElement(['div', 'p', 'x-y'][random(3)]);
      if (random(4) === 0) element.id = 'i' + random(6);
      if (random(6) === 0) element.setAttribute('data-testid', 't' + random(4));
      root.append(element);
      if (depth && random(3)) build(element, depth - 1);
      if (depth && random(3) === 0) build(element.attachShadow({mode: 'open'}), depth - 1);
    }
  };
  build(document.body, 4);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", sample_parameters(range(1, 7), 1, 2))
async def test_every_selector_resolves_through_shadow_trees(inspected: Page, seed: int) -> None:
    await inspected.set_content("<body>")
    await inspected.evaluate(_SHADOWS % seed)
    everything = inspected.locator("body *")
    found = read_descriptions(await everything.evaluate_all(INSPECT, describe_all_request(limit=1000)))
    handles = await everything.element_handles()

    assert len(found) == len(handles) > 5
    for one, handle in zip(found, handles, strict=True):
        back = inspected.locator(one["selector"])  # strict: one match, or none of this works
        assert await back.evaluate("(a, b) => a === b", handle), one["selector"]


# keep


async def keys(page: Page, selector: str, *, limit: int = 1000) -> list[Any]:
    request = describe_all_request(limit=limit, keep=True)
    found: Any = read_descriptions(await page.locator(selector).evaluate_all(INSPECT, request))
    return [one["key"] for one in found]


async def read_kept_id(page: Page, key: str) -> str | None:
    found = read_kept_description(await page.evaluate(INSPECT, describe_kept_request(key)))
    return found and found["attributes"]["id"]


async def test_kept_element_has_a_stable_key(inspected: Page) -> None:
    await inspected.set_content("<p id=a></p><p id=b></p>")

    a, b = await keys(inspected, "p")
    one: Any = read_description(await inspected.locator("#b").evaluate(INSPECT, describe_request(keep=True)))

    assert (await keys(inspected, "//p[2]"), one["key"]) == ([b], b)
    assert [await read_kept_id(inspected, key) for key in (a, b, "c")] == ["a", "b", None]
    await inspected.evaluate("document.getElementById('a').id = 'c'")
    await inspected.evaluate("document.getElementById('b').remove()")
    assert [await read_kept_id(inspected, key) for key in (a, b)] == ["c", None]


@pytest.mark.slow
async def test_latest_thousand_found_elements_are_kept(inspected: Page) -> None:
    await inspected.set_content("".join(f"<p id=p{number}>" for number in range(1001)))
    first, second, *_ = await keys(inspected, "p")
    assert await keys(inspected, "#p0") == [first]

    [new] = await keys(inspected, "#p1000")

    assert [await read_kept_id(inspected, key) for key in (first, second, new)] == ["p0", None, "p1000"]


async def test_each_document_has_its_own_keys(inspected: Page) -> None:
    await inspected.set_content("<p id=a></p><iframe srcdoc='<p id=b></p>'></iframe>")
    inner = inspected.frame_locator("iframe").locator("p")
    found: Any = read_description(await inner.evaluate(INSPECT, describe_request(keep=True)))

    [outer] = await keys(inspected, "p")

    assert outer != found["key"]
    assert await read_kept_id(inspected, found["key"]) is None
    reply = await inner.evaluate(INSPECT, describe_kept_request(found["key"]))
    assert read_kept_description(reply) == {key: value for key, value in found.items() if key != "key"}


async def test_unusual_tag_names_have_valid_selectors(inspected: Page) -> None:
    await inspected.set_content(
        "<p></p><v:rect>a</v:rect><svg><linearGradient/></svg><constructor>b</constructor>"
    )

    assert await selector_of(inspected, "p + *") == "body > *:nth-child(2)"
    assert await selector_of(inspected, "svg > *") == "linearGradient:nth-of-type(1)"
    assert (await describe(inspected, "constructor"))["text"] == "b"


# obstacle


async def obstacle_to(page: Page, html: str, selector: str = "#it", *, editing: bool = False) -> object:
    await page.set_content(html)
    return read_obstacle(await page.locator(selector).evaluate(INSPECT, obstacle_request(editing=editing)))


@pytest.mark.parametrize(
    "html",
    [
        '<button id="it"><span>Save</span></button>',
        '<button id="it" style="margin-top: 3000px">Below</button>',
        '<div style="overflow: auto; height: 50px"><p style="height: 500px"></p><i id="it">x</i></div>',
        '<label style="position: relative"><input id="it" type="checkbox">'
        '<i style="position: absolute; inset: 0">Agree</i></label>',
        '<button style="position: relative"><b id="it">x</b>'
        '<i style="position: absolute; inset: 0"></i></button>',
        '<select><option id="it">a</select>',
        '<div style="position: sticky; top: 0; height: 80px"></div><div style="height: 2000px"></div>'
        '<button id="it">x</button>',
        '<p style="width: 60px">a long text with <a id="it" href="/">a link that wraps</a></p>',
        '<div id="it" style="display: contents"><b>x</b></div>',
        '<input id="it" readonly>',
    ],
)
async def test_unobstructed_element_has_no_obstacle(inspected: Page, html: str) -> None:
    assert await obstacle_to(inspected, html) is None
    if "option" not in html and "inset" not in html and "contents" not in html:
        await inspected.locator("#it").click(trial=True, timeout=5000)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<div class="tab" style="display: none"><button id="it">x</button></div>',
            ("hidden", 'hidden by <div class="tab">: display: none', "div:nth-of-type(1)"),
        ),
        ('<i id="it" style="visibility: hidden">x</i>', ("hidden", "hidden: visibility: hidden", None)),
        ('<i id="it"></i>', ("hidden", "hidden: its box is empty (0×0)", None)),
        ('<button id="it" disabled>x</button>', ("disabled", "disabled", None)),
        (
            '<fieldset disabled><input id="it"></fieldset>',
            ("disabled", "inside a disabled group", None),
        ),
        ('<button aria-disabled="true"><b id="it">x</b></button>', ("disabled", "aria-disabled", None)),
        (
            '<button id="it">x</button><div id="overlay" class="modal" style="position: fixed; inset: 0">'
            "Accept cookies</div>",
            ("covered", 'covered by <div id="overlay" class="modal"> "Accept cookies"', "#overlay"),
        ),
        (
            '<button id="it" style="pointer-events: none">x</button>',
            (
                "covered",
                'it takes no pointer events (pointer-events: none); a click would land on <body> "x"',
                "body",
            ),
        ),
        (
            '<div inert id="page"><button id="it">x</button></div>',
            ("covered", 'made inert by <div id="page"> "x"', "#page"),
        ),
        (
            '<button id="it" style="position: fixed; left: -500px; top: 5px; width: 20px">x</button>',
            ("outside", "outside the 800×600 viewport, at -500, 5, and cannot be scrolled into it", None),
        ),
    ],
)
async def test_an_obstacle_is_reported(
    inspected: Page, html: str, expected: tuple[str, str, str | None]
) -> None:
    reason, detail, by = expected

    assert await obstacle_to(inspected, html) == {"reason": reason, "detail": detail, "by": by}


async def test_a_read_only_field_is_an_obstacle_to_editing(inspected: Page) -> None:
    html = '<input id="it" readonly>'

    assert await obstacle_to(inspected, html, editing=True) == {
        "reason": "readonly",
        "detail": "read only",
        "by": None,
    }


async def test_an_open_dialog_covers_the_page(inspected: Page) -> None:
    await inspected.set_content('<button id="it">x</button><dialog id="ask">Sure?</dialog>')
    await inspected.evaluate("document.querySelector('dialog').showModal()")

    reply = await inspected.locator("#it").evaluate(INSPECT, obstacle_request())

    assert read_obstacle(reply) == {
        "reason": "covered",
        "detail": 'covered by the open dialog <dialog id="ask"> "Sure?"',
        "by": "#ask",
    }


async def test_a_detached_element_is_reported(inspected: Page) -> None:
    await inspected.set_content("<p>x</p>")
    handle = await inspected.query_selector("p")
    assert handle is not None
    await inspected.set_content("")

    assert read_obstacle(await handle.evaluate(INSPECT, obstacle_request())) == {
        "reason": "detached",
        "detail": "no longer in the page",
        "by": None,
    }


async def test_obstacles_in_shadow_trees_are_found(inspected: Page) -> None:
    await inspected.set_content("<x-y></x-y>")
    await inspected.evaluate(
        """() => {
          const root = document.querySelector('x-y').attachShadow({mode: 'open'});
          root.innerHTML = `<button id="free">free</button><p><button id="it">x</button></p>
            <div class="veil" style="position: absolute; inset: 35px 0 0 0">veil</div>`;
        }"""
    )

    assert read_obstacle(await inspected.locator("#free").evaluate(INSPECT, obstacle_request())) is None
    assert read_obstacle(await inspected.locator("#it").evaluate(INSPECT, obstacle_request())) == {
        "reason": "covered",
        "detail": 'covered by <div class="veil"> "veil"',
        "by": "div:nth-of-type(1)",
    }


async def test_covered_frame_covers_its_content(inspected: Page) -> None:
    await inspected.set_content(
        """<iframe srcdoc="<button id='it'>x</button>"></iframe>
        <div id="veil" style="position: fixed; inset: 0">veil</div>"""
    )
    inner = inspected.frame_locator("iframe").locator("#it")

    assert read_obstacle(await inner.evaluate(INSPECT, obstacle_request())) == {
        "reason": "covered",
        "detail": 'its frame is covered by <div id="veil"> "veil"',
        "by": None,
    }


# closest


SHOP = """<h1>Checkout</h1><nav><a href="/">Home</a> <a href="/cart">Shopping cart (2)</a></nav>
<form id="order-form"><label>E-mail address <input name="user_email" id="email-1"></label>
<label>Password <input type="password" name="user_password"></label>
<button type="button" class="btn" id="back">Go back</button>
<button id="submit" type="submit"><span>Submit order</span></button>
<button id="submit-hidden" style="display: none">Submit button</button>
<div role="button" data-testid="apply-coupon">Apply</div><p class="total-price">12 €</p></form>"""


@pytest.mark.parametrize(
    ("selector", "first"),
    [
        ("#submit-button", 'button "Submit order" (#submit)'),
        ("#sumbit", 'button "Submit order" (#submit)'),
        ("text=Submit your order", 'button "Submit order" (#submit)'),
        ("//button[contains(text(), 'Submit')]", 'button "Submit order" (#submit)'),
        ("button:has-text('Back')", 'button "Go back" (#back)'),
        ("testid=coupon-apply", 'button "Apply" ([data-testid="apply-coupon"])'),
        ("#userEmail", 'textbox "E-mail address" (#email-1)'),
        ("input[name=email]", 'textbox "E-mail address" (#email-1)'),
        ("#pwd", 'input "Password" (input[name="user_password"])'),
        (".price", 'paragraph "12 €" (p:nth-of-type(1))'),
        ("a.cart-link", 'link "Shopping cart (2)" (a:nth-of-type(2))'),
        ("h1.checkout-title", 'heading "Checkout" (h1:nth-of-type(1))'),
    ],
)
async def test_the_closest_element_is_named_first(inspected: Page, selector: str, first: str) -> None:
    await inspected.set_content(SHOP)

    found = read_closest(await inspected.evaluate(INSPECT, closest_request(selector)))

    assert found[:1] == [first]


@pytest.mark.parametrize(
    "selector", ["#xyzzy", "//*[@id='frobnicate']", "", ">>", "text=Ünïcödé 漢字", "..", "div > span"]
)
async def test_distant_elements_are_not_suggested(inspected: Page, selector: str) -> None:
    await inspected.set_content(SHOP)

    assert read_closest(await inspected.evaluate(INSPECT, closest_request(selector))) == []


@pytest.mark.slow
async def test_closest_elements_are_found_quickly_on_a_large_page(inspected: Page) -> None:
    row = '<tr id="row-%d"><td>Product %d</td><td><button name="buy-%d">Buy number %d</button></td></tr>'
    rows = "".join(row % (i, i, i, i) for i in range(2500))
    fields = "".join(f"<label>Field {i} <input name=field-{i}></label>" for i in range(9_000))
    await inspected.set_content(f"<button id='submit'>Submit order</button>{fields}<table>{rows}</table>")

    taken = await inspected.evaluate(
        f"""request => {{
          const inspect = ({INSPECT}
          );
          const times = [];
          let found;
          for (let i = 0; i < 3; i++) {{
            const began = performance.now();
            found = inspect(request);
            times.push(performance.now() - began);
          }}
          return [found, Math.min(...times), times[0]];
        }}""",
        closest_request("#submit-button"),
    )

    found, milliseconds, first = taken
    assert found[0] == 'button "Submit order" (#submit)'
    assert milliseconds < 1000  # the goal is 50; a busy machine must not fail the test
    assert first < 3000  # Searching the page for the labels of each field took 15 s.


# table


async def test_table_is_read_as_data(inspected: Page) -> None:
    html = """<table><caption>Stock</caption><thead><tr><th>Item<th>Price</thead>
      <tfoot><tr><td>Total<td>3</tfoot>
      <tbody><tr><th scope="row">Tea<td>1</tr><tr><td> Cof\n  fee <b>x</b><td>2<br>or 3</tr></table>"""

    assert await table(inspected, html) == {
        "headers": ["Item", "Price"],
        "rows": [
            {"Item": "Tea", "Price": "1"},
            {"Item": "Cof fee x", "Price": "2 or 3"},
            {"Item": "Total", "Price": "3"},
        ],
        "metadata": {"rowCount": 3, "columnCount": 2, "caption": "Stock"},
    }


async def test_the_first_row_of_header_cells_is_the_header(inspected: Page) -> None:
    html = "<table><tr><th>10<th>2<tr><td>a<td>b<tr><td>c</table>"

    found = await table(inspected, html)

    assert found == {
        "headers": ["10", "2"],
        "rows": [{"10": "a", "2": "b"}, {"10": "c", "2": ""}],
        "metadata": {"rowCount": 2, "columnCount": 2},
    }
    assert list(found["rows"][0]) == ["10", "2"]


@pytest.mark.parametrize(
    ("html", "headers", "rows"),
    [
        ("<table><tr><td>a<td>b</table>", [], [["a", "b"]]),
        ("<table><tr><th>x<th>x<tr><td>a<td>b</table>", ["x", "x"], [["a", "b"]]),
        ("<table><tr><th><th>x<tr><td>a<td>b</table>", ["", "x"], [["a", "b"]]),
        ("<table><tr><th>x<tr><td>a<td>b</table>", ["x", ""], [["a", "b"]]),
        ("<table><tr><th>k<td>v<tr><th>l<td>w</table>", [], [["k", "v"], ["l", "w"]]),
        ("<table></table>", [], []),
        ("<table><tr></tr></table>", [], []),
    ],
)
async def test_rows_without_usable_headers_are_lists(
    inspected: Page, html: str, headers: list[str], rows: list[list[str]]
) -> None:
    found = await table(inspected, html)

    assert (found["headers"], found["rows"]) == (headers, rows)


async def test_spans_repeat_their_value(inspected: Page) -> None:
    html = """<table><thead>
      <tr><th rowspan="2">Name<th colspan="2">Born<tr><th>Year<th>Place</thead>
      <tbody><tr><td rowspan="0">A<td>1<td rowspan="2">X<tr><td>2<tr><td>3<td>Y</tbody>
      <tbody><tr><td colspan="3">B</tbody></table>"""

    assert await table(inspected, html) == {
        "headers": ["Name", "Born Year", "Born Place"],
        "rows": [
            {"Name": "A", "Born Year": "1", "Born Place": "X"},
            {"Name": "A", "Born Year": "2", "Born Place": "X"},
            {"Name": "A", "Born Year": "3", "Born Place": "Y"},
            {"Name": "B", "Born Year": "B", "Born Place": "B"},
        ],
        "metadata": {"rowCount": 4, "columnCount": 3},
    }


async def test_oversized_spans_are_limited_to_the_table(inspected: Page) -> None:
    html = """<table><tr><th>A<th>B<tr><td colspan="99999">all<tr><td rowspan="99999999999">1<td>2</table>"""

    assert await table(inspected, html) == {
        "headers": ["A", "B"],
        "rows": [{"A": "all", "B": "all"}, {"A": "1", "B": "2"}],
        "metadata": {"rowCount": 2, "columnCount": 2},
    }


async def test_nested_tables_keep_their_rows(inspected: Page) -> None:
    html = """<table id="outer"><tr><th>A<th>B<tr><td>1<td><table><tr><th>C<tr><td>deep</table></table>"""

    assert await table(inspected, html, "#outer") == {
        "headers": ["A", "B"],
        "rows": [{"A": "1", "B": "C deep"}],
        "metadata": {"rowCount": 1, "columnCount": 2},
    }
    assert (await table(inspected, html, "table table"))["rows"] == [{"C": "deep"}]


async def test_hidden_cells_and_rows_are_omitted(inspected: Page) -> None:
    html = """<style>.no { display: none }</style>
      <table><thead class="no"><tr><th>A<th class="no">H<th>B</thead>
      <tr><td>1<td class="no">h<td>2<span class="no">no</span><tr class="no"><td>3<td>h<td>4</table>"""

    assert await table(inspected, html) == {
        "headers": ["A", "B"],
        "rows": [{"A": "1", "B": "2"}],
        "metadata": {"rowCount": 1, "columnCount": 2, "hiddenRows": 1},
    }


async def test_table_inside_a_hidden_element_is_read(inspected: Page) -> None:
    html = '<div style="display: none"><table><tr><th>A<tr><td>1<br>2</table></div>'

    assert (await table(inspected, html))["rows"] == [{"A": "1 2"}]


async def test_cells_without_text_show_their_controls_or_labels(inspected: Page) -> None:
    html = """<table><tr><td><input value="typed"><td><img alt="yes"><td><select><option>one</select>
      <td><input type="password" value="hunter2"><td><i aria-label="starred"></i></table>"""

    assert (await table(inspected, html))["rows"] == [["typed", "yes", "one", "", "starred"]]


async def test_aria_tables_are_read_as_tables(inspected: Page) -> None:
    html = """<div role="grid"><div role="caption">Stock</div>
      <div role="rowgroup"><div role="row">
        <span role="columnheader">A</span><span role="columnheader">B</span></div></div>
      <div role="rowgroup">
        <div role="row"><div><span role="rowheader">1</span></div><span role="gridcell">2</span></div>
        <div role="row"><span role="gridcell" aria-colspan="2">3</span></div></div></div>"""

    assert await table(inspected, html, "[role=grid]") == {
        "headers": ["A", "B"],
        "rows": [{"A": "1", "B": "2"}, {"A": "3", "B": "3"}],
        "metadata": {"rowCount": 2, "columnCount": 2, "caption": "Stock"},
    }


@pytest.mark.parametrize("selector", ["#around", "#inside", "tr", "tbody", "x-y"])
async def test_table_inside_or_around_the_target_is_found(inspected: Page, selector: str) -> None:
    await inspected.set_content('<div id="around"><x-y></x-y></div>')
    await inspected.evaluate(
        """() => {
          const root = document.querySelector('x-y').attachShadow({mode: 'open'});
          root.innerHTML = '<table><tr><th>A<tr><td><b id="inside">1</b></table>';
        }"""
    )

    reply = await inspected.locator(selector).first.evaluate(INSPECT, table_request())

    assert read_table_data(reply)["rows"] == [{"A": "1"}]


async def test_layout_table_is_skipped_for_the_nested_data_table(inspected: Page) -> None:
    html = """<table role="presentation"><tr><td id="in"><table><tr><th>A<tr><td>1</table></table>"""

    assert (await table(inspected, html, "#in"))["rows"] == [{"A": "1"}]


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<main>Hi</main>", 'Not a table, nor in or around one: <main> "Hi", and the page has none'),
        (
            '<main>Hi</main><table id="t"></table>',
            'Not a table, nor in or around one: <main> "Hi"; the page\'s tables: #t',
        ),
        (
            '<main><table id="t"></table><table name="u"></table></main>',
            'It holds 2 tables; name one of them: #t, table[name="u"]',
        ),
    ],
)
async def test_missing_table_error_names_existing_tables(inspected: Page, html: str, message: str) -> None:
    with pytest.raises(ValueError, match="table") as caught:
        await table(inspected, html, "main")

    assert str(caught.value) == message


async def test_large_table_is_truncated_and_marked(inspected: Page) -> None:
    await inspected.set_content("<table>" + "<tr><td>a<td>b" * 50 + "</table>")

    reply = await inspected.locator("table").evaluate(INSPECT, table_request(limit=3))

    assert read_table_data(reply) == {
        "headers": [],
        "rows": [["a", "b"]] * 3,
        "metadata": {"rowCount": 50, "columnCount": 2, "truncated": True},
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "rows",
    [
        ("<tr>" + '<td colspan="1000" rowspan="65534">x' * 20) * 200,
        f'<tr><td>x<td colspan="1000" rowspan="65534">{"word " * 2_000}' + "<tr><td>x" * 2_000,
        '<tr><td>x<td colspan="1000">x' + "<tr><td>x<td>x" * 2_000,
        f"<tr><th>{'header ' * 1_000}<th>x" + "<tr><td>x<td>x" * 2_000,
    ],
    ids=["spans", "repeated texts", "empty slots", "repeated headers"],
)
async def test_table_with_huge_data_is_bounded(inspected: Page, rows: str) -> None:
    found = await table(inspected, f"<table>{rows}</table>")

    assert found["metadata"].get("truncated")
    assert len(json.dumps(found)) < 6_000_000


@dataclass(frozen=True)
class Cell:
    tag: str
    order: int
    columns: int
    rows: int

    @property
    def text(self) -> str:
        return f"c{self.order}"


@dataclass
class Formed:
    """The slots of the HTML standard's algorithm for forming a table (4.9.12), as it is written there."""

    slots: dict[tuple[int, int], Cell] = field(default_factory=dict[tuple[int, int], Cell])
    width: int = 0
    height: int = 0

    def group(self, rows: list[list[Cell]]) -> None:
        start, end = self.height, self.height + len(rows)
        growing: list[tuple[Cell, int, int]] = []
        for cells in rows:
            self.height += 1
            current = self.height - 1
            for cell, left, span in growing:
                self._cover(cell, range(left, left + span), range(current, current + 1))
            x = 0
            for cell in cells:
                while (x, current) in self.slots:
                    x += 1
                self._cover(
                    cell, range(x, x + cell.columns), range(current, min(current + (cell.rows or 1), end))
                )
                if cell.rows == 0:
                    growing.append((cell, x, cell.columns))
                x += cell.columns
        assert start <= end == self.height

    def _cover(self, cell: Cell, columns: range, rows: range) -> None:
        for y in rows:
            for x in columns:
                # Where cells overlap, which the standard calls an error, the one that begins first is read.
                self.slots[x, y] = min(cell, self.slots.get((x, y), cell), key=lambda one: one.order)
        self.width = max(self.width, columns.stop)

    def row(self, y: int) -> list[Cell | None]:
        return [self.slots.get((x, y)) for x in range(self.width)]


def model(sections: list[tuple[str, list[list[Cell]]]]) -> tuple[list[str], list[list[str]]]:
    """Headers and rows, the tables being what `sectioned` makes."""
    formed = Formed()
    head = [rows for tag, rows in sections if tag == "thead"]
    bodies = [rows for tag, rows in sections if tag == "tbody"]
    feet = [rows for tag, rows in sections if tag == "tfoot"]
    for rows in (*head, *bodies, *feet):
        formed.group(rows)
    flat = [cells for rows in (*head, *bodies, *feet) for cells in rows]

    # A cell alone in its row, at its start, has no say about the width.
    alone = {id(c[0]) for y, c in enumerate(flat) if len(c) == 1 and formed.slots.get((0, y)) is c[0]}
    said = [x + 1 for (x, _), cell in formed.slots.items() if id(cell) not in alone]
    width = max(said, default=formed.width)

    header_rows = sum(len(rows) for rows in head)
    if not header_rows and bodies:
        all_headers = [bool(cells) and all(cell.tag == "th" for cell in cells) for cells in bodies[0]]
        header_rows = [*all_headers, False].index(False)
        if 1 < header_rows == sum(len(rows) for rows in bodies):
            header_rows = 1

    def texts(y: int) -> list[str]:
        return [cell.text if cell else "" for cell in formed.row(y)][:width]

    def header(x: int) -> str:
        cells = [formed.slots.get((x, y)) for y in range(header_rows)]
        named = list({id(cell): cell.text for cell in cells if cell}.values())
        return " ".join(text for text in named if text)

    headers = [header(x) for x in range(width)] if header_rows else []
    displayed = [y for y in range(header_rows, formed.height) if any(formed.row(y))]
    return headers, [texts(y) for y in displayed]


@st.composite
def draw_sections(draw: Callable[..., Any]) -> list[tuple[str, list[list[Cell]]]]:
    number = iter(range(1000))

    def cell(tag: str) -> Cell:
        spans = st.sampled_from([1, 1, 1, 2, 3])
        return Cell(tag, next(number), draw(spans), draw(st.sampled_from([1, 1, 1, 2, 3, 0])))

    def rows() -> list[list[Cell]]:
        tags = st.lists(st.sampled_from(["td", "td", "th"]), max_size=4)
        header = st.lists(st.just("th"), min_size=1, max_size=4)
        return [
            [cell(tag) for tag in draw(header if draw(st.booleans()) else tags)]
            for _ in range(draw(st.integers(0, 4)))
        ]

    names = draw(
        st.sampled_from(
            [["tbody"], ["thead", "tbody"], ["tfoot", "tbody", "tbody"], ["thead", "tbody", "tfoot"]]
        )
    )
    return [(name, rows()) for name in names]


def html_of(sections: list[tuple[str, list[list[Cell]]]]) -> str:
    def row(cells: list[Cell]) -> str:
        inner = "".join(
            f'<{c.tag} colspan="{c.columns}" rowspan="{c.rows}">{c.text}</{c.tag}>' for c in cells
        )
        return f"<tr>{inner}</tr>"

    return "".join(f"<{tag}>{''.join(map(row, rows))}</{tag}>" for tag, rows in sections)


@examples(
    150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(sections=draw_sections())
async def test_table_model_matches_the_html_standard(
    shared_tab: Page, sections: list[tuple[str, list[list[Cell]]]]
) -> None:
    page = shared_tab
    await page.evaluate("html => { document.body.innerHTML = html }", f"<table>{html_of(sections)}</table>")

    found = read_table_data(await page.locator("table").evaluate(INSPECT, table_request()))

    headers, rows = model(sections)
    plain = [list(row.values()) if isinstance(row, dict) else row for row in found["rows"]]
    assert (found["headers"], plain) == (headers, rows)


# links


async def test_links_are_absolute_and_in_order(inspected: Page) -> None:
    await inspected.set_content(
        """<base href="http://shop.test/a/"><a href="b?c#d" title="Why">Text <b>here</b></a><a>none</a>
        <x-y></x-y><a href="b?c#d">again</a><a href="mailto:a@b.test"><img alt="Mail"></a><a href="http://[">bad</a>
        <map><area href="/m" alt="Map"></map><svg><a href="s"><text>Drawn</text></a>
        <a xlink:href="t"><text>Old</text></a></svg><a href="/h" hidden>Hidden</a><a href=""></a>"""
    )
    await inspected.evaluate(
        """() => {
          const root = document.querySelector('x-y').attachShadow({mode: 'open'});
          root.innerHTML = '<a href="/shadow">In <slot></slot></a>';
        }"""
    )

    assert read_links(await inspected.evaluate(INSPECT, links_request())) == [
        {"text": "Text here", "href": "http://shop.test/a/b?c#d", "title": "Why"},
        {"text": "In", "href": "http://shop.test/shadow"},
        {"text": "again", "href": "http://shop.test/a/b?c#d"},
        {"text": "Mail", "href": "mailto:a@b.test"},
        {"text": "bad", "href": "http://["},
        {"text": "Map", "href": "http://shop.test/m"},
        {"text": "Drawn", "href": "http://shop.test/a/s"},
        {"text": "Old", "href": "http://shop.test/a/t"},
        {"text": "Hidden", "href": "http://shop.test/h"},
        {"text": "", "href": "http://shop.test/a/"},
    ]


async def test_links_can_be_limited_to_an_element(inspected: Page) -> None:
    await inspected.set_content('<a href="http://a.test/">a</a><nav><a href="http://b.test/">b</a></nav>')

    inside = await inspected.locator("nav").evaluate(INSPECT, links_request())
    itself = await inspected.locator("nav a").evaluate(INSPECT, links_request())

    assert read_links(inside) == read_links(itself) == [{"text": "b", "href": "http://b.test/"}]
    assert len(read_links(await inspected.evaluate(INSPECT, links_request(limit=1)))) == 1


# metadata


async def test_page_metadata_is_read(inspected: Page) -> None:
    await inspected.set_content(
        """<html lang="de"><base href="http://shop.test/a/"><title> A  title </title>
        <meta name="Description" content="What it is"><meta name="keywords" content="a, b">
        <meta property="og:image" content="i.png"><link rel="nofollow canonical" href="/c">"""
    )

    assert read_page_metadata(await inspected.evaluate(INSPECT, metadata_request())) == {
        "title": "A title",
        "description": "What it is",
        "keywords": "a, b",
        "ogImage": "http://shop.test/a/i.png",
        "canonicalUrl": "http://shop.test/c",
        "language": "de",
        "url": "about:blank",
    }


async def test_absent_metadata_is_null(inspected: Page) -> None:
    await inspected.set_content("<img name=title><p>Hi")

    assert read_page_metadata(await inspected.evaluate(INSPECT, metadata_request())) == {
        "title": None,
        "description": None,
        "keywords": None,
        "ogImage": None,
        "canonicalUrl": None,
        "language": None,
        "url": "about:blank",
    }


# pages that mean harm, or do it


HOSTILE = """<form id="f"><input name="attributes"><input name="id"><input name="tagName">
<input name="localName"><input name="parentNode"><input name="nodeType"><input name="getAttribute">
<input name="children"><input name="querySelectorAll"><input name="shadowRoot"><input name="firstChild">
<button>Send order</button><a href="http://a.test/">Link</a>
<table><tr><th>A<tr><td>1</table></form><img name="querySelectorAll"><img name="createElementNS">
<img name="documentElement"><script>
  const Node = class {}, Element = class {}, Document = class {}, URL = class {};
  for (const name of ['map', 'filter', 'forEach', 'indexOf', 'includes', 'join', 'sort', 'concat', 'some'])
    Array.prototype[name] = () => { throw new Error('mine') };
  for (const type of [Object, Array, String, Number, Boolean]) type.prototype.toJSON = () => 'mine';
  MORE
</script>"""


async def everything_asked(page: Page) -> list[object]:
    form = page.locator("form")
    found = read_description(await form.evaluate(INSPECT, describe_request()))
    return [
        (found["tagName"], found["selector"], found["attributes"], found["text"]),
        read_obstacle(await page.locator("button").evaluate(INSPECT, obstacle_request())),
        read_closest(await page.evaluate(INSPECT, closest_request("#send-order"))),
        read_table_data(await form.evaluate(INSPECT, table_request()))["rows"],
        read_links(await page.evaluate(INSPECT, links_request())),
        read_page_metadata(await page.evaluate(INSPECT, metadata_request()))["url"],
    ]


@pytest.mark.parametrize("more", ["", "Array.prototype.push = () => 0;", "Array.prototype.push = undefined;"])
async def test_hostile_page_is_read_normally(inspected: Page, more: str) -> None:
    await inspected.set_content(HOSTILE.replace("MORE", more))

    assert await everything_asked(inspected) == [
        ("form", "#f", {"id": "f"}, "Send order Link A 1"),
        None,
        ['button "Send order" (button:nth-of-type(1))'],
        [{"A": "1"}],
        [{"text": "Link", "href": "http://a.test/"}],
        "about:blank",
    ]


async def test_element_attributes_ignore_polluted_prototypes(inspected: Page) -> None:
    await inspected.set_content("<p>x</p><script>Object.prototype.toJSON = () => 'mine'</script>")

    assert (await describe(inspected, "p"))["attributes"] == {}


async def test_lone_surrogates_and_control_characters_are_preserved(inspected: Page) -> None:
    await inspected.set_content("<p></p>")
    await inspected.evaluate("document.querySelector('p').append('a\\ud800b\\u0001c')")

    assert (await describe(inspected, "p"))["text"] == "a\ud800b\u0001c"


@pytest.mark.parametrize(
    "what", ["describe", "table", "links", "metadata", "closest", "obstacle", "describe_all", "", None]
)
@pytest.mark.parametrize(
    "argument", ["null", "7", "'text'", "[]", "[null]", "window", "document", "{}", "() => 1"]
)
async def test_unexpected_requests_raise_no_exception(
    inspected: Page, what: str | None, argument: str
) -> None:
    await inspected.evaluate(f"request => (({INSPECT}\n)({argument}, request), 0)", {"what": what})


async def test_deeply_nested_page_is_read(inspected: Page) -> None:
    await inspected.set_content("<main></main>")
    await inspected.evaluate(
        """() => {
          let at = document.querySelector('main');
          for (let i = 0; i < 2000; i++) at = at.appendChild(document.createElement('div'));
          at.innerHTML = '<table><tr><td>deep</table><a id="deep-link" href="http://a.test/">deep</a>';
        }"""
    )

    assert (await describe(inspected, "main"))["tagName"] == "main"
    assert read_table_data(await inspected.locator("main").evaluate(INSPECT, table_request()))["rows"] == [
        ["deep"]
    ]
    assert read_links(await inspected.evaluate(INSPECT, links_request())) == [
        {"text": "deep", "href": "http://a.test/"}
    ]
    assert read_closest(await inspected.evaluate(INSPECT, closest_request("#deeplink", limit=1))) == [
        'link "deep" (#deep-link)'
    ]


@pytest.mark.parametrize(
    "document",
    [
        "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><a href='x'>a</a></svg>",
        "data:text/xml,<a><b/></a>",
    ],
)
async def test_non_html_documents_are_read(inspected: Page, document: str) -> None:
    await inspected.goto(document)

    assert read_page_metadata(await inspected.evaluate(INSPECT, metadata_request()))["url"] == document
    assert (
        read_description(await inspected.locator("a").evaluate(INSPECT, describe_request()))["tagName"] == "a"
    )
    read_links(await inspected.evaluate(INSPECT, links_request()))


async def test_empty_document_has_nothing_to_describe(inspected: Page) -> None:
    await inspected.evaluate("document.documentElement.remove()")

    for request, read in ((describe_request(), read_description), (table_request(), read_table_data)):
        with pytest.raises(ValueError, match="the document has no elements"):
            read(await inspected.evaluate(INSPECT, request))
    assert read_obstacle(await inspected.evaluate(INSPECT, obstacle_request())) is None


def test_malformed_reply_is_an_error() -> None:
    for read in (
        read_description,
        read_descriptions,
        read_closest,
        read_links,
        read_page_metadata,
        read_table_data,
    ):
        with pytest.raises(ValueError, match="could not be read"):
            read(None)
    with pytest.raises(ValueError, match="No table"):
        read_table_data('{"error": "No table"}')
