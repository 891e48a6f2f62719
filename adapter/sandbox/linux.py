"""A profile as the arguments of bubblewrap (bwrap(1)); pure.

A later mount hides an earlier one, so outer places come before what is in them, by their names. A folder that something protected is in is mounted
onto itself: a mount cannot be renamed away, and so neither can what is in it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who only asks whether there can be a sandbox has none
    from turnwire.adapter.sandbox.profile import Profile

PROGRAM = "bwrap"

NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns",  # no namespaces in the namespace: an agent gets no capabilities by making one
    "--cap-drop", "ALL", "--die-with-parent", "--new-session",
)  # fmt: skip
"""What every sandbox is; no new privileges is bwrap's own."""

KERNEL = (
    "/proc/acpi", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/mtrr", "/proc/scsi", "/proc/sys", "/proc/sysrq-trigger",
)  # fmt: skip
"""Files by which a root without capabilities would set the kernel: they are owned by its user id."""


def bwrap_arguments(
    profile: "Profile",
    *,
    has_network: bool,
    folders: Sequence[str] = (),
    copies: Mapping[str, str] = MappingProxyType({}),
    start: str | None = None,
) -> list[str]:
    """Return the arguments before the program.

    Args:
        profile: what is seen.
        has_network: it shares the network of this machine.
        folders: which of the hidden places are folders.
        copies: the copy that is seen in the place of a file.
        start: the folder that the program starts in; the workspace when None.
    """
    arguments = [*NAMESPACES, *([] if has_network else ["--unshare-net"])]
    for place, target in sorted(profile.links.items()):
        arguments += ["--symlink", target, place]
    for place in profile.readable:
        if not _is_private(place, profile):
            arguments += ["--ro-bind", place, place]
    arguments += ["--dev", "/dev", "--proc", "/proc"]
    for place in KERNEL:
        arguments += ["--ro-bind-try", place, place]
    for place in ("/tmp", "/run", "/var/tmp"):
        arguments += ["--tmpfs", place]
    if profile.home not in profile.writable:
        arguments += ["--tmpfs", profile.home]
    mounts = [(place, ["--bind", place, place]) for place in (*_around(profile), *profile.writable)]
    mounts += [
        (place, ["--ro-bind", place, place]) for place in profile.readable if _is_private(place, profile)
    ]
    mounts += [(place, ["--bind", copy, place]) for place, copy in copies.items()]
    mounts += [
        (place, ["--tmpfs", place] if place in folders else ["--ro-bind", "/dev/null", place])
        for place in profile.hidden
    ]
    mounts += [(place, ["--tmpfs", place]) for place in profile.fresh]
    mounts += [(place, ["--ro-bind", place, place]) for place in profile.protected]
    for _, mount in sorted(mounts, key=lambda one: one[0]):  # of one place, the last of these counts
        arguments += mount
    return [*arguments, "--chdir", start or profile.workspace, "--"]


def _is_private(place: str, profile: "Profile") -> bool:
    """Tell whether a place is below one that is made anew."""
    return any(place.startswith(f"{one}/") for one in (profile.home, "/tmp", "/run", "/var/tmp"))


def _around(profile: "Profile") -> list[str]:
    """Return the folders between a writable place and what is protected in it."""
    found = set()
    for place in profile.protected:
        outer = place.rpartition("/")[0]
        while outer and outer not in profile.writable:
            found.add(outer)
            outer = outer.rpartition("/")[0]
    return sorted(one for one in found if any(one.startswith(f"{place}/") for place in profile.writable))
