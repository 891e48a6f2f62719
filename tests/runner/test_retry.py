import pytest
from runner_harness import INIT, SESSION, limited, request, said

from turnwire.protocol.claude.decode import decode
from turnwire.runner.retry import RateLimitRetry, Wait
from turnwire.runner.runner_lines import Run, read_request

NOW = 1000.0


def retry(**params: object) -> RateLimitRetry:
    run = read_request(request("r", **{"rate_limit_max_retries": 2, **params})[:-1])
    assert isinstance(run, Run)
    return RateLimitRetry(run.params)


def test_a_rejection_is_waited_for_until_a_second_after_its_end() -> None:
    state = retry()
    assert state.handle(decode(INIT), NOW) is None
    assert state.handle(decode(said("x")), NOW) is None
    assert state.handle(decode(limited(NOW + 60)), NOW) == Wait(61.0, SESSION, 1)
    assert state.handle(decode(limited(NOW + 10)), NOW) == Wait(11.0, SESSION, 2)


def test_no_more_than_the_allowed_retries_are_made() -> None:
    state = retry(rate_limit_max_retries=1)
    assert state.handle(decode(limited(NOW)), NOW) is not None
    assert state.handle(decode(limited(NOW)), NOW) is None
    assert retry(rate_limit_max_retries=0).handle(decode(limited(NOW)), NOW) is None


@pytest.mark.parametrize(
    ("resets_at", "most", "waits"),
    [(179.0, None, True), (180.0, None, False), (9.0, 10, True), (9.1, 10, False), (-500.0, 0, True)],
)
def test_a_wait_that_is_too_long_is_none(resets_at: float, most: float | None, waits: bool) -> None:
    state = retry(rate_limit_max_wait_secs=most)
    assert (state.handle(decode(limited(NOW + resets_at)), NOW) is not None) is waits


def test_a_limit_that_has_ended_is_not_waited_for() -> None:
    assert retry().handle(decode(limited(NOW - 500)), NOW) == Wait(0.0, SESSION, 1)


@pytest.mark.parametrize("status", ["allowed", "allowed_warning", ""])
def test_only_a_rejection_is_waited_for(status: str) -> None:
    assert retry().handle(decode(limited(NOW, status)), NOW) is None


def test_a_rejection_without_an_end_is_not_waited_for() -> None:
    line = b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"},"session_id":"s"}'
    assert retry().handle(decode(line), NOW) is None


def test_a_session_that_nobody_named_cannot_be_gone_on_with() -> None:
    line = b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1}}'
    assert retry().handle(decode(line), NOW) is None
    assert retry(resume="mine").handle(decode(line), NOW) == Wait(0.0, "mine", 1)
