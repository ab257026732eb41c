"""Faults that the browser reports in its console: errors and failed requests."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page
from tests.audit.faults.pictures import noise

__all__ = ["FAULTS"]

PLAIN = "<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>"


def limit_to(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""


def add_script(script: str, *, policy: str = "", attributes: str = "") -> str:
    return page(f"{PLAIN}<script {attributes}>{script}</script>", head=limit_to(policy))


def add_picture(path: str, policy: str = "") -> str:
    return page(f'{PLAIN}<img src="{path}" alt="Leaves" width="90" height="60">', head=limit_to(policy))


def add_pictures(preferred: str) -> str:
    return page(
        f'{PLAIN}<picture><source srcset="{preferred}" media="(min-width: 1px)">'
        '<img src="/leaves.png" alt="Leaves" width="90" height="60"></picture>'
    )


LEAVES = {"/leaves.png": reply(noise(90, 60), type="image/png")}

FAULTS: Sequence[Fault] = (
    Fault(
        name="a script that fails",
        rule="console/exception",
        faulty=add_script("document.getElementById('price').textContent = '8 euros';"),
        clean=add_script("document.querySelector('main p').append(' 8 euros.');"),
    ),
    Fault(
        name="a promise that nobody waits for",
        rule="console/exception",
        faulty=add_script("Promise.reject(new Error('no price'));"),
        clean=add_script("Promise.reject(new Error('no price')).catch(() => {});"),
    ),
    Fault(
        name="a picture that is not there",
        rule="console/missing-image",
        faulty=add_picture("/flowers.png"),
        clean=add_picture("/leaves.png"),
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
        faulty=add_script("fetch('/prices.json');"),
        clean=add_script("fetch('/teas.json');"),
        routes={"/teas.json": reply("[]", type="application/json")},
    ),
    Fault(
        name="a picture that the page's own policy refuses",
        rule="console/content-security-policy",
        faulty=add_picture("/leaves.png", "img-src data:"),
        clean=add_picture("/leaves.png", "img-src data: 'self'"),
        routes=LEAVES,
    ),
    Fault(
        name="an error that the page reports",
        rule="console/error",
        faulty=add_script("console.error('The prices are of yesterday');"),
        clean=add_script("console.info('The prices are of yesterday');"),
    ),
    Fault(
        name="a picture that is missing in the format that browsers prefer",
        rule="console/missing-image",
        faulty=add_pictures("/flowers.webp"),
        clean=add_pictures("/leaves.png?large"),
        routes=LEAVES,
    ),
    Fault(
        name="a background that is not there",
        rule="console/missing-resource",
        faulty=page(PLAIN, head="<style>footer { background: url(/flowers.png) #eef3ec; }</style>"),
        clean=page(PLAIN, head="<style>footer { background: url(/leaves.png) #eef3ec; }</style>"),
        routes=LEAVES,
    ),
    Fault(
        name="a script that the page's own policy refuses",
        rule="console/content-security-policy",
        faulty=add_script(
            "document.querySelector('main p').append(' 8 euros.');", policy="script-src 'self'"
        ),
        clean=add_script(
            "document.querySelector('main p').append(' 8 euros.');",
            policy="script-src 'nonce-tea'",
            attributes='nonce="tea"',
        ),
    ),
    Fault(
        name="a condition that the page itself says is broken",
        rule="console/error",
        faulty=add_script("console.assert(document.querySelector('#price'), 'no price');"),
        clean=add_script("console.assert(document.querySelector('h1'), 'no heading');"),
    ),
    Fault(
        name="a script that a secure page asks for over http",
        rule="console/mixed-content",
        faulty=page(PLAIN, head='<script src="http://shop.test/shop.js" defer></script>'),
        clean=page(PLAIN, head='<script src="/shop.js" defer></script>'),
        routes={"/shop.js": reply("", type="text/javascript")},
        is_secure=True,
    ),
    Fault(
        name="prices that a secure page asks for over http",
        rule="console/mixed-content",
        faulty=add_script("fetch('http://shop.test/prices.json').catch(() => {});"),
        clean=add_script("fetch('/prices.json').catch(() => {});"),
        routes={"/prices.json": reply("[]", type="application/json")},
        is_secure=True,
    ),
)
