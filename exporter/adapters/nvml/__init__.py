"""NVIDIA GPUs through NVML; imported in the power worker only, because a driver call can hang or crash."""
