"""Widgets that libraries draw themselves: drop-downs, covered or hidden inputs, grids and calendars."""

from __future__ import annotations

import re

import pytest

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.rendering import make_lines
from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

PARTLY_LISTED = """<style>.option { height: 20px; cursor: pointer } .off { cursor: not-allowed }</style>
<input id=city role=combobox aria-autocomplete=list aria-controls=cities aria-owns=cities aria-expanded=false>
<div><div id=cities role=listbox style="height: 0; width: 0; overflow: hidden"></div>
<div id=drawn></div></div>
<output id=chosen></output><script>
const all = [['p', 'Paris'], ['r', 'Rome'], ['b', 'Berlin'], ['x', 'Off']];
// The list is searched by the keys of its options.
const draw = () => {
  const fit = all.filter(([key]) => key.includes(city.value));
  cities.innerHTML =
    fit.slice(0, 2).map(([key, name]) => `<div role=option aria-label=${name}>${key}</div>`).join('');
  drawn.innerHTML = fit.map(([_, name]) =>
    `<div class="option ${name === 'Off' ? 'off' : ''}"><div>${name}</div></div>`).join('');
  city.ariaExpanded = 'true';
};
city.onclick = city.oninput = draw;
drawn.onclick = ({target}) => {
  if (target.closest('.off')) return;
  chosen.textContent += target.textContent + '; ';
  city.value = '';
  cities.innerHTML = drawn.innerHTML = '';
  city.ariaExpanded = 'false';
};
</script>"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_open", [False, True])
async def test_option_is_chosen_that_only_screen_readers_find_in_the_list(
    browser: SessionBrowser, is_open: bool
) -> None:
    await browser.show(PARTLY_LISTED)
    if is_open:
        await browser.call("click", selector="#city")

    rome = await browser.call("select", selector="#city", value="Rome")
    await browser.call("select", selector="#city", value="Berlin")

    assert rome["selected"] == ["Rome"]
    assert await browser.evaluate("chosen.textContent") == "Rome; Berlin; "


@pytest.mark.slow
async def test_drawn_option_that_is_disabled_is_refused(browser: SessionBrowser) -> None:
    await browser.show(PARTLY_LISTED)

    error = await browser.refused("select", selector="#city", value="Off")

    assert error["message"] == 'value: "#city" suggests no option "Off"; the field is empty now'
    assert await browser.evaluate("chosen.textContent") == ""


async def test_option_in_a_slot_of_the_list_is_chosen(browser: SessionBrowser) -> None:
    await browser.show(
        """<my-select id=it><div role=option>Paris</div><div><div role=option>Rome</div></div></my-select>
        <script>
        const root = it.attachShadow({mode: 'open'});
        root.innerHTML = `<input role=combobox readonly aria-expanded=false aria-controls=list>
          <div id=list role=listbox hidden><slot></slot></div>`;
        const [box, list] = root.querySelectorAll('input, div');
        box.onclick = () => { list.hidden = false; box.ariaExpanded = 'true'; };
        it.onclick = ({target}) => {
          if (target.role === 'option') { box.value = target.textContent; list.hidden = true; } };
        </script>"""
    )

    await browser.call("select", selector="#it input", value="Rome")

    assert await browser.evaluate("it.shadowRoot.querySelector('input').value") == "Rome"


async def test_option_is_found_in_the_list_inside_its_combobox(browser: SessionBrowser) -> None:
    """Other lists of the page are open, and the combobox does not name its own."""
    await browser.show(
        """<ul role=listbox><li role=option>Oslo</ul>
        <div id=it role=combobox tabindex=0 aria-expanded=false onclick="list.hidden = false">
        <b id=shown>None</b><div id=list role=listbox hidden>
        <div role=option onclick="shown.textContent = 'Oslo'">Oslo</div></div>
        </div>"""
    )

    await browser.call("select", selector="#it", value="Oslo")

    assert await browser.evaluate("shown.textContent") == "Oslo"


COVERED = """<div style="position: relative; width: 200px; height: 30px; cursor: CURSOR"
  onclick="clicks.push('it')">
  <input id=it role=combobox readonly aria-expanded=false style="width: 20px">
  <div style="position: absolute; inset: 0; background: white">Select</div></div>
  <script>window.clicks = []</script>"""


async def test_field_covered_by_its_own_drawing_is_clicked_there(browser: SessionBrowser) -> None:
    await browser.show(COVERED.replace("CURSOR", "pointer"))

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("clicks") == ["it"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "html",
    [
        COVERED.replace("CURSOR", "wait"),
        COVERED.replace("CURSOR", "pointer").replace(">Select<", "><a href=#>Select</a><"),
        COVERED.replace("CURSOR", "pointer").replace("height: 30px", "height: 300px"),
    ],
    ids=["busy", "another control", "a layer"],
)
async def test_field_covered_by_something_else_is_not_clicked(browser: SessionBrowser, html: str) -> None:
    await browser.show(html)

    error = await browser.refused("click", selector="#it", timeout=3_000)

    assert (error["details"]["reason"], await browser.evaluate("clicks")) == ("covered", [])


async def test_covered_combobox_is_opened_to_choose_an_option(browser: SessionBrowser) -> None:
    await browser.show(
        COVERED.replace("CURSOR", "pointer").replace("clicks.push('it')", "list.hidden = false")
        + """<ul id=list role=listbox hidden><li role=option onclick="it.value = 'Rome'">Rome</ul>"""
    )

    await browser.call("select", selector="#it", value="Rome")

    assert await browser.evaluate("it.value") == "Rome"


async def test_checkbox_under_a_part_of_its_label_is_ticked(browser: SessionBrowser) -> None:
    """The text of the label is in a slot, so only the drawn box belongs to the label in its shadow tree."""
    await browser.show(
        """<my-box id=it>Agree</my-box><script>
        it.attachShadow({mode: 'open'}).innerHTML = `<label style="display: inline-flex; position: relative">
          <input type=checkbox style="position: absolute; opacity: 0; pointer-events: none">
          <span style="width: 16px; height: 16px; border: 1px solid"></span><div><slot></slot></div></label>`;
        </script>"""
    )

    await browser.call("check", selector="#it input", timeout=3000)
    assert await browser.evaluate("it.shadowRoot.querySelector('input').checked") is True
    await browser.call("click", selector="#it input", timeout=3000)
    assert await browser.evaluate("it.shadowRoot.querySelector('input').checked") is False


async def test_hidden_switch_is_pressed_where_it_is_drawn(browser: SessionBrowser) -> None:
    """A press on its label would be undone: the element around it prevents the default of its clicks."""
    await browser.show(
        """<label for=it>Wifi</label><div id=switch_ style="width: 40px">
        <input id=it type=checkbox role=switch
          style="position: absolute; width: 0; height: 0; opacity: 0; margin: 0">
        <span style="display: block; height: 20px; cursor: pointer; background: gray"></span></div><script>
        let isOn = false;
        switch_.onclick = event => {
          event.preventDefault();
          isOn = !isOn;
          queueMicrotask(() => { it.checked = isOn; });
        };
        </script>"""
    )

    await browser.call("check", selector="#it")
    assert await browser.evaluate("it.checked") is True
    await browser.call("uncheck", selector="#it")
    assert await browser.evaluate("it.checked") is False


async def test_choice_in_a_styled_drop_down_is_an_effect(browser: SessionBrowser) -> None:
    """The browser copies the chosen option into the button before the page learns of the choice."""
    await browser.show(
        """<style>#it, #it::picker(select) { appearance: base-select }</style>
        <select id=it aria-label=Pick><button><selectedcontent></selectedcontent></button>
        <option value=1><b>One</b> first<option value=2><b>Two</b> second</select>""",
        observe="diff",
    )

    result = await browser.answer("select", selector="#it", value="Two second", observe="diff")
    closed = await browser.call("snapshot")
    await browser.call("click", selector="#it")

    assert result.structured_content is not None
    assert result.structured_content["effect"] == "page"
    assert closed["snapshot"].endswith('combobox "Pick": Two second\n options: "One first" | "Two second"')
    opened = (await browser.call("snapshot"))["snapshot"]
    assert opened.endswith('\n options: "One first" | "Two second" selected focused')


async def test_row_with_presentational_wrappers_is_one_line(browser: SessionBrowser) -> None:
    """Grids wrap their checkboxes in elements that have a pointer, and name each row by all its cells."""
    cell = '<div role=gridcell tabindex=-1 style="display: inline-block; width: 90px">'
    await browser.show(
        "<div role=grid aria-label=People>"
        + "".join(
            f"""<div role=row>{cell}<div role=presentation style="cursor: pointer; width: 20px">
            <input type=checkbox aria-label=Choose style="margin: 2px"></div></div>{cell}{name}</div></div>"""
            for name in ("Ada", "Bob", "Eve")
        )
        + "</div>"
    )

    rows = (await browser.call("snapshot"))["snapshot"].split("\n")[1:]

    assert [re.sub(r"e\d+", "e", row) for row in rows] == [
        ' e row: e checkbox "Choose" | e gridcell "Ada"',
        ' e row: e "Choose" | e "Bob"',
        ' e row: e | e "Eve"',
    ]


async def test_named_days_of_a_calendar_are_one_line(browser: SessionBrowser) -> None:
    days = "".join(
        f"<span tabindex=-1 aria-label='May {day}, 2031' style='cursor: pointer'>{day}</span>"
        for day in range(1, 32)
    )
    before = "".join(
        f"<span tabindex=-1 aria-label='April {day}, 2031'>{day}</span>" for day in range(27, 31)
    )
    await browser.show(f"<style>span {{ display: inline-block; width: 30px }}</style>{before}{days}")

    lines = (await browser.call("snapshot"))["snapshot"].split("\n")

    assert [re.sub(r"e\d+", "e", line)[:64] for line in lines] == [
        'generic: e "April 27, 2031": "27" | e: "28" | e: "29" | e: "30"',
        'generic clickable: e "May 1, 2031": "1" | e: "2" | e: "3" | e: "',
    ]


def test_dates_that_describe_days_are_written_once_in_a_row() -> None:
    days = [*range(29, 32), *range(1, 5)]
    nodes = [Node(0, "row", "", "e0")]
    for day in days:
        date = f"2031-{5 if day > 28 else 6:02}-{day:02}"
        nodes.append(Node(1, "cell", str(day), f"e{day}", states=("clickable",), description=date))

    (line,) = [line.render() for line in compact_lines(make_lines(nodes))]

    assert line == (
        'e0 row of clickable cells: e29 "29" description "2031-05-29" | e30 "30" | e31 "31" | '
        'e1 "1" description "2031-06-01" | e2 "2" | e3 "3" | e4 "4"'
    )


async def test_removed_rows_with_one_beginning_are_named_by_what_follows(browser: SessionBrowser) -> None:
    rows = "".join(
        f"<div role=row aria-label='Press Space to select this row {name}'>"
        f"<span role=gridcell>{name}</span></div>"
        for name in ("Ada", "Bob", "Eve")
    )
    await browser.show(f"<div role=grid>{rows}</div><p>Some words about these people</p>", observe="diff")

    answer = await browser.answer(
        "evaluate", script="document.querySelector('[role=grid]').innerHTML = ''", observe="diff"
    )

    assert answer.structured_content is not None
    assert '3 rows: "…Ada" | "…Bob" | "…Eve"' in answer.structured_content["observation"]["text"]


async def test_what_keeps_the_focus_in_a_dialog_is_left_out(browser: SessionBrowser) -> None:
    await browser.show(
        """<div tabindex=0></div><div role=dialog aria-label=Hi><button>OK</button></div>
        <div tabindex=0 data-testid=end></div><div tabindex=0 style="height: 40px"></div>"""
    )

    seen = (await browser.call("snapshot"))["snapshot"]

    assert re.sub(r"e\d+", "e", seen).split("\n") == ['e dialog "Hi"', ' e button "OK"', "e generic"]


async def test_names_of_hidden_inputs_in_a_clickable_element_are_written_once(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<style>label span { position: absolute; clip-path: inset(50%); width: 1px; height: 1px }</style>
        <div style="cursor: pointer">
        <label for=one><span>1 star</span></label><input id=one name=stars type=radio>
        <label for=two><span>2 stars</span></label><input id=two name=stars type=radio></div>"""
    )

    seen = (await browser.call("snapshot"))["snapshot"]

    assert re.sub(r"e\d+", "e", seen).split("\n") == [
        "e generic clickable",
        ' e radio "1 star"',
        ' e radio "2 stars"',
    ]


