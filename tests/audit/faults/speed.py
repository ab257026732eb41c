"""Faults of loading speed and page weight."""

from __future__ import annotations

import gzip
from collections.abc import Sequence

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page
from tests.audit.faults.pictures import noise
from tests.site import Handler

__all__ = ["FAULTS"]

PLAIN = "<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>"
SCRIPT = "text/javascript"
LONG_SCRIPT = f"/* {'Leaves. ' * 12_000} */"


def answer_late(seconds: float, content: str | bytes = "", *, type: str = SCRIPT) -> Handler:
    """Return a route that answers after so many seconds."""

    async def handler(_: Request) -> Response:
        await anyio.sleep(seconds)
        return Response(content, media_type=type)

    return handler


def redirect(to: str, *, seconds: float = 0) -> Handler:
    async def handler(_: Request) -> Response:
        await anyio.sleep(seconds)
        return RedirectResponse(to)

    return handler


def afterwards(script: str) -> str:
    """Return a page that runs the script after it was painted."""
    return page(
        f"{PLAIN}<script>requestAnimationFrame(() => setTimeout(() => {{ {script} }}, 100));</script>"
    )


def offer(css: str) -> str:
    lines = "".join(f"<p>Tea number {number} of our list, from the hills.</p>" for number in range(12))
    return page(
        f'<h1>All teas</h1><div id="offer"></div>{lines}'
        "<script>requestAnimationFrame(() => setTimeout(() => {"
        "offer.innerHTML = '<p>Today: a pot with three teas.</p>'; offer.classList.add('open'); }, 100));"
        "</script>",
        head=f"<style>.open {{ min-height: 20rem; }} {css}</style>",
    )


def photograph(size: str) -> str:
    lines = "".join(f"<p>Tea number {number} of our list, from the hills.</p>" for number in range(12))
    return page(f'<h1>All teas</h1><img src="/late.png" alt="Leaves in a bowl" {size}>{lines}')


def picture(path: str, width: int, height: int) -> str:
    return page(f'{PLAIN}<img src="{path}" width="{width}" height="{height}" alt="Leaves in a bowl">')


def render_with_script(attributes: str) -> str:
    return page(PLAIN, head=f"<script {attributes}></script>")


PICTURES = {
    "/leaves.png": reply(noise(600, 400), type="image/png"),
    "/small.png": reply(noise(200, 133), type="image/png"),
    "/huge.png": reply(noise(1200, 900), type="image/png"),
}
WORK = "const until = performance.now() + {ms}; while (performance.now() < until);"

