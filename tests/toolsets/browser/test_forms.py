"""Filling many fields in one call."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

FORM = """<form>
<input id=name value=old> <input id=secret type=password> <textarea id=about></textarea>
<input id=born type=date> <input id=colour type=color> <input id=volume type=range min=0 max=10>
<input id=count type=number> <div id=note contenteditable>old</div>
<label><input id=news type=checkbox> News</label> <input id=terms type=checkbox checked>
<button type=button id=dark role=switch aria-checked=false
  onclick="this.setAttribute('aria-checked', this.ariaChecked !== 'true')">Dark</button>
<fieldset id=sizes><label><input type=radio name=size value=s> Small</label>
<label><input type=radio name=size value=l> Large</label></fieldset>
<input type=radio name=pay value=card id=card> <label for=card>Card</label>
<input type=radio name=pay value=cash id=cash> <label for=cash>In cash</label>
<select id=city><option value=v>Vienna<option value=r>Rome</select>
<select id=tags multiple><option value=1 selected>One<option value=2>Two<option value=3>Three</select>
</form>"""

HELD = """(() => {
  const it = id => document.getElementById(id);
  const radio = name => document.querySelector(`[name=${name}]:checked`)?.value ?? null;
  return {
    name: it('name').value, secret: it('secret').value, about: it('about').value, born: it('born').value,
    colour: it('colour').value, volume: it('volume').value, count: it('count').value,
    note: it('note').innerText, news: it('news').checked, terms: it('terms').checked,
    dark: it('dark').ariaChecked, size: radio('size'), pay: radio('pay'), city: it('city').value,
    tags: Array.from(it('tags').selectedOptions, option => option.value),
  };
})()"""


def fields(**values: Any) -> dict[str, Any]:
    return {f"#{name}": value for name, value in values.items()}


async def test_fill_form_fills_every_kind_of_field(browser: SessionBrowser) -> None:
    url = (await browser.show(FORM))["url"]
    expected = {
        "name": "Ada",
        "secret": "hunter2",
        "about": "one\ntwo",
        "born": "1815-12-10",
        "colour": "#ff0000",
        "volume": 7,
        "count": 12.5,
        "note": "new",
        "news": True,
        "terms": False,
        "dark": True,
        "sizes": "Large",
        "card": "In cash",
        "city": "Rome",
        "tags": ["Two", "3"],
    }

    filled = await browser.call("fill_form", fields=fields(**expected))

    assert filled["url"] == url
    kinds = {field["selector"][1:]: field["kind"] for field in filled["fields"]}
    assert list(kinds) == list(expected)
    assert [kinds[name] for name in ("name", "news", "dark", "sizes", "card", "city", "tags")] == [
        *("text", "checkbox", "checkbox", "radiogroup", "radio", "select", "select")
    ]
    assert await browser.evaluate(HELD) == {
        "name": "Ada",
        "secret": "hunter2",
        "about": "one\ntwo",
        "born": "1815-12-10",
        "colour": "#ff0000",
        "volume": "7",
        "count": "12.5",
        "note": "new",
        "news": True,
        "terms": False,
        "dark": "true",
        "size": "l",
        "pay": "cash",
        "city": "r",
        "tags": ["2", "3"],
    }


async def test_radio_is_chosen_by_element_value_or_label(browser: SessionBrowser) -> None:
    await browser.show(FORM)
    pay = "document.querySelector('[name=pay]:checked').id"

    for value, chosen in ((True, "card"), ("cash", "cash"), ("Card", "card"), ("In cash", "cash")):
        await browser.call("fill_form", fields=fields(card=value))
        assert await browser.evaluate(pay) == chosen

    error = await browser.refused("fill_form", fields=fields(card="by cheque"))
    assert error["details"]["options"] == ["Card", "In cash"]


async def test_fill_form_accepts_labels_and_fields_in_frames(browser: SessionBrowser) -> None:
    inner = "<label id=l>Name <input></label><fieldset><label><input type=radio name=a> A</label></fieldset>"
    await browser.show(f'<iframe srcdoc="{inner}"></iframe>')
    there = {"iframe >> #l": "Ada", "iframe >> fieldset": "A"}

    filled = await browser.call("fill_form", fields=there)

    assert [field["kind"] for field in filled["fields"]] == ["text", "radiogroup"]
    script = (
        "(d => [d.querySelector('input').value, d.querySelector('[name=a]').checked])(frames[0].document)"
    )
    assert await browser.evaluate(script) == ["Ada", True]


async def test_fill_form_accepts_refs(browser: SessionBrowser) -> None:
    await browser.show(FORM)
    snapshot = (await browser.call("snapshot"))["snapshot"]
    radio = re.search(r'(e\d+) radio "Card"', snapshot)
    text = re.search(r"(e\d+) textbox", snapshot)
    assert radio
    assert text
    expected = {text[1]: "Ada", radio[1]: "cash"}

    await browser.call("fill_form", fields=expected)

    held = await browser.evaluate(HELD)
    assert (held["name"], held["pay"]) == ("Ada", "cash")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", True, '"#name" is a text field; it takes a text or number'),
        ("name", ["a"], '"#name" is a text field; it takes a text or number'),
        ("news", "yes", '"#news" is a checkbox; it takes true or false'),
        ("card", False, '"#card" is a radio; it takes true, or the value or label of one of its group'),
        ("city", True, '"#city" is a select; it takes the name of an option'),
        ("city", ["Rome", "Vienna"], '"#city" is a select; it takes the name of an option'),
        ("tags", False, '"#tags" is a select; it takes the name of an option, or a list of them'),
    ],
)
async def test_value_of_the_wrong_type_changes_no_field(
    browser: SessionBrowser, field: str, value: Any, said: str
) -> None:
    await browser.show(FORM)
    before = await browser.evaluate(HELD)

    error = await browser.refused("fill_form", fields=fields(secret="new", **{field: value}))

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == f"fields.#{field}: {said}; no field was filled"
    assert error["details"] == {"parameter": f"fields.#{field}", "field": 1, "done": []}
    assert await browser.evaluate(HELD) == before


@pytest.mark.parametrize(
    ("html", "said", "suggestion"),
    [
        ("<input id=x type=file>", "a file input", "Use upload_file."),
        ("<input id=x type=hidden>", "a hidden field", "Leave it out: the page sets it."),
        ("<button id=x>go</button>", "a button", "Use click."),
        (
            "<div id=x><input></div>",
            "not a form field, but a <div>",
            "Give the selector of the field itself.",
        ),
    ],
)
async def test_element_that_is_not_a_field_is_refused_with_suggestion(
    browser: SessionBrowser, html: str, said: str, suggestion: str
) -> None:
    await browser.show(f"<input id=first>{html}")

    error = await browser.refused("fill_form", fields=fields(first="a", x="b"))

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"] == f'fields.#x: "#x" is {said}; no field was filled'
    assert error["suggestion"] == suggestion
    assert await browser.evaluate("document.getElementById('first').value") == ""


SIGN_UP = """<form onsubmit="document.title = name.value; return false"><input name=name
oninput="send.disabled = false"><button name=send disabled>Send</button></form>"""


async def test_fill_form_clicks_what_submits_the_form_after_the_last_field(browser: SessionBrowser) -> None:
    await browser.show(SIGN_UP)

    answer = await browser.answer("fill_form", fields={"input": "Ada"}, submit="button", locator=True)

    assert answer.structured_content
    assert await browser.evaluate("document.title") == "Ada"
    assert answer.structured_content["locator"] == {
        "input": 'page.locator("input")',
        "button": 'page.locator("button")',
    }


async def test_failed_submit_says_that_the_fields_are_filled(browser: SessionBrowser) -> None:
    await browser.show(SIGN_UP)

    error = await browser.refused("fill_form", fields={"input": "Ada"}, submit="#none", timeout=1_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"].startswith("submit: No element found")
    assert error["message"].endswith("(the fields are filled)")
    assert error["details"]["done"] == [0]
    assert await browser.evaluate("document.querySelector('input').value") == "Ada"


async def test_a_missing_field_is_reported_before_any_is_filled(browser: SessionBrowser) -> None:
    await browser.show(FORM)

    error = await browser.refused("fill_form", fields=fields(name="Ada", nowhere="x"), timeout=3_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"].startswith('fields.#nowhere: No element found matching selector "#nowhere"')
    assert (error["details"]["field"], error["details"]["done"]) == (1, [])
    assert await browser.evaluate("document.getElementById('name').value") == "old"


async def test_failure_midway_reports_the_filled_fields(browser: SessionBrowser) -> None:
    await browser.show(FORM)
    expected = fields(name="Ada", news=True, born="tomorrow", about="never")

    error = await browser.refused("fill_form", fields=expected)

    assert error["message"] == (
        'fields.#born: "#born" cannot hold "tomorrow"; it takes the form 2024-02-29; '
        "fields before it (2) are filled"
    )
    assert error["details"] == {"parameter": "fields.#born", "field": 2, "done": [0, 1]}
    held = await browser.evaluate(HELD)
    assert (held["name"], held["news"], held["born"], held["about"]) == ("Ada", True, "", "")


async def test_missing_option_error_lists_existing_options(browser: SessionBrowser) -> None:
    await browser.show(FORM)

    one = await browser.refused("fill_form", fields=fields(city="Paris"), timeout=2_000)
    several = await browser.refused("fill_form", fields=fields(tags=["One", "Four"]), timeout=2_000)

    assert one["details"]["options"] == ["v", "r"]
    assert several["code"] == "INVALID_PARAMETER"
    assert several["details"]["options"] == ["One", "1", "Two", "2", "Three", "3"]


async def test_options_loaded_by_another_field_are_waited_for(browser: SessionBrowser) -> None:
    await browser.show(
        """<select id=land onchange="city.innerHTML = '<option>Rome<option>Milan'">
        <option>Austria<option>Italy</select><select id=city disabled><option>Vienna</select>
        <script>land.addEventListener('change', () => city.disabled = false)</script>"""
    )

    await browser.call("fill_form", fields=fields(land="Italy", city="Milan"))

    assert await browser.evaluate("city.value") == "Milan"


# What only says what it is


CUSTOM = """<style>[role=option] { display: block } [hidden] { display: none }</style>
<button id=fruit role=combobox aria-expanded=false aria-controls=fruits
  onclick="open_(this, fruits.hidden)">Choose</button>