@pytest.mark.parametrize("count", [3, 4])
async def test_buttons_with_numbers_share_a_line(browser: SessionBrowser, count: int) -> None:
    await browser.show(
        "".join(f"<button>{number}</button>" for number in range(1, count + 1)) + "<button>OK</button>"
    )

    seen = (await browser.call("snapshot"))["snapshot"]

    lines = re.sub(r"e\d+", "e", seen).split("\n")
    assert lines[0] == ('e button "1"' if count == 3 else 'group of buttons: e "1" | e "2" | e "3" | e "4"')
    assert lines[-1] == 'e button "OK"'


async def test_option_of_a_field_that_has_no_role_is_chosen(browser: SessionBrowser) -> None:
    """The list of the field stays open, and the field does not say so."""
    await browser.show(
        """<input id=it aria-haspopup=listbox aria-controls=list>
        <div id=list role=listbox hidden><div role=option>Paris</div><div role=option>Rome</div></div>
        <output id=chosen></output><script>
        it.onclick = () => { list.hidden = !list.hidden; };
        list.onclick = ({target}) => { chosen.textContent += target.textContent + '; '; it.value = ''; };
        </script>"""
    )

    await browser.call("select", selector="#it", value="Rome")
    await browser.call("select", selector="#it", value="Paris")

    assert await browser.evaluate("chosen.textContent") == "Rome; Paris; "


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", ["<div role=option>Rome</div>", "<div role=menuitemcheckbox aria-checked=false>Rome</div>"]
)
async def test_option_is_chosen_from_a_list_that_opens_only_when_it_is_pressed(
    browser: SessionBrowser, options: str
) -> None:
    await browser.show(
        f"""<input id=it role=combobox aria-expanded=false aria-controls=list>
        <div id=list hidden>{options}</div><script>
        it.onclick = () => {{ list.hidden = false; it.ariaExpanded = 'true'; }};
        list.onclick = ({{target}}) => {{ it.value = target.textContent; list.hidden = true; }};
        </script>"""
    )

    answer = await browser.call("select", selector="#it", value="Rome")

    assert answer["selected"] == ["Rome"]
    assert await browser.evaluate("it.value") == "Rome"


