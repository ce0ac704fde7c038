import pytest

from exporter.web.encoding import accepts_gzip


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("", False, id="no header means no gzip"),
        pytest.param("gzip", True, id="named"),
        pytest.param("GZip", True, id="in any case"),
        pytest.param("deflate, gzip;q=1.0, *;q=0.5", True, id="among others"),
        pytest.param("gzip;q=0", False, id="forbidden"),
        pytest.param("gzip; q=0.000", False, id="forbidden with digits and spaces"),
        pytest.param("gzip;q=0, *;q=1", False, id="forbidden though anything else goes"),
        pytest.param("*", True, id="anything goes"),
        pytest.param("*;q=0", False, id="nothing goes"),
        pytest.param("identity", False, id="another one only"),
        pytest.param("x-gzip", True, id="by its old name"),
        pytest.param("gzip;q=much", False, id="a weight that is no number counts as none"),
        pytest.param("gzipped", False, id="a longer word is not gzip"),
        pytest.param(",;,q=1;gzip", False, id="rubbish"),
    ],
)
def test_accepts_gzip(header: str, expected: bool) -> None:
    assert accepts_gzip(header) is expected
