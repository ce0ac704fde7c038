"""The fake NVIDIA driver as a test sees it: a library to load, and a world to change while it is in use."""

import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def build(folder: Path) -> Path:
    """Compile the library into a folder and return it."""
    library = folder / "libnvidia-ml.so.1"
    sources = [str(HERE / name) for name in ("fake_nvml.c", "state.c")]
    subprocess.run(
        [
            *("cc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{library.name}"),
            *("-o", str(library), *sources, "-lm", "-lpthread"),
        ],
        check=True,
    )
    return library


class FakeDriver:
    """A world of GPUs, and the environment in which a process sees it."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._library = library
        self._state = folder / "state.txt"
        self._diary = folder / "diary.txt"
        self._world: dict[str, object] = {}
        self.set()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_LIBRARY_PATH": str(self._library.parent),
            "NVIDIA_FAKE_STATE": str(self._state),
            "NVIDIA_FAKE_DIARY": str(self._diary),
        }

    @property
    def diary(self) -> list[str]:
        """``init`` and ``shutdown``, in the order in which they succeeded."""
        return self._diary.read_text().split() if self._diary.exists() else []

    def set(self, **world: object) -> None:
        """Add to the world; None takes a key out.  ``__`` stands for a dot, ``_1__fail`` for ``1.fail``."""
        for name, value in world.items():
            self.put(name.removeprefix("_").replace("__", "."), value)

    def put(self, key: str, value: object) -> None:
        self._world[key] = value
        lines = [f"{key}={value}\n" for key, value in self._world.items() if value is not None]
        successor = self._state.with_suffix(".new")
        successor.write_text("".join(lines))
        successor.replace(self._state)


def uuid(number: int) -> str:
    return f"GPU-fake0000-0000-0000-0000-{number:012x}"
