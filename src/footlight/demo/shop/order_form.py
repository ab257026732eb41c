"""The fields of the order form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from footlight.demo.shop.catalogue import load_catalogue

__all__ = ["FIELDS", "SECTIONS", "Kind", "OrderField", "Section"]

Kind = Literal[
    "checkbox",
    "color",
    "datalist",
    "date",
    "datetime-local",
    "email",
    "file",
    "month",
    "multiselect",
    "number",
    "password",
    "radio",
    "range",
    "select",
    "tel",
    "text",
    "textarea",
    "time",
    "url",
    "week",
]


@dataclass(frozen=True, kw_only=True)
class OrderField:
    """A field of the form."""

    name: str
    label: str
    kind: Kind
    required: bool = False
    hint: str = ""
    options: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Section:
    """A group of fields."""

    legend: str
    fields: tuple[OrderField, ...]


SECTIONS = (
    Section(
        "What you need",
        (
            OrderField(
                name="product",
                label="Product",
                kind="datalist",
                required=True,
                hint="Type a SKU or choose one.",
                options=tuple(product.sku for product in load_catalogue()),
            ),
            OrderField(
                name="quantity",
                label="Quantity",
                kind="number",
                required=True,
                attributes={"min": "1", "max": "50"},
            ),
            OrderField(name="gel", label="Gel colour", kind="color"),
            OrderField(
                name="level",
                label="Dimmer level",
                kind="range",
                attributes={"min": "0", "max": "100", "step": "5"},
            ),
            OrderField(
                name="extras",
                label="Extras",
                kind="multiselect",
                hint="Hold Shift or Ctrl to choose several.",
                options=("Spare lamps", "Cable ties", "Safety bonds", "Flight case"),
            ),
        ),
    ),
    Section(
        "When and where",
        (
            OrderField(name="production", label="Production", kind="text", required=True),
            OrderField(name="opening", label="Opening night", kind="datetime-local"),
            OrderField(name="rehearsals", label="First rehearsal week", kind="week"),
            OrderField(name="delivery_date", label="Delivery date", kind="date", required=True),
            OrderField(name="delivery_time", label="Delivery time", kind="time", required=True),
            OrderField(
                name="method",
                label="Delivery",
                kind="radio",
                required=True,
                options=("Our van", "Courier", "Collection"),
            ),
            OrderField(
                name="country",
                label="Country",
                kind="select",
                required=True,
                options=("Austria", "Belgium", "Czechia", "France", "Germany", "Italy", "Türkiye"),
            ),
            OrderField(
                name="plan", label="Stage plan", kind="file", hint="A drawing or a note, at most 1 MB."
            ),
        ),
    ),
    Section(
        "Who you are",
        (
            OrderField(
                name="contact",
                label="Contact",
                kind="text",
                required=True,
                attributes={"autocomplete": "name"},
            ),
            OrderField(
                name="email",
                label="Email",
                kind="email",
                required=True,
                attributes={"autocomplete": "email"},
            ),
            OrderField(name="phone", label="Phone", kind="tel", attributes={"autocomplete": "tel"}),
            OrderField(name="website", label="Website", kind="url", attributes={"placeholder": "https://"}),
            OrderField(name="invoice", label="Invoice month", kind="month"),
            OrderField(
                name="password",
                label="Collection password",
                kind="password",
                required=True,
                hint="At least 8 characters. Whoever collects the order is asked for it.",
                attributes={"minlength": "8", "autocomplete": "new-password"},
            ),
            OrderField(name="notes", label="Notes", kind="textarea"),
            OrderField(name="insured", label="Insure the hire", kind="checkbox"),
            OrderField(name="terms", label="I accept the terms of hire", kind="checkbox", required=True),
        ),
    ),
)
FIELDS = tuple(field for section in SECTIONS for field in section.fields)
