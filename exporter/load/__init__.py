"""Load tests: whom, how much, for how long; the load itself is made by child processes."""
