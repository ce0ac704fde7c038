"""The embedded OpenAI-compatible endpoint, a process of its own."""
