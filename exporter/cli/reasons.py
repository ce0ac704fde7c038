"""``inference-exporter reasons``: causes and remedies of every failure as Markdown."""

import click


@click.command()
def reasons() -> None:
    """Print for each reason of a failure its usual causes and what to do, as Markdown."""
    from exporter.metrics.troubleshooting import markdown

    click.echo(markdown(), nl=False)
