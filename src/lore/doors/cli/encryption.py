"""encryption: encrypt the store on disk, decrypt it, and say how it stands."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from lore import lazy
from lore.clients.toml import drop, put
from lore.doors.cli.backup import BACKUPS, alone
from lore.doors.cli.connect import endpoint_of, refuse_database, settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.render import note, plural, show_document, show_rows, visible
from lore.durable import write_durably
from lore.errors import Invalid, Unavailable
from lore.keys import FILE, KEYRING, NO_KEY, OFF, KeySource, key_source, use_key_of

if TYPE_CHECKING:
    from lore.config import Config

SETTING, FILE_SETTING = "encryption", "encryption_key_file"


@command()
@click.argument("action", type=click.Choice(("status", "on", "off")), default="status")
@click.option(
    "--key-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Keep the key in this file, not in the system's keyring; with `on`.",
)
def encryption(
    flags: Flags, action: Literal["status", "on", "off"], key_file: Path | None, as_json: bool
) -> None:
    """Encrypt the store on disk, or decrypt it.

    `on` makes a key in the system's keyring or in a file, unless there is one, writes the store again with
    it, verifies that, puts it in place of the store, and changes the setting. The readable store is deleted;
    `off` does the reverse, and keeps the encrypted store among the backups. Both are refused while a daemon,
    a server or an agent uses the store; a command that is killed leaves the old store or the new one, and can
    be run again. Keep a copy of the key: nobody can read the store without it.

    It needs an extra: pip install 'agent-lore[encryption]'. docs/encryption.md says how to install it, what
    is encrypted, and what is not.
    """
    if key_file is not None and action != "on":
        raise Invalid("--key-file is for `lore encryption on`")
    config = settings(flags)
    refuse_database(config, "encrypt")
    report: dict[str, Any] = {}
    if action != "status":
        with alone(endpoint_of(flags), config.database):
            report = _turn_on(config, key_file) if action == "on" else _turn_off(config)
        config = settings(flags)
        if (config.encryption == OFF) == (action == "on"):
            note(f"The environment variable LORE_ENCRYPTION says {config.encryption}, and counts more.")
    report |= _status(config)
    if as_json:
        show_document(report)
        return
    if "done" in report:
        click.echo(visible(report["done"]))
    show_rows({name: str(report[name]) for name in ("store", "encrypted", "setting", "key", "ciphers")})
    if report["readable_copies"]:
        copies = plural(len(report["readable_copies"]), "copy", "copies")
        note(f"{copies} among the backups can be read without a key; delete those you do not need:")
        for path in report["readable_copies"]:
            note(f"  {path}", whole=True)


def _turn_on(config: "Config", key_file: Path | None) -> dict[str, Any]:
    crypt, store = lazy.store_encryption, config.database
    crypt.require_ciphers()
    if config.vector_store != "builtin":
        raise Invalid(
            f"vector_store is {config.vector_store}, which writes in clear; run `lore migrate-index builtin`"
        )
    source = _source(config, key_file)
    if crypt.is_encrypted(store):
        use_key_of(source)
        lazy.store_backups.fold(store)
        _set(config, source)
        return {"done": f"{store} is encrypted already."}
    made = source.make()
    if made:
        note(f"A new key is in {source}. Keep a copy of it elsewhere: without it, all memories are lost.")
    backup = ""
    if store.exists():
        backup = str(_replaced(config, NO_KEY, source))
    else:
        _set(config, source)
    return {"done": f"Encrypted {store}.", "backup": backup, "new_key": made}


def _turn_off(config: "Config") -> dict[str, Any]:
    crypt, store = lazy.store_encryption, config.database
    if not crypt.is_encrypted(store):
        _set(config, NO_KEY)
        return {"done": f"{store} is not encrypted."}
    if config.encryption == OFF:
        raise Unavailable(crypt.locked(store))
    crypt.require_ciphers()
    backup = str(_replaced(config, config.key_source, NO_KEY))
    return {"done": f"Decrypted {store}. The key stays where it is: backups need it.", "backup": backup}


def _replaced(config: "Config", old: KeySource, new: KeySource) -> Path:
    """Put the store with the new key in its own place; returns the copy of it among the backups.

    The setting changes first when the store gets a key, and last when it loses it: so the key is in the
    settings as long as there is a store that needs it.
    """
    backups, store = lazy.store_backups, config.database
    use_key_of(old)
    if not backups.fold(store):
        raise Unavailable(f"{store} is damaged; run `lore doctor` first")
    before = backups.inspect(store)
    copy = lazy.store_encryption.convert(store, old, new)
    use_key_of(new)
    after = backups.inspect(copy)
    if (before.counts, before.schema) != (after.counts, after.schema):
        copy.unlink()
        raise Unavailable(f"the copy {copy} does not hold what {store} holds; nothing was changed")
    backups.write_manifest(copy, after)
    if new is not NO_KEY:
        _set(config, new)
    use_key_of(old)
    aside = backups.restore(copy, store, went_back=False)
    if new is NO_KEY:
        _set(config, new)
    elif aside is not None:
        for path in (aside, backups.manifest_of(aside)):
            with suppress(FileNotFoundError):
                path.unlink()
    use_key_of(new)
    return copy


def _source(config: "Config", key_file: Path | None) -> KeySource:
    """The source that the command names, or that of the settings, or the keyring."""
    if key_file is not None:
        return key_source(FILE, key_file.expanduser().absolute())
    return config.key_source if config.encryption != OFF else KeySource(KEYRING)


def _set(config: "Config", source: KeySource) -> None:
    """Write the source to the file of settings."""
    file = config.data_dir / lazy.config.FILE_NAME
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    text = put(text, (SETTING,), source.kind)
    if source.path is not None:
        text = put(text, (FILE_SETTING,), str(source.path))
    elif source is not NO_KEY:
        text = drop(text, (FILE_SETTING,))
    config.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_durably(file, text)


def _status(config: "Config") -> Mapping[str, Any]:
    crypt, store = lazy.store_encryption, config.database
    folder = store.parent / BACKUPS
    copies = sorted(folder.glob("*.db")) if folder.is_dir() else []
    return {
        "store": str(store),
        "encrypted": crypt.is_encrypted(store),
        "setting": config.encryption,
        "key": str(config.key_source),
        "ciphers": crypt.ciphers() or "none: this SQLite cannot encrypt",
        "readable_copies": [str(path) for path in copies if crypt.is_clear(path)],
    }
