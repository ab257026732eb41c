"""Reading a page as Markdown."""

from __future__ import annotations

import textwrap

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


def lines(text: str) -> str:
    return textwrap.dedent(text).strip()


async def markdown(browser: SessionBrowser, html: str) -> str:
    """Return the Markdown of a page with this main part, with `<page>` for its address."""
    await browser.show(f"<!doctype html><meta charset=utf-8><main>{html}</main>")
    read = await browser.call("read_page", selector="main")
    return read["markdown"].replace(browser.site.url, "<site>")


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>One</h1><h3>Th<i>re</i>e</h3>", "# One\n\n### Th*re*e"),
        ("<div role=heading aria-level=4>Four</div>", "#### Four"),
        ("<h2>Title <a href=#title>¶</a></h2><h2><button>Opens</button></h2>", "## Title\n\n## Opens"),
        ("<p>one  <b>two</b>\n<em>three</em><p>four<br>five", "one **two** *three*\n\nfour\nfive"),
        ("<p><code>a`b</code> <kbd>Esc</kbd> <s>old</s> <q>said</q>", "``a`b`` `Esc` ~~old~~ “said”"),
        ("<a href='/x?a=(1)'>rel</a> <a href=//h.example/>h</a>", "[rel](<site>/x?a=%281%29) [h](http://h.example/)"),
        ("<a href=#top>frag</a> <a href=javascript:x()>js</a> <a>none</a>", "frag js none"),
        ("<ul><li>a<ol start=3><li>c<li>d</ol><li><p>e<p>f</ul>", "- a\n  3. c\n  4. d\n- e\n\n  f"),
        ("<ul><li><input type=checkbox checked>a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
        ("<dl><dt>Term<dd>means<dd>that</dl>", "**Term**\n: means\n: that"),
        ("<blockquote><p>one<p>two</blockquote>", "> one\n>\n> two"),
        ("<pre><code class=language-python>if x:\n    y()\n</code></pre>", "```python\nif x:\n    y()\n```"),
        ("<div class=highlight-source-js><pre>a<br>```</pre></div>", "````js\na\n```\n````"),
        ("<img src=a alt='A cat'><img src=b alt=''><img src=c>", "![A cat]"),
        ("one<hr>two", "one\n\n---\n\ntwo"),
        ("<a href=/c><div><h3>Card</h3><p>text</div></a>", "### [Card](<site>/c)\n\ntext"),
        ("<span style='display:block'>one</span><span>two</span>", "one\n\ntwo"),
        ("<i style='display:inline-block'>one</i><b style='display:inline-block'>two</b>", "*one* **two**"),
        ("<p># no heading<p>1. no list<p>- none", "\\# no heading\n\n1\\. no list\n\n\\- none"),
        ("a * b _c_ snake_case [d](e)", "a \\* b \\_c\\_ snake_case [d\\](e)"),
        ("<p>a<p hidden>b<p style='display:none'>c<p style='visibility:hidden'>d", "a"),
        ("<p>a<i aria-hidden=true>icon</i>", "a"),
        ("<details><summary>More</summary>hidden</details>", "**More**"),
        ("<details open><summary>Open</summary>shown</details>", "**Open**\n\nshown"),
        ("<iframe title=Map src=/map></iframe>", "[frame: Map](<site>/map)"),
        ("<div><template shadowrootmode=open><p>in <slot></slot></p></template>slotted</div>", "in slotted"),
        ("<form>said<input name=childNodes><input name=getAttribute><input name=localName></form>", "said"),
    ],
)  # fmt: skip
async def test_html_is_converted_to_markdown(browser: SessionBrowser, html: str, expected: str) -> None:
    assert await markdown(browser, html) == expected


async def test_html_table_becomes_a_markdown_table(browser: SessionBrowser) -> None:
    html = """<table><caption>Prices</caption><thead><tr><th>Item<th>Size<th>Price</thead>
      <tr><td>A|B<td colspan=2>free<tr><td rowspan=2><a href=/t>Tea</a><td>small<td>1 €
      <tr><td>large<td>2<br>€</table>
      <table><tr><td>a<td>b<tr><td>c</table>
      <table role=presentation><tr><td>lay<td>out</table>"""

    assert await markdown(browser, html) == lines(
        r"""
        **Prices**

        | Item | Size | Price |
        | --- | --- | --- |
        | A\|B | free |  |
        | [Tea](<site>/t) | small | 1 € |
        |  | large | 2 € |

        |  |  |
        | --- | --- |
        | a | b |
        | c |  |

        lay

        out
        """
    )


LONG = "This is a paragraph of the article, long enough to be told from what stands around it. " * 3

