"""A truth server for a test of the load worker."""

from tests.truth.conftest import compiler, start  # noqa: F401 - fixtures