<div id=fruits role=listbox hidden><div role=option>Apple</div><div role=option aria-label=Pear>P</div></div>
<input id=town role=combobox aria-autocomplete=list aria-controls=towns oninput="towns.hidden = false">
<div id=towns role=listbox hidden><div role=option>Graz</div><div role=option>Graz West</div></div>
<div id=extras role=listbox aria-multiselectable=true>
  <div role=option aria-selected=true>Salt</div><div role=option aria-selected=false>Oil</div>
  <div role=option aria-selected=false>Lemon</div></div>
<div id=speed role=radiogroup><span role=radio aria-checked=false>Slow</span>
  <span role=radio aria-checked=true>Fast</span></div>
<script>
  const open_ = (box, open) => { fruits.hidden = !open; box.ariaExpanded = open; };
  fruits.onclick = event => { fruit.textContent = event.target.ariaLabel || event.target.textContent;
    open_(fruit, false); };
  fruit.onkeydown = event => event.key === 'Escape' && open_(fruit, false);
  towns.onclick = ({target}) => {
    town.value = target.textContent; town.dataset.chosen = 1; towns.hidden = true; };
  extras.onclick = ({target}) => target.ariaSelected = target.ariaSelected !== 'true';
  speed.onclick = ({target}) => { for (const it of speed.children) it.ariaChecked = it === target; };
