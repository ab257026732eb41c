"""Make the pictures of the README and the documentation from real runs.

    python -m scripts.screenshots [--out FOLDER] [NAME ...]

Names: `tour`, an agent and the page it uses, as an animation; `watch`, the page on which a person watches;
`report`, the report of a session; `audit`, the report of an audit. Default: all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from scripts.screenshots.animation import make_animation
from scripts.screenshots.shop_tour import take_tour
from scripts.screenshots.stills import picture_audit, picture_report, picture_watch_page

__all__ = ["MAKERS", "main", "max_bytes"]

FOLDER = Path(__file__).parents[2] / "docs/pictures"
MAX_ANIMATION_BYTES = 1_500_000
MAX_STILL_BYTES = 200_000


def picture_tour(file: Path) -> None:
    """Write the animation of the tour through the demo shop."""
    make_animation(take_tour(), file)


MAKERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "tour": ("tour.gif", picture_tour),
    "watch": ("watch.png", picture_watch_page),
    "report": ("report.png", picture_report),
    "audit": ("audit.png", picture_audit),
}
"""The file of each picture, and the function that writes it. `audit` writes a second file."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(MAKERS)} (default: all)")
    parser.add_argument(
        "--out", type=Path, default=FOLDER, help="folder of the files (default: docs/pictures)"
    )
    arguments = parser.parse_args()
    out: Path = arguments.out
    names: list[str] = arguments.names
    if unknown := [name for name in names if name not in MAKERS]:
        parser.error(f"no such picture: {', '.join(unknown)}")
    out.mkdir(parents=True, exist_ok=True)
    for name in names or MAKERS:
        file_name, make = MAKERS[name]
        print(f"Making {file_name} …", flush=True)
        make(out / file_name)
    for file in sorted(out.iterdir()):
        size = file.stat().st_size
        print(f"{size:>10,}  {file.name}")
        if size > max_bytes(file):
            raise SystemExit(f"{file.name} is too large: at most {max_bytes(file):,} bytes.")


def max_bytes(file: Path) -> int:
    """Return how large a picture may be. Everybody who clones the repository gets all versions of it."""
    return MAX_ANIMATION_BYTES if file.suffix == ".gif" else MAX_STILL_BYTES


if __name__ == "__main__":
    main()
