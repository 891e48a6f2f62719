"""Regular expressions against texts that are meant to keep them busy: whether the time grows faster than the text.

CPU time of this process alone is compared, of a text and of one four times as long: a linear pattern takes four times
as long, a quadratic one sixteen times. What takes next to nothing is not compared.
"""

import gc
import re
import time
from collections.abc import Callable, Iterable, Iterator

NEGLIGIBLE = 0.02
"""Seconds of CPU below which nothing is compared."""
FACTOR = 8.0
"""Between the 4 of a linear pattern and the 16 of a quadratic one."""
SEPARATORS = (
    "",
    "-",
    "_",
    ".",
    "/",
    " ",
    "\n",
    "=",
    ":",
    '"',
    "\\",
    "'",
    ";",
    "@",
    "a",
    "1",
    "a.",
    "=a",
    ": a",
)

_GROUPS = re.compile(r"\[\^?\]?[^\]]*\]|\{\d*,?\d*\}|\(\?[a-zA-Z<!=:]*(?:P?<\w+>)?|\\[sSdDwWbBAZ]")
_LITERALS = re.compile(r"(?:[A-Za-z0-9_:/@=$#%<>\-]|\\[^A-Za-z0-9])+")


def literals(pattern: str) -> tuple[str, ...]:
    """Return what stands literally in the source of a pattern: what its texts are made of."""
    plain = _GROUPS.sub("|", pattern)
    return tuple(dict.fromkeys(re.sub(r"\\(.)", r"\1", word) for word in _LITERALS.findall(plain)))


def hostile_units(words: Iterable[str]) -> Iterator[str]:
    """Yield what to repeat: the words, and a character or two, with every separator before them."""
    for word in (*words, "a", "A", "1", "0f"):
        for separator in SEPARATORS:
            yield separator + word


def grows_too_fast(work: Callable[[str], object], unit: str, size: int) -> str | None:
    """Return what is wrong when the work on repetitions of a unit, of `size` and four times as long, grows so."""
    long = (unit * (4 * size // len(unit) + 1))[: 4 * size]
    if (first := _cpu(work, long, times=1)) < NEGLIGIBLE:
        return None
    slow, quick = min(first, _cpu(work, long)), _cpu(work, long[:size])
    if slow < FACTOR * quick + NEGLIGIBLE:
        return None
    return f"{unit!r}: {quick * 1000:.1f} ms for {size} characters, {slow * 1000:.1f} ms for {4 * size}"


def _cpu(work: Callable[[str], object], text: str, times: int = 4) -> float:
    gc.disable()
    try:
        return min(_once(work, text) for _ in range(times))
    finally:
        gc.enable()


def _once(work: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    work(text)
    return time.process_time() - begin