</script>"""


@pytest.mark.parametrize(
    ("selector", "option", "shown"),
    [
        ("#fruit", "Pear", "fruit.textContent"),
        ("#town", "Graz", "town.dataset.chosen && town.value"),
        ("#extras", "Lemon", "extras.querySelector('[aria-selected=true]').textContent"),
    ],
)
async def test_select_chooses_options_of_aria_widgets(
    browser: SessionBrowser, selector: str, option: str, shown: str
) -> None:
    await browser.show(CUSTOM)

    answer = await browser.call("select", selector=selector, value=option)

    assert answer["selected"] == [option]
    assert await browser.evaluate(shown) == option


@pytest.mark.slow
async def test_select_error_for_aria_widgets_names_what_is_missing(browser: SessionBrowser) -> None:
    await browser.show(CUSTOM)

    list_error = await browser.refused("select", selector="#extras", value="Wine")
    field_error = await browser.refused("select", selector="#town", value="Wien")
    other_error = await browser.refused("select", selector="#speed", value="Slow")

    assert '"Salt"; "Oil"; "Lemon"' in list_error["message"]
    assert 'suggests no option "Wien"; the field is empty now' in field_error["message"]
    assert other_error["suggestion"] == "Click it, and then the option that appears."


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("tool", "html", "suggestion"),
    [
        ("fill", "<input id=f type=checkbox>", "Use check or uncheck."),
        ("fill", "<input id=f type=radio>", "Use check."),
        ("fill", "<input id=f type=file>", "Use upload_file."),
        ("fill", "<input id=f type=submit>", "Use click."),
        ("fill", "<button id=f>Go", "Give the field itself"),
        ("check", "<button id=f>Go", "Use click."),
        ("uncheck", "<input id=f type=radio checked>", "Check another one of the group."),
    ],
)
async def test_wrong_kind_of_element_suggests_the_right_tool(
    browser: SessionBrowser, tool: str, html: str, suggestion: str
) -> None:
    await browser.show(html)

    arguments = {"value": "x"} if tool == "fill" else {}
    error = await browser.refused(tool, selector="#f", **arguments)

    assert (error["code"], error["details"]["reason"]) == ("ELEMENT_NOT_INTERACTIVE", "wrong kind")
    assert error["suggestion"].startswith(suggestion)


@pytest.mark.parametrize("before", ["", "<script>Array.prototype.filter = () => []</script>"])
async def test_aria_widgets_are_filled_by_option_name(browser: SessionBrowser, before: str) -> None:
    """A page that replaces functions of JavaScript does not change what is chosen."""
    await browser.show(before + CUSTOM)

    filled = await browser.call(
        "fill_form", fields=fields(fruit="Pear", town="Graz", extras=["Oil", "Lemon"], speed="Slow")
    )

    assert [field["kind"] for field in filled["fields"]] == ["combobox", "combobox", "listbox", "radiogroup"]
    script = """[fruit.textContent, town.value, town.dataset.chosen,
      Array.from(extras.children, it => it.ariaSelected), Array.from(speed.children, it => it.ariaChecked)]"""
    assert await browser.evaluate(script) == [
        *("Pear", "Graz", "1"),
        ["false", "true", "true"],
        ["true", "false"],
    ]


@pytest.mark.slow
async def test_partial_option_name_is_not_matched(browser: SessionBrowser) -> None:
    await browser.show(CUSTOM)

    error = await browser.refused("fill_form", fields=fields(fruit="App"), timeout=1000)
    filled = await browser.call("fill_form", fields=fields(town="Gra"))

    assert error["details"]["options"] == ["Apple", "Pear"]
    assert await browser.evaluate("[fruit.textContent, fruits.hidden]") == ["Choose", True]
    assert filled["fields"] == [{"selector": "#town", "kind": "text"}]
    assert await browser.evaluate("[town.value, town.dataset.chosen ?? null]") == ["Gra", None]


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "fields"),
        ({"fields": {}}, "fields"),
        ({"fields": [{"selector": "#name", "value": "a"}]}, "fields"),
        ({"fields": {"#name": {}}}, "fields.#name"),
    ],
)
async def test_invalid_fields_argument_is_refused(
    browser: SessionBrowser, arguments: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("fill_form", **arguments)

    assert error["code"] in ("INVALID_PARAMETER", "MISSING_PARAMETER")
    assert error["details"]["parameter"].startswith(parameter)


async def test_values_changed_by_the_page_have_a_notice(browser: SessionBrowser) -> None:
    """A page may change a field when it loses the focus, or when another field changes."""
    await browser.show(
        """<input id=code onblur="this.value = ''"> <input id=city> <input id=kept>
        <select id=one onchange="this.value = 'a'"><option>a<option>b</select>
        <select id=land onchange="city.value = ''"><option>a<option>b</select>"""
    )

    filled = await browser.call(
        "fill_form", fields=fields(code="1", city="Rome", kept="2", one="b", land="b")
    )

    advice = "if it takes a text only with Enter or Tab, fill it alone, then press that"
    text = f"the page has taken or refused the text: the field is empty; {advice}"
    choice = "the page changed the choice: other options are selected"
    notices = [field.get("notice") for field in filled["fields"]]
    assert notices == [text, text, None, choice, None]


async def test_fill_that_empties_the_field_filled_before_has_a_notice(browser: SessionBrowser) -> None:
    """Date pickers drop what was typed, until Enter or Tab confirms it."""
    await browser.show(
        """<input id=date onkeydown="this.kept = this.value" onblur="this.value = this.kept ?? ''">
        <input id=name>
        <input id=phone onblur="this.value = `(${this.value})`">"""
    )
    notices: list[str | None] = []

    for selector, value in {"#date": "1/2/2024", "#phone": "55", "#name": "Ada"}.items():
        notices.append((await browser.call("fill", selector=selector, value=value)).get("notice"))
    await browser.call("fill", selector="#date", value="1/3/2024")
    await browser.call("press", key="Tab")
    notices.append((await browser.call("fill", selector="#name", value="Eve")).get("notice"))

    notice = "the page has emptied the field that was filled before this one; if it takes a text only with "
    assert notices == [None, f"{notice}Enter or Tab, fill it alone, then press that", None, None]
    assert await browser.evaluate("[date.value, phone.value]") == ["1/3/2024", "(55)"]


async def test_option_whose_label_is_not_unique_is_selected_by_value(browser: SessionBrowser) -> None:
    await browser.show(
        """<select id=it><option value=0>None<optgroup label=Tea><option value=t>Other</optgroup>
        <optgroup label=Coffee><option value=c>Other</optgroup></select>
        <select id=number><option value=2>1<option value=1>2</select>"""
    )

    error = await browser.refused("select", selector="#it", value="Other")
    await browser.call("select", selector="#it", value="c")
    await browser.call("select", selector="#number", value="1")

    assert error["message"] == (
        'value: "#it" has 2 options "Other"; give the value of one: "t" in "Tea"; "c" in "Coffee"'
    )
    assert await browser.evaluate("[it.value, number.value]") == ["c", "1"]
