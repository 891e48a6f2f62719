"""One receiver: attempts, waits, a bounded queue. The receiver is a function, or a server on loopback."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from turnwire.outbound.webhooks.delivery import (
    ATTEMPTS,
    Deliverer,
    Post,
    make_post,
    outcome_of,
    receiver,
    wait_after,
)
from turnwire.outbound.webhooks.message import Message

KEY = b"0123456789abcdef"
SECRET_URL = "http://hooks.example/services/SECRET"
HANG = 60.0


@contextmanager
def delivering(post: Post, queue: int = 8) -> Iterator[Deliverer]:
    deliverer = Deliverer(
        receiver(1, SECRET_URL, KEY),
        post=post,
        clock=lambda: 1_700_000_000.0,
        chance=lambda: 0.0,
        first_wait_s=0.0,
        queue=queue,
    )
    deliverer.start()
    try:
        yield deliverer
    finally:
        deliverer.stop()
        assert deliverer.join(HANG)


class Answers:
    """A receiver that answers one thing after the other, and tells when it was asked so often."""

    def __init__(self, *answers: int | Exception) -> None:
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self._answers = list(answers)
        self._changed = threading.Condition()

    def __call__(self, _: str, body: bytes, sent: Mapping[str, str]) -> tuple[int, float | None]:
        with self._changed:
            self.asked.append((body.decode(), sent))
            self._changed.notify_all()
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer, None

    def wait(self, count: int) -> list[str]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, HANG)
        return [body for body, _ in self.asked]


def message(number: int) -> Message:
    return Message(f"id-{number}", str(number).encode())


@pytest.mark.parametrize(
    "failure", [500, 503, 429, 408, OSError("no route to http://hooks.example/services/SECRET")]
)
def test_what_did_not_arrive_is_sent_again_under_the_same_id(failure: int | Exception) -> None:
    answers = Answers(failure, failure, 204)
    with delivering(answers) as deliverer:
        deliverer.put(message(1))
        deliverer.put(message(2))
        assert answers.wait(4) == ["1", "1", "1", "2"]
        assert [sent["webhook-id"] for _, sent in answers.asked] == ["id-1"] * 3 + ["id-2"]
        assert deliverer.dropped == 0


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404])
def test_what_is_refused_or_sent_elsewhere_is_not_sent_again(status: int) -> None:
    answers = Answers(status, 200)
    with delivering(answers) as deliverer:
        deliverer.put(message(1))
        deliverer.put(message(2))
        assert answers.wait(2) == ["1", "2"]
        assert deliverer.dropped == 1


def test_a_mistake_of_ours_costs_one_message(caplog: pytest.LogCaptureFixture) -> None:
    answers = Answers(ZeroDivisionError("a mistake"), 200)
    with delivering(answers) as deliverer:
        deliverer.put(message(1))
        deliverer.put(message(2))
        assert answers.wait(2) == ["1", "2"]
        assert deliverer.dropped == 1
    assert "a webhook's message could not be sent" in caplog.text


def test_attempts_are_counted() -> None:
    answers = Answers(500)
    with delivering(answers) as deliverer:
        deliverer.put(message(1))
        deliverer.put(message(2))
        assert answers.wait(ATTEMPTS + 1)[: ATTEMPTS + 1] == ["1"] * ATTEMPTS + ["2"]


def test_a_receiver_that_is_gone_is_told_nothing_more() -> None:
    answers = Answers(410)
    with delivering(answers) as deliverer:
        deliverer.put(message(1))
        assert deliverer.join(HANG)
        deliverer.put(message(2))
        assert len(answers.asked) == 1
        assert deliverer.dropped == 2


def test_the_queue_is_bounded_and_the_oldest_goes() -> None:
    entered, go_on = threading.Event(), threading.Event()
    told: list[str] = []

    def post(url: str, body: bytes, sent: Mapping[str, str]) -> tuple[int, float | None]:
        entered.set()
        assert go_on.wait(HANG)
        told.append(body.decode())
        if body == b"9":
            done.set()
        return 200, None

    done = threading.Event()
    with delivering(post, queue=3) as deliverer:
        deliverer.put(message(0))
        assert entered.wait(HANG)
        for number in range(1, 10):
            deliverer.put(message(number))
        go_on.set()
        assert done.wait(HANG)
    assert told == ["0", "7", "8", "9"]
    assert deliverer.dropped == 6


def test_no_log_holds_the_url_the_secret_or_what_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answers = Answers(OSError(SECRET_URL), 400, 410)
    with delivering(answers) as deliverer:
        for number in (1, 2):
            deliverer.put(Message(f"id-{number}", b"what was said"))
        answers.wait(3)
        assert deliverer.join(HANG)
    said = " ".join(str(vars(record)) for record in caplog.records)
    assert "1 (hooks.example)" in said
    for word in ("SECRET", KEY.decode(), "what was said"):
        assert word not in said


def test_waits_grow_and_heed_what_the_receiver_asks() -> None:
    assert [wait_after(attempt, None, 1.0) for attempt in range(1, 7)] == [1, 4, 16, 64, 256, 300]
    assert wait_after(1, 30.0, 1.0) == 30.0
    assert wait_after(1, 1e9, 1.0) == 300.0
    assert outcome_of(200) == "done"


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    there = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=there.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{there.server_port}/hook"
    finally:
        there.shutdown()
        thread.join()
        there.server_close()


def test_a_redirect_is_not_followed_and_an_answer_without_end_not_read() -> None:
    reached: list[str] = []

    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        reached.append(request.path)
        request.send_response(307)
        request.send_header("Location", "/elsewhere")
        request.send_header("Content-Length", str(10**12))
        request.end_headers()

    with server(elsewhere) as url:
        assert make_post()(url, b"x", {"webhook-id": "1"}) == (307, None)
    assert reached == ["/hook"]


def test_what_the_receiver_asks_is_read_and_a_dead_one_is_an_error() -> None:
    def busy(request: BaseHTTPRequestHandler) -> None:
        request.send_response(429)
        request.send_header("Retry-After", "7")
        request.send_header("Content-Length", "0")
        request.end_headers()

    with server(busy) as url:
        assert make_post()(url, b"x", {}) == (429, 7.0)
    with pytest.raises(OSError, match=r"^[A-Za-z]+$"):
        make_post()(url, b"x", {})
