"""Attention kernel benches: which cases run, and the run of one."""
