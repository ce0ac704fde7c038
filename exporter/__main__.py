"""The command ``inference-exporter``, also as ``python -m exporter``."""

from exporter.cli.main import cli


def main() -> None:
    """Run the command line and exit with its code."""
    cli(prog_name="inference-exporter")


if __name__ == "__main__":
    main()
