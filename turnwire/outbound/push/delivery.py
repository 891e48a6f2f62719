"""Send messages to push services in a few threads. Callers do not wait, and the threads do not delay turnwire's exit.

The queue is bounded: when it is full, the oldest message is dropped. If a push service fails, sending is retried a few
times. If it no longer knows a browser, `gone` is called with the browser's endpoint.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping

from msgspec import Struct

from turnwire.outbound.push.endpoints import (
    EndpointAddress,
    EndpointRefused,
    Resolve,
    checked_address,
    parse_endpoint,
    resolve,
)

log = logging.getLogger(__name__)

QUEUE = 256
"""Maximum number of waiting messages."""

THREADS = 2

ATTEMPTS = 3

PAUSE_S = 2.0
"""Seconds to wait after the first attempt. The wait after the second is four times as long."""

TIMEOUT_S = 10.0
"""Seconds that a service may take to accept the connection, and then to answer."""

GONE = frozenset({404, 410})
"""Statuses that mean: the service no longer knows the browser (RFC 8030, 7.3)."""


class EncryptedMessage(Struct, frozen=True):
    """A message for one browser, encrypted."""

    endpoint: str
    body: bytes
    headers: Mapping[str, str]


Post = Callable[[EncryptedMessage], int]
"""Send a message and return the HTTP status. Raises OSError or EndpointRefused."""


class Sender:
    """A queue of messages and the threads that send them."""

    def __init__(
        self, post: Post, gone: Callable[[str], None], *, queue: int = QUEUE, pause_s: float = PAUSE_S
    ) -> None:
        """gone: called from a thread with an endpoint that must be forgotten."""
        self._post = post
        self._gone = gone
        self._pause_s = pause_s
        self._waiting: deque[EncryptedMessage] = deque(maxlen=queue)
        self._changed = threading.Condition()
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self.dropped = 0
        """Number of messages that were dropped."""

    def put(self, message: EncryptedMessage) -> None:
        """Queue a message; never waits."""
        with self._changed:
            if self._stopped:
                return
            if len(self._waiting) == self._waiting.maxlen:
                self._drop("too many wait")
            self._waiting.append(message)
            if len(self._threads) < THREADS:
                thread = threading.Thread(target=self._run, name="turnwire-push", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def stop(self) -> None:
        """Stop sending and drop what waits."""
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
                message = self._waiting.popleft()
            try:
                self._deliver(message)
            except Exception:
                self._drop("the sidecar failed")
                log.exception("a notification could not be sent")

    def _deliver(self, message: EncryptedMessage) -> None:
        for attempt in range(ATTEMPTS):
            try:
                status = self._post(message)
                why = f"status {status}"
            except OSError as error:
                status, why = 503, type(error).__name__
            except EndpointRefused as refused:
                return self._drop(str(refused))
            if 200 <= status < 300:
                return None
            if status in GONE:
                self._gone(message.endpoint)
                return self._drop("the browser has unsubscribed")
            if status < 500 and status != 429:
                break
            with self._changed:
                if self._changed.wait_for(lambda: self._stopped, self._pause_s * 4**attempt):
                    return None
        return self._drop(why)

    def _drop(self, why: str) -> None:
        self.dropped += 1
        # Do not log the endpoint or the content: both are secret.
        log.warning("a browser was not notified", extra={"reason": why, "dropped": self.dropped})


def make_post(named: tuple[str, ...], *, lookup: Resolve = resolve, timeout_s: float = TIMEOUT_S) -> Post:
    """Return a function that posts over HTTPS to the address that was checked, without redirects or proxies."""

    def post(message: EncryptedMessage) -> int:
        import urllib3  # noqa: PLC0415 - costs a start what few need

        place: EndpointAddress = parse_endpoint(message.endpoint, named)
        address = checked_address(place, lookup)
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
                body=message.body,
                headers={**message.headers, "Host": place.authority},
                redirect=False,
                preload_content=False,
            )
            # Close without reading: the body is not needed and may be endless.
            answer.close()
        except urllib3.exceptions.HTTPError as error:
            raise OSError(type(error).__name__) from None
        finally:
            pool.close()
        return answer.status

    return post
