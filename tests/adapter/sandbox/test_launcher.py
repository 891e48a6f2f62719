"""The filter of system calls, run by hand as the kernel runs it."""

import errno

import pytest

from turnwire.adapter.sandbox.system_calls import AT_LEAST, EQUAL, LOAD, SYSTEM_CALLS, compiled, filter_of

ALLOWED, REFUSED, MISSING = 0x7FFF0000, 0x50000 | errno.EAFNOSUPPORT, 0x50000 | errno.ENOSYS


def judged(machine: str, architecture: int, call: int, argument: int) -> int:
    """Return what the filter says of a call."""
    program, place, word = filter_of(machine), 0, 0
    while True:
        code, if_true, if_false, value = program[place]
        place += 1
        if code == LOAD:
            word = {0: call, 4: architecture, 16: argument}[value]
        elif code == EQUAL:
            place += if_true if word == value else if_false
        elif code == AT_LEAST:
            place += if_true if word >= value else if_false
        else:
            return value


@pytest.mark.parametrize("machine", SYSTEM_CALLS)
def test_only_virtual_sockets_and_ways_around_the_filter_are_refused(machine: str) -> None:
    architecture, socket_call, missing = SYSTEM_CALLS[machine]
    assert judged(machine, architecture, socket_call, 40) == REFUSED
    assert judged(machine, architecture, socket_call, 2) == ALLOWED
    assert judged(machine, architecture, 0, 40) == ALLOWED
    assert len(missing) == 4
    assert all(judged(machine, architecture, call, 0) == MISSING for call in missing)
    assert all(judged(machine, architecture, call, 40) == ALLOWED for call in (min(missing) - 1, 424, 426))
    assert judged(machine, architecture, 0x40000000 | socket_call, 40) == MISSING
    assert judged(machine, 0x40000003, socket_call, 40) == MISSING


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    assert filter_of("riscv64") == []
    assert compiled("riscv64") == b""
