"""Ports for servers that have to be told theirs before they begin, and get it again when they begin once more."""

import os
import random
import socket

FIRST, SHARE, SHARES = 12_000, 2_500, 8
"""Below all that are given to who asks for any (from 32,768 on): a port in use by nobody stays so. Each of the tests' workers has a share."""


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody has."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % SHARES
    first = FIRST + worker * SHARE
    found: list[int] = []
    for port in random.sample(range(first, first + SHARE), SHARE):
        if len(found) == count:
            break
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
    return found
