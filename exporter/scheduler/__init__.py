"""When work runs: fixed grid, locks, deadlines, and an account of every slot."""
