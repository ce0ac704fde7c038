"""The estimate of tokens that budgets, forecasts and load tests share."""

import pytest

from exporter.model.token_estimate import TEMPLATE_TOKENS, estimated_tokens


@pytest.mark.parametrize(
    ("characters", "beside_the_template"),
    [pytest.param(1, 1, id="a part of a token is a token"), pytest.param(4, 1, id="one"), (5, 2), (400, 100)],
)
def test_the_template_and_a_token_for_every_four_characters(characters: int, beside_the_template: int):
    assert estimated_tokens(characters) == TEMPLATE_TOKENS + beside_the_template


def test_no_text_is_no_token():
    assert estimated_tokens(0) == 0
