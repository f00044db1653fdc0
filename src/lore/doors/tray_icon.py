"""tray_icon: the tray on the screen, by Qt: an icon whose colour follows the daemon, and its menu."""

import signal
import sys
from functools import partial

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.doors.tray_commands import Commands
from lore.doors.tray_state import (
    FRAME_MILLISECONDS,
    POLL_MILLISECONDS,
    Colour,
    View,
    colour_of,
    entries_of,
    view_of,
)
from lore.doors.upkeep import SIGNALS
from lore.errors import LoreError

SIZE = 64
"""Pixels of the icon's side; the tray scales it."""
MARGIN, RIM = 6, 4
RIM_COLOUR = QColor(128, 128, 128)
"""Grey, so that a dark disc can be seen on a dark panel and a bright one on a bright panel."""
MESSAGE_MILLISECONDS = 10_000
NO_TRAY = (
    "lore-tray: there is no system tray yet; the icon appears as soon as there is one"
    " (GNOME needs the extension AppIndicator for that)"
)


def run(endpoint: Endpoint) -> None:
    """Show the tray until its user quits or a signal ends it; a daemon that it started ends with it."""
    application = QApplication(["lore-tray"])
    application.setQuitOnLastWindowClosed(False)
    application.setApplicationDisplayName("Lore")
    application.setDesktopFileName("lore-tray")
    if not QSystemTrayIcon.isSystemTrayAvailable():
        print(NO_TRAY, file=sys.stderr, flush=True)
    tray = Tray(endpoint)
    for signum in SIGNALS:
        signal.signal(signum, lambda *_: application.quit())
    tray.show()
    application.exec()
    tray.end()


class Tray:
    """The icon and its menu. One timer looks at the daemon's status, another draws the frames of a pulse."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._commands = Commands(endpoint)
        self._view = View()
        self._frame = 0
        self._icon = QSystemTrayIcon()
        self._menu = QMenu()
        self._header = self._menu.addAction("")
        self._header.setEnabled(False)
        self._actions: dict[str, QAction] = {}
        self._poll, self._pulse = QTimer(), QTimer()
        self._poll.timeout.connect(self._look)
        self._pulse.timeout.connect(self._draw_next)
        self._icon.setContextMenu(self._menu)

    def show(self) -> None:
        """Show the icon, and start the daemon if it does not run."""
        self._look()
        self._icon.show()
        self._poll.start(POLL_MILLISECONDS)
        if not self._view.running:
            self._choose("start")

    def end(self) -> None:
        """Take the icon away, and stop the daemon if this tray has started it."""
        self._poll.stop()
        self._pulse.stop()
        self._icon.hide()
        self._commands.end()

    def _look(self) -> None:
        """Show the daemon as it is now, and the reasons of actions that have failed."""
        for failed in self._commands.finish():
            self._complain(f"{failed.action}: {failed.reason}")
        try:
            view = view_of(read_status(self._endpoint), self._view)
        except LoreError as error:  # the lock cannot be opened; the next look may succeed
            self._header.setText(str(error))
            return
        changed, self._view = view.state != self._view.state, view
        if changed or self._icon.icon().isNull():
            self._frame = 0
            self._draw()
            if view.pulsing:
                self._pulse.start(FRAME_MILLISECONDS)
            else:
                self._pulse.stop()
        self._icon.setToolTip(view.title)
        self._header.setText(view.title)
        self._fill()

    def _fill(self) -> None:
        """Put the entries into the menu; those of an open menu stay where they are."""
        groups = entries_of(self._view, self._commands.running)
        if self._actions.keys() != {entry.action for group in groups for entry in group}:
            for old in self._menu.actions()[1:]:
                self._menu.removeAction(old)
            self._actions.clear()
            for group in groups:
                self._menu.addSeparator()
                for entry in group:
                    self._actions[entry.action] = self._menu.addAction(
                        "", partial(self._choose, entry.action)
                    )
        for entry in (entry for group in groups for entry in group):
            self._actions[entry.action].setText(entry.label)
            self._actions[entry.action].setEnabled(entry.enabled)

    def _choose(self, action: str) -> None:
        if action == "quit":
            QApplication.quit()
            return
        try:
            self._commands.run(action)
        except (LoreError, OSError) as error:
            self._complain(str(error))
        self._fill()

    def _complain(self, reason: str) -> None:
        """Say why an action has failed: as a message of the desktop, and on stderr for those without."""
        print(f"lore-tray: {reason}", file=sys.stderr, flush=True)
        self._icon.showMessage("Lore", reason, QSystemTrayIcon.MessageIcon.Warning, MESSAGE_MILLISECONDS)

    def _draw_next(self) -> None:
        self._frame += 1
        self._draw()

    def _draw(self) -> None:
        self._icon.setIcon(QIcon(_picture(colour_of(self._view.state, self._frame))))


def _picture(colour: Colour) -> QPixmap:
    """A disc of this colour in a grey rim."""
    picture = QPixmap(SIZE, SIZE)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(RIM_COLOUR, RIM))
    painter.setBrush(QColor(*colour))
    painter.drawEllipse(QRectF(MARGIN, MARGIN, SIZE - 2 * MARGIN, SIZE - 2 * MARGIN))
    painter.end()
    return picture
