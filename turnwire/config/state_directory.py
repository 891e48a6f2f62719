"""Choose a sidecar's state directory: the configured one, or one for the workspace.

`turnwire run` in two folders starts two sidecars with a journal each. So does starting it twice in one folder: the
second one takes the workspace's next free directory. A later start takes the first free one again.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from turnwire._runtime.private_files import make_private
from turnwire._runtime.state_directory import state_directory
from turnwire.config.settings import Settings
from turnwire.journal.base import JournalInUse, JournalUnavailable
from turnwire.journal.plugins import REDIS, JournalOptions
from turnwire.journal.sqlite.lock import FileLock


def journal_file(settings: Settings) -> Path:
    """Return the SQLite file with the session records and, by default, the events."""
    return settings.state_dir / "journal.sqlite3"


def journal_options(settings: Settings) -> JournalOptions:
    """Return the options of the configured journal."""
    return JournalOptions(
        directory=settings.state_dir,
        url=settings.redis_url if settings.journal_kind is REDIS else settings.journal_url,
        durability=settings.durability,
        memory_bytes=settings.memory_bytes,
        worker=settings.worker,
        replicas=settings.redis_replicas,
        prefix=settings.redis_prefix,
        archive_dir=settings.archive_folder,
        archive_after_s=settings.archive_after_s,
    )


def own_places(settings: Settings) -> list[str]:
    """Return turnwire's own files and folders: the state of this user's sidecars, and files with secrets."""
    files = [settings.token_file, settings.view_token_file, settings.tls_key]
    files += [webhook.secret_file for webhook in settings.webhooks]
    known = [state_directory(), settings.state_dir, *files]
    return [str(path.expanduser().absolute()) for path in known if path is not None]


def located(settings: Settings, workspace: Path) -> Settings:
    """Return the settings with the first state directory of a workspace, unless one is configured."""
    if "state_dir" in settings.model_fields_set:
        return settings
    return _placed(settings, _directory(settings, workspace))


@contextmanager
def claimed(settings: Settings, workspace: Path) -> Iterator[Settings]:
    """Yield the settings with a state directory that this process has locked, unless one is configured."""
    if "state_dir" in settings.model_fields_set:
        yield settings
        return
    first = _directory(settings, workspace)
    for number in count(1):
        directory = first if number == 1 else first.with_name(f"{first.name}-{number}")
        try:
            make_private(directory, settings.state_dir)
            lock = FileLock(directory / "sidecar")
        except JournalInUse:
            continue
        except (OSError, JournalUnavailable):
            # A journal that needs the directory reports the error itself. A memory journal does not need it.
            yield _placed(settings, directory)
            return
        try:
            yield _placed(settings, directory)
        finally:
            lock.release()
        return


def _directory(settings: Settings, workspace: Path) -> Path:
    """Return a workspace's directory, with a readable and unique name."""
    path = workspace.expanduser().resolve()
    name = re.sub(r"[^\w.-]+", "_", path.name)[:40]
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    directory = settings.state_dir / "workspaces" / f"{name}-{digest}"
    # A memory journal must not take the directory of a stored one.
    return directory if settings.journal_kind.durable else directory / "memory"


def _placed(settings: Settings, directory: Path) -> Settings:
    return settings.model_copy(update={"state_dir": directory})
