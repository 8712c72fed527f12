"""Check every link and every figure of the built site: ``python vignettes/_site/check_links.py _build/site``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Links and anchors of a page, and its figures without a description for readers who cannot see them."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.undescribed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("img", "svg"):
            words = dict(attrs)
            name = (words.get("src") or words.get("class") or tag).rpartition("/")[2]
            text = (words.get("alt" if tag == "img" else "aria-label") or "").strip()
            if words.get("aria-hidden") != "true" and (not text or text.rpartition("/")[2] == name):
                self.undescribed.append(name)
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


def _pages(root: Path) -> list[Path]:
    """Return the pages of the site; a theme keeps templates among its files."""
    return sorted(path for path in root.rglob("*.html") if "_static" not in path.relative_to(root).parts)


@cache
def read_page(path: Path) -> _Page:
    """Return a page with what it links to and what can be linked to in it."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def broken_links(root: Path) -> Iterator[str]:
    """Yield a sentence for each link below ``root`` that leads nowhere; links to other places are not followed."""
    root = root.resolve()
    for path in _pages(root):
        for link in dict.fromkeys(read_page(path).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = unquote(parts.path)
            target = path if not place else (path.parent / place).resolve()
            target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(root)}: {link}"
            if not target.is_relative_to(root) or not target.exists():
                yield f"{where} leads to no file"
            elif target.suffix == ".html" and unquote(parts.fragment) not in read_page(target).anchors:
                yield f"{where} leads to no place on its page"


def undescribed_figures(root: Path) -> Iterator[str]:
    """Yield a sentence for each figure below ``root`` that has no description, or only the name of its file."""
    for path in _pages(root):
        for name in read_page(path).undescribed:
            yield f"{path.relative_to(root)}: {name} has no words for readers who cannot see it"


def main(folder: str) -> int:
    """Print broken links and undescribed figures; return 1 if there are any, or if there is no page."""
    root = Path(folder).resolve()
    pages, faults = _pages(root), [*broken_links(root), *undescribed_figures(root)]
    print("\n".join(faults) or f"{len(pages)} pages: all links within the site lead somewhere, all figures have words.")
    return int(bool(faults) or not pages)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
