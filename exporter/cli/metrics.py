"""``inference-exporter metrics``: the catalogue as Markdown."""

import click


@click.command()
def metrics() -> None:
    """Print every metric with its type, labels, unit and meaning, as Markdown."""
    from exporter.metrics.docs import markdown

    click.echo(markdown(), nl=False)
