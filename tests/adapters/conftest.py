from collections.abc import AsyncIterator

import pytest
import trustme

from exporter.adapters.wire.wire import Wire


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A wire that no variable of the machine's environment reaches."""
    made = Wire(environ={})
    yield made
    await made.aclose()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)
