"""Fill many fields: find the kind of each, check its value, and then fill them one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.actions.field_values import check_choice, check_text, find_field
from footlight.browser.actions.form_controls import choose_radio, press, select_option, set_checked
from footlight.browser.actions.text_input import fill_field
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.scripts import run_about
from footlight.browser.page.element_diagnosis import find_obstacle
from footlight.browser.page.element_operations import act_on_element, read_element
from footlight.browser.page.refs import locate_now
from footlight.errors import ElementNotInteractive, FootlightError, InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["Field", "FieldKind", "FieldValue", "Filled", "choose_option", "fill_form"]

FieldValue = str | bool | int | float | list[str]
FieldKind = Literal["text", "checkbox", "radio", "radiogroup", "select", "combobox", "listbox"]

OPTIONS_MS = 2_000.0
"""How long a list may take to name its options."""
SUGGEST_MS = 1_000
"""How long a field may take to suggest the text that was typed into it."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form, and its new value."""

    selector: str
    value: FieldValue


@dataclass(frozen=True, slots=True)
class Filled:
    """A field that was filled, and what the caller should know about it."""

    kind: FieldKind
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """The kind of a field. An `editable` combobox takes any text; `multiple` allows several options."""

    name: FieldKind
    editable: bool
    multiple: bool


async def fill_form(page: Page, fields: Sequence[Field], deadline: Deadline) -> list[Filled]:
    """Fill the fields, and return their kinds, with a notice for each that holds another value than given.

    A combobox that took the text without a choice is a `text`.

    Raises:
        FootlightError: a field is missing or cannot hold its value, and no field was changed yet; or a field
            could not be filled. `details` has its index, and the indexes of the fields that were filled.
    """
    kinds: list[_Kind] = []
    for index, field in enumerate(fields):
        try:
            kinds.append(
                _check_value(await _find_kind(page, field.selector, deadline.start_patience()), field)
            )
        except FootlightError as error:
            raise _add_field_index(error, index, done=None) from error
    filled: list[Filled] = []
    for index, (field, kind) in enumerate(zip(fields, kinds, strict=True)):
        deadline.stage(f"filling {field.selector}")
        try:
            filled.append(await _fill(page, field, kind, deadline.start_patience()))
        except FootlightError as error:
            raise _add_field_index(error, index, done=list(range(index))) from error
    # A page may change a field when the focus leaves it, or when another one changes.
    return [await _check(page, *each, deadline) for each in zip(fields, filled, strict=True)]


async def choose_option(page: Page, selector: str, value: str, deadline: Deadline) -> list[str]:
    """Select an option of a `select`, or choose one of a combobox or listbox that the page has made itself.

    Returns:
        The values that are selected afterwards; of a combobox or listbox, the name of the option.

    Raises:
        FootlightError: the element offers no options, or not this one.
    """
    try:
        return await select_option(page, selector, value, deadline)
    except ElementNotInteractive as error:
        if error.details.get("reason") != "wrong kind":
            raise
        kind = await _find_kind(page, selector, deadline)
        if kind.name not in ("combobox", "listbox"):
            raise
    field = Field(selector, [value] if kind.multiple else value)  # A list replaces what was chosen.
    filled = await _fill(page, field, kind, deadline)
    if filled.kind == "text":
        raise InvalidParameter(
            f'value: "{selector}" suggests no option "{value}"; the text is in the field now',
            parameter="value",
            suggestion="Look at the options that it shows, and click one.",
        )
    return [value]


async def _check(page: Page, field: Field, filled: Filled, deadline: Deadline) -> Filled:
    """Return `filled`, with a notice if the field holds another value."""
    if filled.kind not in ("text", "select"):
        return filled
    if (element := await find_field(page, field.selector, deadline)) is None:
        return filled
    words = field.value if isinstance(field.value, list) else [_to_text(field.value)]
    if filled.kind == "select":
        return replace(filled, notice=await check_choice(page, element, words, deadline.remaining_ms))
    return replace(filled, notice=await check_text(page, element, words[0], deadline.remaining_ms))


def _add_field_index(error: FootlightError, index: int, *, done: list[int] | None) -> FootlightError:
    """Return the error with the field's index. `done` is None where no field was changed yet."""
    details: dict[str, Any] = {**error.details, "field": index, "done": done or []}
    if details.get("parameter") == "value":
        details["parameter"] = f"fields.{index}.value"
    state = f"fields before it ({len(done)}) are filled" if done else "no field was filled"
    message = f"fields.{index}: {error.message.removeprefix('value: ')}; {state}"
    return type(error)(message, suggestion=error.suggestion, retryable=error.retryable, **details)


async def _find_kind(page: Page, selector: str, deadline: Deadline) -> _Kind:
    """Return the kind of a field.

    Raises:
        ElementNotInteractive: the element is not a field, or cannot be filled like this.
    """
    found = await read_element(
        page,
        selector,
        deadline,
        lambda element, timeout_ms: run_about(element, _KIND, timeout_ms=timeout_ms),
        acts=True,
    )
    if "reason" in found:
        raise ElementNotInteractive(
            f'"{selector}" is {found["reason"]}',
            suggestion=found["suggestion"],
            selector=selector,
            page=page.url,
        )
    return _Kind(found["kind"], found["editable"], found["multiple"])


def _check_value(kind: _Kind, field: Field) -> _Kind:
    """Return the kind.

    Raises:
        InvalidParameter: a field of this kind cannot hold the value.
    """
    expected = _describe_expected(kind, field.value)
    if expected is None:
        return kind
    what = f"{kind.name} field" if kind.name == "text" else kind.name
    raise InvalidParameter(f'value: "{field.selector}" is a {what}; it takes {expected}', parameter="value")


