"""The watch page shows the arguments of calls without texts that may be secret."""

from __future__ import annotations

import pytest

from footlight.toolsets.browser.interaction.forms import fill_form
from footlight.watch.redaction import Redactor

VALUES = {"e7": "hunter2hunter2", "#ok": True, "e9": ["first choice"], "e10": {"deep": "hunter3hunter3"}}


@pytest.mark.parametrize(
    "redactor", [Redactor(), Redactor([fill_form])], ids=["an unknown tool", "a known tool"]
)
def test_fields_of_a_form_are_shown_without_their_values(redactor: Redactor) -> None:
    shown = redactor.arguments("fill_form", {"fields": VALUES, "submit": "e8"})

    assert shown == {
        "fields": {"e7": "[typed text]", "#ok": True, "e9": "[typed text]", "e10": "[typed text]"},
        "submit": "e8",
    }


def test_records_of_another_server_are_shown_without_their_values() -> None:
    fields = [{"target": "e7", "name": "Password", "value": "hunter2hunter2"}]
    redactor = Redactor()

    shown = redactor.arguments("browser_fill_form", {"fields": fields})
    redactor.learn("browser_fill_form", {"fields": fields}, field=None)

    assert shown == {"fields": [{"target": "e7", "name": "Password", "value": "[typed text]"}]}
    assert redactor.text("Password of hunter2hunter2") == "Password of [REDACTED]"


def test_values_typed_into_unknown_fields_of_a_form_are_masked_in_later_texts() -> None:
    redactor = Redactor()

    redactor.learn("fill_form", {"fields": VALUES}, field=None)

    assert redactor.text("hunter2hunter2 hunter3hunter3 #ok deep") == "[REDACTED] [REDACTED] #ok deep"


def test_form_with_many_fields_is_cut() -> None:
    shown = Redactor().arguments("fill_form", {"fields": {f"#f{number}": "x" for number in range(10_000)}})

    assert len(shown["fields"]) < 100
    assert shown["fields"]["…"].endswith(" more")
