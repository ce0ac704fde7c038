"""Probe kinds, one file each, and their explicit registry."""
