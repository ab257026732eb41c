"""Faults that the browser's console tells of."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page
from tests.audit.faults.pictures import noise

__all__ = ["FAULTS"]

PLAIN = "<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>"


def scripted(script: str) -> str:
    return page(f"{PLAIN}<script>{script}</script>")


def pictured(path: str, policy: str = "") -> str:
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    return page(f'{PLAIN}<img src="{path}" alt="Leaves" width="90" height="60">', head=meta)


LEAVES = {"/leaves.png": reply(noise(90, 60), type="image/png")}

FAULTS: Sequence[Fault] = (
    Fault(
        name="a script that fails",
        rule="console/exception",
        faulty=scripted("document.getElementById('price').textContent = '8 euros';"),
        clean=scripted("document.querySelector('main p').append(' 8 euros.');"),
    ),
    Fault(
        name="a promise that nobody waits for",
        rule="console/exception",
        faulty=scripted("Promise.reject(new Error('no price'));"),
        clean=scripted("Promise.reject(new Error('no price')).catch(() => {});"),
    ),
    Fault(
        name="a picture that is not there",
        rule="console/missing-image",
        faulty=pictured("/flowers.png"),
        clean=pictured("/leaves.png"),
        routes=LEAVES,
    ),
    Fault(
        name="a script that is not there",
        rule="console/missing-script",
        faulty=page(PLAIN, head='<script src="/prices.js" defer></script>'),
        clean=page(PLAIN, head='<script src="/shop.js" defer></script>'),
        routes={"/shop.js": reply("", type="text/javascript")},
    ),
    Fault(
        name="a style that is not there",
        rule="console/missing-script",
        faulty=page(PLAIN, head='<link rel="stylesheet" href="/spring.css">'),
        clean=page(PLAIN, head='<link rel="stylesheet" href="/shop.css">'),
        routes={"/shop.css": reply("h1 { color: #0b5c45; }", type="text/css")},
    ),
    Fault(
        name="data that do not come",
        rule="console/missing-resource",
        faulty=scripted("fetch('/prices.json');"),
        clean=scripted("fetch('/teas.json');"),
        routes={"/teas.json": reply("[]", type="application/json")},
    ),
    Fault(
        name="a picture that the page's own policy refuses",
        rule="console/content-security-policy",
        faulty=pictured("/leaves.png", "img-src data:"),
        clean=pictured("/leaves.png", "img-src data: 'self'"),
        routes=LEAVES,
    ),
    Fault(
        name="an error that the page reports",
        rule="console/error",
        faulty=scripted("console.error('The prices are of yesterday');"),
        clean=scripted("console.info('The prices are of yesterday');"),
    ),
)
