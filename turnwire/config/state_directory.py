"""Where a sidecar keeps its state: in the configured directory, or in one of its workspace's own.

`turnwire run` in two folders makes two sidecars with a journal each. So do two of them in one folder: the second
takes the workspace's next directory. The next start takes the first free one again.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from turnwire._runtime.private_files import make_private
from turnwire.config.settings import Settings, state_directory
from turnwire.journal.base import JournalInUse, JournalUnavailable
from turnwire.journal.plugins import REDIS, JournalOptions
from turnwire.journal.sqlite.lock import FileLock


def journal_file(settings: Settings) -> Path:
    """Return where the sidecar's own file is: events, unless they are elsewhere, and session records."""
    return settings.state_dir / "journal.sqlite3"


def journal_options(settings: Settings) -> JournalOptions:
    """Return what the configured journal is opened with."""
    return JournalOptions(
        directory=settings.state_dir,
        url=settings.redis_url if settings.journal_kind is REDIS else settings.journal_url,
        durability=settings.durability,
        memory_bytes=settings.memory_bytes,
        worker=settings.worker,
        replicas=settings.redis_replicas,
        prefix=settings.redis_prefix,
    )


def own_places(settings: Settings) -> list[str]:
    """Return turnwire's own files and folders: the state of all sidecars of this user, and files with secrets."""
    files = [settings.token_file, settings.view_token_file, settings.tls_key]
    files += [webhook.secret_file for webhook in settings.webhooks]
    known = [state_directory(), settings.state_dir, *files]
    return [str(path.expanduser().absolute()) for path in known if path is not None]


def located(settings: Settings, workspace: Path) -> Settings:
    """Return the settings with the state directory that `run` in a workspace takes first, unless one is configured."""
    if "state_dir" in settings.model_fields_set:
        return settings
    return _placed(settings, _directory(settings, workspace))


@contextmanager
def claimed(settings: Settings, workspace: Path) -> Iterator[Settings]:
    """Yield the settings with a state directory that no other sidecar takes meanwhile, unless one is configured."""
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
            # A journal that needs the directory says so itself; one in memory can do without.
            yield _placed(settings, directory)
            return
        try:
            yield _placed(settings, directory)
        finally:
            lock.release()
        return


def _directory(settings: Settings, workspace: Path) -> Path:
    """Name a workspace's directory so that people recognise it and no two workspaces share it."""
    path = workspace.expanduser().resolve()
    name = re.sub(r"[^\w.-]+", "_", path.name)[:40]
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    directory = settings.state_dir / "workspaces" / f"{name}-{digest}"
    # A journal that ends with the process must not take the place of one that stays.
    return directory if settings.journal_kind.durable else directory / "memory"


def _placed(settings: Settings, directory: Path) -> Settings:
    return settings.model_copy(update={"state_dir": directory})
