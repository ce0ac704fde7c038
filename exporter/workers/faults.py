"""What went wrong, in our words."""

from exporter.model.kernel import Verdict


def verdict_of(error: Exception) -> Verdict:
    """Tell running out of memory from everything else."""
    # Accelerators raise a class of their own, the CPU allocator a RuntimeError with only its text to go by.
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return Verdict.OUT_OF_MEMORY
    if "can't allocate memory" in str(error) or "out of memory" in str(error):
        return Verdict.OUT_OF_MEMORY
    return Verdict.ERROR


def one_line(error: Exception) -> str:
    """Return the error's class and text on one line of at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
