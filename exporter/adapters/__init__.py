"""The only importers of foreign SDKs and the operating system."""
