"""Builds the recording rules and alerts in ``rules/`` from the metric catalogue."""
