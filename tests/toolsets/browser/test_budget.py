"""The lines of a long page that are kept within a budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import connect_browser

if TYPE_CHECKING:
    from tests.conftest import Browser
    from tests.site import Site

pytestmark = pytest.mark.anyio

LINKS = "".join(f"<li><a href='/{number}'>Section {number}</a></li>" for number in range(40))
WORDS = "<p>These words fill the page, and none of them asks for anything.</p>"
ADMIN = f"""<header><a href=/>Site administration</a></header><nav aria-label=Sidebar><ul>{LINKS}</ul></nav>
<main><p role=status>The order was added successfully.</p><h1>Orders</h1>{WORDS * 20}
<p>Date: <input></p><button>Save</button></main><footer>{"<p>Imprint and more of it.</p>" * 20}</footer>"""


async def lines(browser: Browser, html: str, budget: int) -> list[str]:
    await browser.show(html)
    seen = await browser.call("snapshot", budget=budget)
    assert len(seen["snapshot"]) <= budget
    return [" ".join(line.split()[1:] if line.split()[0][1:].isdigit() else line.split())
            for line in seen["snapshot"].splitlines()]  # fmt: skip


async def test_status_and_main_content_precede_navigation_and_footer(browser: Browser) -> None:
    seen = await lines(browser, ADMIN, 600)

    assert seen[:5] == ["banner", 'navigation "Sidebar"', "main", "status: The order was added successfully.",
                        'h1 "Orders"']  # fmt: skip
    assert 'button "Save"' in seen
    assert "contentinfo" in seen
    assert not any("Section" in line or "Imprint" in line for line in seen)


@pytest.mark.one_machine("the ids in links are longer there")
async def test_controls_precede_texts_and_keep_their_label_text(
    browser: Browser,
) -> None:
    seen = await lines(browser, ADMIN, 320)

    at = seen.index("textbox")
    assert seen[at - 1] in ('"Date:"', "paragraph: Date:")
    assert seen[at + 1] == 'button "Save"'
    assert not any("These words" in line for line in seen)


async def test_similar_rows_are_folded_so_that_later_content_is_shown(browser: Browser) -> None:
    rows = "".join(f"<tr><td>Order {n}</td><td><a href=/{n}>Open</a></td></tr>" for n in range(80))
    html = f"<main><table><tr><th>Name<th>Link{rows}</table><button>Next page</button></main>"

    seen = await lines(browser, html, 1_200)

    [note] = [line for line in seen if line.startswith("…") and "rows" in line]
    assert "more rows e" in note
    assert any("Order 0" in line for line in seen)
    assert any("Order 79" in line for line in seen)
    assert seen[-2] == 'button "Next page"'
    assert seen[-1].startswith("… shortened: ")


async def test_open_dialog_and_focused_element_are_always_kept(browser: Browser) -> None:
    buttons = "".join(f"<p><button>Button {number}</button></p>" for number in range(60))
    html = f"""<main>{buttons}<input aria-label=Here autofocus></main>
        <div role=dialog aria-label=Question><p>Really?</p><button>Yes</button></div>"""

    seen = await lines(browser, html, 300)

    assert 'textbox "Here" focused' in seen
    assert seen[seen.index('dialog "Question"') + 1 :][:2] == ["paragraph: Really?", 'button "Yes"']


async def read_lines(browser: Browser, html: str) -> list[str]:
    """Return the lines of the whole page, with their refs."""
    await browser.show(html)
    return str((await browser.call("snapshot"))["snapshot"]).splitlines()


async def test_a_plain_table_row_is_one_line_with_its_cells(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<table><tr><th>Item<th>Price<th>Order<tr><td>Tea<td>3 €<td><a href=/tea>Buy tea</a>
        <tr><td>Coffee | "black"<td><td><a href=/a>One</a> <a href=/b>Two</a></table>""",
    )

    assert seen == [
        "e1 table",
        ' head: "Item" | "Price" | "Order"',
        ' row: "Tea" | "3 €" | e10 link "Buy tea" -> /tea',
        ' row: "Coffee | \\"black\\"" | "" | e15 link "One" -> /a & e16 link "Two"',
    ]


