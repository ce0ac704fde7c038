"""Every metric's name and meaning, and what a result does to them."""
