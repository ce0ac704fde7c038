"""Dashboards as code: ``python -m grafana.build`` writes ``dashboards/*.json`` from the metric catalogue."""
