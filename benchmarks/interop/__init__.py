"""Probe servers that nobody here wrote, end to end, with the command a user would type."""
