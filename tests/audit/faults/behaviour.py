"""Faults of the behaviour: media, motion, overlays, shortcuts, and blocked browser functions."""

from __future__ import annotations

import io
import math
import struct
import wave
from collections.abc import Sequence

from tests.audit.faults.fault import Fault, reply
from tests.audit.faults.pages import page

__all__ = ["FAULTS"]

PLAIN = "<h1>Sencha</h1><p>Steamed leaves from Shizuoka, picked in May.</p>"
ABOUT = (
    "<h1>About us</h1>"
    + "<p>Our teas come from small gardens that we have known for years. Leaves are picked in spring.</p>" * 4
)
FILM = """<canvas id="leaves" hidden width="320" height="200"></canvas>
<video id="film" width="320" height="200" muted {attributes}></video>
<script>
  const brush = leaves.getContext('2d');
  setInterval(() => brush.fillRect(Math.random() * 300, 20, 9, 9), 50);
  film.srcObject = leaves.captureStream(10);
  {start}
</script>"""
SWAY = """.sale { width: 16rem; height: 5rem; background: #eef3ec; animation: sway 1s infinite alternate; }
@keyframes sway { to { transform: translateX(2rem); } }"""

RUN = ".line { overflow: hidden; white-space: nowrap; } @keyframes run { from { translate: 100%; } }"
NEWS_LINE = (
    PLAIN + '<div class="line"><p class="news">Three for two. Gyokuro is back. Closed on Monday.</p></div>'
)
COOKIES = (
    f'{ABOUT}<section class="cookies" aria-label="Cookies" style="position: fixed; background: #eef3ec">'
    '<p>We keep your basket in a cookie.</p><p><button type="button">Agree</button></p></section>'
)


def add_style(css: str, main: str) -> str:
    return page(main, head=f"<style>{css}</style>")


