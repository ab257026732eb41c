"""The order form: every field, declared once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from footlight.demo.catalogue import load_catalogue

__all__ = ["FIELDS", "SECTIONS", "Field", "Kind", "Section"]

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
class Field:
    """One field of the form."""

    name: str
    label: str
    kind: Kind
    required: bool = False
    hint: str = ""
    options: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Section:
    """Fields that belong together."""

    legend: str
    fields: tuple[Field, ...]


SECTIONS = (
    Section(
        "What you need",
        (
            Field(
                name="product",
                label="Product",
                kind="datalist",
                required=True,
                hint="Type a SKU or choose one.",
                options=tuple(product.sku for product in load_catalogue()),
            ),
            Field(
                name="quantity",
                label="Quantity",
                kind="number",
                required=True,
                attributes={"min": "1", "max": "50"},
            ),
            Field(name="gel", label="Gel colour", kind="color"),
            Field(
                name="level",
                label="Dimmer level",
                kind="range",
                attributes={"min": "0", "max": "100", "step": "5"},
            ),
            Field(
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
            Field(name="production", label="Production", kind="text", required=True),
            Field(name="opening", label="Opening night", kind="datetime-local"),
            Field(name="rehearsals", label="First rehearsal week", kind="week"),
            Field(name="delivery_date", label="Delivery date", kind="date", required=True),
            Field(name="delivery_time", label="Delivery time", kind="time", required=True),
            Field(
                name="method",
                label="Delivery",
                kind="radio",
                required=True,
                options=("Our van", "Courier", "Collection"),
            ),
            Field(
                name="country",
                label="Country",
                kind="select",
                required=True,
                options=("Austria", "Belgium", "Czechia", "France", "Germany", "Italy", "Türkiye"),
            ),
            Field(name="plan", label="Stage plan", kind="file", hint="A drawing or a note, at most 1 MB."),
        ),
    ),
    Section(
        "Who you are",
        (
            Field(
                name="contact",
                label="Contact",
                kind="text",
                required=True,
                attributes={"autocomplete": "name"},
            ),
            Field(
                name="email",
                label="Email",
                kind="email",
                required=True,
                attributes={"autocomplete": "email"},
            ),
            Field(name="phone", label="Phone", kind="tel", attributes={"autocomplete": "tel"}),
            Field(name="website", label="Website", kind="url", attributes={"placeholder": "https://"}),
            Field(name="invoice", label="Invoice month", kind="month"),
            Field(
                name="password",
                label="Collection password",
                kind="password",
                required=True,
                hint="At least 8 characters. Whoever collects the order is asked for it.",
                attributes={"minlength": "8", "autocomplete": "new-password"},
            ),
            Field(name="notes", label="Notes", kind="textarea"),
            Field(name="insured", label="Insure the hire", kind="checkbox"),
            Field(name="terms", label="I accept the terms of hire", kind="checkbox", required=True),
        ),
    ),
)
FIELDS = tuple(field for section in SECTIONS for field in section.fields)
