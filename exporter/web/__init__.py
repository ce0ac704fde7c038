"""What HTTP answers."""