async def test_hidden_radio_button_beside_its_drawing_is_pressed_at_the_drawing(
    browser: SessionBrowser,
) -> None:
    """The page draws the picture anew when the mouse is over it."""
    await browser.show(
        """<style>
        span { display: inline-block; position: relative; width: 30px; height: 30px; cursor: pointer }
        input { position: absolute; left: -8px; top: 8px; width: 1px; height: 1px; margin: 0;
          pointer-events: none; appearance: none } b { display: block; width: 30px; height: 30px }</style>
        <p id=stars></p><script>
        for (const value of [1, 2, 3]) {
          const star = stars.appendChild(document.createElement('span'));
          star.innerHTML = `<input type=radio name=stars aria-label="${value} stars"><b>*</b>`;
          const renew = () => star.lastChild.replaceWith(star.lastChild.cloneNode(true));
          star.addEventListener('mouseover', ({target}) => target.localName === 'b' && renew(), {once: true});
          star.onclick = () => { star.firstChild.checked = true; };
        }</script>"""
    )

    await browser.call("check", selector="role=radio[name='2 stars']")

    assert await browser.evaluate("document.querySelectorAll('input')[1].checked")


DRAWN_FIELD = """<input id=it role=combobox readonly aria-haspopup=listbox aria-expanded=false>"""


