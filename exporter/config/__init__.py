"""What the user may say."""
