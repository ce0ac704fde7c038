"""Power and energy: the sampling process, what is known of each device, and windows of energy."""
