"""Upload two files to the shop."""

from footlight.demo.shop.records import Upload
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["STAGE_PLAN", "upload_files"]

STAGE_PLAN = Upload(
    "stage-plan.svg",
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 50">'
    b'<path d="M5 5h70v30H5z" fill="none" stroke="#241a22"/>'
    b'<circle cx="24" cy="20" r="6" fill="#e9b44c"/><circle cx="56" cy="20" r="6" fill="#e9b44c"/></svg>\n',
)
_CUE_SHEET = Upload("cue sheet.csv", "cue,page,what\r\n1,3,house to half\r\n2,57,“Enter a bear”\r\n".encode())

_HEADERS = ("File", "Bytes", "SHA-256")


async def upload_files(stage: DemoStage) -> Check:
    """Upload two files at once, and read the sizes that the shop shows."""
    sent = [STAGE_PLAN, _CUE_SHEET]
    await stage.visit("/upload")
    await stage.browser.call(
        "upload_file", selector="#files", files=[stage.prepare_upload(upload) for upload in sent]
    )
    await stage.browser.call("click", selector="main button[type=submit]")
    table = await stage.browser.call("extract_table", selector="#uploads")
    uploads = [_row(upload) for upload in stage.site.shop.uploads]
    return Check(
        holds={"sent": uploads, "shown": uploads},
        got={"sent": [_row(upload) for upload in sent], "shown": table.rows(*_HEADERS)},
        describe=lambda value: ", ".join(f"{row['File']} {row['SHA-256'][:8]}…" for row in value["shown"]),
    )


def _row(upload: Upload) -> dict[str, str]:
    return dict(zip(_HEADERS, (upload.name, str(upload.size), upload.sha256), strict=True))
