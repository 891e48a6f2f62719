"""Send messages to push services in a few threads. Nothing waits for them, and they do not delay the end of turnwire.

The queue is bounded and the oldest goes first; what waits too long is of no interest any more. A service is asked again a few
times when it fails, and a browser that it does not know any more is told of, to be forgotten.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping

from msgspec import Struct

from turnwire.outbound.push.endpoints import (
    EndpointAddress,
    EndpointRefused,
    Lookup,
    address_of,
    looked_up,
    place_of,
)

log = logging.getLogger(__name__)

QUEUE = 256
"""Messages that wait."""

THREADS = 2

ATTEMPTS = 3

PAUSE_S = 2.0
"""After the first attempt; four times as long after the second."""

TIMEOUT_S = 10.0
"""How long a service may take to be connected to, and to answer."""

GONE = frozenset({404, 410})
"""The service does not know the browser any more (RFC 8030, 7.3)."""


class EncryptedMessage(Struct, frozen=True):
    """A message for one browser, encrypted."""

    endpoint: str
    body: bytes
    headers: Mapping[str, str]


Post = Callable[[EncryptedMessage], int]
"""Sends a letter and returns the status; raises OSError, EndpointRefused."""


class Sender:
    """Sends letters."""

    def __init__(
        self, post: Post, gone: Callable[[str], None], *, queue: int = QUEUE, pause_s: float = PAUSE_S
    ) -> None:
        """gone: called, in a thread, with an endpoint to forget."""
        self._post = post
        self._gone = gone
        self._pause_s = pause_s
        self._waiting: deque[EncryptedMessage] = deque(maxlen=queue)
        self._changed = threading.Condition()
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self.dropped = 0
        """Letters that were not delivered and will not be."""

    def put(self, letter: EncryptedMessage) -> None:
        """Have a letter sent; never waits."""
        with self._changed:
            if self._stopped:
                return
            if len(self._waiting) == self._waiting.maxlen:
                self._drop("too many wait")
            self._waiting.append(letter)
            if len(self._threads) < THREADS:
                thread = threading.Thread(target=self._run, name="turnwire-push", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def stop(self) -> None:
        """Send no more."""
        with self._changed:
            self._waiting.clear()
            self._stopped = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._waiting)
                if self._stopped:
                    return
                letter = self._waiting.popleft()
            try:
                self._deliver(letter)
            except Exception:
                self._drop("the sidecar failed")
                log.exception("a notification could not be sent")

    def _deliver(self, letter: EncryptedMessage) -> None:
        for attempt in range(ATTEMPTS):
            try:
                status = self._post(letter)
                why = f"status {status}"
            except OSError as error:
                status, why = 503, type(error).__name__
            except EndpointRefused as refused:
                return self._drop(str(refused))
            if 200 <= status < 300:
                return None
            if status in GONE:
                self._gone(letter.endpoint)
                return self._drop("the browser has unsubscribed")
            if status < 500 and status != 429:
                break
            with self._changed:
                if self._changed.wait_for(lambda: self._stopped, self._pause_s * 4**attempt):
                    return None
        return self._drop(why)

    def _drop(self, why: str) -> None:
        self.dropped += 1
        # neither the endpoint nor what was in it
        log.warning("a browser was not notified", extra={"reason": why, "dropped": self.dropped})


def posting(named: tuple[str, ...], *, lookup: Lookup = looked_up, timeout_s: float = TIMEOUT_S) -> Post:
    """Return how letters are posted: to the address that was looked at, certificates checked, without redirects or proxies."""

    def post(letter: EncryptedMessage) -> int:
        import urllib3  # noqa: PLC0415 - costs a start what few need

        place: EndpointAddress = place_of(letter.endpoint, named)
        address = address_of(place, lookup)
        pool = urllib3.HTTPSConnectionPool(
            address,
            place.port,
            timeout=urllib3.Timeout(timeout_s),
            retries=False,
            server_hostname=place.host,
            assert_hostname=place.host,
            cert_reqs="CERT_REQUIRED",
        )
        try:
            answer = pool.request(
                "POST",
                place.target,
                body=letter.body,
                headers={**letter.headers, "Host": place.authority},
                redirect=False,
                preload_content=False,
            )
            # what it says is of no interest, and could be without end
            answer.close()
        except urllib3.exceptions.HTTPError as error:
            raise OSError(type(error).__name__) from None
        finally:
            pool.close()
        return answer.status

    return post
