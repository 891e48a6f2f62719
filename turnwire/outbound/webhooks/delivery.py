"""Send messages to one receiver, in order, from a thread of its own. Failed attempts are retried after growing waits.

Callers do not wait. The queue is bounded: when it is full, the oldest message is dropped. The session's log still has
the event. The thread is a daemon, so a receiver that does not answer does not keep turnwire running.
"""

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from turnwire.normalize.events.envelope import Envelope
from turnwire.outbound.webhooks.message import Message, headers, message_of

log = logging.getLogger(__name__)

QUEUE = 256
"""Maximum number of messages that wait for one receiver."""

TIMEOUT_S = 10.0
"""Seconds that a receiver may take to accept the connection, and then to answer."""

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 300.0
ATTEMPTS = 8
"""Attempts to send a message. The last one comes about eight minutes after the first."""

AGAIN = frozenset({408, 425, 429})
"""Statuses below 500 after which a message is sent again."""

Outcome: TypeAlias = Literal["done", "again", "refused", "gone"]

Post: TypeAlias = Callable[[str, bytes, Mapping[str, str]], tuple[int, float | None]]
"""Post a body to a URL with headers. Returns the status and the Retry-After seconds, if any. Raises OSError."""


def outcome_of(status: int) -> Outcome:
    """Classify a status. A redirect counts as a refusal, because the signature is for one receiver only."""
    if 200 <= status < 300:
        return "done"
    if status == 410:
        return "gone"
    return "again" if status >= 500 or status in AGAIN else "refused"


def wait_after(attempt: int, asked: float | None, chance: float, first: float = FIRST_WAIT_S) -> float:
    """Return the seconds to wait after an attempt (from 1). chance: 0 to 1, spreads the retries of receivers."""
    longest: float = min(first * 4 ** (attempt - 1), LONGEST_WAIT_S)
    return max(longest * (0.75 + chance / 4), min(asked or 0.0, LONGEST_WAIT_S))


class Receiver(Struct, frozen=True):
    """The receiver of a webhook."""

    url: str
    key: bytes
    name: str
    """Name for logs: the position in the configuration and the host. The URL can contain a secret."""


def receiver(number: int, url: str, key: bytes) -> Receiver:
    """Return the receiver for a URL."""
    return Receiver(url, key, f"{number} ({urlsplit(url).hostname})")


class Deliverer:
    """Queue and thread of one receiver."""

    def __init__(
        self,
        to: Receiver,
        *,
        post: Post | None = None,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
        queue: int = QUEUE,
        first_wait_s: float = FIRST_WAIT_S,
    ) -> None:
        self._to = to
        self._post = post or make_post()
        self._clock = clock
        self._chance = chance
        self._first_wait_s = first_wait_s
        self._waiting: deque[Message] = deque(maxlen=queue)
        self._changed = threading.Condition()
        self._stopped = False
        self.dropped = 0
        """Number of messages that were dropped."""
        self._thread = threading.Thread(target=self._run, name="turnwire-webhook", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def receive(self, envelope: Envelope, kind: str, epoch: str) -> None:
        """Queue an event."""
        self.put(message_of(envelope, kind, epoch))

    def put(self, message: Message) -> None:
        """Queue a message; never waits."""
        with self._changed:
            if self._stopped:
                self.dropped += 1
                return
            if len(self._waiting) == self._waiting.maxlen:
                self._drop("too many wait")
            self._waiting.append(message)
            self._changed.notify()

    def stop(self) -> None:
        """Stop sending and drop what waits."""
        with self._changed:
            if self._waiting:
                self._drop("turnwire stops", len(self._waiting))
            self._waiting.clear()
            self._stopped = True
            self._changed.notify()

    def join(self, seconds: float) -> bool:
        """Wait for the thread to end. Returns False if it still runs."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (message := self._next()) is not None:
            try:
                self._deliver(message)
            except Exception:
                self._drop("the sidecar failed")
                log.exception("a webhook's message could not be sent", extra={"webhook": self._to.name})

    def _next(self) -> Message | None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting)
            return None if self._stopped else self._waiting.popleft()

    def _deliver(self, message: Message) -> None:
        why = ""
        for attempt in range(1, ATTEMPTS + 1):
            outcome, why, asked = self._attempt(message)
            if outcome == "done":
                return
            if outcome == "gone":
                log.warning("a webhook is gone and gets no more events", extra={"webhook": self._to.name})
                self.stop()
            if outcome != "again" or attempt == ATTEMPTS:
                break
            if not self._pause(wait_after(attempt, asked, self._chance(), self._first_wait_s)):
                why = "turnwire stops"
                break
        self._drop(why)

    def _attempt(self, message: Message) -> tuple[Outcome, str, float | None]:
        """Post once. Returns the outcome, its text for logs, and the Retry-After seconds, if any."""
        signed = headers(message, self._to.key, int(self._clock()))
        try:
            status, asked = self._post(self._to.url, message.body, signed)
        except OSError as error:
            # The error's text may contain the URL.
            return "again", type(error).__name__, None
        return outcome_of(status), f"status {status}", asked

    def _pause(self, seconds: float) -> bool:
        """Wait. Returns False if stopped."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._stopped, seconds)

    def _drop(self, why: str, count: int = 1) -> None:
        self.dropped += count
        log.warning(
            "a webhook did not get an event",
            extra={"webhook": self._to.name, "reason": why, "count": count, "dropped": self.dropped},
        )


def make_post(timeout_s: float = TIMEOUT_S) -> Post:
    """Return a function that posts without redirects or proxies and checks certificates."""
    import urllib3  # noqa: PLC0415 - costs a start what few need

    pool = urllib3.PoolManager(timeout=urllib3.Timeout(timeout_s), retries=False, maxsize=1)

    def post(url: str, body: bytes, sent: Mapping[str, str]) -> tuple[int, float | None]:
        try:
            answer = pool.request("POST", url, body=body, headers=sent, redirect=False, preload_content=False)
        except urllib3.exceptions.HTTPError as error:
            raise OSError(type(error).__name__) from None
        asked = answer.headers.get("retry-after", "")
        # Close without reading: the body is not needed and may be endless.
        answer.close()
        return answer.status, float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else None

    return post