async def test_a_row_does_not_repeat_the_roles_of_the_row_above(browser: Browser) -> None:
    rows = "".join(
        f"<tr><td><input type=checkbox aria-label=Choose {'checked' if n == 2 else ''}>"
        f"<td><a href=/{n}>Tea {n}</a>"
        f"<td><a href=/{n}/edit title='Tea {n}'>Edit</a> <button>Delete</button><td>{n} €"
        for n in range(1, 4)
    )
    head = "<tr><th><input type=checkbox aria-label=All><th><a href=?sort=name>Name</a><th>Act<th>Price"

    seen = await read_lines(browser, f"<table>{head}{rows}</table>")

    assert [re.sub(r"\be\d+", "e", line) for line in seen] == [
        "e table",
        ' row: e checkbox "All" | e link "Name" | "Act" | "Price"',
        ' row: e checkbox "Choose" | e link "Tea 1" -> /1'
        ' | e link "Edit" -> /1/edit & e button "Delete" | "1 €"',
        ' row: e checked | e "Tea 2" | e & e | "2 €"',
        ' row: e | e "Tea 3" | e & e | "3 €"',
    ]


async def test_first_row_after_a_cut_repeats_the_hidden_roles(
    browser: Browser,
) -> None:
    rows = "".join(f"<tr><td>Tea {n}<td><button>Buy</button>" for n in range(60))

    seen = await lines(browser, f"<main><table>{rows}</table><button>Next</button></main>", 400)

    buttons = [line for line in seen if "Tea" in line]
    assert len(buttons) > 1
    assert 'button "Buy"' in buttons[0]
    assert seen[-2] == 'button "Next"'


async def test_short_list_of_controls_is_one_line(browser: Browser) -> None:
    items = "".join(f"<li><a href=/{n}>Page {n}</a>" for n in range(1, 5))
    seen = await read_lines(browser, f"<ul>{items}</ul><ul><li>Milk<li>Bread</ul><p><button>Go</button></p>")

    assert [re.sub(r"\be\d+", "e", line) for line in seen] == [
        'list of links: e "Page 1" -> /1 | e "Page 2" | e "Page 3" | e "Page 4"',
        "list",
        " e listitem: Milk",
        " e listitem: Bread",
        'e button "Go"',
    ]


async def test_repeated_option_lists_are_written_once(browser: Browser) -> None:
    options = "".join(f"<option>{each}" for each in ("Tea", "Coffee", "Water", "Milk"))
    fields = "".join(f"<select aria-label={name}>{options}</select>" for name in ("First", "Second"))

    seen = await read_lines(browser, fields + "<select aria-label=Third><option>Tea<option>Cocoa</select>")

    assert seen == [
        'e1 combobox "First": Tea',
        ' options: "Tea" | "Coffee" | "Water" | "Milk"',
        'e2 combobox "Second": Tea',
        " options like e1",
        'e3 combobox "Third": Tea',
        ' options: "Tea" | "Cocoa"',
    ]