@pytest.mark.parametrize(
    "inside",
    [
        f"<input type=hidden name=city>{DRAWN_FIELD}",
        f"{DRAWN_FIELD}<button aria-haspopup=listbox aria-label=Cities>v</button>",
    ],
)
async def test_field_that_lets_clicks_pass_is_pressed_below_a_fixed_bar(
    browser: SessionBrowser, inside: str
) -> None:
    await browser.show(
        f"""<style>body {{ margin: 0; height: 3000px }} header {{ position: fixed; width: 100%; height: 60px;
        background: #ddd; z-index: 1 }} #it {{ pointer-events: none; width: 100px }}
        #field {{ cursor: pointer; width: 200px; height: 30px; margin-top: 20px }}</style>
        <header>Shop</header><div id=field>{inside}</div><script>
        scrollTo(0, 15);
        field.onclick = () => {{ it.ariaExpanded = 'true'; }};</script>"""
    )

    await browser.call("click", selector="#it")

    assert await browser.evaluate("it.ariaExpanded") == "true"


async def test_option_is_chosen_from_the_list_of_a_button(browser: SessionBrowser) -> None:
    await browser.show(
        """<button id=it aria-haspopup=listbox aria-expanded=false aria-controls=list>Paris</button>
        <div id=list role=listbox hidden><div role=option>Paris</div><div role=option>Rome</div></div><script>
        it.onclick = () => { list.hidden = false; it.ariaExpanded = 'true'; };
        list.onclick = ({target}) => { it.textContent = target.textContent; list.hidden = true; };
        </script>"""
    )

    answer = await browser.call("select", selector="#it", value="Rome")

    assert answer["selected"] == ["Rome"]
    assert await browser.evaluate("it.textContent") == "Rome"


