"""In which language the command line speaks: `--language`, else the environment's, else English."""

import click

from gradwalk.protocol.facts import Fact
from gradwalk.words.catalogue import tell
from gradwalk.words.languages import language_of_environment


def current_language() -> str:
    """Of the command that runs."""
    context = click.get_current_context(silent=True)
    chosen = context.find_root().params.get("language") if context is not None else None
    return chosen or language_of_environment()


class Misuse(click.UsageError):
    """Wrong usage, or something without which this command cannot run."""

    def __init__(self, why: Fact) -> None:
        super().__init__(tell(why, current_language()))


class Failure(click.ClickException):
    """Nothing was made."""

    def __init__(self, why: Fact) -> None:
        super().__init__(tell(why, current_language()))
