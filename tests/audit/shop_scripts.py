"""Scripts of a model in the demo's shop, chosen by the words of the goal."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from footlight.audit.analysis.personas import Persona
from footlight.demo.shop.records import PASSWORD, USER
from tests.audit.scripted import Call, Script, call, ref

__all__ = ["BUYER", "JUDGE", "SHOP_SCRIPTS"]

FIND_AND_ORDER = "Find the PAR 64 can by search, sign in and order one"
TELEPHONE = "Find the telephone number of the shop"

BUYER = Persona("Stage manager", "Is in a hurry, and knows what is wanted.", [FIND_AND_ORDER, TELEPHONE])

Turns = Generator[Sequence[Call | str], list[str], None]

_FIELDS = {
    "#product": "LX-103",  # Signing in, the shop forgets what was chosen.
    "#quantity": "1",
    "#production": "The Tempest",
    "#delivery_date": "2031-05-09",
    "#delivery_time": "08:30",
    "#contact": "The stage manager",
    "#email": "stage.manager@example.org",
    "#password": "the-ghost-light-is-on",
}


def find_and_order(_: str) -> Turns:
    (page,) = yield [call("getPageStructure")]
    *_, page = yield [
        call("typeText", target=ref(page, "searchbox"), text="lamp"),
        call("pressKey", key="Enter"),
    ]
    (page,) = yield [call("clickElement", target=ref(page, "link", "PAR 64 can with lamp"))]
    (page,) = yield [call("clickElement", target=ref(page, "link", "Order this"))]
    *_, page = yield [
        call("typeText", target=ref(page, "textbox", "User name"), text=USER),
        call("typeText", target=ref(page, "textbox", "Password"), text=PASSWORD),
        call("clickElement", target=ref(page, "button", "Sign in")),
    ]
    *_, page = yield [
        *(call("typeText", target=target, text=text) for target, text in _FIELDS.items()),
        call("clickElement", target="input[name=method][value=Courier]"),
        call("selectOption", target="#country", option="Austria"),
        call("clickElement", target="#terms"),
        call("clickElement", target=ref(page, "button", "Send the order")),
    ]
    assert "PC-0001" in page, page
    yield [call("finishGoal", outcome="reached", why="The shop gives the order a number")]


def find_telephone(_: str) -> Turns:
    (page,) = yield [call("getPageStructure")]
    (page,) = yield [call("clickElement", target=ref(page, "link", "Offers"))]
    assert "telephone" not in page.lower()
    yield [call("finishGoal", outcome="stopped", where="footer", why="No page names one")]


def judge(_: str) -> Turns:
    yield [
        "I have read it.",
        call(
            "recordFinding",
            title="Nobody can be reached by telephone",
            severity="medium",
            area="help",
            advice="Put the number into the footer.",
            cites=["W2"],
        ),
        call(
            "recordFinding",
            title="The colours look dated",
            severity="low",
            area="other",
            advice="Choose others.",
            cites=["F99"],
        ),
    ]
    yield ["The shop works. Nobody can be called."]


JUDGE: Mapping[str, Script] = {"Personas:": judge}
SHOP_SCRIPTS: Mapping[str, Script] = {
    f"Your goal: {FIND_AND_ORDER}": find_and_order,
    f"Your goal: {TELEPHONE}": find_telephone,
    **JUDGE,
}
