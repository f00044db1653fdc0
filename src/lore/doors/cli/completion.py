"""completion: the script that teaches a shell to complete `lore`, with how to install it."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

SHELLS: dict[str, tuple[type[ShellComplete], str]] = {
    "bash": (BashComplete, 'add this line to ~/.bashrc:  eval "$(lore completion bash)"'),
    "zsh": (ZshComplete, 'add this line to ~/.zshrc, after compinit:  eval "$(lore completion zsh)"'),
    "fish": (FishComplete, "lore completion fish > ~/.config/fish/completions/lore.fish"),
}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    The last line of the script says how to install it.
    """
    complete, install = SHELLS[shell]
    script = complete(ctx.find_root().command, {}, "lore", "_LORE_COMPLETE").source()
    click.echo(f"{script.rstrip()}\n\n# To install: {install}")
