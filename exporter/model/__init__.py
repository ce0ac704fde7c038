"""Frozen values and arithmetic; standard library only."""
