"""The environment variables that a child process is given."""

from collections.abc import Mapping

_KEPT = frozenset(
    {"HOME", "LANG", "LANGUAGE", "PATH", "PYTHONHOME", "PYTHONPATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"}
    | {"LD_LIBRARY_PATH", "LD_PRELOAD", "XDG_CACHE_HOME"}
)
_KEPT_PREFIXES = ("CUDA_", "CUBLAS_", "CUDNN_", "HIP_", "HSA_", "LC_", "NVIDIA_", "ROCR_")
_KEY_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def child_environment(own: Mapping[str, str], *, threads: int) -> dict[str, str]:
    """Return what a child needs of our environment, and its number of threads (at least 1).

    A list of what may pass, not of what may not: the configuration names the variables that hold API keys,
    so no list of secrets would be complete.  Thread counts take effect only when set before the numeric
    libraries are imported.  ``PYTORCH_NVML_BASED_CUDA_CHECK`` keeps looking for a GPU from claiming one.
    """
    kept = {
        name: value
        for name, value in own.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and not name.endswith(_KEY_ENDINGS)
    }
    return kept | dict.fromkeys(_THREAD_VARIABLES, str(threads)) | {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