def make_tone(seconds: int, *, volume: int = 9000) -> bytes:
    """Return a sound file with one tone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        samples = (int(volume * math.sin(n / 4)) for n in range(8000 * seconds))
        sound.writeframes(b"".join(struct.pack("<h", each) for each in samples))
    return file.getvalue()


SOUNDS = {
    "/talk.wav": reply(make_tone(5), type="audio/wav"),
    "/gong.wav": reply(make_tone(2), type="audio/wav"),
    "/still.wav": reply(make_tone(5, volume=0), type="audio/wav"),
    "/talk.vtt": reply("WEBVTT\n\n00:00.000 --> 00:04.000\nTake five grams for a pot.\n", type="text/vtt"),
}
SPOKEN = (
    "<p>What our tea master says in it: take five grams for a pot, let boiling water stand for five "
    "minutes, pour it over the leaves, and wait for two minutes before you drink the first cup.</p>"
)

CAPTIONS = '<track kind="captions" src="/talk.vtt" srclang="en" label="English">'


def sound(attributes: str, more: str = "") -> str:
    return page(f"<h1>Sencha</h1><audio {attributes}></audio>{more}")


def video(attributes: str, inside: str = "", more: str = "") -> str:
    size = 'width="320" height="200"'
    return page(f'<h1>Sencha</h1><video {size} aria-label="Tea talk" {attributes}>{inside}</video>{more}')


def film(attributes: str, start: str) -> str:
    return page(PLAIN + FILM.format(attributes=attributes, start=start))


def news(script: str) -> str:
    return page(
        f'{ABOUT}<dialog id="news" aria-label="News" style="width: 90vw; height: 80vh"><p>Our letter.</p>'
        f'<button type="button" onclick="news.close()">Close</button></dialog><script>{script}</script>'
    )


def changing(script: str, more: str = "") -> str:
    return page(f'{PLAIN}<p>Just now: <span id="now">Sencha</span></p>{more}<script>{script}</script>')


VISITORS = (
    "let timer = setInterval(() => now.textContent = `${Math.round(Math.random() * 1e6)} visitors`, 700);"
)
HEADLINES = "const teas = ['Bancha is back', 'Gyokuro of May', 'Matcha for two']; let n = 0;"


def shortcut(test: str, action: str, more: str = "") -> str:
    return page(
        f'{PLAIN}<label for="tea">Tea</label><input id="tea">{more}<ul id="list"><li>Genmaicha</li></ul>'
        f"<script>addEventListener('keydown', event => {{ if ({test}) {{ {action} }} }});</script>"
    )


ADD = (
    "if (tea.value) { list.append(Object.assign(document.createElement('li'), { textContent: tea.value })); }"
)
FAULTS: Sequence[Fault] = (
    Fault(
        name="a number that changes all the time",
        rule="changes/changing-text",
        faulty=changing(VISITORS),
        clean=changing(VISITORS, '<button type="button" onclick="clearInterval(timer)">Pause</button>'),
    ),
    Fault(
        name="headlines that replace each other",
        rule="changes/changing-text",
        faulty=changing(f"{HEADLINES} setInterval(() => now.textContent = teas[n++ % 3], 1500);"),
        clean=changing(
            f"{HEADLINES} "
            "const t = setInterval(() => n < 3 ? now.textContent = teas[n++] : clearInterval(t), 300);"
        ),
    ),
    Fault(
        name="a character that adds what was written",
        rule="keys/character-shortcut",
        faulty=shortcut("event.key === '+'", ADD),
        clean=shortcut(
            "event.key === '+' && on.checked",
            ADD,
            '<label for="on"><input type="checkbox" id="on" checked> Shortcut: + adds the tea</label>',
        ),
    ),
    Fault(
        name="a character that goes to the search",
        rule="keys/character-shortcut",
        faulty=shortcut("event.key === '/'", "event.preventDefault(); tea.focus();"),
        clean=shortcut("event.key === '/' && event.ctrlKey", "event.preventDefault(); tea.focus();"),
    ),
    Fault(
        name="a character that deletes the only entry",
        rule="keys/character-shortcut",
        faulty=shortcut("event.key === 'd'", "list.textContent = '';"),
        clean=shortcut("event.key === 'd' && list.contains(event.target)", "list.textContent = '';"),
    ),
    Fault(
        name="a film that plays by itself",
        rule="page/autoplay",
        faulty=film("", "film.play();"),
        clean=film('controls aria-label="How leaves are steamed"', ""),
    ),
    Fault(
        name="a sound that nobody asked for",
        rule="page/autoplay-sound",
        faulty=sound('src="/talk.wav" autoplay', SPOKEN),
        clean=sound('src="/gong.wav" autoplay', SPOKEN),
        routes=SOUNDS,
    ),
    Fault(
        name="a sound whose button has no name",
        rule="page/autoplay-sound",
        faulty=sound('src="/talk.wav" autoplay', f"{SPOKEN}<button type='button'>Order</button>"),
        clean=sound('src="/talk.wav" controls aria-label="Tea talk"', SPOKEN),
        routes=SOUNDS,
    ),
    Fault(
        name="a talk that cannot be read",
        rule="page/no-transcript",
        faulty=sound('src="/talk.wav" controls aria-label="Tea talk"'),
        clean=sound('src="/talk.wav" controls aria-label="Tea talk"', SPOKEN),
        routes=SOUNDS,
    ),
    Fault(
        name="a talk with a hidden text",
        rule="page/no-transcript",
        faulty=sound('src="/talk.wav" controls aria-label="Tea talk"', f"<div hidden>{SPOKEN}</div>"),
        clean=sound(
            'src="/talk.wav" controls aria-label="Tea talk"',
            '<p><a href="/help">Transcript of the talk</a></p>',
        ),
        routes=SOUNDS,
    ),
    Fault(
        name="a video that is heard unasked",
        rule="page/autoplay-sound",
        faulty=video('src="/talk.wav" autoplay', CAPTIONS),
        clean=video('src="/talk.wav" controls', CAPTIONS),
        routes=SOUNDS,
    ),
    Fault(
        name="a video without captions",
        rule="page/no-captions",
        faulty=video('src="/talk.wav" controls'),
        clean=video('src="/talk.wav" controls', CAPTIONS),
        routes=SOUNDS,
    ),
    Fault(
        name="a video with chapters in place of captions",
        rule="page/no-captions",
        faulty=video('src="/talk.wav" controls', CAPTIONS.replace("captions", "chapters")),
        clean=video('src="/talk.wav" controls', CAPTIONS.replace("captions", "subtitles")),
        routes=SOUNDS,
    ),
    Fault(
        name="a video that says nothing",
        rule="page/silent-video",
        faulty=video('src="/still.wav" controls'),
        clean=video('src="/still.wav" controls', more=SPOKEN),
        routes=SOUNDS,
    ),
    Fault(
        name="a silent video with a hidden text",
        rule="page/silent-video",
        faulty=video('src="/still.wav" controls', more=f"<div hidden>{SPOKEN}</div>"),
        clean=video('src="/still.wav" controls', more='<p><a href="/help">Transcript of the video</a></p>'),
        routes=SOUNDS,
    ),
    Fault(
        name="a box that sways for ever",
        rule="page/endless-motion",
        faulty=add_style(SWAY, f'{PLAIN}<div class="sale">Three for two</div>'),
        clean=add_style(
            SWAY + "@media (prefers-reduced-motion: reduce) { .sale { animation: none; } }",
            f'{PLAIN}<div class="sale">Three for two</div>',
        ),
    ),
    Fault(
        name="a dialog before one has read a line",
        rule="page/overlay",
        faulty=news("news.showModal();"),
        clean=news(""),
    ),
    Fault(
        name="text that cannot be marked",
        rule="page/no-selection",
        faulty=add_style("body { user-select: none; }", ABOUT),
        clean=add_style("nav { user-select: none; }", ABOUT),
    ),
    Fault(
        name="no menu of the browser",
        rule="page/no-context-menu",
        faulty=page(f"{PLAIN}<script>document.oncontextmenu = () => false;</script>"),
        clean=page(f"{PLAIN}<script>document.oncontextmenu = null;</script>"),
    ),
    Fault(
        name="a page that loads itself again",
        rule="page/reloads",
        faulty=page(
            f"{PLAIN}<script>if (!sessionStorage.again) {{ sessionStorage.again = 1; location.reload(); }}"
            "</script>"
        ),
        clean=page(f"{PLAIN}<script>sessionStorage.again = 1;</script>"),
    ),
    Fault(
        name="a page that loads itself again after a while",
        rule="page/reloads",
        faulty=page(
            f"{PLAIN}<script>if (!sessionStorage.later) {{ sessionStorage.later = 1;"
            " setTimeout(() => location.reload(), 300); }</script>"
        ),
        clean=page(
            f"{PLAIN}<script>sessionStorage.later = 1; setTimeout(() => scrollTo(0, 0), 300);</script>"
        ),
    ),
    Fault(
        name="a film that begins again and again",
        rule="page/autoplay",
        faulty=film("loop autoplay", ""),
        clean=film("loop autoplay", "").replace(
            "</video>", '</video><p><button type="button" onclick="film.pause()">Pause the film</button></p>'
        ),
    ),
    Fault(
        name="a line of news that runs through",
        rule="page/endless-motion",
        faulty=add_style(f"{RUN} .news {{ animation: run 8s linear infinite; }}", NEWS_LINE),
        clean=add_style(f"{RUN} .news {{ animation: run 1s linear 3; }}", NEWS_LINE),
    ),
    Fault(
        name="a notice across the whole page",
        rule="page/overlay",
        faulty=add_style(".cookies { inset: 0; }", COOKIES),
        clean=add_style(".cookies { inset: auto 0 0; } body { padding-bottom: 8rem; }", COOKIES),
    ),
    Fault(
        name="paragraphs that cannot be marked",
        rule="page/no-selection",
        faulty=add_style("main p { -webkit-user-select: none; user-select: none; }", ABOUT),
        clean=add_style("h1, button { user-select: none; }", ABOUT),
    ),
    Fault(
        name="a handler that cancels the menu of the browser",
        rule="page/no-context-menu",
        faulty=page(f"{PLAIN}<script>document.body.oncontextmenu = e => e.preventDefault();</script>"),
        clean=page(
            f"{PLAIN}<script>document.querySelector('h1').oncontextmenu = e => e.preventDefault();</script>"
        ),
    ),
)
