#!/bin/sh
# Checks the kernel bench on one NVIDIA GPU in under five minutes.  Needs this repository and a python3 (3.11 or
# later) with torch, nothing else; sends nothing anywhere.
#
#     benchmarks/gpu_check.sh [DEVICE] > benchmarks/gpu.md       DEVICE: cuda:0 (default), or cpu to try the script
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "gpu_check: $python is too old; set PYTHON to a Python of 3.11 or later that has torch" >&2
    exit 2
}
exec "$python" -m benchmarks.gpu_check "${1:-cuda:0}"
