"""What load clients add to the truth, and what they cost: ours, raw sockets, libraries and other tools."""