AROUND = f"""<!doctype html><title>A  page</title><header><a href=/>Home</a> Banner</header>
<nav><ul><li><a href=/1>Navigation</a></ul></nav><div id=cookie-notice style='position: fixed'>
<p>We use cookies. {LONG}</p><button>Accept</button></div><aside>Aside</aside>CONTENT
<footer>Footer</footer>"""


@pytest.mark.parametrize(
    "content",
    [
        f"<main><h1>Title</h1><nav>inner</nav><p>{LONG}</p><button>Share</button><aside>note</aside></main>",
        f"<div role=main><h1>Title</h1><p>{LONG}</div>",
        f"<article><header><h1>Title</h1></header><p>{LONG}</article>",
        f"<h1>Title</h1><div><div class=links><a href=/a>{LONG}</a></div><div><p>{LONG}</div></div>",
    ],
)
async def test_content_around_the_main_content_is_left_out(browser: SessionBrowser, content: str) -> None:
    url = (await browser.show(AROUND.replace("CONTENT", content)))["url"]

    read = await browser.call("read_page")

    text = f"# Title\n\n{LONG.strip()}"
    assert read == {"title": "A page", "url": url, "markdown": text, "chars": len(text)}


async def test_page_with_little_text_is_read_completely(browser: SessionBrowser) -> None:
    await browser.show("<div><p>short</p></div><ul><li>list</ul>")

    assert (await browser.call("read_page"))["markdown"] == "short\n\n- list"


async def test_selected_element_is_read_with_all_its_content(browser: SessionBrowser) -> None:
    await browser.show("<main><p>not this</p></main><nav><a href=/x>Link</a> <button>Button</button></nav>")

    read = await browser.call("read_page", selector="nav", links=False)

    assert read["markdown"] == "Link Button"


async def test_an_element_in_a_frame_is_read(browser: SessionBrowser) -> None:
    await browser.show("<iframe srcdoc='<h1>Inside</h1><p>text'></iframe>")

    assert (await browser.call("read_page", selector="iframe >> body"))["markdown"] == "# Inside\n\ntext"


async def test_a_long_page_is_read_in_parts(browser: SessionBrowser) -> None:
    paragraphs = [f"Paragraph {number}. {LONG.strip()}" for number in range(40)]
    await browser.show("<main>" + "".join(f"<p>{text}</p>" for text in paragraphs) + "</main>")

    parts, offset = [], 0
    while offset is not None:
        read = await browser.call("read_page", offset=offset, budget=2_000)
        assert len(read["markdown"]) <= 2_000
        parts.append(read["markdown"].partition("\n\n[cut: ")[0])
        offset = read.get("nextOffset")

    assert "\n\n".join(parts) == "\n\n".join(paragraphs)
    assert read["chars"] == len("\n\n".join(paragraphs))


async def test_page_cannot_falsify_the_markdown(browser: SessionBrowser) -> None:
    await browser.show(f"""<main><p>{LONG}</p></main><script>
      JSON.stringify = () => '"evil"'; Element.prototype.getAttribute = () => 'evil';
      Array.prototype.map = () => []; String.prototype.replace = () => 'evil';</script>""")

    assert (await browser.call("read_page"))["markdown"] == LONG.strip()


async def test_deeply_nested_elements_are_read(browser: SessionBrowser) -> None:
    await browser.show("<script>document.write('<div>'.repeat(2000) + 'deep')</script>")

    assert (await browser.call("read_page"))["markdown"] == "deep"


async def test_code_with_many_thousand_backticks_is_read(browser: SessionBrowser) -> None:
    await browser.show(
        "<pre></pre><script>document.querySelector('pre').textContent = '`~'.repeat(150_000)</script>"
    )

    assert (await browser.call("read_page", selector="pre"))["markdown"].startswith("```\n`~`~")


async def test_missing_element_is_reported(browser: SessionBrowser) -> None:
    await browser.show("<p>text")

    error = await browser.refused("read_page", selector="#none", timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_content_of_a_display_contents_element_is_read(browser: SessionBrowser) -> None:
    assert (
        await markdown(browser, "<div style='display: contents'><p>one<div hidden>two</div>three")
        == "one\n\nthree"
    )


async def test_long_title_is_cut_in_every_answer(browser: SessionBrowser) -> None:
    await browser.show("<script>document.title = 't'.repeat(1e6)</script>")

    read = await browser.call("read_page")
    [tab] = (await browser.call("tabs", action="list"))["tabs"]

    assert read["title"] == "t" * 1_999 + "…"
    assert tab["title"] == "t" * 2_000 + "… [cut, 1000000 characters]"
