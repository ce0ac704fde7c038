import pytest

from exporter.adapters.child_environment import child_environment


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        pytest.param("PATH", True, id="the path passes"),
        pytest.param("PYTHONPATH", True, id="the module path passes"),
        pytest.param("LD_LIBRARY_PATH", True, id="drivers are found"),
        pytest.param("CUDA_VISIBLE_DEVICES", True, id="the choice of devices passes"),
        pytest.param("NVIDIA_VISIBLE_DEVICES", True, id="the container runtime's choice passes"),
        pytest.param("OPENAI_API_KEY", False, id="the usual key stays"),
        pytest.param("PROD_KEY", False, id="a key of the user's naming stays"),
        pytest.param("CHAT_PASSPHRASE", False, id="a secret no list would know stays"),
        pytest.param("NVIDIA_API_KEY", False, id="a key behind a harmless prefix stays"),
        pytest.param("CUDA_REGISTRY_TOKEN", False, id="a token behind a harmless prefix stays"),
        pytest.param("HTTPS_PROXY", False, id="a proxy may hold a password and is of no use"),
    ],
)
def test_only_what_a_child_needs_passes(name, passes):
    assert (name in child_environment({name: "value"}, threads=1)) is passes


def test_threads_are_set_over_what_was_there():
    environment = child_environment({"OMP_NUM_THREADS": "64"}, threads=2)
    assert {environment[f"{library}_NUM_THREADS"] for library in ("OMP", "MKL", "OPENBLAS")} == {"2"}
    assert environment["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"
