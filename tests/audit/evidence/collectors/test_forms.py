"""Forms: labels, purposes, required fields and errors."""

from __future__ import annotations

import pytest

from footlight.audit.evidence.collectors.forms import Forms
from footlight.audit.findings import Fact
from footlight.audit.page.page import AuditedPage
from tests.audit.evidence.seen import collect_at, summarize
from tests.site import Site

pytestmark = pytest.mark.anyio


def document(body: str) -> str:
    return f"<!doctype html><html lang=en><title>Order tea</title><body>{body}"


def field(name: str, label: str, attributes: str = "") -> str:
    return f"<p><label for={name}>{label}</label> <input id={name} name={name} {attributes}></p>"


FOREIGN_FIELD = """
  const field = document.createElementNS(null, "input")
  field.setAttribute("style", "display: block; width: 90px; height: 20px")
  document.body.append(field)
"""


async def test_forms_are_reported_as_facts(any_page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<form aria-label='Sign in' method=post action=/in>"
            + field("user", "User name", "autocomplete=username required")
            + field("secret", "Password", "type=password autocomplete=current-password required")
            + "<input type=hidden name=token><button>Sign in</button></form>"
            "<form id=search role=search><input type=search aria-label='Search the teas'></form>"
            + field("note", "Note")
        )
    )

    collected = await collect_at(url, any_page, Forms())

    assert collected.findings == []
    assert collected.facts == [
        Fact(
            topic="forms",
            text="Form “Sign in”: User name [text, required, username]"
            " · Password [password, required, current-password]; buttons: “Sign in”.",
        ),
        Fact(topic="forms", text="Form “search”: Search the teas [search]; buttons: none."),
        Fact(topic="forms", text="Fields in no form: Note [text]."),
    ]


async def test_form_faults_are_reported_with_the_expected_value(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<form method=get action=/orders>"
            + field("email", "E-Mail-Adresse *", "autocomplete=email")
            + field("phone", "Telefon", "type=number")
            + field("plz", "PLZ (optional)", "type=number required autocomplete=postal-code")
            + field("p1", "Passwort", "type=password onpaste='return false' autocomplete=current-password")
            + field("p2", "Wiederholung", "type=password autocomplete=current-password")
            + field("code", "Bestätigungscode")
            + "</form>"
        )
    )

    assert summarize(await collect_at(url, page, Forms())) == {
        "forms/no-submit": [("form", "no button")],
        "forms/password-sent-openly": [("form", 'method="get": the password becomes part of the address')],
        "forms/paste-refused": [("#p1", "the paste was cancelled, and nothing was entered")],
        "forms/optional-but-required": [("#plz", "“PLZ (optional)”, and required")],
        "forms/required-unsaid": [("#email", "“E-Mail-Adresse *”, and neither required nor aria-required")],
        "forms/autocomplete-missing": [
            ("#phone", 'expected autocomplete="tel"'),
            ("#code", 'expected autocomplete="one-time-code"'),
        ],
        "forms/autocomplete-wrong": [
            (
                id,
                'autocomplete="current-password", expected new-password for all but the one that is used now',
            )
            for id in ("#p1", "#p2")
        ],
        "forms/digits-as-number": [
            ("#phone", 'type="number", which is for amounts'),
            ("#plz", 'type="number", which is for amounts'),
        ],
        "forms/wrong-keyboard": [
            ("#email", 'type="text", expected type="email"'),
            ("#code", 'type="text", expected inputmode="numeric"'),
        ],
    }


async def test_paste_test_leaves_field_values_unchanged(page: AuditedPage, site: Site) -> None:
    """A field that takes what is pasted by itself is no fault, and is left with what it had."""
    taking = "event.preventDefault(); this.value = event.clipboardData.getData('text/plain')"
    url = site.page(
        document(
            "<form method=post action=/in>"
            + field("user", "User name", "autocomplete=username")
            + field(
                "p", "Password", f'type=password autocomplete=current-password value=old onpaste="{taking}"'
            )
            + "<button>Sign in</button></form>"
        )
    )

    collected = await collect_at(url, page, Forms())

    assert summarize(collected) == {}
    assert await page.evaluate("() => document.getElementById('p').value") == "old"


@pytest.mark.parametrize(
    "mark",
    [
        "<style>label.must::after { content: ' *' }</style>",
        "<p>All fields are required but the last.</p>",
        "<p>Felder ohne Zusatz sind Pflichtfeld.</p>",
    ],
)
async def test_required_fields_may_be_marked_in_any_way(page: AuditedPage, site: Site, mark: str) -> None:
    url = site.page(
        document(
            f"<form method=post action=/x>{mark}<label class=must>Tea <input required></label>"
            "<label>Greeting <input></label><button>Send</button></form>"
        )
    )

    assert summarize(await collect_at(url, page, Forms())) == {}


@pytest.mark.parametrize(
    "body",
    [
        "<form><label>Invite <input type=email></label><label>As "
        "<select><option>Guest</select></label><button>Invite</button></form>",
        "<form><label>CVC <input type=password></label><label>PIN <input "
        "type=password></label><button>Pay</button></form>",
        "<form role=search><input placeholder='Search' aria-label=Search><button>Go</button></form>",
        "<form><label>Your friend's email <input type=email></label><button>Send</button></form>",
        "<form><label>From <input type=number></label><label>To <input type=number></label></form>",
        "<form><p><input type=checkbox id=a><label for=a>I agree *</label></p><button>Go on</button></form>",
    ],
)
async def test_uncertain_form_faults_are_not_reported(page: AuditedPage, site: Site, body: str) -> None:
    assert summarize(await collect_at(site.page(document(body)), page, Forms())) == {}


async def test_field_names_that_shadow_form_properties_are_harmless(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<form method=post action=/x>"
            + "".join(
                field(name, name) for name in ("action", "method", "id", "name", "elements", "autocomplete")
            )
            + "<button>Send</button></form>"
        )
    )

    assert [fact.text for fact in (await collect_at(url, page, Forms())).facts] == [
        "Form: action [text] · method [text] · id [text] · name [text] · elements [text]"
        " · autocomplete [text]; buttons: “Send”."
    ]


async def test_field_names_that_shadow_form_members_hide_no_field(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document(
            "<form>"
            + field("children", "Children", "type=number")
            + field("id", "Booking number")
            + "<button>Book</button></form>"
            "<form><label>Guests <select name=children><option>1</select></label>"
            + "<label>Notes <input name=notes></label></form>"
        )
    )

    collected = await collect_at(url, page, Forms())

    assert collected.skipped == []
    assert [fact.text for fact in collected.facts] == [
        "Form: Children [number] · Booking number [text]; buttons: “Book”.",
        "Form: Guests [select-one] · Notes [text]; buttons: none.",
    ]


async def test_non_html_fields_are_ignored(page: AuditedPage, site: Site) -> None:
    url = site.page(
        document("<svg><input width=9 height=9></input></svg><script>" + FOREIGN_FIELD + "</script>")
    )

    collected = await collect_at(url, page, Forms())

    assert (collected.findings, collected.facts, collected.skipped) == ([], [], [])
