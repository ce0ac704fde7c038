"""What each alert rule costs in false pages and finds in minutes: python -m benchmarks.alerts."""
