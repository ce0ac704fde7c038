"""How a target is reached: with a client certificate, over the preferred family of addresses."""

import socket
import ssl
from pathlib import Path

import pytest
import trustme

from exporter.adapters.openai_api import OpenAiApi
from exporter.adapters.wire.connect import in_order
from exporter.adapters.wire.resolve import AddressInfo, Resolver
from exporter.adapters.wire.wire import Wire
from exporter.model.outcome import Outcome
from exporter.model.target import IpFamily, TlsOptions
from exporter.probes import KINDS
from exporter.probes.base import Api
from tests.fakes.scripted_server import ScriptedServer
from tests.probes.goods import good
from tests.probes.specs import doors, spec, target


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    client = ca.issue_cert("client@example.com")
    client.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "me.pem"))
    client.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    client.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    return ca


@pytest.fixture
def asking(authority: trustme.CA) -> ssl.SSLContext:
    """A server's context that asks every client for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


SHOWN = [
    ("one file", {"cert_file": "me.pem"}, {Outcome.OK}),
    ("two files", {"cert_file": "cert.pem", "key_file": "key.pem"}, {Outcome.OK}),
    # TLS 1.3 refuses after the handshake: the client learns of it with the first read.
    ("none", {}, {Outcome.TLS, Outcome.CONNECT}),
    ("a file that is gone", {"cert_file": "gone.pem"}, {Outcome.TLS}),
    ("a certificate without its key", {"cert_file": "cert.pem"}, {Outcome.TLS}),
]


@pytest.mark.parametrize("kind", ["chat", "http"])
@pytest.mark.parametrize(("_", "files", "outcomes"), SHOWN, ids=[row[0] for row in SHOWN])
async def test_a_client_certificate(
    api: Api,
    asking: ssl.SSLContext,
    tmp_path: Path,
    *,
    kind: str,
    _: str,
    files: dict,
    outcomes: set[Outcome],
) -> None:
    own = {name: str(tmp_path / file) for name, file in files.items()}
    async with ScriptedServer(good(kind), tls=asking) as server:
        where = target(server.url, tls=TlsOptions(ca_file=str(tmp_path / "ca.pem"), **own))
        result = await KINDS[kind].run(where, spec(kind), doors(api))
    assert result.outcome in outcomes, result.detail
    if result.outcome is Outcome.OK:
        assert result.connection.tls_version == "TLSv1.3"


V4: AddressInfo = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))
V6: AddressInfo = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 1, 0, 0))
OTHER: AddressInfo = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", 1))


def test_the_preferred_family_comes_first_and_the_rest_keeps_its_order() -> None:
    found = [V4, V6, OTHER]
    assert in_order(found, None) == found
    assert in_order(found, IpFamily.IPV6) == [V6, V4, OTHER]
    assert in_order([V6, V4, OTHER], IpFamily.IPV4) == [V4, OTHER, V6]


@pytest.mark.parametrize("family", IpFamily)
async def test_the_preferred_family_is_used_where_it_answers(family: IpFamily) -> None:
    def both(host: str, port: int) -> list[AddressInfo]:
        return [(f, k, p, n, (a[0], port, *a[2:])) for f, k, p, n, a in (V4, V6)]  # type: ignore[misc]

    door = OpenAiApi(wire=Wire(environ={}, resolver=Resolver(both)))
    async with ScriptedServer(good("models")) as server:
        where = target(server.url.replace("127.0.0.1", "both.test"), ip=family)
        result = await KINDS["models"].run(where, spec("models"), doors(door))
    await door.aclose()
    # The server listens on IPv4 alone: with IPv6 preferred the other family is the fallback.
    assert (result.outcome, result.connection.family) == (Outcome.OK, "ipv4")