SLIDER = """<div id=it role=slider tabindex=0 aria-valuenow=30 aria-valuemin=0 aria-valuemax=100>o</div>
<script>it.onkeydown = event => {
  const by = {ArrowRight: STEP, ArrowLeft: -(STEP)}[event.key] ?? 0;
  it.ariaValueNow = Math.min(100, Math.max(0, Number(it.ariaValueNow) + by));
};</script>"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("step", "value", "reached", "notice"),
    [
        ("5", "65", "65", None),
        ("-5", "65", "65", None),
        ("10", "0", "0", None),
        ("20", "60", "50", "the slider stops at 50; one press of a key moves it by 20"),
    ],
)
async def test_slider_is_moved_to_a_value_by_its_keys(
    browser: SessionBrowser, step: str, value: str, reached: str, notice: str | None
) -> None:
    await browser.show(SLIDER.replace("STEP", step))

    answer = await browser.call("fill", selector="#it", value=value)

    assert answer.get("notice") == notice
    assert await browser.evaluate("it.ariaValueNow") == reached


@pytest.mark.sampled(2)
@pytest.mark.parametrize("delay", [20, 150])
async def test_slider_that_is_drawn_later_is_moved_to_its_value(browser: SessionBrowser, delay: int) -> None:
    await browser.show(
        f"""<div id=it role=slider tabindex=0 aria-valuenow=5>o</div><script>
        let now = 5;
        it.onkeydown = event => {{
          now += {{ArrowRight: 1, ArrowLeft: -1}}[event.key] ?? 0;
          setTimeout((value) => it.ariaValueNow = value, {delay}, now);
        }};</script>"""
    )

    answer = await browser.call("fill", selector="#it", value="42")

    assert "notice" not in answer
    assert await browser.evaluate("it.ariaValueNow") == "42"


async def test_slider_is_moved_by_the_keys_of_an_element_in_it(browser: SessionBrowser) -> None:
    inside = SLIDER.replace("tabindex=0 ", "").replace(">o<", "><i>-</i><b tabindex=0>o</b><")
    await browser.show(inside.replace("it.onkeydown", "it.lastChild.onkeydown").replace("STEP", "5"))

    await browser.call("fill", selector="#it", value="45")

    assert await browser.evaluate("it.ariaValueNow") == "45"


async def test_value_that_a_slider_cannot_have_is_refused(browser: SessionBrowser) -> None:
    await browser.show(SLIDER.replace("STEP", "0"))

    beyond = await browser.refused("fill", selector="#it", value="101")
    fixed = await browser.refused("fill", selector="#it", value="31")

    assert beyond["message"] == 'value: "#it" is a slider; it takes a number from 0 to 100'
    assert fixed["message"] == '"#it" is a slider that the arrow keys do not move'


async def test_drawn_slider_with_an_input_gets_its_value_by_a_key(browser: SessionBrowser) -> None:
    await browser.show(
        """<div style="position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)">
        <input id=it type=range min=0 max=1000 step=50></div><div>o</div><script>
        window.committed = [];
        it.onkeyup = () => committed.push(it.value);</script>"""
    )

    for value in ("350", "0"):
        await browser.call("fill", selector="#it", value=value)

    assert await browser.evaluate("committed") == ["350", "0"]


async def test_slider_that_the_browser_draws_changes_once(browser: SessionBrowser) -> None:
    await browser.show(
        "<input id=it type=range><script>window.seen = []; it.oninput = () => seen.push(it.value)</script>"
    )

    await browser.call("fill", selector="#it", value="7")

    assert await browser.evaluate("seen") == ["7"]


async def test_radio_button_with_a_drawing_inside_is_pressed_there(browser: SessionBrowser) -> None:
    await browser.show(
        """<ul><li onclick="it.ariaChecked = true"><div id=it role=radio aria-checked=false tabindex=0
          style="width: 20px; height: 20px; cursor: pointer"><i></i><i></i></div></ul><style>
        #it { position: relative } i { position: absolute; inset: 0 }
        #it:hover i + i { display: none }</style>"""
    )

    await browser.call("check", selector="#it", timeout=3_000)

    assert await browser.evaluate("it.ariaChecked") == "true"


