"""Faults of forms: labels, autocomplete, required fields, errors and passwords."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page
from tests.audit.faults.pictures import noise

__all__ = ["FAULTS"]

EMAIL = (
    '<label for="email">E-mail address</label>'
    '<input id="email" name="email" type="email" autocomplete="email">'
)
SEND = '<p><button type="submit">Send</button></p>'
TERMS = (
    '<p><input type="checkbox" id="terms" name="terms">'
    ' <label for="terms" style="display: inline">I agree</label></p>'
)


def form(fields: str, *, attributes: str = 'method="post" action="/orders"', send: str = SEND) -> str:
    return page(
        f"<h1>Your details</h1><form {attributes}>{fields}{send}</form>", title="Your details – Brook & Leaf"
    )


def password(attributes: str = "", *, type: str = "password", autocomplete: str = "current-password") -> str:
    return (
        '<label for="user">User name</label><input id="user" name="user" autocomplete="username">'
        f'<label for="secret">Password</label><input id="secret" name="secret" type="{type}"'
        f' autocomplete="{autocomplete}" {attributes}>'
    )


def render_new_password(first: str, second: str) -> str:
    return (
        f'{EMAIL}<label for="p1">Choose a password</label><input id="p1" type="password" '
        f'autocomplete="{first}">'
        f'<label for="p2">Repeat password</label><input id="p2" type="password" autocomplete="{second}">'
    )


def address(street: str = ' autocomplete="street-address"', code: str = ' autocomplete="postal-code"') -> str:
    return (
        f'<label for="street">Street</label><input id="street" name="street"{street}>'
        f'<label for="code">Postcode</label><input id="code" name="code"{code}>'
        '<label for="city">Town</label><input id="city" name="city" autocomplete="address-level2">'
    )


def phone(attributes: str) -> str:
    return f'{EMAIL}<label for="phone">Phone number</label><input id="phone" name="phone" {attributes}>'


def gift(*, label: str = "Name of the tea", required: str = "", note: str = "Message (optional)") -> str:
    return (
        f'<label for="tea">{label}</label><input id="tea" name="tea" {required}>'
        f'<label for="note">{note}</label><textarea id="note" name="note"></textarea>'
    )


def quantity(attributes: str, message: str) -> str:
    return (
        f'<div><label for="grams">Grams</label><input id="grams" name="grams" inputmode="numeric" '
        f'value="7" {attributes}>'
        f'<p class="field-error" {message}>Enter at least 50 grams.</p></div>{TERMS}'
    )


def wrapping(question: str, end: str) -> str:
    choices = "".join(
        f'<div><input type="radio" name="wrap" value="{value}" id="{value}" {"checked" * (value == "paper")}>'
        f' <label for="{value}" style="display: inline">{text}</label></div>'
        for value, text in (("paper", "Paper"), ("cloth", "Cloth"), ("none", "None"))
    )
    return f"{question}{choices}{end}"


def code(attributes: str) -> str:
    return (
        '<label for="code">Verification code</label>'
        f'<input id="code" name="code" autocomplete="one-time-code" {attributes}>'
    )


def card(attributes: str) -> str:
    return (
        '<label for="card">Card number</label>'
        f'<input id="card" name="card" autocomplete="cc-number" {attributes}>'
    )


def choice(label: str, attributes: str) -> str:
    options = "".join(f"<option>{each}</option>" for each in ("", "Paper", "Cloth"))
    return f'<label for="wrap">{label}</label><select id="wrap" name="wrap" {attributes}>{options}</select>'


STAR = '<span aria-hidden="true">*</span>'
ATTRIBUTE_INVALID = 'aria-invalid="true"'
PASTING = "document.forms[0].addEventListener('paste', event => {{ event.preventDefault(); {} }});"
INSERTING = "event.target.value += event.clipboardData.getData('text').trim();"

FAULTS: Sequence[Fault] = (
    Fault(
        name="a field without a label",
        rule="axe/label",
        faulty=form('<p>Grams</p><input name="grams" inputmode="numeric">'),
        clean=form('<label for="grams">Grams</label><input id="grams" name="grams" inputmode="numeric">'),
    ),
    Fault(
        name="a list to choose from without a label",
        rule="axe/select-name",
        faulty=form('<select name="tea"><option>Sencha</option><option>Bancha</option></select>'),
        clean=form(
            '<label>Tea <select name="tea"><option>Sencha</option><option>Bancha</option></select></label>'
        ),
    ),
    Fault(
        name="a placeholder for a label",
        rule="forms/placeholder-as-label",
        faulty=form('<input name="grams" placeholder="Grams" inputmode="numeric">'),
        clean=form(
            '<label for="grams">Grams</label><input id="grams" name="grams" placeholder="100" '
            'inputmode="numeric">'
        ),
    ),
    Fault(
        name="labels that only screen readers get",
        rule="forms/placeholder-as-label",
        faulty=form(
            '<input aria-label="Recipient" placeholder="Recipient"> <input aria-label="Greeting" '
            'placeholder="Greeting">'
        ),
        clean=form(
            '<label for="q">Recipient</label><input id="q" placeholder="Ada"><p><label '
            'for="g">Greeting</label>'
            '<input id="g" placeholder="Dear …"></p>'
        ),
    ),
    Fault(
        name="an e-mail address that browsers cannot fill in",
        rule="forms/autocomplete-missing",
        faulty=form(EMAIL.replace(' autocomplete="email"', "") + TERMS),
        clean=form(EMAIL + TERMS),
    ),
    Fault(
        name="an address that browsers cannot fill in",
        rule="forms/autocomplete-missing",
        faulty=form(EMAIL + address(street="", code="")),
        clean=form(EMAIL + address()),
    ),
    Fault(
        name="a password that managers do not know",
        rule="forms/autocomplete-missing",
        faulty=form(password().replace(' autocomplete="current-password"', "")),
        clean=form(password()),
    ),
    Fault(
        name="a purpose that does not exist",
        rule="axe/autocomplete-valid",
        faulty=form(EMAIL.replace('autocomplete="email"', 'autocomplete="e-mail"')),
        clean=form(EMAIL.replace('autocomplete="email"', 'autocomplete="section-gift shipping email"')),
    ),
    Fault(
        name="the purpose of another field",
        rule="forms/autocomplete-wrong",
        faulty=form(EMAIL + address(code=' autocomplete="tel"')),
        clean=form(EMAIL + address(code=' autocomplete="shipping postal-code"')),
    ),
    Fault(
        name="a new password that is filled with the old one",
        rule="forms/autocomplete-wrong",
        faulty=form(render_new_password("current-password", "current-password")),
        clean=form(render_new_password("new-password", "new-password")),
    ),
    Fault(
        name="letters on the keyboard for a phone number",
        rule="forms/wrong-keyboard",
        faulty=form(phone('type="text" autocomplete="tel"')),
        clean=form(phone('type="tel" autocomplete="tel"')),
    ),
    Fault(
        name="a phone number to count up and down",
        rule="forms/digits-as-number",
        faulty=form(phone('type="number" autocomplete="tel"')),
        clean=form(phone('type="text" inputmode="tel" autocomplete="tel"')),
    ),
    Fault(
        name="an asterisk that only eyes see",
        rule="forms/required-unsaid",
        faulty=form(gift(label="Name of the tea *") + "<p>* must be filled</p>"),
        clean=form(gift(label="Name of the tea *", required="required") + "<p>* must be filled</p>"),
    ),
    Fault(
        name="optional, but required",
        rule="forms/optional-but-required",
        faulty=form(gift(label="Name of the tea (optional)", required="required")),
        clean=form(gift(label="Name of the tea (optional)")),
    ),
    Fault(
        name="required fields that look like the others",
        rule="forms/required-unmarked",
        faulty=form(gift(required="required", note="Message")),
        clean=form(gift(required="required", note="Message (optional)")),
    ),
    Fault(
        name="a form without a button",
        rule="forms/no-submit",
        faulty=form(password(), send=""),
        clean=form(password(), attributes='id="sign-in" method="post" action="/orders"', send="").replace(
            "</form>", '</form><button form="sign-in">Sign in</button>'
        ),
    ),
    Fault(
        name="an error beside its field, and not tied to it",
        rule="forms/error-not-tied",
        faulty=form(quantity('aria-invalid="true"', "")),
        clean=form(quantity('aria-invalid="true" aria-describedby="wrong"', 'id="wrong"')),
    ),
    Fault(
        name="a password that cannot be pasted",
        rule="forms/paste-refused",
        faulty=form(password('onpaste="return false"')),
        clean=form(password('onpaste="setTimeout(() => console.debug(this.value.length))"')),
    ),
    Fault(
        name="a password in plain letters",
        rule="forms/open-password",
        faulty=form(password(type="text")),
        clean=form(password()),
    ),
    Fault(
        name="a password in the address",
        rule="forms/password-sent-openly",
        faulty=form(password(), attributes='method="get" action="/orders"'),
        clean=form(password(), attributes='method="POST" action="/orders"'),
    ),
    Fault(
        name="answers without their question",
        rule="forms/radios-without-question",
        faulty=form(wrapping("<p>How shall we wrap it?</p>", "")),
        clean=form(wrapping("<fieldset><legend>How shall we wrap it?</legend>", "</fieldset>")),
    ),
    Fault(
        name="a code of the second step to count up and down",
        rule="forms/digits-as-number",
        faulty=form(code('type="number"')),
        clean=form(code('inputmode="numeric"')),
    ),
    Fault(
        name="a card number on the keyboard with letters",
        rule="forms/wrong-keyboard",
        faulty=form(card("")),
        clean=form(card('inputmode="numeric"')),
    ),
    Fault(
        name="an asterisk that is hidden from screen readers",
        rule="forms/required-unsaid",
        faulty=form(gift(label=f"Name of the tea {STAR}") + "<p>* must be filled</p>"),
        clean=form(
            gift(label=f"Name of the tea {STAR}", required='aria-required="true"') + "<p>* must be filled</p>"
        ),
    ),
    Fault(
        name="a list that is called optional and must be chosen from",
        rule="forms/optional-but-required",
        faulty=form(EMAIL + choice("Wrapping (optional)", 'aria-required="true"')),
        clean=form(EMAIL + choice("Wrapping (optional)", 'aria-required="false"')),
    ),
    Fault(
        name="a required list that looks like the others",
        rule="forms/required-unmarked",
        faulty=form(gift(note="Message") + choice("Wrapping", "required")),
        clean=form(
            "<style>.must::after { content: ' *'; }</style>"
            + gift(note="Message")
            + choice("Wrapping", "required").replace("<label", '<label class="must"')
        ),
    ),
    Fault(
        name="a form for a new customer without a button",
        rule="forms/no-submit",
        faulty=form(EMAIL + gift(required="required"), send=""),
        clean=form(EMAIL + gift(required="required"), send='<input type="image" src="/send.png" alt="Send">'),
        routes={"/send.png": reply(noise(60, 44), type="image/png")},
    ),
    Fault(
        name="an error beside a list, and not tied to it",
        rule="forms/error-not-tied",
        faulty=form(
            f"<div>{choice('Wrapping', ATTRIBUTE_INVALID)}"
            f'<p class="error-message">Choose one.</p></div>{TERMS}'
        ),
        clean=form(
            f"<div>{choice('Wrapping', f'{ATTRIBUTE_INVALID} aria-errormessage=wrong')}"
            f'<p class="error-message" id="wrong" role="alert">Choose one.</p></div>{TERMS}'
        ),
    ),
    Fault(
        name="a form that cancels whatever is pasted",
        rule="forms/paste-refused",
        faulty=form(f"{password()}<script>{PASTING.format('')}</script>"),
        clean=form(f"{password()}<script>{PASTING.format(INSERTING)}</script>"),
    ),
    Fault(
        name="a repeated password in plain letters",
        rule="forms/open-password",
        faulty=form(
            render_new_password("new-password", "new-password").replace('id="p2" type="password"', 'id="p2"')
        ),
        clean=form(
            password(type="text")
            + '<p><button type="button" aria-pressed="true" aria-controls="secret">Show password</button></p>'
        ),
    ),
    Fault(
        name="a password that is sent without encryption",
        rule="forms/password-sent-openly",
        faulty=form(password(), attributes='method="post" action="http://shop.example/login"'),
        clean=form(password(), attributes='method="post" action="https://shop.example/login"'),
    ),
    Fault(
        name="answers in a group without a name",
        rule="forms/radios-without-question",
        faulty=form(wrapping('<p id="how">How shall we wrap it?</p><div role="radiogroup">', "</div>")),
        clean=form(
            wrapping(
                '<p id="how">How shall we wrap it?</p><div role="radiogroup" aria-labelledby="how">', "</div>"
            )
        ),
    ),
)