def _describe_expected(kind: _Kind, value: FieldValue) -> str | None:
    """Return which values a field of this kind takes, or None where it takes this one."""
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


async def _fill(page: Page, field: Field, kind: _Kind, deadline: Deadline) -> Filled:
    selector, value = field.selector, field.value
    # The element was found with its kind. Its steps have all of the time.
    unwatched = deadline.without_patience()
    words = value if isinstance(value, list) else [_to_text(value)]
    if kind.name == "checkbox" or (kind.name == "radio" and value is True):
        await set_checked(page, selector, bool(value), deadline)
    elif kind.name in ("radio", "radiogroup"):
        await act_on_element(
            page, selector, unwatched, lambda group, timeout_ms: _choose_radio(page, group, field, timeout_ms)
        )
    elif kind.name == "select":
        await _select(page, field, words, deadline)
    elif kind.name == "listbox":
        await act_on_element(
            page,
            selector,
            unwatched,
            lambda box, timeout_ms: _choose_options(page, box, field, words, deadline, timeout_ms),
        )
    elif kind.name == "combobox" and not kind.editable:
        await act_on_element(
            page,
            selector,
            unwatched,
            lambda box, timeout_ms: _open_and_choose(page, box, field, deadline, timeout_ms),
        )
    else:
        return Filled(await _fill_text(page, field, kind, words[0], deadline))
    return Filled(kind.name)


async def _select(page: Page, field: Field, options: list[str], deadline: Deadline) -> None:
    """Select the options of a `select` element."""
    if not isinstance(field.value, list):
        await select_option(page, field.selector, options[0], deadline)
        return
    await act_on_element(
        page,
        field.selector,
        deadline,
        lambda box, timeout_ms: box.select_option(options, timeout=timeout_ms),
        find=lambda: _find_options_problem(page, field, options, deadline),
    )


async def _fill_text(page: Page, field: Field, kind: _Kind, text: str, deadline: Deadline) -> FieldKind:
    """Fill a text field, or an editable combobox, which becomes a text field if it suggests nothing."""
    await fill_field(page, field.selector, text, deadline, check=False)
    is_chosen = kind.name == "combobox" and await _take_suggestion(page, field, deadline)
    return "combobox" if is_chosen else "text"


def _to_text(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


async def _choose_radio(page: Page, group: Locator, field: Field, timeout_ms: float) -> None:
    found = await group.evaluate_handle(_RADIO, _text_of(field), timeout=timeout_ms)
    if radio := found.as_element():
        await choose_radio(page, radio, timeout_ms)
        return
    raise _missing_option_error(field, _text_of(field), await found.json_value())


async def _find_options_problem(
    page: Page, field: Field, options: list[str], deadline: Deadline
) -> FootlightError | None:
    """Return the error that says which option a list does not have, or why it cannot be used."""
    try:
        box = (await locate_now(page, field.selector, deadline)).first
        names: list[str] | None = await run_about(box, _NAMES, timeout_ms=OPTIONS_MS)
    except Error:
        names = None
    missing = [each for each in options if names is not None and each not in names]
    if names is not None and missing:
        return _missing_option_error(field, missing[0], names)
    return await find_obstacle(page, field.selector, deadline)


async def _open_and_choose(
    page: Page, box: Locator, field: Field, deadline: Deadline, timeout_ms: float
) -> None:
    if await box.get_attribute("aria-expanded", timeout=timeout_ms) != "true":
        await press(page, box, timeout_ms)
    found = await box.evaluate_handle(_OPTION, [_text_of(field), deadline.start_patience().element_ms / 2])
    if option := found.as_element():
        await press(page, option, timeout_ms)
        return
    await box.press("Escape", timeout=timeout_ms)
    raise _missing_option_error(field, _text_of(field), await found.json_value())


async def _choose_options(
    page: Page, box: Locator, field: Field, names: list[str], deadline: Deadline, timeout_ms: float
) -> None:
    """Choose these options of a listbox. Where the value is a list, also drop all other ones."""
    chosen: list[str] = await run_about(box, _CHOSEN, timeout_ms=timeout_ms)
    change = [each for each in names if each not in chosen]
    if isinstance(field.value, list):
        change += [each for each in chosen if each not in names]
    options: list[ElementHandle] = []
    for each in change:
        found = await box.evaluate_handle(_OPTION, [each, deadline.start_patience().element_ms / 2])
        option = found.as_element()
        if option is None:
            raise _missing_option_error(field, each, await found.json_value())
        options.append(option)
    for option in options:
        await press(page, option, timeout_ms)


async def _take_suggestion(page: Page, field: Field, deadline: Deadline) -> bool:
    """Choose the option that a field suggests for its text. Return whether it suggests exactly that."""

    async def take(box: Locator, timeout_ms: float) -> bool:
        if not await run_about(box, _SUGGESTS, timeout_ms=timeout_ms):
            return False
        found = await box.evaluate_handle(_OPTION, [_text_of(field), min(SUGGEST_MS, timeout_ms)])
        if option := found.as_element():
            await press(page, option, timeout_ms)
        return option is not None

    return await read_element(page, field.selector, deadline.without_patience(), take, acts=True)


def _text_of(field: Field) -> str:
    return field.value[0] if isinstance(field.value, list) else _to_text(field.value)


def _missing_option_error(field: Field, name: str, names: Any) -> InvalidParameter:
    known = "; ".join(f'"{each}"' for each in names[:50]) or "none that this tool can see: use click"
    return InvalidParameter(
        f'value: "{field.selector}" has no option "{name}", or more than one; it has: {known}',
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
  return no(`not a form field, but a <${field.localName}>`, 'Give the selector of the field itself.');
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
