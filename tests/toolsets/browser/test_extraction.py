"""Reading texts, attributes, tables and links of a page."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest
from mcp_types import TextContent
from PIL import Image, ImageChops
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


# Text, attributes, values


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one  two<br>three</p>", "one two\nthree"),
        ("<p>shown <i hidden>hidden</i></p>", "shown"),
        ("<p></p>", ""),
        ("<p style='text-transform:uppercase'>loud</p>", "LOUD"),
        ("<svg><text class=p>drawn</text></svg>", "drawn"),
    ],
)
async def test_get_text_returns_the_visible_text(browser: SessionBrowser, html: str, text: str) -> None:
    await browser.show(html)

    assert await browser.call("get_text", selector="p, .p") == {"text": text}


async def test_get_text_waits_for_the_element(browser: SessionBrowser) -> None:
    await browser.show("<script>setTimeout(() => document.body.innerHTML = '<p>late</p>', 150)</script>")

    assert await browser.call("get_text", selector="p") == {"text": "late"}


async def test_get_all_text_returns_every_current_match(browser: SessionBrowser) -> None:
    await browser.show("<ul><li>one<li><b>two</b><li></ul><svg><text>three</text></svg>")

    assert await browser.call("get_all_text", selector="li, text") == {"texts": ["one", "two", "", "three"]}
    assert await browser.call("get_all_text", selector="h1") == {"texts": []}


@pytest.mark.parametrize(
    ("attribute", "value"), [("href", "/x?a=1&b"), ("data-empty", ""), ("title", None), ("HREF", "/x?a=1&b")]
)
async def test_get_attribute_returns_the_raw_value_or_null(
    browser: SessionBrowser, attribute: str, value: str | None
) -> None:
    await browser.show("<a href='/x?a=1&amp;b' data-empty>link</a>")

    assert await browser.call("get_attribute", selector="a", attribute=attribute) == {"value": value}


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<input id=f value=written>", "written"),
        ("<textarea id=f>\none\ntwo</textarea>", "one\ntwo"),
        ("<select id=f><option>a<option selected value=b>second</select>", "b"),
        ("<input id=f type=checkbox value=yes>", "yes"),
        ("<label id=f>Name <input value=inner></label>", "inner"),
        ("<label><span id=f>Name</span> <input value=inner></label>", "inner"),
    ],
)
async def test_get_value_returns_the_field_value(browser: SessionBrowser, html: str, value: str) -> None:
    await browser.show(html)

    assert await browser.call("get_value", selector="#f") == {"value": value}


async def test_get_value_returns_all_selected_options(browser: SessionBrowser) -> None:
    await browser.show(
        "<select id=f multiple><option value=s>Small<option selected>Mid<option selected value=l>Large"
    )

    assert await browser.call("get_value", selector="#f") == {"value": "Mid", "values": ["Mid", "l"]}
    for value in ("Mid, Large", "Mid, l", "Mid", "l"):
        await browser.call("expect", value={"#f": value})
    error = await browser.refused("expect", value={"#f": "s"}, timeout=1000)
    assert error["details"]["actual"] == "Mid, Large"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("inside", "value"),
    [
        ("<div>if a:</div><div>    b()</div><div><br></div><div>c</div>", "if a:\n    b()\n\nc"),
        ("<div>a</div><div><br></div>", "a\n"),
        ("<div><br></div>", ""),
        ("a<div><br></div><div>b</div>", "a\n\nb"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<div><div><b>a</b></div><div><br></div><div>b</div></div>", "a\n\nb"),
        ("<div>a</div><div hidden>b</div><div>c</div>", "a\nc"),
        ("<p>a</p><p>b <b>c</b></p>", "a\n\nb c"),
        ("<div>a</div><p>b</p>", "a\n\nb"),
        ("a <b>b</b><!-- c -->", "a b"),
        ("<!-- c --><div>a</div>", "a"),
        ("<?c?><div>a</div><div><br></div><div>b</div>", "a\n\n\nb"),
    ],
)
async def test_text_of_an_editor_has_its_lines(browser: SessionBrowser, inside: str, value: str) -> None:
    style = "white-space: pre-wrap"
    await browser.show(f"<div id=f contenteditable aria-label=F style='{style}'>{inside}</div>")

    assert await browser.call("get_value", selector="#f") == {"value": value}
    shown = value.strip("\n")
    quoted = json.dumps(shown) if "\n" in shown else shown
    answer = await browser.answer("snapshot", rootSelector="#f")
    texts = [each.text for each in answer.content if isinstance(each, TextContent)]
    assert texts[1].splitlines()[1] == f'e1 textbox "F": {quoted}'.removesuffix(": ")


async def test_get_value_reads_fields_of_an_xhtml_document(browser: SessionBrowser) -> None:
    body = "<input id='a' value='Ada'/><textarea id='b'>Hi</textarea><select id='c'><option>One</option>"

    async def document(_: Request) -> Response:
        html = f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</select></body></html>"
        return Response(html, media_type="application/xhtml+xml")

    await browser.call("navigate", url=browser.site.route(document))

    values = [(await browser.call("get_value", selector=f"#{name}"))["value"] for name in "abc"]
    assert values == ["Ada", "Hi", "One"]


async def test_get_value_refuses_an_element_that_is_not_a_field(browser: SessionBrowser) -> None:
    await browser.show("<p>text</p>")

    error = await browser.refused("get_value", selector="p")

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"


# Screenshots


async def take_picture(
    browser: SessionBrowser, tool: str, /, **arguments: Any
) -> tuple[dict[str, Any], Image.Image]:
    """Return the data of a screenshot and its image, after comparing them."""
    result = await browser.answer(tool, **arguments)
    assert result.structured_content is not None
    data = result.structured_content["data"]
    _, content, link = result.content
    assert (content.type, link.type) == ("image", "resource_link")
    raw = base64.b64decode(content.data, validate=True)
    image = Image.open(io.BytesIO(raw))
    assert (data["width"], data["height"], data["bytes"]) == (*image.size, len(raw))
    assert f"image/{data['format']}" == content.mime_type == Image.MIME[image.format or ""]
    assert data.pop("uri") == link.uri
    del data["bytes"]
    return data, image


BLUE_OVER_GREEN = """<!doctype html><body style='margin:0'>
<div id=top style='width:2000px;height:1000px;background:#00f'></div>
<div id=end style='width:2000px;height:1000px;background:#0f0'></div>"""


async def test_screenshot_shows_the_viewport(browser: SessionBrowser) -> None:
    await browser.show(BLUE_OVER_GREEN)

    data, image = await take_picture(browser, "screenshot")

    assert data == {"width": 1280, "height": 720, "format": "png", "fullPage": False}
    assert image.convert("RGB").getpixel((640, 360)) == (0, 0, 255)


async def test_full_page_screenshot_is_scaled_down_only_on_request(browser: SessionBrowser) -> None:
    await browser.show(BLUE_OVER_GREEN)

    data, image = await take_picture(browser, "screenshot", fullPage=True)
    assert data == {"width": 2000, "height": 2000, "format": "png", "fullPage": True}
    assert image.convert("RGB").getpixel((1900, 1900)) == (0, 255, 0)

    small, image = await take_picture(browser, "screenshot", fullPage=True, maxSide=500)
    original = {"originalWidth": 2000, "originalHeight": 2000}
    assert small == {"width": 500, "height": 500, "format": "png", "fullPage": True, **original}
    assert image.convert("RGB").getpixel((480, 480)) == (0, 255, 0)


async def test_full_page_screenshot_of_a_document_without_body_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<p>Teas</p>")
    await browser.call("evaluate", script="document.documentElement.remove()")

    error = await browser.refused("screenshot", fullPage=True)
    data, _ = await take_picture(browser, "screenshot")

    assert (error["code"], error["suggestion"]) == (
        "INVALID_PARAMETER",
        "Take the screenshot without fullPage.",
    )
    assert data == {"width": 1280, "height": 720, "format": "png", "fullPage": False}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ({}, (1568, 784)),
        ({"maxSide": 0}, (2000, 1000)),
        ({"maxSide": 99}, (99, 50)),
        ({"maxSide": 3000}, None),
    ],
)
async def test_element_screenshot_is_scaled_to_model_limits(
    browser: SessionBrowser, arguments: dict[str, Any], size: tuple[int, int] | None
) -> None:
    await browser.show(BLUE_OVER_GREEN)

    data, image = await take_picture(browser, "screenshot_element", selector="#end", **arguments)

    width, height = size or (2000, 1000)
    scaled = {} if width == 2000 else {"originalWidth": 2000, "originalHeight": 1000}
    assert data == {"width": width, "height": height, "format": "png", "fullPage": False, **scaled}
    assert image.convert("RGB").getpixel((width // 2, height // 2)) == (0, 255, 0)


async def test_large_viewport_screenshot_is_scaled_down(browser: SessionBrowser) -> None:
    session = await browser.call("create_session", viewport={"width": 2000, "height": 500})
    try:
        data, _ = await take_picture(browser, "screenshot", **session)
    finally:
        await browser.call("close_session", **session)

    original = {"originalWidth": 2000, "originalHeight": 500}
    assert data == {"width": 1568, "height": 392, "format": "png", "fullPage": False, **original}


async def test_jpeg_quality_is_configurable_and_refused_for_png(browser: SessionBrowser) -> None:
    await browser.show("<body style='background:conic-gradient(red, blue, green, red)'><p>text</p>")

    sizes = []
    for quality in (5, 95):
        data, image = await take_picture(browser, "screenshot", type="jpeg", quality=quality)
        assert data == {"width": 1280, "height": 720, "format": "jpeg", "fullPage": False}
        sizes.append(len(image.tobytes("jpeg", "RGB")))
    element, _ = await take_picture(browser, "screenshot_element", selector="p", type="jpeg")
    assert element["format"] == "jpeg"

    error = await browser.refused("screenshot", quality=50)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == "quality: only valid for JPEG; set type to jpeg"


# Tables, links, metadata


async def test_table_rows_become_objects_keyed_by_header(browser: SessionBrowser) -> None:
    await browser.show(
        "<table><caption>Stock</caption><tr><th>Fruit<th>Price<tr><td>Pear<td>1.20<tr><td>Plum<td>0.80</table>"
    )

    assert await browser.call("extract_table", selector="table") == {
        "headers": ["Fruit", "Price"],
        "rows": [{"Fruit": "Pear", "Price": "1.20"}, {"Fruit": "Plum", "Price": "0.80"}],
        "metadata": {"rowCount": 2, "columnCount": 2, "caption": "Stock"},
    }


async def test_spanning_cells_are_repeated(browser: SessionBrowser) -> None:
    await browser.show(
        """<table><tr><th>A<th>B<th>C<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>"""
    )

    assert await browser.call("extract_table", selector="table") == {
        "headers": ["A", "B", "C"],
        "rows": [{"A": "1", "B": "2", "C": "2"}, {"A": "1", "B": "3", "C": "4"}],
        "metadata": {"rowCount": 2, "columnCount": 3},
    }


@pytest.mark.parametrize(
    ("html", "headers"),
    [
        ("<table><tr><th>A<th>A<tr><td>1<td>2</table>", ["A", "A"]),
        ("<table><tr><th>A<th><tr><td>1<td>2</table>", ["A", ""]),
        ("<table><tr><td>1<td>2</table>", []),
    ],
)
async def test_rows_are_lists_where_headers_repeat_or_are_missing(
    browser: SessionBrowser, html: str, headers: list[str]
) -> None:
    await browser.show(html)

    assert await browser.call("extract_table", selector="table") == {
        "headers": headers,
        "rows": [["1", "2"]],
        "metadata": {"rowCount": 1, "columnCount": 2},
    }


async def test_table_is_read_despite_replaced_builtin_functions(browser: SessionBrowser) -> None:
    await browser.show(
        "<table><tr><th>A<th>B<tr><td>1<td><a href=/x>two</a></table><script>"
        "JSON.stringify = () => 'x'; Object.keys = window.getComputedStyle = () => { throw 1 };"
        "for (const name of ['matches', 'querySelectorAll', 'getAttribute'])"
        "  Element.prototype[name] = () => { throw 1 };"
        "for (const name of ['trim', 'replace', 'split']) String.prototype[name] = () => { throw 1 };"
        "Array.prototype[Symbol.iterator] = function* () {}</script>"
    )

    table = await browser.call("extract_table", selector="table")
    links = await browser.call("extract_links", selector="table")

    assert table["rows"] == [{"A": "1", "B": "two"}]
    assert [link["text"] for link in links["links"]] == ["two"]


async def test_non_table_element_is_refused_with_existing_tables(browser: SessionBrowser) -> None:
    await browser.show("<p id=p>text</p><table id=t><tr><td>1</table><table id=u><tr><td>2</table>")

    for selector, says in (
        ("#p", 'Not a table, nor in or around one: <p id="p"> "text"; the page\'s tables: #t, #u'),
        ("body", "It holds 2 tables; name one of them: #t, #u"),
    ):
        error = await browser.refused("extract_table", selector=selector)
        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"] == f"selector: {says}"


async def test_links_are_absolute(browser: SessionBrowser) -> None:
    await browser.show(
        """<base href="http://example.com/x/"><a href="a?b=1#c" title=Hint>one</a><a name=anchor>none</a>
        <div><a href="//other.example/"><img alt=Logo></a><a href="mailto:a@b">Mail</a></div>"""
    )

    other = [
        {"text": "Logo", "href": "http://other.example/"},
        {"text": "Mail", "href": "mailto:a@b"},
    ]
    one = {"text": "one", "href": "http://example.com/x/a?b=1#c", "title": "Hint"}
    assert await browser.call("extract_links") == {"links": [one, *other]}
    assert await browser.call("extract_links", selector="div") == {"links": other}


async def test_page_metadata_is_read_from_the_head(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            """<!doctype html><html lang=en-GB><title> A  title </title><meta name=description content=About>
            <meta name=keywords content="a, b"><meta property=og:image content=/i.png>
            <link rel=canonical href=/c>"""
        )
    )["url"]

    assert await browser.call("get_page_metadata") == {
        "title": "A title",
        "description": "About",
        "keywords": "a, b",
        "ogImage": f"{browser.site.url}/i.png",
        "canonicalUrl": f"{browser.site.url}/c",
        "language": "en-GB",
        "url": url,
    }


async def test_missing_page_metadata_is_null(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>no head</p>"))["url"]

    nothing = dict.fromkeys(("title", "description", "keywords", "ogImage", "canonicalUrl", "language"))
    assert await browser.call("get_page_metadata") == {**nothing, "url": url}


# Scripts


@pytest.mark.parametrize(
    ("script", "args", "result"),
    [
        ("1 + 1", None, 2),
        ("document.title;", None, "Title"),
        ("() => 5", None, 5),
        ("(a, b) => a + b", [1, 2], 3),
        ("function (word) { return word + '!' }", ["yes"], "yes!"),
        ("async word => { await null; return word }", [{"deep": [1, None, "ä"]}], {"deep": [1, None, "ä"]}),
        ("args[0] * 2", [4], 8),
        ("return 7", None, 7),
        ("const a = 1;\nif (a) { return args.length }\nreturn 0", [1, 2, 3], 3),
        ("await Promise.resolve(3)", None, 3),
        ("const r = await fetch(location.href); return r.status", None, 200),
        ("'text' // and a comment", None, "text"),
        ("({a: undefined, b: null, c: [1, , 3]})", None, {"a": None, "b": None, "c": [1, None, 3]}),
        ("undefined", None, None),
        ("new Map([['a', {b: 1}]])", None, [["a", {"b": 1}]]),
        ("new Set(['a'])", None, ["a"]),
        ("new Date(0)", None, "1970-01-01T00:00:00+00:00"),
        ("/a+/", None, "/a+/"),
        ("document.body", None, "ref: <Node>"),
        ("'\\ud800'", None, "\ufffd"),
        ("'\\ud83d\\ude00'", None, "😀"),
        ("'a\\u0000\\u0007b'", None, "a\x00\x07b"),
        ("const a = {x: 1}; a.self = a; return a", None, {"x": 1, "self": "[circular]"}),
        ("const s = {q: 1}; return [s, s]", None, [{"q": 1}, {"q": 1}]),
        ("it.value", None, "Tea"),
        ("it.value = run.value, it.value", None, "Cup"),
    ],
)
async def test_evaluate_takes_expressions_functions_and_bodies(
    browser: SessionBrowser, script: str, args: list[Any] | None, result: object
) -> None:
    await browser.show("<title>Title</title><input id=it value=Tea><input id=run value=Cup>")

    given = {} if args is None else {"args": args}
    assert await browser.call("evaluate", script=script, **given) == {"result": result}


@pytest.mark.parametrize("isolated", [False, True])
async def test_evaluate_says_why_a_script_has_no_result(browser: SessionBrowser, isolated: bool) -> None:
    await browser.show("")
    lost = {
        "NaN": "NaN",
        "-Infinity": "-Infinity",
        "Symbol()": "a symbol",
        "() => () => 5": "a function",
        "new Date(NaN)": "an invalid date",
    }
    expected = {
        script: {"result": None, "notice": f"the value is {name}, which JSON cannot represent"}
        for script, name in lost.items()
    }

    assert {each: await browser.call("evaluate", script=each, isolated=isolated) for each in lost} == expected


async def test_evaluate_says_that_a_body_returns_nothing(browser: SessionBrowser) -> None:
    await browser.show("")

    found = await browser.call("evaluate", script="const sum = 1 + 1; sum")

    assert found == {"result": None, "notice": "the script is a body without return, so it has no value"}


async def test_evaluate_describes_a_thrown_object(browser: SessionBrowser) -> None:
    await browser.show("")

    error = await browser.refused("evaluate", script="Promise.reject({status: 409})")

    assert error["message"] == 'script: {"status":409}'


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "script",
    [
        "count += 1",
        "() => { const title = document.title; count++; return title }",
        "[1].map(() => count++)",
        "sneaky.value",
        "`${sneaky}`",
        "({...sneaky})",
        "new Proxy({}, {get: () => count++}).anything",
        "[...counting()]",
        "const before = count; count = before + 1; return before",
        "const before = count; while (count === before) count++; while (count === before);",
        "document.title + localStorage.setItem('count', ++count)",
        "args => { count++; return 'SCRIPT ARGS' }",
    ],
)
async def test_script_with_side_effects_runs_once(browser: SessionBrowser, script: str) -> None:
    await browser.show("""<title>Title</title><script>
        count = 0
        sneaky = {get value() { return count++ }, toString() { count++; return '' }}
        function* counting() { yield count++ }
      </script>""")

    await browser.call("evaluate", script=script, args=["SCRIPT"])

    assert await browser.call("evaluate", script="count") == {"result": 1}


@pytest.mark.slow
async def test_read_only_script_reports_no_effect_on_a_polling_page(
    browser: SessionBrowser,
) -> None:
    await browser.show("<title>T</title><script>n = 0; setInterval(() => fetch('/own-' + ++n), 50)</script>")

    answers = [await browser.answer("evaluate", script="document.title") for _ in "123"]

    # On a busy machine the trial without side effects may take too long, so not every answer has to say it.
    assert "none" in [(answer.structured_content or {}).get("effect") for answer in answers]


async def test_isolated_script_uses_original_browser_functions(browser: SessionBrowser) -> None:
    await browser.show("<title>Tea</title><script>window.Array = null; Map = () => 1; price = 8</script>")

    given = {"script": "(kind) => [kind, new Map([[1, 2]]).get(1), document.title, typeof price]"}
    assert await browser.call("evaluate", **given, args=["cup"], isolated=True) == {
        "result": ["cup", 2, "Tea", "undefined"]
    }
    assert (await browser.refused("evaluate", script="() => none.at", isolated=True))["message"] == (
        "script: ReferenceError: none is not defined"
    )


async def test_metadata_is_read_despite_replaced_functions(browser: SessionBrowser) -> None:
    await browser.show("<title>Tea</title><script>window.Array = null</script>")

    assert (await browser.call("get_page_metadata"))["title"] == "Tea"


async def test_evaluate_returns_large_results(browser: SessionBrowser) -> None:
    assert await browser.call("evaluate", script="'x'.repeat(1.9e5)") == {"result": "x" * 190_000}
    assert await browser.call("evaluate", script="Array.from({length: 1e4}, (_, i) => i)") == {
        "result": list(range(10_000))
    }


THROWN = ("boom", "ReferenceError: missing is not defined", "TypeError: no")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("throw new Error('boom')", "boom"),
        ("missing.field", "ReferenceError: missing is not defined"),
        ("Promise.reject(new TypeError('no'))", "TypeError: no"),
        ("this is no script", "SyntaxError: Unexpected identifier 'is'"),
        (
            "let it = []; for (let i = 0; i < 20000; i++) it = [it]; return it",
            "its value is nested too deeply",
        ),
    ],
)
async def test_script_error_is_reported_without_stack(
    browser: SessionBrowser, script: str, says: str
) -> None:
    url = (await browser.show("<p>page</p>"))["url"]

    error = await browser.refused("evaluate", script=script)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == f"script: {says}"
    ran = {"dispatched": True} if says in THROWN else {}
    assert error["details"] == {"parameter": "script", "page": url, **ran}
    assert ("has been done" in error["suggestion"]) == bool(ran)


async def test_unsettled_promise_times_out(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>page</p>"))["url"]

    error = await browser.refused("evaluate", script="new Promise(() => {})", timeout=300)

    assert error["code"] == "TIMEOUT"
    assert error["details"] == {"url": url, "timeout": 300}
    assert await browser.call("get_text", selector="p") == {"text": "page"}


# Pages that make it hard

BROKEN = """<body><script>
document.body.innerHTML = '<p>x</p><a>x</a><input><table><tr><th>x<tr><td>x</table>';
const broken = 'a\\udc00\\u0000\\u0007z';
document.title = broken;
for (const it of document.querySelectorAll('p, a, th, td')) it.textContent = broken;
document.querySelector('p').setAttribute('data-x', broken);
document.querySelector('input').value = broken;
document.querySelector('a').href = 'http://example.com/?' + broken;
console.log(broken); console.error(broken);
</script>"""
MENDED = "a\ufffd\x00\x07z"


async def test_surrogates_and_control_characters_are_handled_everywhere(
    browser: SessionBrowser,
) -> None:
    await browser.show(BROKEN)

    assert await browser.call("get_text", selector="p") == {"text": MENDED}
    assert await browser.call("get_all_text", selector="p, a") == {"texts": [MENDED, MENDED]}
    assert await browser.call("get_attribute", selector="p", attribute="data-x") == {"value": MENDED}
    assert await browser.call("get_value", selector="input") == {"value": MENDED}
    assert (await browser.call("get_page_metadata"))["title"] == "a\ufffd z"  # So Chromium itself has it.
    link = {"text": MENDED, "href": "http://example.com/?a%EF%BF%BD%00%07z"}
    assert await browser.call("extract_links") == {"links": [link]}
    table = await browser.call("extract_table", selector="table")
    assert (table["headers"], table["rows"]) == ([MENDED], [{MENDED: MENDED}])
    element = (await browser.call("find_element", selector="p"))["element"]
    assert (element["text"], element["attributes"]) == (MENDED, {"data-x": MENDED})
    assert await browser.call("evaluate", script="({[broken]: broken})") == {"result": {MENDED: MENDED}}


async def test_dialog_with_unpaired_surrogate_is_reported(browser: SessionBrowser) -> None:
    data = await browser.call("evaluate", script="alert('\\ud800!')")

    dialog = {"pageId": "page-1", "type": "alert", "message": "\ufffd!", "handled": "accepted"}
    assert data == {"result": None, "dialogs": [dialog]}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("get_text", {"selector": "p"}, "text"),
        ("get_all_text", {"selector": "p"}, "texts"),
        ("find_element", {"selector": "p"}, "element"),
        ("find_elements", {"selector": "p"}, "elements"),
        ("get_page_metadata", {}, "title"),
        ("extract_links", {}, "links"),
    ],
)
async def test_reading_survives_page_navigations(
    browser: SessionBrowser, tool: str, arguments: dict[str, Any], key: str
) -> None:
    await browser.show(
        """<title>again</title><p>again</p><script>
        const visits = Number(sessionStorage.visits || 0);
        sessionStorage.visits = visits + 1;
        if (visits < 8) setTimeout(() => location.reload(), 10);
        </script>""",
        waitUntil="domcontentloaded",
    )

    for _ in range(8):
        assert key in await browser.call(tool, **arguments)


# Marks

CONTROLS = """<!doctype html><style>
  body > * { position: absolute; left: 200px; border: 0 }
  button { width: 90px; height: 40px; background: #ccc }
</style><button style='top: 100px'></button><p style='top: 300px'>text</p>
<button style='top: 1500px'></button>"""


@pytest.mark.parametrize("type", ["png", "jpeg"])
async def test_marks_are_drawn_beside_interactive_elements(browser: SessionBrowser, type: str) -> None:
    await browser.show(CONTROLS)
    plain, before = await take_picture(browser, "screenshot", type=type)

    data, image = await take_picture(browser, "screenshot", marks=True, type=type)

    changed = ImageChops.difference(before.convert("RGB"), image.convert("RGB")).point(
        lambda value: value > 99
    )
    assert (data, changed.getbbox()) == (plain, (200, 86, 290, 140))


async def test_full_page_marks_are_at_their_elements(browser: SessionBrowser) -> None:
    await browser.show(CONTROLS)
    await browser.call("scroll", y=500)
    _, before = await take_picture(browser, "screenshot", fullPage=True)

    _, image = await take_picture(browser, "screenshot", marks=True, fullPage=True)

    changed = ImageChops.difference(before.convert("RGB"), image.convert("RGB"))
    boxes = [changed.crop((0, top, 1280, top + 300)).getbbox() for top in (0, 300, 1300)]
    assert boxes == [(200, 86, 290, 140), None, (200, 186, 290, 240)]


async def test_mark_label_is_a_usable_ref(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='document.title = this.textContent'>one</button>")
    await browser.call("screenshot", marks=True)

    await browser.call("click", selector="e1")

    assert (await browser.call("get_page_metadata"))["title"] == "one"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("fetch('/count', {method: 'POST'}).then(r => r.json())", "SyntaxError: Unexpected token"),
        (
            "fetch('/count', {method: 'POST'}).then(() => { throw new SyntaxError('late') })",
            "SyntaxError: late",
        ),
        ("return fetch('/count', {method: 'POST'}).then(r => r.json())", "SyntaxError: Unexpected token"),
        (
            "fetch('/count', {method: 'POST'}).then(() => ({toJSON() { throw new SyntaxError('told') }}))",
            None,
        ),
        (
            "async () => { await fetch('/count', {method: 'POST'}); JSON.parse('<') }",
            "SyntaxError: Unexpected",
        ),
        ("fetch('/count', {method: 'POST'}).then(() => eval('a b'))", "SyntaxError: "),
        (
            "fetch('/count', {method: 'POST'}).then(() => Promise.reject('SyntaxError: mine'))",
            "SyntaxError: mine",
        ),
    ],
)
async def test_throwing_script_runs_only_once(browser: SessionBrowser, script: str, says: str | None) -> None:
    counted: list[str] = []

    async def count(request: Request) -> Response:
        counted.append(request.method)
        return HTMLResponse("<p>no JSON</p>")

    browser.site.route(count, path="/count")
    await browser.show("<p>page</p>")

    answer = await browser.answer("evaluate", script=script)

    assert counted == ["POST"]
    assert answer.structured_content is not None
    if says:
        error = answer.structured_content["error"]
        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"].startswith(f"script: {says}")
        assert error["details"]["dispatched"] is True


@pytest.mark.parametrize("scaled", [{}, {"maxSide": 200}])
async def test_lower_quality_gives_a_smaller_jpeg(browser: SessionBrowser, scaled: dict[str, Any]) -> None:
    await browser.show("<body style='background: linear-gradient(45deg, red, blue, lime)'><h1>Picture</h1>")

    async def size(quality: int) -> int:
        answer = await browser.answer("screenshot", type="jpeg", quality=quality, **scaled)
        return next(len(content.data) for content in answer.content if content.type == "image")

    assert await size(0) < await size(40) < await size(80)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<div id=it contenteditable role=textbox>one<br>two</div>", "one\ntwo"),
        ("<div id=it contenteditable><p>one <b>two</b></p></div>", "one two"),
        ("<div id=it role=slider tabindex=0 aria-valuenow=5></div>", "5"),
        ("<div id=it role=slider aria-valuenow=5 aria-valuetext=low></div>", "low"),
        ("<output id=it>7</output>", "7"),
        ("<div id=it role=combobox tabindex=0><b>Two</b> seats<svg></svg></div>", "Two seats"),
        ("<div id=it role=combobox><input value=Tea></div>", "Tea"),
    ],
)
async def test_get_value_reads_fields_that_are_not_form_controls(
    browser: SessionBrowser, html: str, value: str
) -> None:
    await browser.show(html)

    assert await browser.call("get_value", selector="#it") == {"value": value}


async def test_get_value_error_suggests_get_text(browser: SessionBrowser) -> None:
    await browser.show("<p id=it>words</p>")

    error = await browser.refused("get_value", selector="#it")

    assert error["message"] == '"#it" is not a field, and holds no value'
    assert error["suggestion"].startswith("Read its words with get_text")


async def test_extracted_table_includes_field_values_in_cells(browser: SessionBrowser) -> None:
    await browser.show(
        """<table><tr><th>Paid<th>Order</tr>
        <tr><td><input type=checkbox checked><td>five <input value=5> pieces</tr>
        <tr><td><label><input type=checkbox> Yes</label><td><select><option>a<option selected>b</select></tr>
        <tr><td><input type=checkbox aria-label="Select 7">
            <td><span role=switch aria-checked=true>On</span></tr>
        <tr><td><input type=radio checked> card<td><input type=password value=hunter2></tr></table>
        <script>document.querySelectorAll('[type=checkbox]')[1].indeterminate = true</script>"""
    )

    table = await browser.call("extract_table", selector="table")

    assert [(row["Paid"], row["Order"]) for row in table["rows"]] == [
        ("[x]", "five 5 pieces"),
        ("[-] Yes", "b"),
        ("[ ] Select 7", "[x] On"),
        ("[x] card", ""),
    ]
