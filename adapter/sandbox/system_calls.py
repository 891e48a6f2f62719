"""The filter of system calls for every program of a sandbox (Linux); pure. bwrap loads it before the agent, and for process 1, too.

It refuses what no namespace holds: sockets of virtual machines (vsock(7)), `io_uring`, which makes sockets without that call, and the
kernel's keys, which are those of whoever started turnwire (keyrings(7)).
"""

import errno
import struct

SYSTEM_CALLS = {
    "x86_64": (0xC000003E, 41, (248, 249, 250, 425)),
    "aarch64": (0xC00000B7, 198, (217, 218, 219, 425)),
}
"""By machine: its number in a filter (AUDIT_ARCH_…), the system call `socket`, and those that are refused: `add_key`, `request_key`, `keyctl`,
`io_uring_setup`."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of BPF: load a word, jump if equal, jump if at least, return."""

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, and value."""


def filter_of(machine: str) -> list[Instruction]:
    """Return the filter for a machine; nothing for one that is not known."""
    if machine not in SYSTEM_CALLS:
        return []
    architecture, socket_call, missing_calls = SYSTEM_CALLS[machine]
    allow, refuse, missing = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT, 0x00050000 | errno.ENOSYS
    count = len(missing_calls)
    return [
        (LOAD, 0, 0, 4),  # the architecture: calls of another one have other numbers
        (EQUAL, 0, count + 7, architecture),
        (LOAD, 0, 0, 0),  # the number of the call
        (AT_LEAST, count + 5, 0, 0x40000000),  # x32
        *((EQUAL, count - place + 4, 0, call) for place, call in enumerate(missing_calls)),
        (EQUAL, 0, 2, socket_call),
        (LOAD, 0, 0, 16),  # the family of addresses
        (EQUAL, 1, 0, 40),  # AF_VSOCK
        (RETURN, 0, 0, allow),
        (RETURN, 0, 0, refuse),
        (RETURN, 0, 0, missing),
    ]


def compiled(machine: str) -> bytes:
    """Return the filter as bwrap reads it."""
    return b"".join(struct.pack("=HBBI", *one) for one in filter_of(machine))
