"""Measurements of the exporter itself against a server that knows the truth."""
