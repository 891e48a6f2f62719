"""A profile in the language of sandbox-exec (macOS); pure. Its text is tested; it has not been run on a Mac.

The last rule that fits counts. What is protected is therefore denied after its workspace is allowed.
"""

from collections.abc import Sequence

from turnwire.adapter.sandbox.profile import Profile

PROGRAM = "/usr/bin/sandbox-exec"

SYSTEM = (
    "/System",
    "/Library",
    "/private/etc",
    "/private/var/db",
    "/private/var/select",
    "/dev",
    "/Applications/Xcode.app",
)
"""What programs read on every Mac."""

RULES = """\
(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup)
(allow ipc-posix-shm)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-ioctl (subpath "/dev"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/tty"))
"""


def sandbox_profile(profile: Profile, *, temporary: str, ports: Sequence[int] | None) -> str:
    """Return the text of a profile.

    Args:
        profile: what is seen.
        temporary: the session's own folder for temporary files.
        ports: the ports of this machine that may be connected to; None for every host.
    """
    lines = [RULES.rstrip()]
    lines += [
        f"(allow file-read* (subpath {_quoted(place)}))"
        for place in (*SYSTEM, *profile.readable, *profile.copied)
    ]
    lines += [
        f"(allow file-read* file-write* (subpath {_quoted(place)}))"
        for place in (*profile.writable, temporary)
    ]
    lines += [f"(deny file-read* file-write* (subpath {_quoted(place)}))" for place in profile.hidden]
    lines += [f"(deny file-write* (subpath {_quoted(place)}))" for place in profile.protected]
    if ports is None:
        lines += ["(allow network*)", "(deny network-outbound (remote unix-socket))"]
    else:
        lines += [f'(allow network-outbound (remote ip "localhost:{port}"))' for port in ports]
        lines += [
            '(allow network-bind (local ip "localhost:*"))',
            '(allow network-inbound (local ip "localhost:*"))',
        ]
    return "\n".join(lines) + "\n"


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
