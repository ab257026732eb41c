"""What is too slow and too heavy, by the limits of web.dev."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from footlight.ux.evidence.rule import Rule
from footlight.ux.findings import Severity

__all__ = ["LIMITS", "RELOADS", "RULES", "Limit"]

MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A metric and its limits, the strictest last. `told` names the elements that the script gives for it."""

    rule: Rule
    metric: str
    limits: Sequence[tuple[Severity, float]]
    told: str = ""


LIMITS = (
    Limit(
        rule=Rule(
            id="speed/largest-paint",
            severity="medium",
            title="The largest part of the page is shown late",
            advice="Make the server answer sooner, load the largest image or font first, and let no script "
            "or style stand before it.",
            help_url="https://web.dev/articles/lcp",
        ),
        metric="lcp_ms",
        limits=(("medium", 2_500), ("high", 4_000)),
        told="lcp",
    ),
    Limit(
        rule=Rule(
            id="speed/layout-shift",
            severity="medium",
            title="The page moves while it is read",
            advice="Keep room for what comes late: give images and frames a width and a height, and put "
            "notices over the page or below, never in between.",
            help_url="https://web.dev/articles/cls",
        ),
        metric="cls",
        limits=(("medium", 0.1), ("high", 0.25)),
        told="shifted",
    ),
    Limit(
        rule=Rule(
            id="speed/blocking",
            severity="medium",
            title="The page does not answer while its scripts run",
            advice="Do less while the page loads: split long work, put it off, or move it to a worker.",
            help_url="https://web.dev/articles/tbt",
        ),
        metric="blocking_ms",
        limits=(("medium", 200), ("high", 600)),
    ),
    Limit(
        rule=Rule(
            id="speed/slow-answer",
            severity="low",
            title="The server takes long to answer",
            advice="Keep the answer ready in a cache, or find out what the server waits for.",
            help_url="https://web.dev/articles/ttfb",
        ),
        metric="ttfb_ms",
        limits=(("low", 800), ("medium", 1_800)),
    ),
    Limit(
        rule=Rule(
            id="speed/heavy",
            severity="medium",
            title="The page is heavy",
            advice="Compress images and give each screen its size, load what is further down when it is "
            "needed, and leave out scripts that this page does not use.",
            help_url="https://web.dev/learn/performance",
        ),
        metric="transferred_bytes",
        limits=(("medium", 3 * MB), ("high", 10 * MB)),
    ),
    Limit(
        rule=Rule(
            id="speed/redirects",
            severity="low",
            title="The page is reached over several redirects",
            advice="Link to the address where they end, or redirect there in one step.",
        ),
        metric="redirects",
        limits=(("low", 1),),
    ),
)
RULES = (
    Rule(
        id="speed/oversized-image",
        severity="low",
        title="Images are much larger than they are shown",
        advice="Offer the image in several sizes with srcset and sizes, in a modern format.",
        help_url="https://web.dev/articles/serve-responsive-images",
    ),
    Rule(
        id="speed/uncompressed",
        severity="low",
        title="Large texts are sent without compression",
        advice="Let the server compress HTML, scripts and styles with brotli, zstd or gzip.",
        help_url="https://web.dev/articles/reduce-network-payloads-using-text-compression",
    ),
    Rule(
        id="speed/late-paint",
        severity="medium",
        title="Nothing is shown until a slow script or style has come",
        advice="Give the script defer or async; load a style that is not needed first with a media query, "
        "or put what is into the page.",
        help_url="https://web.dev/articles/render-blocking-resources",
    ),
)
RELOADS = Rule(
    id="page/reloads",
    severity="medium",
    title="The page loads itself again",
    advice="Bring in what is new without loading the page again, by which readers lose their place and what "
    "they typed.",
    help_url="https://www.w3.org/WAI/WCAG22/Understanding/timing-adjustable.html",
)
