"""The only composition root: configuration, adapters, jobs, scheduler, web."""
