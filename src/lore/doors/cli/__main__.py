"""python -m lore.doors.cli: the same as `lore`, where the script is not on the path."""

from lore.doors.cli import main

main()
