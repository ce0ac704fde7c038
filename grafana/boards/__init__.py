"""The dashboards, one a file; ``grafana.build`` lists them."""
