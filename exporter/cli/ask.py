"""``inference-exporter ask``: questions and answers on the terminal, with the clocks of each answer."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exporter.cli.options import config_option, configured_target

if TYPE_CHECKING:
    import asyncio

    from exporter.adapters.openai_api import OpenAiApi
    from exporter.app.conversation import Conversation

INTERRUPTED = 130


@click.command()
@config_option
@click.option("--max-tokens", type=click.IntRange(1, 32_768), default=1024, show_default=True)
@click.option(
    "--timeout", type=click.FloatRange(1, 3600), default=120.0, show_default=True, help="Seconds an answer."
)
@click.argument("words", metavar="[TARGET] [QUESTION...]", nargs=-1)
def ask(path: Path | None, max_tokens: int, timeout: float, words: tuple[str, ...]) -> None:
    """Ask a target and watch the answer come; then its time to first token, tokens a second and cost.

    With --config the first word is the target; without, OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL
    say whom to ask, and all words are the question. Without a question a session begins: "exit" or Ctrl-D
    ends it, Ctrl-C stops the answer and not the session.

    Exit status: 0 the last answer came well; 1 it did not; 130 it was stopped.
    """
    import asyncio

    from exporter.adapters.openai_api import OpenAiApi
    from exporter.adapters.wire.loop import new_event_loop
    from exporter.app.conversation import Conversation

    name, question = (words[0] if words else None, words[1:]) if path is not None else (None, words)
    plan = configured_target(path, name)
    talk = Conversation(plan.target, max_tokens, timeout, show=lambda text: click.echo(text, nl=False))
    api = OpenAiApi()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            if question:
                status = _answer(runner, api, talk, " ".join(question))
            else:
                status = _session(runner, api, talk)
        finally:
            runner.run(api.aclose())
    raise SystemExit(status)


def _session(runner: "asyncio.Runner", api: "OpenAiApi", talk: "Conversation") -> int:
    """Ask until the user has had enough; return the status of the last answer."""
    click.echo(f"{talk.target.model} at {talk.target.base_url}; exit ends, Ctrl-C stops an answer", err=True)
    status = 0
    while True:
        try:
            question = input("> ").strip()
        except EOFError:
            click.echo()
            return status
        except KeyboardInterrupt:
            click.echo("\n(exit or Ctrl-D ends the session)", err=True)
            continue
        if question == "exit":
            return status
        if question:
            status = _answer(runner, api, talk, question)


def _answer(runner: "asyncio.Runner", api: "OpenAiApi", talk: "Conversation", question: str) -> int:
    from exporter.app.conversation import account
    from exporter.model.outcome import Outcome

    try:
        result = runner.run(talk.ask(api, question))
    except KeyboardInterrupt:
        click.echo("\n(stopped)", err=True)
        return INTERRUPTED
    click.echo()
    click.echo(account(result), err=True)
    return 0 if result.outcome is Outcome.OK else 1
