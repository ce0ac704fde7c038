"""Child processes, reached by python -m and imported by nobody."""
