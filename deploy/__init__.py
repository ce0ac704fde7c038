"""How people run it; ``python -m deploy.build`` writes what is made from rules and dashboards."""
