"""Every relative link of the documentation leads to a file, and to a heading where it names one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "prometheus/**/*.md")
    for page in ROOT.glob(pattern)
)

_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def _links(page: Path) -> list[str]:
    """Return the relative targets of a page's links; what stands in code is no link."""
    prose = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in _LINK.findall(prose) if not re.match(r"[a-z]+:", link)]


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)}


def _broken(page: Path) -> list[str]:
    broken = []
    for link in _links(page):
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in _anchors(there)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page: Path) -> None:
    assert _broken(page) == []


def test_the_readme_is_among_the_pages() -> None:
    assert ROOT / "README.md" in PAGES


def test_a_missing_file_and_a_missing_heading_are_found(tmp_path: Path) -> None:
    lost = tmp_path / "page.md"
    lost.write_text("# Here\n[a](gone.md) [b](#not-here) [c](#here) `[d](code.md)` [e](https://x.example)\n")
    assert _broken(lost) == ["gone.md", "#not-here"]
