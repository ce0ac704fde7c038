"""What goes wrong on the wire, as a value that can be raised below the adapter's surface."""

from exporter.model.transcript import Fault


class WireError(Exception):
    """Ends an exchange; ``detail`` is one line for people, without secrets."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail


def reason(error: BaseException) -> str:
    """Return an error's own words, in one short line."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(words).split())[:200]
