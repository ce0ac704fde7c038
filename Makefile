# Everything a fresh clone needs: python3.11 (or later) with venv and pip, make, git.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run test check bench generate accuracy alerts load-accuracy interop clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Two stamps: what a user runs needs no test tools.
$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV): minutes the first time, most of it PyTorch"
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV), with the test tools: minutes the first time, most of it PyTorch"
	$(PIP) install --constraint constraints.txt --editable '.[bench,dev]'
	@touch $@ $(VENV)/.run

run: $(VENV)/.run ## install, then start the exporter with the embedded demo endpoint and the light bench
	$(BIN)/inference-exporter demo

test: $(VENV)/.dev ## install, then run the tests
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## format, lint, types, import floors, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/inference-exporter metrics | diff -u docs/metrics.md -
	$(BIN)/inference-exporter reasons | diff -u docs/troubleshooting.md -
	$(BIN)/python -m prometheus.build --check
	$(BIN)/python -m grafana.build --check
	$(BIN)/python -m deploy.build --check
	$(BIN)/inference-exporter check docs/examples/*.yml deploy/compose/exporter.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml docker-compose.gpu.yml
	$(BIN)/hadolint Dockerfile

generate: $(VENV)/.dev ## rewrite the files that are made from code
	$(BIN)/inference-exporter metrics > docs/metrics.md
	$(BIN)/inference-exporter reasons > docs/troubleshooting.md
	$(BIN)/python -m prometheus.build
	$(BIN)/python -m grafana.build
	$(BIN)/python -m deploy.build

bench: $(VENV)/.run ## run the attention kernel bench once
	$(BIN)/inference-exporter bench

accuracy: $(VENV)/.dev ## measure our own error against the truth server (needs a C compiler)
	$(BIN)/python -m benchmarks.accuracy

alerts: $(VENV)/.dev ## measure what the alert rules cost and find, against a real Prometheus
	$(BIN)/python -m benchmarks.alerts

load-accuracy: $(VENV)/.dev ## measure what load clients add, ours and others (needs a C compiler and root for priorities)
	$(BIN)/python -m benchmarks.load

interop: $(VENV)/.dev ## probe servers that others wrote, installed into a venv of their own
	$(BIN)/python -m benchmarks.interop

clean: ## remove what the targets above made
	rm -rf $(VENV) .venv-interop *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
