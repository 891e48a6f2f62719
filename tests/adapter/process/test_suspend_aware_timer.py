"""Deadlines of a machine that stands still now and then: what could not be used of a grace is not counted."""

import itertools
import signal
import subprocess
import sys

import pytest

from turnwire.adapter.process.identity import MARK, identify, reap
from turnwire.adapter.process.suspend_aware_timer import STEP_S, SuspendAwareTimer


def test_what_passes_while_somebody_looks_is_counted() -> None:
    timer = SuspendAwareTimer(2.0, 100.0)
    assert [timer.left(100.0 + 0.5 * number) for number in range(1, 6)] == [1.5, 1.0, 0.5, 0.0, -0.5]


def test_of_the_time_that_all_stood_still_little_is_counted() -> None:
    timer = SuspendAwareTimer(2.0, 100.0)
    assert timer.left(1000.0) == 2.0 - STEP_S
    assert timer.left(1000.25) == 1.75 - STEP_S


def test_whoever_waits_looks_often_enough_that_all_of_it_counts() -> None:
    timer, now, looks = SuspendAwareTimer(2.0, 100.0), 100.0, 0
    while pause := timer.pause(now):
        assert pause <= STEP_S / 2
        now += pause
        looks += 1
    assert (now, looks) == (102.0, 8)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="marks are looked for on Linux alone")
def test_one_that_does_not_hear_sigterm_is_killed_though_all_stood_still_in_between() -> None:
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    )
    argv = [sys.executable, "-I", "-S", "-c", program]
    with subprocess.Popen(argv, env={MARK: "m"}, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            looks = itertools.chain([0.0, 0.0], itertools.count(3600.0))
            assert reap([identify(process.pid, "m")], clock=lambda: next(looks))
            assert process.wait(60) == -signal.SIGKILL
        finally:
            process.kill()
