"""Each file in bad/ has beside it exactly what the user is told."""

from pathlib import Path

import pytest

from exporter.config.load import load
from exporter.config.problem import ConfigError
from tests.config.kinds import KINDS, SUITES

BAD = sorted(Path(__file__).parent.glob("bad/*.yml"))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_file_says_exactly_this(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(path, KINDS, SUITES)
    said = [problem.at(path.name) for problem in caught.value.problems]
    assert said == path.with_suffix(".txt").read_text().splitlines()


def test_every_expectation_has_its_file() -> None:
    assert len(BAD) >= 30
    assert {path.stem for path in BAD} == {path.stem for path in Path(__file__).parent.glob("bad/*.txt")}


def test_error_text_has_one_line_a_problem() -> None:
    path = Path(__file__).parent / "bad" / "many-things-at-once.yml"
    with pytest.raises(ConfigError) as caught:
        load(path, KINDS, SUITES)
    assert str(caught.value).splitlines() == [problem.at(str(path)) for problem in caught.value.problems]
    assert len(caught.value.problems) == 11
