# syntax=docker/dockerfile:1
#   docker build --target probe .    probes, load tests, power; 150 MB of Python packages
#   docker build --target bench .    the same with torch, for kernel benches; TORCH_INDEX picks its build
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY exporter exporter
RUN /opt/venv/bin/pip install .

FROM build AS build-bench
# https://download.pytorch.org/whl/cu128 or another one that your driver knows, for NVIDIA GPUs.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN /opt/venv/bin/pip install --index-url "${TORCH_INDEX}" --constraint constraints.txt torch

FROM python:${PYTHON} AS base
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="inference-exporter" \
      org.opencontainers.image.description="Prometheus exporter for inference performance" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# tini hands SIGTERM on and reaps what worker processes leave behind.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 exporter \
    && useradd --uid 65532 --gid exporter --no-create-home --home-dir /tmp --shell /usr/sbin/nologin exporter
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    INFERENCE_EXPORTER_REVISION=${REVISION}
USER 65532:65532
WORKDIR /tmp
EXPOSE 9780
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9780/-/healthy', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/tini", "--", "inference-exporter"]
CMD ["run", "--config", "/etc/inference-exporter/exporter.yml", "--listen", "0.0.0.0:9780"]

FROM base AS bench
COPY --from=build-bench /opt/venv /opt/venv

FROM base AS probe
COPY --from=build /opt/venv /opt/venv
