"""tray: `lore-tray`, which shows the daemon on the desktop, starts and stops it, and gives it work."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from lore import lazy
from lore.doors.endpoint import Endpoint
from lore.doors.tray_install import desktop_of
from lore.environment import has_display, stay_out_of_dock, variables
from lore.errors import Invalid, LoreError, Unavailable
from lore.filelock import Held, holding
from lore.version import VERSION

TOOLKIT = "PySide6"
INSTALL_EXTRA = "pip install 'agent-lore[tray]', or uv tool install 'agent-lore[tray]'"
PATH = click.Path(path_type=Path)
LOCK = "tray.lock"
PROBE = f"from {TOOLKIT}.QtGui import QGuiApplication; QGuiApplication([])"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--db", "db_path", type=PATH, help="The database file (default: memory.db in the data folder).")
@click.option("--data-dir", type=PATH, help="The folder for data and settings (default: ~/.lore).")
@click.option("--install", is_flag=True, help="Put Lore into the menu of applications, and show no icon.")
@click.option("--autostart", is_flag=True, help="With --install: also start it at every login.")
@click.option("--uninstall", is_flag=True, help="Remove what --install has written.")
@click.version_option(VERSION, message="lore-tray %(version)s")
def tray(
    db_path: Path | None, data_dir: Path | None, install: bool, autostart: bool, uninstall: bool
) -> None:
    """Show Lore in the system tray.

    The icon shows what the daemon does; its menu starts and stops the daemon and gives it work. A daemon that
    does not run is started, and ends when the tray quits; one that ran before is left alone.
    """
    if install and uninstall:
        raise Invalid("--install and --uninstall exclude each other; give one of them")
    if autostart and not install:
        raise Invalid("--autostart belongs to --install; give both")
    endpoint = Endpoint(variables(), *(None if path is None else str(path) for path in (data_dir, db_path)))
    if not uninstall:
        _check_toolkit()
    if install or uninstall:
        desktop = desktop_of(sys.platform, endpoint)
        changed = desktop.install(autostart=autostart) if install else desktop.uninstall()
        for path in changed:
            click.echo(f"{'Wrote' if install else 'Removed'} {path}")
        if not changed:
            click.echo("Nothing to remove.")
        return
    _run(endpoint)


def main() -> None:
    """Run the command line of this process and exit with its code."""
    try:
        sys.exit(tray.main(prog_name="lore-tray", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except LoreError as error:
        click.echo(f"lore-tray: {error}", err=True)
        sys.exit(1)


def _check_toolkit() -> None:
    if find_spec(TOOLKIT) is None:
        raise Unavailable(f"{TOOLKIT} is missing; install it with the extra: {INSTALL_EXTRA}")


def _check_display() -> None:
    """Try the display in another process: Qt aborts its own where it cannot connect to one."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, errors="replace")
    if done.returncode < 0:  # aborted; an exception in the probe is met, and explained, later
        reason = next((line for line in done.stderr.splitlines() if line.strip()), "Qt aborts")
        raise Unavailable(f"nothing can be shown on this display: {reason}")


def _run(endpoint: Endpoint) -> None:
    """Show the icon; Unavailable says why that cannot be done here."""
    if sys.platform == "linux" and not has_display():
        raise Unavailable("there is no display here: neither DISPLAY nor WAYLAND_DISPLAY is set")
    _check_display()
    stay_out_of_dock()
    try:
        with holding(os.path.join(endpoint.home, LOCK), 0.0):
            lazy.tray_icon.run(endpoint)
    except Held as error:
        raise Unavailable(f"a tray runs already for {endpoint.home}") from error
    except ImportError as error:
        raise Unavailable(f"{TOOLKIT} cannot be loaded: {error}; docs/tray.md names its libraries") from error


if __name__ == "__main__":
    main()
