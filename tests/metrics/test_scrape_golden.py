"""A fixed story gives a fixed scrape."""

from pathlib import Path

from tests.metrics.scrape import golden_lines, told_sink

GOLDEN = Path(__file__).parent / "golden" / "scrape.txt"


def test_the_scrape_after_a_fixed_story_is_the_committed_one():
    assert golden_lines(told_sink()) == GOLDEN.read_text(encoding="utf-8").splitlines()
