"""Buttons whose listeners do something that the page does not show, or do nothing."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["UNSEEN", "UNSEEN_PAGE", "VAIN", "VAIN_PAGE"]

UNSEEN: Mapping[str, str] = {
    "writes localStorage": "localStorage.setItem('a', 1)",
    "replaces a value in localStorage": "localStorage.a = 2",
    "removes from localStorage": "localStorage.removeItem('a')",
    "writes sessionStorage": "sessionStorage.setItem('a', 1)",
    "empties sessionStorage": "sessionStorage.clear()",
    "writes localStorage a little later": "setTimeout(() => localStorage.setItem('late', 1), 10)",
    "sets a cookie": "document.cookie = 'theme=dark'",
    "deletes a cookie": "document.cookie = 'theme=; max-age=0'",
    "sets a cookie by the cookie store": "cookieStore.set('way', 'store')",
    "opens a database": "indexedDB.open('notes').onsuccess = () => {}",
    "fills a cache": "caches.open('pages').then(cache => cache.put('/kept', new Response('kept')))",
    "writes a private file": "navigator.storage.getDirectory()"
    ".then(root => root.getFileHandle('a', {create: true}))",
    "plays a sound": "new Audio(sound).play().catch(() => 0)",
    "plays a sound of the page": "tune.play().catch(() => 0)",
    "stops a sound of the page": "tune.muted = true",
    "starts an oscillator": "const audio = new AudioContext(); audio.createOscillator().start()",
    "speaks": "speechSynthesis.speak(new SpeechSynthesisUtterance('Hello'))",
    "animates for a moment": "mark.animate([{opacity: 0}, {opacity: 1}], 120)",
    "animates for long": "mark.animate([{opacity: 0}, {opacity: 1}], 60000)",
    "stops animations": "for (const each of document.getAnimations()) each.cancel()",
    "draws on a canvas": "board.getContext('2d').fillRect(Math.random() * 40, 5, 9, 9)",
    "clears a canvas": "board.getContext('2d').clearRect(0, 0, 50, 50)",
    "draws with WebGL": "const gl = solid.getContext('webgl'); "
    "if (gl) gl.clear(16384); else solid.width += 1",
    "adopts a style sheet": "const sheet = new CSSStyleSheet(); sheet.replaceSync('#mark {color: red}'); "
    "document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]",
    "inserts a rule": "styles.sheet.insertRule('#mark {background: yellow}')",
    "changes a rule": "styles.sheet.cssRules[0].style.color = 'green'",
    "disables a style sheet": "styles.disabled = !styles.disabled",
    "sets a variable of styles": "document.documentElement.style.setProperty('--tone', Math.random())",
    "highlights a text": "const range = new Range(); range.selectNodeContents(mark); "
    "CSS.highlights.set('hit', new Highlight(range))",
    "changes a closed shadow tree": "inner.textContent = Math.random()",
    "styles a closed shadow tree": "inner.style.color = 'red'",
    "changes an open shadow tree": "frank.shadowRoot.querySelector('b').textContent = Math.random()",
    "focuses a field": "field.focus()",
    "focuses a button": "other.focus()",
    "selects a text of the page": "getSelection().selectAllChildren(mark)",
    "selects a part of a field": "field.focus(); field.setSelectionRange(1, 2)",
    "scrolls the page": "scrollBy(0, 30)",
    "scrolls a box": "strip.scrollLeft += 20",
    "scrolls smoothly": "strip.scrollTo({left: 400, behavior: 'smooth'})",
    "prints": "print()",
    "writes the clipboard": "navigator.clipboard.writeText('copied').catch(() => 0)",
    "copies the selection": "getSelection().selectAllChildren(mark); document.execCommand('copy')",
    "writes to a worker": "worker.postMessage('go')",
    "starts a worker": "new Worker(task)",
    "sends to a channel": "new BroadcastChannel('tabs').postMessage('hello')",
    "sends to a port": "new MessageChannel().port1.postMessage('hello')",
    "sends to a frame": "inside.contentWindow.postMessage('hello', '*')",
    "sends to its own window": "postMessage('hello')",
    "sends by a socket": "new WebSocket(location.href.replace('http', 'ws')).onerror = () => 0",
    "opens a stream of events": "new EventSource('/saved').onerror = event => event.target.close()",
    "changes the title": "document.title = 'Title ' + Math.random()",
    "changes the icon": "icon.href = 'data:,' + Math.random()",
    "replaces the state of the history": "history.replaceState({at: 1}, '', '?state=' + Math.random())",
    "replaces only the state": "history.replaceState({at: Math.random()}, '')",
    "adds to the history": "history.pushState({}, '', '?page=2')",
    "sets the fragment": "location.hash = 'part' + Math.random()",
    "sets the value of a field": "field.value = Math.random()",
    "ticks a box": "box.checked = !box.checked",
    "makes a box indeterminate": "box.indeterminate = !box.indeterminate",
    "chooses an option": "list.selectedIndex = 1 - list.selectedIndex",
    "moves a progress bar": "bar.value += 1",
    "changes a picture": "picture.src = picture.src.split('#')[0] + '#' + Math.random()",
    "changes the page after a moment": "setTimeout(() => mark.append('!'), 10)",
    "changes the page when it is idle": "requestIdleCallback(() => mark.append('?'))",
    "changes the page in the next frame": "requestAnimationFrame(() => mark.append('.'))",
    "sends a beacon": "navigator.sendBeacon('/saved', '1')",
    "asks for a picture of another page": "new Image().src = '/saved?' + Math.random()",
    "sets the name of the window": "window.name = 'w' + Math.random()",
    "exchanges files of a field": "const data = new DataTransfer(); "
    "data.items.add(new File(['x'], 'x.txt')); files.files = data.files",
}
"""The action of each button's listener, by the button's name."""


def _buttons(scripts: Mapping[str, str]) -> str:
    return "".join(
        f'<button id=b{number} onclick="{script}">{name}</button>'
        for number, (name, script) in enumerate(scripts.items())
    )


UNSEEN_PAGE = f"""<title>Start</title><link id=icon rel=icon href="data:,">
<style id=styles>#mark {{color: blue}}</style>
<style>::highlight(hit) {{background: pink}} button {{display: block}}</style>
<p id=mark>Mark</p><canvas id=board width=50 height=50></canvas><canvas id=solid width=50 height=50></canvas>
<div id=shut></div><div id=frank></div><input id=field value=word aria-label=Field>
<button id=other>Other</button>
<div id=strip style="width: 100px; overflow: auto"><div style="width: 900px">wide</div></div>
<iframe id=inside srcdoc="<script>onmessage = () => {{}}</script>"></iframe>
<input type=checkbox id=box aria-label=Box>
<select id=list aria-label=List><option>a<option>b</select><progress id=bar max=100 value=1></progress>
<img id=picture alt=Picture src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<input type=file id=files aria-label=Files>
<audio id=tune loop></audio>
<script>
const task = URL.createObjectURL(new Blob(['onmessage = () => {{}}']));
const worker = new Worker(task);
const inner = document.createElement('b'), root = shut.attachShadow({{mode: 'closed'}});
root.append(inner);
frank.attachShadow({{mode: 'open'}}).innerHTML = '<b>0</b>';
// A tenth of a second of silence.
const head = 'UklGRsQDAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YaAD';
const sound = 'data:audio/wav;base64,' + head + 'AACAgICA'.padEnd(1280, 'gICA');
tune.src = sound;
</script>{_buttons(UNSEEN)}"""

VAIN: Mapping[str, str] = {
    "has an empty listener": "void 0",
    "looks for what is not there": "document.querySelector('.gone')?.remove()",
    "finds itself busy": "if (!this.dataset.ready) return; this.after(1)",
    "reads the page": "const size = this.getBoundingClientRect(); if (size.width < 0) this.remove()",
    "computes": "let sum = 0; for (let n = 0; n < 100; n++) sum += n; return sum",
    "parses": "JSON.parse('{}'); new Date(); [1, 2].map(String).join()",
    "asks for a form that is not there": "document.forms.order?.submit()",
    "loops over nothing": "for (const each of document.querySelectorAll('.row')) each.remove()",
    "hides what is hidden": "if (!secret.hidden) secret.hidden = true",
    "keeps its click": "event.preventDefault(); event.stopPropagation()",
    "goes to an address that is empty": "const to = ''; if (to) history.go(to)",
    "waits for a promise that gives nothing": "if (typeof save === 'function') save()",
}
"""The attempted action of each button's listener, by the button's name."""

VAIN_PAGE = (
    f"<style>button {{display: block}}</style><p id=secret hidden></p><p id=menu hidden></p>{_buttons(VAIN)}"
)
