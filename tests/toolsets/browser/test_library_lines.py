"""The lines of elements as component libraries and applications write them."""

from __future__ import annotations

import re

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

_BOX = "<label aria-label='Choose row'><span><input type=checkbox></span></label>"
_ROW = f"<tr><td>{_BOX}<td>Ada<td><button>Edit</button><button>Delete</button></tr>"


async def _snapshot(browser: SessionBrowser, html: str) -> list[str]:
    """Return the lines of a page, without the numbers of refs."""
    await browser.show(html)
    return re.sub(r"e\d+", "e", (await browser.call("snapshot"))["snapshot"]).split("\n")


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        ("<td>Tea<td><a href=/c>Ada</a> <em>17</em>", [' row: "Tea" | e link "Ada" -> /c & "17"']),
        ("<td>Tea<td>by <a href=/c>Ada</a>, <em>1</em>", [' row: "Tea" | "by" & e link "Ada" -> /c & ", 1"']),
        ("<td>Tea<td>Item 10 of <a href=/c>1</a>", [' row: "Tea" | "Item 10 of" & e link "1" -> /c']),
        (
            "<th aria-sort=ascending>Name<button aria-label='Sort by Name'></button><th>Price",
            [' row: e columnheader "Name" sort=ascending & e button "Sort by Name" | "Price"'],
        ),
        (
            "<th>Name<i class=icon-filter style='cursor: pointer'></i><th>Price",
            [' row: "Name" & e generic clickable hint ".icon-filter" | "Price"'],
        ),
        (
            "<th aria-label='Select row'><input type=checkbox aria-label='Select all'><th>Price",
            [' row: "Select row" & e checkbox "Select all" | "Price"'],
        ),
        (
            "<td title=q><button aria-label='expand q'></button><span>q</span><td>Text",
            [' row: e button "expand q" & "q" | "Text"'],
        ),
    ],
)
async def test_cell_with_texts_and_controls_is_a_part_of_its_row(
    browser: SessionBrowser, cells: str, lines: list[str]
) -> None:
    table = f"<table><caption>T</caption><tr>{cells}</tr><tr><th>A<th>B</tr></table>"

    assert (await _snapshot(browser, table))[1:2] == lines


async def test_label_with_the_name_of_its_box_leaves_the_row_on_one_line(browser: SessionBrowser) -> None:
    lines = await _snapshot(browser, f"<table><tr><th>A<th>B<th>C<tbody tabindex=-1>{_ROW * 2}</table>")

    assert lines[-2:] == [
        '  row: e checkbox "Choose row" | "Ada" | e button "Edit" & e button "Delete"',
        '  row: e "Choose row" | "Ada" | e "Edit" & e "Delete"',
    ]


async def test_part_of_a_header_that_is_clicked_shows_its_text(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser,
        """<div role=grid aria-label=G><div role=row><div role=columnheader><span style='cursor: pointer'>
        <svg class=icon-filter width=9 height=9></svg></span><div style='cursor: pointer'>Make
        <i class=icon-asc hidden></i></div></div></div></div>""",
    )

    assert lines[1:] == [' row: e generic clickable hint ".icon-filter" & e generic clickable: "Make"']


async def test_icon_that_is_not_shown_is_no_hint(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser,
        """<button><i class=icon-spinner style='display: none'></i><i class=icon-save></i></button>
        <button><i class=icon-spinner style='display: none'></i></button>""",
    )

    assert lines == ['e button hint ".icon-save"', "e button"]


async def test_cell_with_code_keeps_its_lines(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser,
        "<table><tr><th>Code<th>Details<tr><td>200<td><h5>Body</h5><button>Copy</button>"
        "<pre>{\n  a: 1\n}</pre></table>",
    )

    assert lines[2:] == [' row: "200" | e h5 "Body" & e button "Copy" & "{\\n  a: 1\\n}"']


