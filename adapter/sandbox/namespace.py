"""Makes sockets in the network of a sandbox, from outside (Linux): CONTROL NAMESPACE; read as text and run by `python -c`.

A socket belongs to the network namespace that it was made in, whoever connects it. This program joins the namespace and
hands over one socket for each byte that it reads. `4` asks for an IPv4 socket, `6` for an IPv6 one. `?` asks which ports
are listened on. It ends with the other end of CONTROL. Nothing of it is in the sandbox, so an agent can neither see nor
end it. Standard library alone.
"""

import ctypes
import fcntl
import os
import socket
import sys

OWNER = 0xB701
"""NS_GET_USERNS of ioctl_ns(2): the user namespace that a namespace belongs to."""
USER, NETWORK = 0x10000000, 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET of setns(2)."""
LISTENING = "0A"


def main(control: int, namespace: int) -> None:
    """Join the namespace, then serve until the other end is closed."""
    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket(fileno=control) as turnwire:
        for number, kind in ((fcntl.ioctl(namespace, OWNER), USER), (namespace, NETWORK)):
            if libc.setns(number, kind):
                return
        turnwire.send(b"ready")
        while asked := turnwire.recv(1):
            if asked == b"?":
                turnwire.send(",".join(map(str, listening())).encode() or b"-")
                continue
            with socket.socket(socket.AF_INET6 if asked == b"6" else socket.AF_INET) as made:
                socket.send_fds(turnwire, [asked], [made.fileno()])


def listening() -> list[int]:
    """Return the ports that servers listen on, by proc_pid_net(5)."""
    found = set()
    for name in ("tcp", "tcp6"):
        try:
            with open(  # noqa: PTH123 - an import less
                f"/proc/thread-self/net/{name}", encoding="ascii"
            ) as table:
                rows = [line.split() for line in table][1:]
        except OSError:
            continue
        found |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
    return sorted(found)[:1000]


if __name__ == "__main__":
    os.umask(0o077)
    main(int(sys.argv[1]), int(sys.argv[2]))
