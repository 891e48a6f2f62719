"""Ways out of a sandbox, as a program that tries them all: FACTS prints one line of JSON a way. It needs nothing but Python's own modules.

FACTS is a file of JSON: what the test has put outside of the sandbox, for the program to reach. A way that leads out prints
`"out": true`; one that does not prints what it was told.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

WAYS: dict[str, Callable[[dict[str, str]], None]] = {}


class Refused(Exception):
    """The way does not lead out; says what was told."""


def way(name: str) -> Callable[[Callable[[dict[str, str]], None]], Callable[[dict[str, str]], None]]:
    def add(function: Callable[[dict[str, str]], None]) -> Callable[[dict[str, str]], None]:
        WAYS[name] = function
        return function

    return add


def reads(name: str, path: Callable[[dict[str, str]], str]) -> None:
    def read(facts: dict[str, str]) -> None:
        with open(path(facts), "rb") as file:
            file.read(1)

    WAYS[name] = read


def writes(name: str, path: Callable[[dict[str, str]], str]) -> None:
    def write(facts: dict[str, str]) -> None:
        with open(path(facts), "w") as file:
            file.write("out")

    WAYS[name] = write


def libc(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


# Reading

reads("read a private key of the home directory", lambda facts: facts["key"])
reads("read it by a relative path", lambda facts: os.path.relpath(facts["key"]))
reads("read it by the root of process 1", lambda facts: f"/proc/1/root{facts['key']}")
reads(
    "read it by the working directory of the process",
    lambda facts: f"/proc/self/cwd/{os.path.relpath(facts['key'])}",
)
reads("read turnwire's state", lambda facts: facts["state"])
reads("read another session's workspace", lambda facts: facts["other"])
reads("read the passwords of the system", lambda _: "/etc/shadow")
reads("read the passwords of the system in their copy", lambda _: "/etc/shadow-")
reads("read the disk", lambda _: "/dev/sda" if os.path.exists("/dev/sda") else "/dev/vda")
reads("read the memory of the kernel", lambda _: "/proc/kcore")


@way("read it by a link in the workspace")
def _(facts: dict[str, str]) -> None:
    os.symlink(facts["key"], "link")
    try:
        Path("link").read_text()
    finally:
        os.unlink("link")


@way("read it by a hard link in the workspace")
def _(facts: dict[str, str]) -> None:
    os.link(facts["key"], "hard")
    Path("hard").read_text()


@way("read it by an inherited descriptor")
def _(_: dict[str, str]) -> None:
    known = [
        os.readlink(f"/proc/self/fd/{name}")
        for name in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{name}")
    ]
    strange = [
        one
        for one in known
        if not one.startswith(("pipe:", "/dev/null", "socket:", "/proc/")) and "ways_out" not in one
    ]
    if not strange:
        raise Refused("no descriptor leads out")


@way("read it by the handle of a file")
def _(_: dict[str, str]) -> None:
    handle = struct.pack("Iiq", 8, 1, 2)
    libc("open_by_handle_at", os.open(".", os.O_RDONLY), handle, os.O_RDONLY)


reads("read a password by a link in the place of a protected file", lambda _: ".bash_login")


@way("read it by a link in the place of a repository below")
def _(_: dict[str, str]) -> None:
    Path("linked/.git/config").read_text()


@way("read the keys of the kernel that are turnwire's")
def _(_: dict[str, str]) -> None:
    calls = {"x86_64": 250, "aarch64": 219}
    libc("syscall", calls[os.uname().machine], 0, -3, 0)


@way("read the variables of turnwire by process 1")
def _(facts: dict[str, str]) -> None:
    if facts["variable"].encode() not in Path("/proc/1/environ").read_bytes():
        raise Refused("process 1 has the variables of the agent alone")


reads("read it by the root of the process", lambda facts: f"/proc/self/root{facts['key']}")
reads("read the memory of the machine", lambda _: "/dev/mem")
reads("read the shared memory of the machine", lambda facts: f"/dev/shm/{facts['mark']}")
reads("read another conversation's shell", lambda _: os.path.expanduser("~/.claude/shell-snapshots/other.sh"))


@way("attach the shared memory of System V")
def _(facts: dict[str, str]) -> None:
    libc("shmget", int(facts["segment"]), 1, 0)


@way("open a queue of messages")
def _(facts: dict[str, str]) -> None:
    libc("mq_open", f"/{facts['mark']}".encode(), os.O_RDONLY)


@way("read it by a link that is exchanged meanwhile")
def _(facts: dict[str, str]) -> None:
    Path("mine").write_text("")
    for number in range(200):
        os.symlink(facts["key"] if number % 2 else "mine", "new")
        os.replace("new", "turning")
        with open("turning", "rb") as file:  # every second one leads outside
            if file.read(1):
                return


# Writing

writes("write a program of the system", lambda _: "/usr/bin/ls")
writes("write a setting of the system", lambda _: "/etc/profile")
writes("write a hook of git", lambda _: ".git/hooks/post-checkout")
writes("write the configuration of git", lambda _: ".git/config")
writes("write a task of an editor", lambda _: ".vscode/tasks.json")
writes("write a setting of the agent in the workspace", lambda _: ".claude/settings.json")
writes("write a setting of the agent in the home directory", lambda facts: facts["settings"])
writes("write a hook of a repository below the workspace", lambda _: "below/.git/hooks/post-checkout")
writes("write a setting of the kernel", lambda _: "/proc/sys/kernel/core_pattern")
writes("restart the machine", lambda _: "/proc/sysrq-trigger")
writes("write another session's workspace", lambda facts: facts["other"])


writes("give git another configuration", lambda _: ".git/commondir")
writes("give git a configuration of the worktree", lambda _: ".git/config.worktree")
writes("write a hook in a folder that git's configuration names", lambda _: ".husky/pre-commit")
writes("write a program that git's configuration names", lambda _: "watch.sh")
writes("write what git's configuration includes", lambda _: "more.gitconfig")
writes("write what a shell loads in this folder", lambda _: ".envrc")
writes("write what npm loads in this folder", lambda _: ".npmrc")
writes("write a rule of the agent about commands", lambda _: os.path.expanduser("~/.codex/rules/mine.rules"))
writes("make an extension of the agent", lambda _: os.path.expanduser("~/.gemini/extensions/mine"))


def makes(name: str, path: str, content: str = "out") -> None:
    """A file that can be made, and is not outside: the test looks."""

    def make(_: dict[str, str]) -> None:
        file = Path(os.path.expanduser(path))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        raise Refused("it is the sandbox's own, or set aside at its end")

    WAYS[name] = make


SERVER = {"mine": {"command": "/bin/sh", "args": ["-c", "true"]}}
TRUSTED = {"mcpServers": SERVER, "allowedTools": ["Bash(*)"], "hasTrustDialogAccepted": True, "lastCost": 0.5}

makes("make a missing setting of the agent", "~/.claude/settings.json")
makes("make a file that takes the place of the agent's own", "~/.claude/.config.json")
makes("make a command of the agent", "~/.claude/commands/mine.md")
makes("make a plugin of the agent", "~/.config/opencode/plugin/mine.js")
makes("make a missing setting of an unknown agent", "~/.agent/hooks.json")


@way("name an MCP server in the agent's own file")
def _(_: dict[str, str]) -> None:
    own = {"numStartups": 8, "mcpServers": SERVER, "projects": {os.getcwd(): TRUSTED}}
    Path(os.path.expanduser("~/.claude.json")).write_text(json.dumps(own))
    raise Refused("it is a copy, of which only counters are taken back")


@way("put a link in the place of the agent's own file")
def _(facts: dict[str, str]) -> None:
    os.symlink(facts["key"], os.path.expanduser("~/.claude.json.new"))
    os.replace(os.path.expanduser("~/.claude.json.new"), os.path.expanduser("~/.claude.json"))


def runs(name: str, *command: str) -> None:
    def run(_: dict[str, str]) -> None:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
        if done.returncode:
            raise Refused(done.stderr.strip() or f"exit code {done.returncode}")

    WAYS[name] = run


runs("set git's folder of hooks", "git", "config", "core.hooksPath", "mine")
runs("set git's watcher of files", "git", "config", "core.fsmonitor", "./mine.sh")


@way("put a folder in the place of a submodule's configuration")
def _(_: dict[str, str]) -> None:
    os.rename("below/.git/config", "below/.git/old")


@way("put another folder in the place of git's")
def _(_: dict[str, str]) -> None:
    os.rename(".git", "old")


@way("put a link in the place of the hooks")
def _(_: dict[str, str]) -> None:
    os.rename(".git/hooks", ".git/old")


@way("put a file in the place of git's configuration")
def _(_: dict[str, str]) -> None:
    Path(".git/mine").write_text("[core]")
    os.replace(".git/mine", ".git/config")


@way("remove what protects a missing folder")
def _(_: dict[str, str]) -> None:
    os.rmdir(".vscode")


@way("leave a line in the shell's profile")
def _(facts: dict[str, str]) -> None:
    Path(os.path.expanduser("~/.bashrc")).write_text("out")
    raise Refused("it is the sandbox's own and gone at its end")


# Processes and privileges


@way("signal a process outside")
def _(facts: dict[str, str]) -> None:
    os.kill(int(facts["process"]), signal.SIGUSR1)


@way("see a process outside")
def _(facts: dict[str, str]) -> None:
    names = [name for name in os.listdir("/proc") if name.isdecimal()]
    found = [name for name in names if facts["mark"].encode() in Path(f"/proc/{name}/cmdline").read_bytes()]
    if not found:
        raise Refused("it is not in /proc")


@way("trace a process outside")
def _(facts: dict[str, str]) -> None:
    libc("ptrace", 16, int(facts["process"]), 0, 0)


@way("read the memory of a process outside")
def _(facts: dict[str, str]) -> None:
    Path(f"/proc/{facts['process']}/mem").read_bytes()


@way("make calls by process 1 that the filter refuses")
def _(_: dict[str, str]) -> None:
    if "Seccomp:\t2" in Path("/proc/1/status").read_text():
        raise Refused("process 1 has the same filter")


@way("make a socket by io_uring")
def _(_: dict[str, str]) -> None:
    libc("syscall", 425, 1, ctypes.create_string_buffer(120))


@way("gain privileges by a setuid program in memory")
def _(_: dict[str, str]) -> None:
    program = os.memfd_create("program")
    os.write(program, Path("/usr/bin/id").read_bytes())
    os.fchmod(program, 0o4755)
    said = subprocess.run(
        [f"/proc/self/fd/{program}", "-u"], pass_fds=[program], capture_output=True, text=True, check=True
    )
    if int(said.stdout) == os.getuid():
        raise Refused("it runs as the same user")


@way("set off the kernel's handler of crashes")
def _(_: dict[str, str]) -> None:
    os.write(os.open("/proc/sys/kernel/core_pattern", os.O_RDWR), b"")


@way("gain the capabilities of root")
def _(_: dict[str, str]) -> None:
    lines = dict(
        line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
    )
    if int(lines["CapEff"], 16) or int(lines["CapBnd"], 16):
        return
    raise Refused("there are none")


@way("gain privileges by a setuid program")
def _(facts: dict[str, str]) -> None:
    with subprocess.Popen([facts["setuid"]], stdin=subprocess.PIPE, stdout=-3, stderr=-3) as running:
        said = Path(f"/proc/{running.pid}/status").read_text()  # Popen has waited for its start
        running.kill()
    uids = next(line for line in said.splitlines() if line.startswith("Uid:")).split()[1:]
    if set(uids) == {str(os.getuid())}:
        raise Refused(f"{facts['setuid']} runs as user {uids[1]} as well")


@way("become another user")
def _(_: dict[str, str]) -> None:
    os.setuid(4711)


@way("mount over a protected folder")
def _(_: dict[str, str]) -> None:
    libc("mount", b"none", os.path.abspath(".git").encode(), b"tmpfs", 0, None)


@way("unmount what hides a file")
def _(_: dict[str, str]) -> None:
    libc("umount2", b"/etc/shadow", 2)


@way("make the system writable")
def _(_: dict[str, str]) -> None:
    libc("mount", None, b"/usr", None, 32 | 4096, None)


@way("make a user namespace")
def _(_: dict[str, str]) -> None:
    libc("unshare", 0x10000000)


@way("make a mount namespace")
def _(_: dict[str, str]) -> None:
    libc("unshare", 0x20000)


@way("make namespaces by clone3")
def _(_: dict[str, str]) -> None:
    asked = struct.pack("8Q", 0x10000000 | 0x20000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    library = ctypes.CDLL(None, use_errno=True)
    made = library.syscall(435, asked, len(asked))
    if made == 0:
        os._exit(0)
    if made == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(made, 0)


runs("make namespaces by unshare", "unshare", "--user", "--map-root-user", "--mount", "true")
runs("start a service of the user", "systemd-run", "--user", "--wait", "true")


@way("enter the network of process 1's parent")
def _(_: dict[str, str]) -> None:
    ours = os.stat("/proc/self/ns/net")
    first = os.stat("/proc/1/ns/net")
    if (ours.st_dev, ours.st_ino) == (first.st_dev, first.st_ino):
        raise Refused("process 1 is in the sandbox itself")
    libc("setns", os.open("/proc/1/ns/net", os.O_RDONLY), 0)


@way("change the root")
def _(_: dict[str, str]) -> None:
    os.chroot("/tmp")


@way("make a device")
def _(_: dict[str, str]) -> None:
    os.mknod("disk", 0o660 | 0o060000, os.makedev(8, 0))


@way("type into a terminal")
def _(_: dict[str, str]) -> None:
    import fcntl

    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x")


@way("leave a process behind")
def _(facts: dict[str, str]) -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.execv("/bin/sh", ["/bin/sh", "-c", f"sleep 600; : {facts['mark']}-left"])
        os._exit(0)
    raise Refused("it is begun, and ends with the sandbox: the test looks")


# Networks


def connects(name: str, address: Callable[[dict[str, str]], tuple[int, object]]) -> None:
    def connect(facts: dict[str, str]) -> None:
        family, where = address(facts)
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(2)
            one.connect(where)  # type: ignore[arg-type]

    WAYS[name] = connect


def port_of(facts: dict[str, str]) -> int:
    return int(facts["port"])


connects("reach the hub by 127.0.0.1", lambda facts: (socket.AF_INET, ("127.0.0.1", port_of(facts))))
connects("reach the hub by 0.0.0.0", lambda facts: (socket.AF_INET, ("0.0.0.0", port_of(facts))))
connects("reach the hub by [::1]", lambda facts: (socket.AF_INET6, ("::1", port_of(facts))))
connects(
    "reach the hub by the mapped address",
    lambda facts: (socket.AF_INET6, ("::ffff:127.0.0.1", port_of(facts))),
)
connects(
    "reach the hub by an address of this machine",
    lambda facts: (socket.AF_INET, (facts["address"], port_of(facts))),
)
connects("reach an address of the internet", lambda _: (socket.AF_INET, ("1.1.1.1", 443)))
connects("reach an IPv6 address of the internet", lambda _: (socket.AF_INET6, ("2606:4700:4700::1111", 443)))
connects("reach the metadata of a cloud", lambda _: (socket.AF_INET, ("169.254.169.254", 80)))
connects("reach an abstract socket", lambda facts: (socket.AF_UNIX, "\0" + facts["abstract"]))
connects("reach a socket of the file system", lambda facts: (socket.AF_UNIX, facts["socket"]))
connects("reach the socket of Docker", lambda _: (socket.AF_UNIX, "/var/run/docker.sock"))


def short(path: str) -> str:
    """A path of a socket that fits into an address, which has 107 bytes; raises OSError where its folder is missing."""
    folder, _, name = path.rpartition("/")
    return f"/proc/self/fd/{os.open(folder, os.O_PATH)}/{name}"


def connects_to(name: str, fact: str) -> None:
    connects(name, lambda facts: (socket.AF_UNIX, short(facts[fact])))


connects_to("reach the screen by X11", "x11")
connects(
    "reach the screen by an abstract socket of X11", lambda facts: (socket.AF_UNIX, "\0X11-" + facts["mark"])
)
connects_to("reach the screen by Wayland", "wayland")
connects_to("reach the bus of the session", "bus")
connects_to("reach the service manager of the user", "systemd")
connects_to("reach the agent of ssh", "ssh")
connects_to("reach the agent of GnuPG", "gpg")
connects_to("reach the agent's own server outside", "server")


@way("find such a socket by a variable")
def _(_: dict[str, str]) -> None:
    found = [name for name in VARIABLES if name in os.environ]
    if not found:
        raise Refused("no variable names one")


VARIABLES = (
    "DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO", "DOCKER_HOST",
)  # fmt: skip
"""Variables that name sockets outside."""


@way("ask a name server")
def _(_: dict[str, str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", ("8.8.8.8", 53))


@way("resolve a name")
def _(_: dict[str, str]) -> None:
    socket.getaddrinfo("secret.attacker.test", 443)


@way("send a raw packet")
def _(_: dict[str, str]) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@way("listen to all packets")
def _(_: dict[str, str]) -> None:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)


@way("reach the machine's host by a virtual socket")
def _(_: dict[str, str]) -> None:
    with socket.socket(40, socket.SOCK_STREAM) as one:
        one.settimeout(2)
        one.connect((2, 1024))


def asks_proxy(name: str, target: Callable[[dict[str, str]], str]) -> None:
    def ask(facts: dict[str, str]) -> None:
        with socket.create_connection(("127.0.0.1", 3128), 5) as one:
            one.sendall(f"CONNECT {target(facts)} HTTP/1.1\r\n\r\n".encode())
            said = one.makefile("rb").read(4096).decode()
        if said.startswith("HTTP/1.1 200"):
            return
        raise Refused(said.rpartition("\r\n\r\n")[2].strip() or "closed")

    WAYS[name] = ask


asks_proxy("have the proxy reach the hub", lambda facts: f"127.0.0.1:{facts['port']}")
asks_proxy("have the proxy reach it by its name", lambda facts: f"localhost.:{facts['port']}")
asks_proxy("have the proxy reach it by a short address", lambda facts: f"127.1:{facts['port']}")
asks_proxy("have the proxy reach it by a number", lambda facts: f"2130706433:{facts['port']}")
asks_proxy("have the proxy reach it by hexadecimal digits", lambda facts: f"0x7f.0.0.1:{facts['port']}")
asks_proxy(
    "have the proxy reach it by the mapped address", lambda facts: f"[::ffff:127.0.0.1]:{facts['port']}"
)
asks_proxy("have the proxy reach it by 0.0.0.0", lambda facts: f"0.0.0.0:{facts['port']}")
asks_proxy("have the proxy reach the metadata of a cloud", lambda _: "169.254.169.254:80")
asks_proxy("have the proxy reach a private network", lambda _: "10.0.0.1:22")
asks_proxy("have the proxy reach a host that nobody allows", lambda _: "files.attacker.test:443")
asks_proxy("have the proxy reach it by a listed name", lambda facts: f"hub.listed.test:{facts['port']}")
asks_proxy("have the proxy reach a private network by a listed name", lambda _: "private.listed.test:443")
asks_proxy("have the proxy reach one of a listed name's two addresses", lambda _: "both.listed.test:443")
asks_proxy(
    "have the proxy take a second line",
    lambda facts: f"files.attacker.test:443 HTTP/1.1\r\nX: 127.0.0.1:{facts['port']}",
)


def bracketed(address: str) -> Callable[[dict[str, str]], str]:
    return lambda facts: f"[{address}]:{facts['port']}"


asks_proxy("have the proxy reach it by a translated address", bracketed("::ffff:0:7f00:1"))
asks_proxy("have the proxy reach it by the address of a tunnel", bracketed("2002:7f00:1::"))
asks_proxy("have the proxy reach it by an address of NAT64", bracketed("64:ff9b::7f00:1"))
asks_proxy("have the proxy reach it by a local address of NAT64", bracketed("64:ff9b:1::7f00:1"))
asks_proxy("have the proxy reach it by a compatible address", bracketed("::7f00:1"))
asks_proxy("have the proxy reach it by an octal number", lambda facts: f"0177.0.0.1:{facts['port']}")
asks_proxy(
    "have the proxy reach it by a name of other letters",
    lambda facts: f"127\u30020\u30020\u30021:{facts['port']}",
)
asks_proxy("have the proxy reach the metadata of a cloud by IPv6", lambda _: "[fd00:ec2::254]:80")
asks_proxy("have the proxy reach it by the mapped address of metadata", lambda _: "[::ffff:a9fe:a9fe]:80")
asks_proxy("have the proxy reach a site-local address", lambda _: "[fec0::1]:80")


def tells_proxy(name: str, told: Callable[[dict[str, str]], str]) -> None:
    def tell(facts: dict[str, str]) -> None:
        with socket.create_connection(("127.0.0.1", 3128), 5) as one:
            one.sendall(told(facts).encode())
            said = one.makefile("rb").read(4096).decode()
        status, _, rest = said.partition("\r\n")
        if status.split(" ")[1] not in ("400", "403"):
            return
        raise Refused(rest.rpartition("\r\n\r\n")[2].strip())

    WAYS[name] = tell


tells_proxy(
    "have the proxy reach it behind the name of a user",
    lambda facts: f"GET http://files.attacker.test@127.0.0.1:{facts['port']}/ HTTP/1.1\r\n\r\n",
)
tells_proxy(
    "have the proxy take a second Host",
    lambda facts: (
        f"GET http://files.attacker.test/ HTTP/1.1\r\nX: y\nHost: 127.0.0.1:{facts['port']}\r\n\r\n"
    ),
)
tells_proxy(
    "have the proxy take a Host that a blank precedes",
    lambda facts: f"GET http://files.attacker.test/ HTTP/1.1\r\n Host: 127.0.0.1:{facts['port']}\r\n\r\n",
)


@way("have the proxy reach it by SOCKS")
def _(facts: dict[str, str]) -> None:
    with socket.create_connection(("127.0.0.1", 3128), 5) as one:
        one.sendall(b"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01" + struct.pack("!H", port_of(facts)))
        said = one.makefile("rb").read(12)
    if said[3:4] != b"\x00":
        raise Refused("not allowed by the ruleset")


def attempt(name: str, facts: dict[str, str]) -> dict[str, object]:
    try:
        WAYS[name](facts)
    except Refused as error:
        return {"way": name, "out": False, "told": str(error)}
    except (OSError, subprocess.SubprocessError) as error:
        path = getattr(error, "filename", None)
        told = getattr(error, "strerror", None) or str(error)
        return {"way": name, "out": False, "told": f"{path}: {told}" if path else told}
    return {"way": name, "out": True, "told": "it leads out"}


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    for one in WAYS:
        print(json.dumps(attempt(one, given)), flush=True)
