"""The first program in a sandbox (Linux): CONTROL PORTS PROGRAM ARGUMENT…; it becomes the agent.

bwrap ignores the signals that ask a program to end, so that they reach the agent alone; here they get their meaning
back. With a CONTROL other than -1 it opens the listening sockets of the new network namespace, one for each of PORTS
on 127.0.0.1. It sends them to turnwire. A socket belongs to the namespace in which it was made, so no process has to
pass on bytes in here. Read as text and run by `python -c`: standard library alone, and nothing of turnwire is visible
where it runs.
"""

import errno
import os
import signal
import sys


def main(arguments: list[str]) -> None:
    """Open the sockets, then become the agent; never returns."""
    control, ports, argv = int(arguments[0]), arguments[1], arguments[2:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if control >= 0:
        send_listeners(control, [int(port) for port in ports.split(",")])
        refuse_virtual_sockets()
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        os.write(2, f"turnwire: cannot run {argv[0]} in the sandbox: {error.strerror}\n".encode())
    os._exit(127)


def send_listeners(control: int, ports: list[int]) -> None:
    """Open the sockets and hand them over."""
    import socket  # noqa: PLC0415 - a sandbox of files needs none

    with socket.socket(fileno=control) as turnwire:
        listeners = [socket.create_server(("127.0.0.1", port), backlog=128) for port in ports]
        socket.send_fds(turnwire, [b"1"], [one.fileno() for one in listeners])
        for one in listeners:
            one.close()


CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""By machine: its number in a filter (AUDIT_ARCH_…), and that of the system call `socket`."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of BPF: load a word, jump if equal, jump if at least, return."""


def filter_of(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter of system calls for a machine, as instructions of BPF; nothing for one that is not known."""
    if machine not in CALLS:
        return []
    architecture, socket_call = CALLS[machine]
    allow, refuse, missing = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT, 0x00050000 | errno.ENOSYS
    return [
        (LOAD, 0, 0, 4),  # the architecture: calls of another one have other numbers
        (EQUAL, 0, 7, architecture),
        (LOAD, 0, 0, 0),  # the number of the call
        (AT_LEAST, 5, 0, 0x40000000),  # x32
        (EQUAL, 4, 0, 425),  # io_uring_setup: it makes sockets without the call
        (EQUAL, 0, 4, socket_call),
        (LOAD, 0, 0, 16),  # the family of addresses
        (EQUAL, 0, 2, 40),  # AF_VSOCK
        (RETURN, 0, 0, refuse),
        (RETURN, 0, 0, missing),
        (RETURN, 0, 0, allow),
    ]


def refuse_virtual_sockets() -> None:
    """Refuse sockets of virtual machines (vsock(7)): no namespace holds them, and they reach the machine's host."""
    import ctypes  # noqa: PLC0415 - a sandbox of files needs none
    import struct  # noqa: PLC0415 - as above

    instructions = filter_of(os.uname().machine)
    if instructions:
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in instructions))
        program = ctypes.create_string_buffer(struct.pack("@HP", len(instructions), ctypes.addressof(code)))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(
            22, 2, program, 0, 0
        ):  # no new privileges, and the filter
            os.write(2, b"turnwire: the sandbox cannot refuse virtual sockets\n")
            os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
