"""The signals that ask a running turnwire to stop, and the time it has then.

A thread watches the time. So nothing can delay the end of the process: not a session, a journal, an exporter or a
server that does not end. That holds when a task waits for ever, when the event loop is blocked, and when a thread is
not done.
"""

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return SIGINT, SIGTERM, and SIGHUP (the terminal was closed), without SIGHUP if it was ignored at the start (nohup)."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) if ignored else (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_stop(
    stop: Callable[[signal.Signals], None],
    seconds: float,
    *,
    insists: bool = False,
    words: Callable[[str], bytes] = lambda text: f"turnwire: {text}\n".encode(),
) -> None:
    """Call `stop` in the running loop at each stop signal; only for the main thread.

    After the first signal the process has so many `seconds` to end. Then it prints a line to standard error, made by `words`,
    and ends as a killed process does, with 128 and the signal's number. A session's CLI ends with it.

    Args:
        stop: begins the end; also called for later signals.
        seconds: the time from the first signal to the end of the process.
        insists: whether a later SIGINT, the second Ctrl-C, ends the process at once.
        words: turns a sentence into a line for standard error.
    """
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    begun: list[int] = []

    def watch() -> None:
        os.read(reading, 1)
        time.sleep(seconds)
        name = signal.Signals(begun[0]).name
        _say(words(f"did not end within {seconds:g} s of {name}, and ends at once, whatever is open"))
        os._exit(128 + begun[0])

    def received(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature is the system's
        if begun and insists and number == signal.SIGINT:
            os._exit(128 + number)
        begun.append(number)
        if len(begun) == 1:
            os.write(writing, b"-")
        try:
            loop.call_soon_threadsafe(stop, signal.Signals(number))
        except RuntimeError:
            pass  # the loop is closed: the end has come that far

    threading.Thread(target=watch, daemon=True, name="end").start()
    # not the loop's own way: its handlers wait until the loop is not blocked
    for number in stop_signals():
        signal.signal(number, received)


def number_of(name: str) -> int:
    """Return the number of a signal by its name, as an agent's end has it."""
    try:
        return signal.Signals[name]
    except KeyError:  # "signal 35": one without a name
        return int(name.rpartition(" ")[2])


def die_by(number: int) -> int:
    """End this process by a signal, as the process that it stands for ended. Writes no core dump: that process has left one.

    Returns the exit code that shells give such an end, for signals that end nothing.
    """
    import resource  # noqa: PLC0415 - for an end alone

    sys.stdout.flush()
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    return 128 + number


def _say(line: bytes) -> None:
    try:
        if select.select([], [2], [], 0)[1]:  # who does not read does not hold us up
            os.write(2, line)
    except OSError:
        pass
