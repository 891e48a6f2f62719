"""Build webhook receivers from the configuration, and read their secrets."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from turnwire._runtime.private_files import read_private
from turnwire.config import secrecy
from turnwire.config.settings import ConfigurationError, Webhook
from turnwire.journal.base import Journal
from turnwire.outbound.webhooks.delivery import Deliverer, receiver
from turnwire.outbound.webhooks.message import BadSecret, key_of
from turnwire.outbound.webhooks.watcher import EventFilter, EventWatcher

LIMIT = 4096
"""Maximum number of characters of a secret."""


def configured_receivers(webhooks: list[Webhook]) -> list[EventFilter]:
    """Return the configured receivers with their events. Raises ConfigurationError."""
    return [
        EventFilter(frozenset(one.events), Deliverer(receiver(number, one.url, _key(number, one))))
        for number, one in enumerate(webhooks, 1)
    ]


@asynccontextmanager
async def watch_journal(journal: Journal, receivers: list[EventFilter]) -> AsyncIterator[EventWatcher]:
    """Watch a journal for these receivers until the context closes. The caller must run `EventWatcher.run`."""
    watched = EventWatcher(journal, receivers)
    await watched.begin()
    try:
        yield watched
    finally:
        watched.stop()


def _key(number: int, webhook: Webhook) -> bytes:
    try:
        return key_of(_secret(number, webhook).strip())
    except BadSecret as error:
        raise ConfigurationError(f"setting webhooks: the secret of webhook {number}: {error}") from None


def _secret(number: int, webhook: Webhook) -> str:
    if webhook.secret_file is not None:
        path = webhook.secret_file.expanduser()
        try:
            return read_private(path, owners={os.getuid(), 0}, follows_links=True, limit=LIMIT)
        except OSError as error:
            raise ConfigurationError(
                f"setting webhooks: {path} of webhook {number} is not used: {error.strerror}; "
                f"it must be your own file, with only the secret in it (chmod 600 {path})"
            ) from error
    name = webhook.secret_env or ""
    found = secrecy.removed_variables().get(name) or os.environ.get(name)
    if not found:
        raise ConfigurationError(f"setting webhooks: the variable {name} of webhook {number} is not set")
    return found