FAULTS: Sequence[Fault] = (
    Fault(
        name="an offer that pushes the page down",
        rule="speed/layout-shift",
        faulty=offer(""),
        clean=offer("#offer { min-height: 20rem; }"),
    ),
    Fault(
        name="a picture that nothing keeps room for",
        rule="speed/layout-shift",
        faulty=photograph(""),
        clean=photograph('width="600" height="400"'),
        routes={"/late.png": answer_late(0.5, noise(600, 400), type="image/png")},
    ),
    Fault(
        name="a script that works for a second",
        rule="speed/blocking",
        faulty=afterwards(WORK.format(ms=1000)),
        clean=afterwards(
            f"for (let n = 0; n < 10; n++) setTimeout(() => {{ {WORK.format(ms=10)} }}, n * 20);"
        ),
    ),
    Fault(
        name="a page of three megabytes",
        rule="speed/heavy",
        faulty=picture("/huge.png", 900, 675),
        clean=picture("/leaves.png", 600, 400),
        routes=PICTURES,
    ),
    Fault(
        name="a large picture shown small",
        rule="speed/oversized-image",
        faulty=picture("/leaves.png", 150, 100),
        clean=picture("/small.png", 150, 100),
        routes=PICTURES,
    ),
    Fault(
        name="a long script that is not compressed",
        rule="speed/uncompressed",
        faulty=render_with_script('src="/plain.js" defer'),
        clean=render_with_script('src="/packed.js" defer'),
        routes={
            "/plain.js": reply(LONG_SCRIPT, type=SCRIPT),
            "/packed.js": reply(
                gzip.compress(LONG_SCRIPT.encode()), type=SCRIPT, headers={"Content-Encoding": "gzip"}
            ),
        },
    ),
    Fault(
        name="a slow script before everything",
        rule="speed/late-paint",
        faulty=render_with_script('src="/late.js"'),
        clean=render_with_script('src="/late.js" async'),
        routes={"/late.js": answer_late(1.3)},
    ),
    Fault(
        name="a page that shows itself after three seconds",
        rule="speed/largest-paint",
        faulty=render_with_script('src="/later.js"'),
        clean=render_with_script('src="/later.js" async'),
        routes={"/later.js": answer_late(2.8)},
    ),
    Fault(
        name="a list that is sorted in many steps, each too long",
        rule="speed/blocking",
        faulty=afterwards(
            f"for (let n = 0; n < 6; n++) setTimeout(() => {{ {WORK.format(ms=200)} }}, n * 20);"
        ),
        clean=afterwards(f"new Worker(URL.createObjectURL(new Blob([`{WORK.format(ms=1000)}`])));"),
    ),
    Fault(
        name="a list of all teas that is fetched at once",
        rule="speed/heavy",
        faulty=afterwards("fetch('/all.json');"),
        clean=afterwards("fetch('/first.json');"),
        routes={
            "/all.json": reply(b"[" + b" " * 3_500_000 + b"]", type="application/json"),
            "/first.json": reply(b"[" + b" " * 20_000 + b"]", type="application/json"),
        },
    ),
    Fault(
        name="a large picture in a small column",
        rule="speed/oversized-image",
        faulty=page(
            f'{PLAIN}<p style="width: 8rem"><img src="/leaves.png" width="600" height="400" alt="Leaves"></p>'
        ),
        clean=page(
            f'{PLAIN}<p style="width: 8rem"><img src="/leaves.png" srcset="/small.png 200w, /leaves.png 600w"'
            ' sizes="8rem" width="600" height="400" alt="Leaves"></p>'
        ),
        routes=PICTURES,
    ),
    Fault(
        name="a long style that is not compressed",
        rule="speed/uncompressed",
        faulty=page(PLAIN, head='<link rel="stylesheet" href="/plain.css">'),
        clean=page(PLAIN, head='<link rel="stylesheet" href="/packed.css">'),
        routes={
            "/plain.css": reply(LONG_SCRIPT, type="text/css"),
            "/packed.css": reply(
                gzip.compress(LONG_SCRIPT.encode()), type="text/css", headers={"Content-Encoding": "gzip"}
            ),
        },
    ),
    Fault(
        name="a slow style before everything",
        rule="speed/late-paint",
        faulty=page(PLAIN, head='<link rel="stylesheet" href="/late.css">'),
        clean=page(PLAIN, head='<link rel="stylesheet" href="/late.css" media="print">'),
        routes={"/late.css": answer_late(1.3, type="text/css")},
    ),
    Fault(
        name="a large picture that comes after three seconds",
        rule="speed/largest-paint",
        faulty=picture("/late.png", 600, 400),
        clean=picture("/leaves.png", 600, 400),
        routes={**PICTURES, "/late.png": answer_late(2.8, noise(600, 400), type="image/png")},
    ),
    Fault(
        name="a page that moved twice",
        rule="speed/redirects",
        faulty=page(PLAIN),
        clean=page(PLAIN),
        routes={"/sencha": redirect("/tea"), "/tea": redirect("/page")},
        faulty_path="/sencha",
        clean_path="/tea",
    ),
    Fault(
        name="a slash and a language that each cost a redirect",
        rule="speed/redirects",
        faulty=page(PLAIN),
        clean=page(PLAIN),
        routes={"/greens": redirect("/greens/"), "/greens/": redirect("/page?lang=en")},
        faulty_path="/greens",
    ),
    Fault(
        name="a page for which the server takes a second",
        rule="speed/slow-answer",
        faulty=page(PLAIN),
        clean=page(PLAIN),
        routes={"/late": answer_late(1.0, page(PLAIN), type="text/html")},
        faulty_path="/late",
    ),
    Fault(
        name="a server that takes long to redirect",
        rule="speed/slow-answer",
        faulty=page(PLAIN),
        clean=page(PLAIN),
        routes={"/late": redirect("/page", seconds=1.0), "/moved": redirect("/page")},
        faulty_path="/late",
        clean_path="/moved",
    ),
)
