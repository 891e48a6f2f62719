"""Whether sandboxes can be had here, by making one; what is missing is told with what to do."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from turnwire.adapter.sandbox.linux import NAMESPACES, PROGRAM
from turnwire.adapter.sandbox.settings import SandboxUnavailable
from turnwire.normalize.vocabulary import SandboxLevel

TRY_S = 10

INSTALL: Mapping[str, str] = {
    "apt-get": "sudo apt-get install bubblewrap",
    "dnf": "sudo dnf install bubblewrap",
    "pacman": "sudo pacman -S bubblewrap",
    "apk": "sudo apk add bubblewrap",
    "zypper": "sudo zypper install bubblewrap",
}
"""The command that installs bubblewrap, by the program that installs packages."""

PACKAGERS = "/usr/bin:/bin:/usr/sbin:/sbin"
"""Where these programs are looked for."""

SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=10000"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap an AppArmor profile that allows userns",
    ),
)
"""Files of the kernel, the value that forbids user namespaces, and what allows them."""


async def check_available(level: SandboxLevel) -> None:
    """Raise SandboxUnavailable where a level cannot be had."""
    reason = await asyncio.to_thread(why_unavailable, level)
    if reason is not None:
        raise SandboxUnavailable(f"the sandbox {level!r} cannot be had here: {reason}")


@cache
def why_unavailable(level: SandboxLevel, path: str | None = None) -> str | None:
    """Return why a level cannot be had and what to do; None where it can. Starts one program and remembers what came of it."""
    if level == "off":
        return None
    if sys.platform == "darwin":
        return None if Path("/usr/bin/sandbox-exec").exists() else "there is no /usr/bin/sandbox-exec"
    if not sys.platform.startswith("linux"):
        return "sandboxes need Linux or macOS"
    bwrap = shutil.which(PROGRAM, path=path)
    if bwrap is None:
        known = (how for program, how in INSTALL.items() if shutil.which(program, path=PACKAGERS))
        return f"there is no program {PROGRAM}; install it: {next(known, 'bubblewrap, from the packages of this system')}"
    arguments = [
        *NAMESPACES,
        *(["--unshare-net"] if level == "network" else []),
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
    ]
    tried = subprocess.run(
        [bwrap, *arguments, "--dev", "/dev", "--", "/bin/sh", "-c", ":"],
        capture_output=True,
        text=True,
        timeout=TRY_S,
        check=False,
    )
    return None if tried.returncode == 0 else forbidden(tried.stderr.strip())


def forbidden(said: str) -> str:
    """Return what bwrap's words mean, and what to do."""
    for file, value, command in SWITCHES:
        try:
            if Path(file).read_text(encoding="ascii").strip() == value:
                return f"this system forbids user namespaces ({file} is {value}); allow them: {command}"
        except OSError:
            continue
    if "namespace" in said or "Operation not permitted" in said or "uid map" in said:
        return (
            f"user namespaces are forbidden here ({said.splitlines()[-1] if said else 'bwrap failed'}). In a container, start it with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined; else ask who "
            "runs this machine to allow user namespaces"
        )
    if "Unknown option" in said:
        return f"bwrap is too old ({said}); version 0.8.0 or newer is needed"
    return f"bwrap fails: {said or 'it says nothing'}"