async def test_line_of_code_keeps_an_indentation_in_a_text_of_its_own(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser, "<div><pre><b>if</b> x:</pre><pre><span>  <b>return</b> 1</span></pre><pre>\n</pre></div>"
    )

    assert lines == ['"if x:"', '"  return 1"']


async def test_shapes_in_a_focusable_map_have_refs(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser,
        """<div tabindex=0 style='cursor: grab'><svg pointer-events=none width=300 height=300>
        <path style='cursor: pointer; pointer-events: auto' d='M10 10L250 10L250 250Z'></path></svg>
        <a href=/zoom>Zoom</a></div>""",
    )

    assert lines == ['e generic draggable: e generic clickable | e link "Zoom" -> /zoom']


async def test_dialog_that_lets_clicks_beside_its_content_pass_is_not_disabled(
    browser: SessionBrowser,
) -> None:
    lines = await _snapshot(
        browser,
        """<div tabindex=0 id=dialog style='pointer-events: none'><div style='pointer-events: all'>Sure?
        <button>Yes</button></div></div><div tabindex=0 style='pointer-events: none'>Pay</div>""",
    )

    assert lines == ["e generic", ' "Sure?"', ' e button "Yes"', "e generic disabled: Pay"]


async def test_table_whose_cells_alone_receive_clicks_is_not_disabled(browser: SessionBrowser) -> None:
    lines = await _snapshot(
        browser,
        """<table tabindex=-1 style='pointer-events: none'><tr><th>Item<th>Price
        <tr style='pointer-events: auto'><td>Tea<td>3</table>""",
    )

    assert lines[0] == "e table"


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<fieldset><legend>Size</legend><input></fieldset>", ['e group "Size"', " e textbox"]),
        ("<div role=radiogroup aria-label=Size>Size: <input></div>", ['e radiogroup "Size"', " e textbox"]),
        ("<h1 aria-label=Report>Report <a href='#r'>#</a></h1>", ['e h1 "Report"', ' e link "#" -> #r']),
        (
            "<div>Role</div><div tabindex=0><div role=combobox tabindex=0 aria-label=Role></div></div>",
            ['e combobox "Role"'],
        ),
        ("<select aria-label=Type><option>JSON</select>", ['e combobox "Type": JSON']),
        (
            "<div tabindex=0 aria-disabled=true><button disabled>Cut</button></div>",
            ['e button "Cut" disabled'],
        ),
        ("<ul><li><li><a href=/1>1</a><li></ul>", ["list", ' listitem: e link "1" -> /1']),
        ("<button title=Save>Save all</button>", ['e button "Save all"']),
        ("<button title='Save'>Saved</button>", ['e button "Saved" description "Save"']),
        ("<button class=send-button><svg width=9 height=9></svg></button>", ['e button hint ".send-button"']),
        (
            "<ul><li><input aria-label=Mail><li><span id=d>PNG or WEBP</span>"
            "<input type=file aria-label=File aria-describedby=d></ul>",
            ['list: e textbox "Mail" | "PNG or WEBP" & e button "File" file'],
        ),
    ],
)
async def test_line_that_repeats_another_is_left_out(
    browser: SessionBrowser, html: str, lines: list[str]
) -> None:
    assert await _snapshot(browser, html) == lines


async def test_few_folded_buttons_of_a_bar_are_named(browser: SessionBrowser) -> None:
    words = ("Save", "Insert", "Cut", "Copy", "Paste", "Run", "Stop", "Restart")
    bar = "".join(
        f"<div tabindex=0 aria-label='{word}'><button aria-label='{word}'></button></div>" for word in words
    )
    await browser.show(f"<div role=toolbar aria-label=Cell>{bar}</div><pre>{'Words of a text. ' * 40}</pre>")

    text = (await browser.call("snapshot", budget=400))["snapshot"]

    assert re.search(r'… 4 more buttons e\d+…e\d+: "Copy", "Paste", "Run", "Stop"\n', text), text
