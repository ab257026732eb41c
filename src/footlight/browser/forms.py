"""Many fields in one go: what kind each of them is, whether its value fits, and then all of them in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser import actions
from footlight.browser._playwright import PlaywrightTimeout
from footlight.browser.scripts import run_about
from footlight.errors import ElementNotInteractive, FootlightError, InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator

    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page

__all__ = ["Field", "FieldKind", "FieldValue", "fill_form"]

FieldValue = str | bool | int | float | list[str]
FieldKind = Literal["text", "checkbox", "radio", "radiogroup", "select", "combobox", "listbox"]

SUGGEST_MS = 1_000
"""How long a field may take to suggest what was typed into it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form by its selector, and what it is to hold."""

    selector: str
    value: FieldValue


@dataclass(frozen=True, slots=True)
class _Kind:
    """`editable`: a combobox that takes any text. `multiple`: more than one option can be chosen."""

    name: FieldKind
    editable: bool
    multiple: bool


async def fill_form(page: Page, fields: Sequence[Field], deadline: Deadline) -> list[FieldKind]:
    """What each field was taken for. A combobox that took the text without a choice is a `text`.

    Raises:
        FootlightError: of the first field that is missing, or that its value does not fit, before any was
            changed; or of one that could not be filled. `details` has its index and those that were done.
    """
    kinds: list[_Kind] = []
    for index, field in enumerate(fields):
        try:
            kinds.append(_checked(await _kind_of(page, field.selector, deadline.begun()), field))
        except FootlightError as error:
            raise _placed(error, index, done=None) from error
    filled: list[FieldKind] = []
    for index, (field, kind) in enumerate(zip(fields, kinds, strict=True)):
        deadline.stage(f"filling {field.selector}")
        try:
            filled.append(await _fill(page, field, kind, deadline.begun()))
        except FootlightError as error:
            raise _placed(error, index, done=list(range(index))) from error
    return filled


def _placed(error: FootlightError, index: int, *, done: list[int] | None) -> FootlightError:
    """The same error, of a field among others. `done` is None where nothing was changed yet."""
    details: dict[str, Any] = {**error.details, "field": index, "done": done or []}
    if details.get("parameter") == "value":
        details["parameter"] = f"fields.{index}.value"
    state = f"fields before it ({len(done)}) are filled" if done else "no field was filled"
    message = f"fields.{index}: {error.message.removeprefix('value: ')}; {state}"
    return type(error)(message, suggestion=error.suggestion, retryable=error.retryable, **details)


async def _kind_of(page: Page, selector: str, deadline: Deadline) -> _Kind:
    """Raises ElementNotInteractive where it is no field, or one that this cannot fill."""
    found = await page.ask(
        selector, deadline, lambda element, timeout: run_about(element, _KIND, timeout_ms=timeout)
    )
    if "reason" in found:
        raise ElementNotInteractive(
            f'"{selector}" is {found["reason"]}',
            suggestion=found["suggestion"],
            selector=selector,
            page=page.url,
        )
    return _Kind(found["kind"], found["editable"], found["multiple"])


def _checked(kind: _Kind, field: Field) -> _Kind:
    """Raises InvalidParameter where the value is none for this kind of field."""
    expected = _expected(kind, field.value)
    if expected is None:
        return kind
    what = f"{kind.name} field" if kind.name == "text" else kind.name
    raise InvalidParameter(f'value: "{field.selector}" is a {what}; it takes {expected}', parameter="value")


def _expected(kind: _Kind, value: FieldValue) -> str | None:
    """What a field of this kind takes; None where the value is that."""
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    if kind.name == "checkbox":
        return None if isinstance(value, bool) else "true or false"
    if kind.name == "radio":
        return None if is_word or value is True else "true, or the value or label of one of its group"
    if isinstance(value, list) and (kind.multiple or (len(value) == 1 and kind.name == "select")):
        return None
    if is_word:
        return None
    several = ", or a list of them" if kind.multiple else ""
    return f"{'a text or number' if kind.name == 'text' else 'the name of an option'}{several}"


async def _fill(page: Page, field: Field, kind: _Kind, deadline: Deadline) -> FieldKind:
    selector, value = field.selector, field.value
    words = value if isinstance(value, list) else [_text(value)]
    if kind.name == "checkbox" or (kind.name == "radio" and value is True):
        await actions.set_checked(page, selector, bool(value), deadline)
    elif kind.name in ("radio", "radiogroup"):
        await page.act(selector, deadline, lambda group, timeout: _check_radio(group, field, timeout))
    elif kind.name == "select" and isinstance(value, list):
        await page.act(selector, deadline, lambda box, timeout: _select_all(box, field, words, timeout))
    elif kind.name == "select":
        await actions.select(page, selector, words[0], deadline)
    elif kind.name == "listbox":
        await page.act(selector, deadline, lambda box, timeout: _choose(box, field, words, timeout))
    elif kind.name == "combobox" and not kind.editable:
        await page.act(selector, deadline, lambda box, timeout: _open_and_choose(box, field, timeout))
    else:
        await actions.fill(page, selector, words[0], deadline)
        if kind.name == "combobox" and not await _take_suggestion(page, field, deadline):
            return "text"
    return kind.name


def _text(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


async def _check_radio(group: Locator, field: Field, timeout: float) -> None:
    found = await group.evaluate_handle(_RADIO, _text_of(field), timeout=timeout)
    if radio := found.as_element():
        await radio.set_checked(True, timeout=timeout)
        return
    raise _no_option(field, _text_of(field), await found.json_value())


async def _select_all(box: Locator, field: Field, wanted: list[str], timeout: float) -> None:
    try:
        await box.select_option(wanted, timeout=timeout)
    except PlaywrightTimeout:
        names: list[str] | None = await run_about(box, _NAMES, timeout_ms=timeout)
        missing = [each for each in wanted if each not in (names or [])]
        if names is None or not missing:
            raise
        raise _no_option(field, missing[0], names) from None


async def _open_and_choose(box: Locator, field: Field, timeout: float) -> None:
    if await box.get_attribute("aria-expanded", timeout=timeout) != "true":
        await box.click(timeout=timeout)
    found = await box.evaluate_handle(_OPTION, [_text_of(field), timeout / 2])
    if option := found.as_element():
        await option.click(timeout=timeout)
        return
    await box.press("Escape", timeout=timeout)
    raise _no_option(field, _text_of(field), await found.json_value())


async def _choose(box: Locator, field: Field, wanted: list[str], timeout: float) -> None:
    """Those, and no other."""
    chosen: list[str] = await run_about(box, _CHOSEN, timeout_ms=timeout)
    change = [*(each for each in wanted if each not in chosen)]
    if isinstance(field.value, list):
        change += [each for each in chosen if each not in wanted]
    options: list[ElementHandle] = []
    for each in change:
        found = await box.evaluate_handle(_OPTION, [each, timeout / 2])
        option = found.as_element()
        if option is None:
            raise _no_option(field, each, await found.json_value())
        options.append(option)
    for option in options:
        await option.click(timeout=timeout)


async def _take_suggestion(page: Page, field: Field, deadline: Deadline) -> bool:
    """Choose what a field offers for its text, where it offers just that."""

    async def take(box: Locator, timeout: float) -> bool:
        if not await run_about(box, _SUGGESTS, timeout_ms=timeout):
            return False
        found = await box.evaluate_handle(_OPTION, [_text_of(field), min(SUGGEST_MS, timeout)])
        if option := found.as_element():
            await option.click(timeout=timeout)
        return option is not None

    return await page.ask(field.selector, deadline, take)


def _text_of(field: Field) -> str:
    return field.value[0] if isinstance(field.value, list) else _text(field.value)


def _no_option(field: Field, wanted: str, names: Any) -> InvalidParameter:
    known = "; ".join(f'"{name}"' for name in names[:50]) or "none that this tool can see: use click"
    return InvalidParameter(
        f'value: "{field.selector}" has no option "{wanted}", or more than one; it has: {known}',
        parameter="value",
        options=names[:50],
    )


_KIND = """element => {
  const field = element instanceof HTMLLabelElement && element.control || element;
  const role = (field.getAttribute('role') || '').trim().toLowerCase().split(/\\s+/)[0];
  const is = (kind, more) => ({kind, editable: false, multiple: false, ...more});
  const no = (reason, suggestion) => ({reason, suggestion});
  const press = 'Use click.';
  if (field instanceof HTMLInputElement) {
    const type = field.type;
    if (type === 'file') return no('a file input', 'Use upload_file.');
    if (type === 'hidden') return no('a hidden field', 'Leave it out: the page sets it.');
    if (['button', 'submit', 'reset', 'image'].includes(type)) return no('a button', press);
    if (type === 'checkbox' || type === 'radio') return is(type);
    return role === 'combobox' ? is('combobox', {editable: !field.readOnly}) : is('text');
  }
  if (field instanceof HTMLSelectElement) return is('select', {multiple: field.multiple});
  if (field instanceof HTMLTextAreaElement) return is('text');
  if (['checkbox', 'switch', 'menuitemcheckbox'].includes(role)) return is('checkbox');
  if (role === 'radio' || role === 'menuitemradio') return is('radio');
  const radios = field.querySelector('input[type=radio], [role=radio]');
  if (role === 'radiogroup' || (field.localName === 'fieldset' && radios)) return is('radiogroup');
  const several = field.getAttribute('aria-multiselectable') === 'true';
  if (role === 'listbox') return is('listbox', {multiple: several});
  if (role === 'combobox') return is('combobox', {editable: field.isContentEditable});
  if (field.isContentEditable) return is('text');
  if (field instanceof HTMLButtonElement || role === 'button') return no('a button', press);
  return no(`no field of a form, but a <${field.localName}>`, 'Give the selector of the field itself.');
}"""

_CLEAN = """
  const clean = text => (text || '').replace(/\\s+/g, ' ').trim();
  const root = element.getRootNode();
  const page = element.ownerDocument;
  const byId = id => (root.getElementById && root.getElementById(id)) || page.getElementById(id);
  const named = it => clean(it.getAttribute('aria-label'))
    || (it.getAttribute('aria-labelledby') || '').split(/\\s+/).map(byId).filter(Boolean)
      .map(label => clean(label.textContent)).join(' ');
  const seen = it => it.getClientRects().length > 0;"""

_RADIO = f"""(element, wanted) => {{{_CLEAN}
  const field = element instanceof HTMLLabelElement && element.control || element;
  const native = field instanceof HTMLInputElement;
  const all = (from, what) => Array.from(from.querySelectorAll(what));
  const group = native
    ? all(root, 'input[type=radio]').filter(it => it.name === field.name && it.form === field.form)
    : all(field.closest('[role=radiogroup], fieldset, [role=menu]') || field,
      'input[type=radio], [role=radio], [role=menuitemradio]');
  const labels = it => Array.from(it.labels, label => clean(label.innerText)).join(' ');
  const name = it => named(it) || (it.labels ? labels(it) : clean(it.innerText));
  const value = it => it instanceof HTMLInputElement ? it.value : it.getAttribute('value');
  for (const of of [value, name]) {{
    const found = group.filter(it => of(it) === wanted);
    if (found.length === 1) return found[0];
  }}
  return group.map(it => name(it) || value(it));
}}"""

_NAMES = """element => {
  const box = element instanceof HTMLLabelElement ? element.control : element;
  return box instanceof HTMLSelectElement
    ? Array.from(box.options).flatMap(option => [option.label, option.value]) : null;
}"""

_OPTIONS_OF = """
  const ids = () => ['aria-controls', 'aria-owns'].flatMap(
    key => (element.getAttribute(key) || '').split(/\\s+/).filter(Boolean));
  const lists = () => {
    if (element.getAttribute('role') === 'listbox') return [element];
    const own = ids().map(byId).filter(Boolean);
    if (own.length) return own;
    const open = Array.from(page.querySelectorAll('[role=listbox]')).filter(seen);
    return open.length === 1 ? open : [];
  };
  const options = () => lists().flatMap(list => Array.from(list.querySelectorAll('[role=option]')));
  const name = it => named(it) || clean(it.innerText);"""

_OPTION = f"""async (element, [wanted, patience]) => {{{_CLEAN}{_OPTIONS_OF}
  const until = performance.now() + patience;
  for (;;) {{
    const found = options().filter(it => seen(it) && name(it) === clean(wanted));
    if (found.length === 1) return found[0];
    if (performance.now() >= until) return options().map(name);
    await new Promise(resolve => setTimeout(resolve, 30));
  }}
}}"""

_CHOSEN = f"""element => {{{_CLEAN}{_OPTIONS_OF}
  return options().filter(it => it.getAttribute('aria-selected') === 'true').map(name);
}}"""

_SUGGESTS = """element => element.getAttribute('aria-expanded') === 'true'
  || ['list', 'both'].includes(element.getAttribute('aria-autocomplete'))"""
