"""Upload files, fill a form with every kind of field, and send the order."""

import hashlib
from collections.abc import Mapping, Sequence

from footlight.demo.shop.order_check import judge
from footlight.demo.shop.order_form import FIELDS, OrderField
from footlight.demo.shop.records import Order, Upload
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["COLLECTION_PASSWORD", "place_order", "upload_files"]

COLLECTION_PASSWORD = "the-ghost-light-is-on"

_ORDER: Mapping[str, Sequence[str]] = {
    "product": ["SC-401"],
    "quantity": ["12"],
    "gel": ["#3366cc"],
    "level": ["75"],
    "extras": ["Cable ties", "Safety bonds"],
    "production": ["The Winter’s Tale"],
    "opening": ["2031-05-17T19:30"],
    "rehearsals": ["2031-W14"],
    "delivery_date": ["2031-05-09"],
    "delivery_time": ["08:30"],
    "method": ["Courier"],
    "country": ["Türkiye"],
    "contact": ["The stage manager"],
    "email": ["stage.manager@example.org"],
    "phone": ["+43 1 234 56 78"],
    "website": ["https://example.org/winter?act=4&scene=1"],
    "invoice": ["2031-06"],
    "password": [COLLECTION_PASSWORD],
    "notes": ["Ring at the stage door.\nMind the <trap> & the cat."],
    "insured": ["yes"],
    "terms": ["yes"],
}
_STAGE_PLAN = Upload(
    "stage-plan.svg",
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 50">'
    b'<path d="M5 5h70v30H5z" fill="none" stroke="#241a22"/>'
    b'<circle cx="24" cy="20" r="6" fill="#e9b44c"/><circle cx="56" cy="20" r="6" fill="#e9b44c"/></svg>\n',
)
_CUE_SHEET = Upload("cue sheet.csv", "cue,page,what\r\n1,3,house to half\r\n2,57,“Enter a bear”\r\n".encode())
_FILES: Mapping[str, Upload] = {"plan": _STAGE_PLAN}
_PASSWORD_SHA256 = hashlib.sha256(COLLECTION_PASSWORD.encode()).hexdigest()
_UPLOAD_HEADERS = ("File", "Bytes", "SHA-256")


async def upload_files(stage: DemoStage) -> Check:
    """Upload two files at once, and read the sizes that the shop shows."""
    sent = [_STAGE_PLAN, _CUE_SHEET]
    await stage.visit("/upload")
    await stage.browser.call(
        "upload_file", selector="#files", files=[stage.prepare_upload(upload) for upload in sent]
    )
    await stage.browser.call("click", selector="main button[type=submit]")
    table = await stage.browser.call("extract_table", selector="#uploads")
    uploads = [_describe_upload(upload) for upload in stage.site.shop.uploads]
    return Check(
        holds={"sent": uploads, "shown": uploads},
        got={"sent": [_describe_upload(upload) for upload in sent], "shown": table.rows(*_UPLOAD_HEADERS)},
        describe=lambda value: ", ".join(f"{row['File']} {row['SHA-256'][:8]}…" for row in value["shown"]),
    )


def _describe_upload(upload: Upload) -> dict[str, str]:
    return dict(zip(_UPLOAD_HEADERS, (upload.name, str(upload.size), upload.sha256), strict=True))


async def place_order(stage: DemoStage) -> Check:
    """Fill every field, send the order, and read what the shop says it received."""
    await stage.visit("/order")
    for field in FIELDS:
        await _fill(stage, field)
    await stage.browser.call("click", selector="main button[type=submit]")
    number = (await stage.browser.call("get_text", selector="#number")).text("text")
    received = await _read_received(stage)
    stage.save_json("order.json", {"number": number, "received": received})
    return Check(
        holds=_hold(stage.site.shop.find_order(number)),
        got={
            "number": number,
            "shown": received,
            "sent": judge(_ORDER, _FILES).received,
            "password": _PASSWORD_SHA256,
        },
        describe=lambda value: f"{value['number']}, {len(value['shown'])} fields",
    )


def _hold(order: Order | None) -> dict[str, object]:
    # What the shop received must be what was sent, and what it shows must be what it received.
    if order is None:
        return {"number": "no such order", "shown": {}, "sent": {}, "password": ""}
    return {
        "number": order.number,
        "shown": order.received,
        "sent": order.received,
        "password": order.password_sha256,
    }


async def _fill(stage: DemoStage, field: OrderField) -> None:
    call, selector = stage.browser.call, f"#{field.name}"
    match field.kind:
        case "checkbox":
            await call("check", selector=selector)
        case "radio":
            await call("check", selector=f"input[name={field.name}][value='{_ORDER[field.name][0]}']")
        case "select":
            await call("select", selector=selector, value=_ORDER[field.name][0])
        case "multiselect":
            await _choose_several(stage, selector, _ORDER[field.name])
        case "file":
            await call("upload_file", selector=selector, files=[stage.prepare_upload(_FILES[field.name])])
        case "datalist":
            await call("type", selector=selector, text=_ORDER[field.name][0])
        case _:
            await call("fill", selector=selector, value=_ORDER[field.name][0])


async def _choose_several(stage: DemoStage, selector: str, values: Sequence[str]) -> None:
    # As with a keyboard: the first by a click, its neighbours with Shift and the arrow.
    await stage.browser.call("click", selector=f"{selector} option[value='{values[0]}']")
    for _ in values[1:]:
        await stage.browser.call("press", key="ArrowDown", modifiers=["Shift"])


async def _read_received(stage: DemoStage) -> dict[str, str]:
    table = await stage.browser.call("extract_table", selector="#received")
    received = {row["Field"]: row["Value"] for row in table.rows("Field", "Value")}
    # A table's cell is one line of data; the element's own text keeps its lines.
    notes = await stage.browser.call("get_text", selector="//table[@id='received']//tr[th='Notes']/td")
    return received | {"Notes": notes.text("text")}
