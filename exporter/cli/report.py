"""``report``: load runs as tables, Markdown or HTML."""

from pathlib import Path

import click


@click.command()
@click.argument("files", metavar="RUN.json...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write one page with plots."
)
def report(files: tuple[Path, ...], page: Path | None) -> None:
    """Print run files of `load --out` as Markdown, or write them as one page of HTML."""
    from exporter.load.runfile import RunFileError, read_run
    from exporter.report.html import html
    from exporter.report.markdown import markdown

    try:
        runs = [read_run(path) for path in files]
    except RunFileError as error:
        raise click.ClickException(str(error)) from None
    if page is None:
        click.echo(markdown(runs), nl=False)
        return
    try:
        page.write_text(html(runs), encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(page), f"{error.strerror}; choose another path with --html") from error
    click.echo(f"wrote {page}")
