"""Components that draw themselves in shadow roots, and editors that draw their text outside their field."""

from __future__ import annotations

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

SHADOWS = """<my-select id=it><my-option>Paris</my-option><my-option>Rome</my-option></my-select><script>
customElements.define('my-option', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML = `<style>p { margin: 0 }</style>
      <div role=option><p><slot></slot></p></div>`;
  }
});
const root = it.attachShadow({mode: 'open'});
root.innerHTML = `<input role=combobox readonly aria-expanded=false><my-list hidden><slot></slot></my-list>`;
const [box, list] = root.children;
list.attachShadow({mode: 'open'}).innerHTML = '<div role=listbox><slot></slot></div>';
box.onclick = () => { list.hidden = false; box.ariaExpanded = 'true'; };
it.onclick = ({target}) => { if (target.localName === 'my-option') box.value = target.textContent; };
</script>"""


async def test_option_in_the_shadow_root_of_a_list_without_id_is_chosen(browser: SessionBrowser) -> None:
    await browser.show(SHADOWS)

    chosen = await browser.call("select", selector="role=combobox", value="Rome")
    missing = await browser.refused("select", selector="role=combobox", value="Oslo")

    assert chosen["selected"] == ["Rome"]
    assert await browser.evaluate("it.shadowRoot.querySelector('input').value") == "Rome"
    assert missing["details"]["options"] == ["Paris", "Rome"]


EDIT_CONTEXT = """<div id=frame style="position: relative; width: 300px; height: 150px">
<div id=it role=textbox aria-label=Code tabindex=0 style="position: absolute; height: 19px"></div>
<pre id=drawn aria-hidden=true></pre></div><script>
const context = it.editContext = new EditContext({text: 'let a;'});
const draw = () => { drawn.textContent = context.text; };
const end = () => context.text.length;
draw();
context.addEventListener('textupdate', draw);
it.onkeydown = ({key, ctrlKey}) => {
  if (ctrlKey && key === 'a') context.updateSelection(0, end());
  if (ctrlKey && key === 'End') context.updateSelection(end(), end());
};
frame.onclick = () => it.focus();
</script>"""


async def test_editor_whose_field_has_no_size_is_read_and_filled(browser: SessionBrowser) -> None:
    await browser.show(EDIT_CONTEXT)
    before = (await browser.call("snapshot"))["snapshot"]

    await browser.call("click", selector="e1", timeout=3_000)
    await browser.call("fill", selector="e1", value="if (b) {", timeout=3_000)
    await browser.call("type", selector="e1", text=" }", timeout=3_000)
    await browser.call("fill_form", fields={"e1": "b();"}, timeout=3_000)
    await browser.call("type", selector="e1", text="c();", timeout=3_000)

    assert before == 'e1 textbox "Code": let a;'
    assert (await browser.call("get_value", selector="e1"))["value"] == "b();c();"
    assert await browser.evaluate("drawn.textContent") == "b();c();"


@pytest.mark.parametrize(
    "inner",
    [
        "<button role=tab style='pointer-events: none'><slot></slot></button>",
        "<button role=tab>Beta</button><i style='position: absolute; inset: 0'></i>",
    ],
    ids=["passes clicks", "is covered"],
)
async def test_control_in_a_component_that_handles_its_clicks_is_pressed(
    browser: SessionBrowser, inner: str
) -> None:
    await browser.show(
        f"""<my-tab id=it style="position: relative; cursor: pointer; display: block">Beta</my-tab>
        <script>window.clicks = 0; it.onclick = () => clicks += 1;
        it.attachShadow({{mode: 'open'}}).innerHTML = `{inner}`;</script>"""
    )

    page = (await browser.call("snapshot"))["snapshot"]
    await browser.call("click", selector="role=tab", timeout=3_000)

    assert 'tab "Beta"' in page
    assert "disabled" not in page
    assert await browser.evaluate("clicks") == 1


async def test_text_of_an_editor_that_is_drawn_in_lines_is_read_from_them(browser: SessionBrowser) -> None:
    await browser.show(
        """<div class=monaco-editor><div id=it role=textbox tabindex=0></div><div aria-hidden=true>
        <div class=view-line style="top: 19px">&nbsp;b</div><div class=view-line style="top: 0">a</div></div>
        </div><script>it.editContext = new EditContext({text: 'b'})</script>"""
    )

    assert (await browser.call("get_value", selector="#it"))["value"] == "a\n b"
    assert (await browser.call("snapshot"))["snapshot"] == 'e1 textbox hint "#it": "a\\n b"'


@pytest.mark.parametrize("toggle", ["input type=checkbox", "button role=checkbox"])
async def test_hidden_toggle_is_pressed_by_a_label_whose_text_is_in_a_slot(
    browser: SessionBrowser, toggle: str
) -> None:
    await browser.show(
        f"""<my-box id=it>Agree to everything</my-box><script>
        it.attachShadow({{mode: 'open'}}).innerHTML = `<style>#box {{
          position: absolute; width: 1px; height: 1px; clip: rect(0 0 0 0); padding: 0; border: 0 }}</style>
        <{toggle} id=box></button>
        <label for=box style="display: inline-block"><span><slot></slot></span></label>`;
        window.clicks = 0; it.shadowRoot.querySelector('#box').onclick = () => clicks += 1;</script>"""
    )

    await browser.call("click", selector="role=checkbox", timeout=3_000)

    assert await browser.evaluate("clicks") == 1
