"""Prometheus exporter for inference performance."""

__version__ = "0.1.0"