async def test_number_that_a_field_writes_in_its_format_has_no_notice(browser: SessionBrowser) -> None:
    await browser.show("<input id=it role=spinbutton oninput='this.value = this.value.padStart(2, 0)'>")

    assert "notice" not in await browser.call("fill", selector="#it", value="7")


async def test_text_in_a_combobox_that_asks_for_no_suggestions_is_no_secret(browser: SessionBrowser) -> None:
    await browser.show(
        """<input id=it role=combobox autocomplete=new-password value=Oslo>
        <input id=pin autocomplete=new-password value=1234>"""
    )

    page = (await browser.call("snapshot"))["snapshot"]

    assert "Oslo" in page
    assert "1234" not in page


async def test_covered_combobox_of_a_form_is_reported_long_before_the_time_limit(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<div id=it role=combobox tabindex=0>None</div>
        <div style="position: fixed; inset: 0; background: white">cover</div>"""
    )
    form = {"#it": "Rome"}

    error = await browser.refused("fill_form", fields=form)

    assert error["details"]["reason"] == "covered"
    assert "timeout" in error["suggestion"]  # The call waited only for the element.


async def test_files_are_uploaded_by_a_button_under_a_file_input(browser: SessionBrowser) -> None:
    path = browser.uploads / "note.txt"
    path.write_text("hello")
    await browser.show(
        """<div style="position: relative; width: 100px"><button id=it>Choose a file</button>
        <input id=files type=file aria-hidden=true tabindex=-1
          style="position: absolute; inset: 0; opacity: 0"></div>"""
    )

    await browser.call("upload_file", selector="#it", files=[str(path)], timeout=3_000)

    assert await browser.evaluate("files.files[0].name") == "note.txt"


async def test_field_that_a_calendar_covers_for_a_moment_has_no_notice(browser: SessionBrowser) -> None:
    await browser.show(
        """<input id=it><div id=calendar hidden style="position: fixed; inset: 0">March</div><script>
        it.onfocus = () => { calendar.hidden = false; };
        onmouseup = () => { calendar.style.top = '100px'; };</script>"""
    )

    assert "notice" not in await browser.call("click", selector="#it")


async def test_control_without_a_name_has_the_class_that_says_its_purpose(browser: SessionBrowser) -> None:
    await browser.show(
        """<style>span { cursor: pointer }</style><span class="calendar calendar-prev"><svg width=9 height=9/>
        </span><span class="calendar arrowUp"><svg width=9 height=9/></span>"""
    )

    page = (await browser.call("snapshot"))["snapshot"]

    assert page == 'e1 generic clickable hint ".calendar-prev"\ne2 generic clickable hint ".arrowUp"'


async def test_cells_that_take_the_focus_have_refs(browser: SessionBrowser) -> None:
    await browser.show(
        "<table><tr><th>Item<th>Price<tr><td tabindex=-1>Tape<td>12<tr><td tabindex=-1>Rope<td>9</table>"
    )

    page = (await browser.call("snapshot"))["snapshot"]

    assert page.endswith('row: e6 "Tape" clickable | "12"\n e8 row: e9 "Rope" clickable | "9"')


async def test_checkbox_is_not_read_only(browser: SessionBrowser) -> None:
    await browser.show("<input type=checkbox readonly><input type=range readonly><input readonly>")

    page = (await browser.call("snapshot"))["snapshot"]

    assert page == "e1 checkbox\ne2 slider: 50\ne3 textbox readonly"


async def test_combobox_beside_an_input_that_nobody_can_reach_is_pressed(browser: SessionBrowser) -> None:
    await browser.show(
        COVERED.replace("CURSOR", "pointer").replace(
            ">Select<", ">Select<input aria-hidden=true tabindex=-1><"
        )
    )

    await browser.call("click", selector="#it", timeout=3_000)

    assert await browser.evaluate("clicks") == ["it"]


async def test_option_of_a_drop_down_with_the_role_of_a_list_is_chosen(browser: SessionBrowser) -> None:
    """Choices.js draws such fields, with the chosen option in them."""
    await browser.show(
        """<div id=it role=listbox tabindex=0 aria-expanded=false>
        <div><div role=option id=chosen>One</div></div>
        <div id=list hidden><div role=option>One</div><div role=option>Two</div></div></div><script>
        const open = is => { list.hidden = !is; it.ariaExpanded = is; };
        it.onclick = () => open(true);
        list.onclick = event => {
          chosen.textContent = event.target.textContent; open(false); event.stopPropagation(); };
        </script>"""
    )

    for name in ("Two", "Two", "One"):
        selected = await browser.call("select", selector="#it", value=name)
        assert (selected["selected"], await browser.evaluate("chosen.textContent")) == ([name], name)


VIRTUAL_LIST = """<div role=combobox tabindex=0 id=it aria-expanded=false aria-controls=list>Pick</div>
<div id=list role=listbox hidden style="height: 200px; overflow: auto">
<div id=all style="position: relative; height: 9000px"></div></div><script>
const draw = () => {
  const first = Math.floor(list.scrollTop / 30);
  all.innerHTML = [0, 1, 2, 3, 4, 5, 6, 7].map(at => first + at).filter(at => at < 300).map(at =>
    `<div role=option style="position: absolute; height: 30px; top: ${at * 30}px">Item ${at}</div>`).join('');
};
const open = is => { list.hidden = !is; it.ariaExpanded = is; draw(); };
it.onclick = () => open(true);
it.onkeydown = ({key}) => key === 'Escape' && open(false);
list.onscroll = () => requestAnimationFrame(draw);
list.onclick = ({target}) => { it.textContent = target.textContent; open(false); };
</script>"""


async def test_option_that_the_list_has_not_drawn_is_chosen(browser: SessionBrowser) -> None:
    await browser.show(VIRTUAL_LIST)

    for name in ("Item 150", "Item 299", "Item 0"):
        await browser.call("select", selector="#it", value=name)
        assert await browser.evaluate("it.textContent") == name
    error = await browser.refused("select", selector="#it", value="Item 300")

    assert error["message"].startswith('value: "#it" has no option "Item 300"')
    assert await browser.evaluate("[it.textContent, list.hidden]") == ["Item 0", True]


async def test_option_that_is_too_far_down_the_list_is_refused_with_the_way_to_it(
    browser: SessionBrowser,
) -> None:
    await browser.show(VIRTUAL_LIST.replace("9000px", "90000000px").replace("at < 300", "true"))

    error = await browser.refused("select", selector="#it", value="Item 1000000")

    assert error["suggestion"].startswith("The list was too long to look through. Type a part of the name")


async def test_options_that_are_drawn_anew_by_each_choice_are_selected(browser: SessionBrowser) -> None:
    await browser.show(
        """<div id=sizes role=listbox aria-multiselectable=true aria-label=Sizes tabindex=0></div><script>
        const chosen = new Set();
        const draw = () => sizes.innerHTML = ['S', 'M', 'L'].map(
          size => `<div role=option aria-selected=${chosen.has(size)}>${size}</div>`).join('');
        sizes.onclick = event => { chosen.add(event.target.textContent); draw(); };
        draw();</script>"""
    )

    await browser.call("fill_form", fields={"#sizes": ["S", "L"]})

    assert await browser.evaluate("[...chosen].join()") == "S,L"
