"""Where the time of a request went, however far it came."""

import pytest

from exporter.model.timeline import phases_of
from exporter.model.transcript import Fault, Transcript

MS = 1_000_000
NEW = {"started_ns": 0, "resolved_ns": 5 * MS, "connected_ns": 15 * MS, "tls_done_ns": 40 * MS}
SENT = NEW | {"sent_ns": 40 * MS, "send_done_ns": 41 * MS}
BACK = SENT | {"headers_ns": 241 * MS, "complete_ns": 400 * MS, "closed_ns": 402 * MS}
GIVEN_UP = {"closed_ns": 900 * MS, "fault": Fault.DEADLINE}
PHASES = [
    ("a new TLS connection, to the end", BACK, (5, 10, 25, 1, 200, 159), 400),
    ("a new plain connection", BACK | {"tls_done_ns": None}, (5, 10, None, 26, 200, 159), 400),
    (
        "a reused connection",
        BACK | {"resolved_ns": None, "connected_ns": None, "tls_done_ns": None, "reused": True},
        (None, None, None, 41, 200, 159),
        400,
    ),
    ("hung in name lookup", {"started_ns": 0} | GIVEN_UP, (900, None, None, None, None, None), 900),
    (
        "hung in connect",
        {"started_ns": 0, "resolved_ns": 5 * MS} | GIVEN_UP,
        (5, 895, None, None, None, None),
        900,
    ),
    ("hung in TLS", NEW | {"tls_done_ns": None} | GIVEN_UP, (5, 10, 885, None, None, None), 900),
    (
        "hung in sending on a plain connection",
        NEW | {"tls_done_ns": None, "sent_ns": 15 * MS} | GIVEN_UP,
        (5, 10, None, 885, None, None),
        900,
    ),
    (
        "hung in sending on a reused connection",
        {"started_ns": 0, "sent_ns": 0, "reused": True} | GIVEN_UP,
        (None, None, None, 900, None, None),
        900,
    ),
    (
        "refused before the request was sent whole",
        BACK | {"send_done_ns": None},
        (5, 10, 25, None, 201, 159),
        400,
    ),
    ("hung before the headers", SENT | GIVEN_UP, (5, 10, 25, 1, 859, None), 900),
    ("hung in the body", SENT | {"headers_ns": 241 * MS} | GIVEN_UP, (5, 10, 25, 1, 200, 659), 900),
]


@pytest.mark.parametrize(("_", "marks", "expected", "total"), PHASES, ids=[row[0] for row in PHASES])
def test_phases_sum_to_the_total(_: str, marks: dict, expected: tuple, total: float) -> None:
    phases = phases_of(Transcript(**marks))
    parts = (phases.dns_s, phases.connect_s, phases.tls_s, phases.send_s, phases.wait_s, phases.receive_s)
    assert [part if part is None else round(part * 1000, 6) for part in parts] == list(expected)
    assert phases.total_s * 1000 == pytest.approx(total)
    assert sum(filter(None, parts)) == pytest.approx(phases.total_s, rel=0.05)