async def test_calendar_takes_at_most_700_characters(browser: Browser) -> None:
    heads = "".join(f"<th>{day}" for day in ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"))
    days = [f"<td role=gridcell><button>{day or ''}</button>" for day in (0, 0, *range(1, 32), 0, 0)]
    weeks = "".join(f"<tr>{''.join(days[start : start + 7])}" for start in range(0, 35, 7))
    html = f"<table role=grid aria-label='May 2031'><tr>{heads}{weeks}</table>"

    seen = await read_lines(browser, html)

    assert len("\n".join(seen)) <= 700
    assert seen[3].endswith(' | e39 "12"')


async def test_wrapper_and_description_repeat_no_text(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<div role=generic title=Save tabindex=-1 data-testid=a><button>Save</button></div>
        <div><input aria-label=Mail aria-describedby=hint><p id=hint>Only for the receipt.</p></div>
        <input aria-label=Name aria-describedby=away><br hidden><p hidden id=away>Not shown.</p>""",
    )

    assert seen == [
        'e2 button "Save"',
        'e3 textbox "Mail"',
        "paragraph: Only for the receipt.",
        'e4 textbox "Name" description "Not shown."',
    ]


async def test_controls_without_a_name_have_a_hint(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<button id=save></button><button class="btn"><i class="fa fa-trash"></i></button>
        <select name=colour></select><input type=file multiple aria-label=Pictures><button id=ok>OK</button>
        <span onclick=1 style="display: block; height: 9px" class="icon-close"></span>""",
    )

    assert seen == [
        'e1 button hint "#save"',
        'e2 button hint ".fa-trash"',
        'e3 combobox hint "colour"',
        'e4 button "Pictures" file multiple',
        'e5 button "OK"',
        'e6 generic clickable hint ".icon-close"',
    ]


async def test_ids_that_libraries_count_are_no_hints(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<input type=checkbox id=input-v-13><input type=checkbox id=checkbox-r1b>
        <input type=checkbox id=checkbox-rn>
        <input id=pv_id_97><input id=ui-kit-cshod32cw><input type=checkbox id=row-2><input id=s2>""",
    )

    assert seen == [
        "e1 checkbox",
        "e2 checkbox",
        "e3 checkbox",
        "e4 textbox",
        "e5 textbox",
        'e6 checkbox hint "#row-2"',
        'e7 textbox hint "#s2"',
    ]


async def test_sortable_header_has_a_ref_if_it_can_have_the_focus(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<style>.sorts { cursor: pointer }</style>
        <table><tr><th><input type=checkbox aria-label=All><th tabindex=0 class=sorts>Name<th tabindex=0>Price
        <th tabindex=-1>Stock<tr><td><input type=checkbox aria-label=Tea><td>Tea<td>3<td>4</table>""",
    )

    assert seen[1:] == [
        ' row: e4 checkbox "All" | e5 columnheader "Name" clickable | e6 columnheader "Price" clickable'
        ' | "Stock"',
        ' row: e10 checkbox "Tea" | "Tea" | "3" | "4"',
    ]


async def test_menu_that_a_button_owns_keeps_its_contents(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<button aria-owns=menu aria-expanded=true>Actions</button><p>Text</p>
        <div id=menu><ul><li onclick=1>Copy</li><li onclick=1>Paste</li></ul></div>""",
    )

    assert seen == [
        'e1 button "Actions" expanded',
        "paragraph: Text",
        "list",
        " e2 listitem clickable: Copy",
        " e3 listitem clickable: Paste",
    ]


async def test_description_that_is_inside_a_dialog_is_not_repeated(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<p id=out hidden>Said elsewhere</p>
        <div role=dialog aria-label=Delete aria-describedby="body out"><p id=body>Really?</p></div>""",
    )

    assert seen == ['e1 dialog "Delete" description "Said elsewhere"', " paragraph: Really?"]


async def test_same_long_description_is_written_once(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<p hidden id=how>Press the space bar to pick up the item, and again to drop it.</p>
        <button aria-describedby=how>Tea</button><button aria-describedby=how>Milk</button>""",
    )

    assert seen == [
        'e1 button "Tea" description "Press the space bar to pick up the item, and again to drop it."',
        'e2 button "Milk"',
    ]


async def test_list_in_an_edited_text_is_only_in_its_value(browser: Browser) -> None:
    seen = await read_lines(browser, "<div contenteditable role=textbox><p>Buy<ul><li>Tea</ul></div>")

    assert seen == ['e1 textbox: "Buy\\n\\nTea"']


async def test_message_area_has_no_line_until_there_is_a_message(browser: Browser) -> None:
    await browser.show(
        """<input aria-label=Notes><p role=alert id=it></p>
        <button onclick="it.textContent = 'Required'">Save</button>"""
    )

    before = str((await browser.call("snapshot"))["snapshot"]).splitlines()
    await browser.call("click", selector="role=button")
    after = str((await browser.call("snapshot"))["snapshot"]).splitlines()

    assert before == ['e1 textbox "Notes"', 'e3 button "Save"']
    assert after == ['e1 textbox "Notes"', "e2 alert: Required", 'e3 button "Save" focused']


async def test_text_beside_a_radio_button_does_not_repeat_its_name(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<span><input type=radio aria-label=Red></span><span>Red</span>
        <span><input type=radio aria-label=Blue></span><span>Deep blue</span>""",
    )

    assert seen == ['e1 radio "Red"', 'e2 radio "Blue"', '"Deep blue"']


async def test_hint_prefers_tooltip_and_icon_over_generated_id(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<button id=":r5:" data-tooltip=Archive></button><button id=mui-12></button>
        <button id="radix-:r1:"><span><svg class="lucide lucide-trash-2"></svg></span></button>
        <button><svg data-testid=AccountCircleIcon></svg></button>
        <button><svg data-icon=pen></svg></button>
        <button><svg><use href="/icons.svg#copy" /></svg></button>
        <button id=c6><span><i class="q-icon material-icons" aria-hidden=true>menu</i></span></button>
        <button><mat-icon aria-hidden=true>delete</mat-icon></button>
        <button><span class=material-symbols-outlined aria-hidden=true>arrow_back</span></button>""",
    )

    assert seen == [
        'e1 button hint "Archive"',
        "e2 button",
        'e3 button hint ".lucide-trash-2"',
        'e4 button hint "AccountCircleIcon"',
        'e5 button hint "pen"',
        'e6 button hint "#copy"',
        'e7 button hint "menu"',
        'e8 button hint "delete"',
        'e9 button hint "arrow_back"',
    ]


async def test_focus_of_an_empty_child_is_shown_on_its_control(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<button>Save<span id=ring tabindex=-1></span></button><div role=dialog aria-label=Sure>
        <p>Sure?</p></div><script>ring.focus()</script>""",
    )

    assert seen == ['e1 button "Save" focused', 'e2 dialog "Sure"', " paragraph: Sure?"]


async def test_texts_that_render_a_field_are_not_separate_lines(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<div data-testid=title>Times</div><input aria-label=Times type=number value=2>
        <div onclick=1 style="cursor: pointer"><div>State</div><div>open</div>
        <input role=combobox aria-label=State readonly value=open aria-expanded=false></div>
        <p>5</p><input aria-label=Quantity value=5><p>Note</p><p>Other</p><input aria-label=Note>""",
    )

    assert seen == [
        'e2 spinbutton "Times": 2',
        "e3 generic clickable",
        ' e6 combobox "State" collapsed readonly: open',
        "paragraph: 5",
        'e7 textbox "Quantity": 5',
        "paragraph: Note",
        "paragraph: Other",
        'e8 textbox "Note"',
    ]


async def test_empty_landmark_is_left_out(browser: Browser) -> None:
    seen = await read_lines(
        browser, "<header></header><main>Text</main><nav aria-label=Pages></nav><footer></footer>"
    )

    assert seen == ["e2 main: Text", 'e3 navigation "Pages"']


async def test_draggable_has_a_ref_and_pointer_events_none_is_disabled(browser: Browser) -> None:
    seen = await read_lines(
        browser,
        """<style>.card { cursor: grab } .off { pointer-events: none } .day { cursor: pointer }</style>
        <div class=card>Fix login</div><div class="day off">25</div><div class=day>26</div>
        <a href=/next class=off>Next</a><label class=day><input type=checkbox class=off> Mail</label>""",
    )

    assert seen == [
        "e1 generic clickable draggable: Fix login",
        "e2 generic disabled: 25",
        "e3 generic clickable: 26",
        'e4 link "Next" disabled -> /next',
        'e5 checkbox "Mail"',
    ]


async def test_a_short_budget_keeps_the_last_messages_of_a_log(browser: Browser) -> None:
    messages = "".join(
        f"<b>Ada</b><p>Message number {number}</p><button>React</button>" for number in range(20)
    )
    await browser.show(f"<div role=log>{messages}</div><input aria-label=Message><button>Send</button>")

    seen = (await browser.call("snapshot", budget=400))["snapshot"]

    assert "Message number 19" in seen
    assert "Message number 18" in seen
    assert "Message number 0" not in seen
    assert '"Send"' in seen


async def test_a_folded_log_shows_its_last_messages(browser: Browser) -> None:
    messages = "".join(f"<p>Message number {number}</p>" for number in range(80))

    seen = await lines(browser, f"<div role=log>{messages}</div><button>Send</button>", 800)

    assert seen[1].startswith("… ")
    assert seen[2] != "paragraph: Message number 0"
    assert seen[-3:-1] == ["paragraph: Message number 79", 'button "Send"']
    assert len(seen) > 15


async def test_a_short_budget_names_all_parts_of_a_board(browser: Browser) -> None:
    names = ["Backlog", "Ready", "Doing", "Review", "Waiting", "Done"]
    cards = "".join(
        f"<li><a href=/{number}>Task {number} with a title</a> <button>Move {number}</button></li>"
        for number in range(9)
    )
    columns = "".join(f"<section aria-label={name}><ul>{cards}</ul></section>" for name in names)
    headed = "".join(f"<h2>{name}</h2>{cards.replace('li>', 'p>')}" for name in names)

    folded = await lines(browser, f"<main>{columns}</main>", 1_900)
    cut = await lines(browser, f"<main>{headed}</main>", 1_000)

    [note] = [line for line in folded if "more regions" in line]
    assert note.endswith(': "Review", "Waiting"')
    assert folded[-1].startswith("… shortened; the whole: ")  # In the whole text, each list is one long line.
    assert [name for name in names if f'h2 "{name}"' not in cut] == []


async def test_a_short_budget_keeps_nameless_controls_with_their_labels(browser: Browser) -> None:
    rows = "".join(f"<p>Help about setting {number}</p><input type=checkbox>" for number in range(60))

    seen = await lines(browser, f"<main>{rows}<button>Save</button></main>", 1_200)

    texts = [index for index, line in enumerate(seen) if "Help" in line]
    assert len(texts) >= 10
    assert {seen[index + 1] for index in texts[:-1]} == {"checkbox"}
    assert 'button "Save"' in seen


async def test_days_are_one_line_and_labels_are_not_repeated(browser: Browser) -> None:
    days = "".join(f"<div onclick=1>{day}</div>" for day in range(1, 6))
    seen = await read_lines(
        browser,
        f"{days}<label><p>Your name</p></label><input aria-label='Your name'>"
        "<p>Age *</p><input aria-label=Age>",
    )

    assert seen == [
        'generic clickable: e1 "1" | e2 "2" | e3 "3" | e4 "4" | e5 "5"',
        'e6 textbox "Your name"',
        "paragraph: Age *",
        'e7 textbox "Age"',
    ]


async def test_control_rows_are_one_line_and_nameless_fields_keep_texts(
    browser: Browser,
) -> None:
    row = "<tr><td>{0}<td><button>Edit</button><button>Delete</button>"
    await browser.show(
        "<ul><li><a href=/>Home</a></ul>"
        f"<table><tr><th>Name<th>{row.format('Ada')}{row.format('Bob')}</table>"
        "<b>Digest</b><p>Once a week</p><input type=checkbox>"
    )

    seen = (await browser.call("snapshot", interactive=True))["snapshot"].splitlines()

    assert [re.sub(r"\be\d+", "e", line) for line in seen] == [
        'e link "Home" -> /',
        'row "Ada" of buttons: e "Edit" | e "Delete"',
        'row "Bob": e "Edit" | e "Delete"',
        '"Digest"',
        "paragraph: Once a week",
        "e checkbox",
    ]


async def test_changed_cell_is_named_by_row_and_column(browser: Browser) -> None:
    await browser.show(
        """<table><tr><th>Item<th>Price<tr><td>Tea<td>3 €<tr><td>Coffee<td id=price>4 €</table>
        <button onclick="document.querySelector('#price').textContent = '5 €'">Raise</button>"""
    )

    answer = await browser.answer("click", selector="button", observe="diff")
    observed = answer.structured_content["observation"]["text"]

    assert observed.splitlines()[:2] == [
        '  e8 row (row "Coffee")',
        '~  e10 cell "5 €" (column "Price", name was "4 €")',
    ]


FIELDS = "".join(f"<label>Field {n}<input></label>" for n in range(40))


async def test_invalid_fields_and_their_messages_are_kept(browser: Browser) -> None:
    wrong = "<label>Town<input aria-invalid=true></label><p>Enter a town</p>"

    seen = await lines(browser, f"<main><h1>Apply</h1>{FIELDS}{wrong}{FIELDS}</main>", 400)

    at = seen.index('textbox "Town" invalid')
    assert seen[at + 1] in ('"Enter a town"', "paragraph: Enter a town")


async def test_message_outside_main_without_role_is_kept(browser: Browser) -> None:
    seen = await lines(browser, f"<main>{FIELDS}<h1>Form</h1></main><div>Could not be saved</div>", 300)

    assert '"Could not be saved"' in seen or "generic: Could not be saved" in seen


async def test_message_is_kept_on_a_page_without_landmarks(browser: Browser) -> None:
    seen = await lines(browser, f"{FIELDS}<div>Could not be saved</div>", 300)

    assert any("Could not be saved" in line for line in seen)


async def test_the_selected_row_of_a_grid_is_kept(browser: Browser) -> None:
    rows = "".join(
        f"<tr role=row aria-selected={'true' if n == 31 else 'false'}><td>Person {n}<td>Subject {n}"
        for n in range(50)
    )

    seen = await lines(browser, f"<main><table role=grid>{rows}</table></main>", 400)

    assert [line for line in seen if "selected" in line and "Person 31" in line]


async def test_page_buttons_precede_buttons_repeated_in_every_entry(browser: Browser) -> None:
    words = "Some words of a comment. " * 6
    comments = "".join(f"<div><p>{words}</p><button>Reply</button><p>By {n}</p></div>" for n in range(40))

    seen = await lines(browser, f"<main>{comments}<button>Close the issue</button></main>", 500)

    assert 'button "Close the issue"' in seen
    assert seen.count('button "Reply"') >= 3


async def test_budget_keeps_controls_of_every_kind(browser: Browser) -> None:
    boxes = "".join(
        f"<p><label><input type=checkbox>Event {n}</label></p><p>About {n}</p>" for n in range(60)
    )

    assert 'button "Save changes"' in await lines(
        browser, f"<main>{boxes}<button>Save changes</button></main>", 700
    )


async def test_unchanged_page_has_one_resource_for_repeated_snapshots(browser: Browser) -> None:
    await browser.show(ADMIN)
    await browser.call("snapshot", budget=600)  # The first one after navigating tells more of the landmarks.
    seen = [await browser.call("snapshot", budget=600) for _ in range(2)]
    interactive = await browser.call("snapshot", budget=600, interactive=True)
    await browser.evaluate("document.querySelector('[role=status]').textContent = 'It was changed.'")
    changed = await browser.call("snapshot", budget=600)
    await browser.evaluate("document.title = 'Another title'")
    renamed = await browser.call("snapshot", budget=600)

    assert seen[0] == seen[1]
    assert interactive["snapshot"] != seen[0]["snapshot"]
    assert "It was changed." in changed["snapshot"]
    assert renamed["title"] == "Another title"
    assert changed["resource"] != seen[0]["resource"]


async def test_repeated_snapshot_links_to_a_text_that_is_still_stored(site: Site) -> None:
    page = f"<main>{''.join(f'<p>Text {number}</p>' for number in range(200))}</main>"
    async with connect_browser(site, FOOTLIGHT_RESOURCES_MAX_STORED="5000") as browser:
        await browser.show(page)
        texts = [await browser.call("snapshot", budget=500) for _ in range(3)]
        await browser.call("tabs", action="new", url=browser.site.page(page, path="/other"))
        await browser.call("snapshot", budget=500)
        await browser.call("tabs", action="select", pageId="page-1")
        again = await browser.call("snapshot", budget=500)
        text = await browser.client.read_resource(again["resource"])

    assert texts[1] == texts[2]
    assert again["snapshot"].splitlines()[:-1] == texts[2]["snapshot"].splitlines()[:-1]
    assert again["resource"] != texts[2]["resource"]
    assert "Text 199" in str(text)
