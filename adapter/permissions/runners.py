"""Programs that run others, as tables: which of their options take a value, and where the inner command begins; pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Prefix(NamedTuple):
    """A command that runs the one in its arguments."""

    short: str = ""
    """Letters of options whose value is the next word."""
    long: tuple[str, ...] = ()
    """The same, of long options."""
    operands: int = 0
    """Words before the command."""


_UV = Prefix(
    "pP",
    (
        "--with",
        "--python",
        "--project",
        "--directory",
        "--group",
        "--extra",
        "--from",
        "--env-file",
        "--index",
    ),
)
_CONTAINER = Prefix(
    "euwvpmlch",
    (
        *(
            "--env",
            "--user",
            "--workdir",
            "--volume",
            "--publish",
            "--name",
            "--network",
            "--mount",
            "--entrypoint",
        ),
        *(
            "--env-file",
            "--memory",
            "--cpus",
            "--label",
            "--hostname",
            "--platform",
            "--add-host",
            "--gpus",
            "--detach-keys",
        ),
        *(
            "--index",
            "--tmpfs",
            "--device",
            "--cap-add",
            "--cap-drop",
            "--security-opt",
            "--restart",
            "--shm-size",
        ),
    ),
    operands=1,
)

PREFIXES: Mapping[str, Prefix] = {
    "builtin": Prefix(),
    "busybox": Prefix(),
    "bunx": Prefix("p", ("--package",)),
    "caffeinate": Prefix("tw"),
    "choom": Prefix("n", ("--adjust",)),
    "chpst": Prefix("uUbemdoplfrctn/"),
    "chroot": Prefix(operands=1),
    "chrt": Prefix("TPD", operands=1),
    "command": Prefix(),
    "coproc": Prefix(),
    "cpulimit": Prefix("lpe", ("--limit",)),
    "daemonize": Prefix("acepluEo"),
    "dbus-launch": Prefix(),
    "dbus-run-session": Prefix(),
    "doas": Prefix("Cu"),
    "dotenv": Prefix("fe"),
    "eatmydata": Prefix(),
    "env": Prefix("uC", ("--unset", "--chdir")),
    "exec": Prefix("a"),
    "fakechroot": Prefix("sldbec"),
    "fakeroot": Prefix("lsib"),
    "firejail": Prefix(),
    "flock": Prefix("wE", ("--timeout", "--wait", "--conflict-exit-code"), operands=1),
    "gosu": Prefix(operands=1),
    "gtimeout": Prefix("ks", ("--kill-after", "--signal"), operands=1),
    "gxargs": Prefix("adEILnPs"),
    "hyperfine": Prefix("wmMrpcsnLD"),
    "i386": Prefix(),
    "ionice": Prefix("cn", ("--class", "--classdata")),
    "linux32": Prefix(),
    "linux64": Prefix(),
    "ltrace": Prefix("eopsnlux"),
    "nice": Prefix("n", ("--adjustment",)),
    "nocorrect": Prefix(),
    "noglob": Prefix(),
    "nohup": Prefix(),
    "npx": Prefix("p", ("--package",)),
    "nsenter": Prefix("tSG"),
    "numactl": Prefix("Niplmc"),
    "parallel": Prefix("jNnaILPsS"),
    "perf": Prefix("eopCFc", operands=1),
    "pkexec": Prefix("u", ("--user",)),
    "pnpx": Prefix(),
    "prlimit": Prefix("po", ("--pid", "--output")),
    "proot": Prefix("rbqwv"),
    "proxychains": Prefix("f"),
    "proxychains4": Prefix("f"),
    "rlwrap": Prefix("fbCHpPqsS"),
    "run0": Prefix("upDM", ("--user", "--unit", "--property", "--chdir", "--machine", "--slice", "--setenv")),
    "setarch": Prefix(),
    "setpriv": Prefix(),
    "setsid": Prefix(),
    "softlimit": Prefix("acdfmlorst"),
    "ssh-agent": Prefix("aEOPt"),
    "start-stop-daemon": Prefix(),
    "stdbuf": Prefix("ioe", ("--input", "--output", "--error")),
    "strace": Prefix("abeEIoOpPsSuUX"),
    "su-exec": Prefix(operands=1),
    "sudo": Prefix(
        "CDghpRrtTUu",
        (
            *("--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--close-from", "--role"),
            *("--type", "--other-user", "--command-timeout"),
        ),
    ),
    "systemd-inhibit": Prefix(),
    "systemd-run": Prefix("EHMpPu", ("--unit", "--property", "--setenv", "--uid", "--gid", "--slice")),
    "taskset": Prefix(operands=1),
    "time": Prefix("fo", ("--format", "--output")),
    "timeout": Prefix("ks", ("--kill-after", "--signal"), operands=1),
    "torsocks": Prefix(),
    "toybox": Prefix(),
    "uname26": Prefix(),
    "unbuffer": Prefix(),
    "unshare": Prefix("RwSG"),
    "uvx": _UV,
    "valgrind": Prefix(),
    "watch": Prefix("nq", ("--interval",)),
    "x86_64": Prefix(),
    "xargs": Prefix(
        "adEILnPs",
        (
            *("--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--max-lines"),
            "--process-slot-var",
        ),
    ),
    "xvfb-run": Prefix("efnpsw"),
}

FLAGS = frozenset(
    {"--rm", "--tty", "--interactive", "--detach", "--privileged", "--init", "--read-only", "--no-TTY"}
    | {"--yes", "--no", "--no-install", "--quiet", "--verbose", "--silent", "--help", "--version"}
    | {"--foreground", "--preserve-status", "--null", "--no-run-if-empty", "--open-tty", "--exit"}
    | {"--login", "--shell", "--non-interactive", "--stdin", "--set-home", "--background", "--preserve-env"}
    | {"--ignore-environment", "--debug", "--wait", "--fork", "--ctty", "--portability", "--append"}
    | {"--frozen", "--locked", "--isolated", "--no-sync", "--all-extras", "--all-groups", "--no-project"}
    | {"--exclusive", "--shared", "--nonblock", "--unlock", "--close", "--no-fork", "--idle", "--batch"}
    | {"--global", "--fifo", "--other", "--rr", "--scope", "--pty", "--pipe", "--collect"}
    | {"--no-capture-output", "--live-stream", "--no-dev", "--dev", "--offline", "--bun"}
    | {"--mount-proc", "--map-root-user", "--cpu-list", "--all-tasks"}
)
"""Long options that take no value in the next word, whichever of these programs has them."""

ANYWHERE = frozenset(
    {
        "setarch",
        "prlimit",
        "bwrap",
        "firejail",
        "proot",
        "valgrind",
        "nix-shell",
        "nix",
        "start-stop-daemon",
        "perf",
        "fakechroot",
        "tmux",
        "screen",
    }
)
"""Programs whose options are so many that the command may begin at any word."""

SUBCOMMANDS: Mapping[str, Mapping[str, Prefix]] = {
    **{
        name: {"exec": _CONTAINER, "run": _CONTAINER, "create": _CONTAINER}
        for name in ("docker", "nerdctl", "docker-compose", "podman-compose")
    },
    "podman": {"exec": _CONTAINER, "run": _CONTAINER, "create": _CONTAINER, "unshare": Prefix()},
    "asdf": {"exec": Prefix()},
    "bun": {"x": Prefix(), "exec": Prefix()},
    "bundle": {"exec": Prefix()},
    "conda": {"run": Prefix("np", ("--name", "--prefix", "--cwd"))},
    "gh": {"ssh": Prefix("cR", ("--codespace", "--repo"))},
    "direnv": {"exec": Prefix(operands=1)},
    "hatch": {"run": Prefix()},
    "kubectl": {"exec": Prefix("cn", ("--container", "--namespace"), operands=1)},
    "mise": {"exec": Prefix("c"), "x": Prefix("c")},
    "npm": {
        "exec": Prefix("pc", ("--package",)),
        "x": Prefix("pc", ("--package",)),
        "explore": Prefix(operands=1),
    },
    "pdm": {"run": Prefix("p")},
    "pipenv": {"run": Prefix()},
    "pipx": {"run": Prefix()},
    "pnpm": {"exec": Prefix(), "dlx": Prefix()},
    "poetry": {"run": Prefix()},
    "rtx": {"exec": Prefix()},
    "rye": {"run": Prefix()},
    "uv": {"run": _UV, "x": _UV},
    "yarn": {"exec": Prefix(), "dlx": Prefix()},
}
"""Programs of which some subcommands run others."""

SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "hush"}
)
STANDARD_INPUTS = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
FINDS: Mapping[str, frozenset[str]] = {
    "find": frozenset({"-exec", "-execdir", "-ok", "-okdir"}),
    "gfind": frozenset({"-exec", "-execdir", "-ok", "-okdir"}),
    "fd": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
    "fdfind": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
}
LINES_IN_OPTIONS: Mapping[str, str] = {
    "su": "-c",
    "runuser": "-c",
    "script": "-c",
    "flock": "-c",
    "env": "-S",
    "pwsh": "-c",
    "npx": "-c",
    "npm": "-c",
    "nix-shell": "-c",
    "mise": "-c",
    "sg": "-c",
    "newgrp": "-c",
    "xterm": "-e",
    "screen": "-X",
}
"""Commands with an option whose value is a line of shell."""
LINES_IN_ARGUMENTS = frozenset(
    {"eval", "watch", "parallel", "ssh", "trap", "entr", "hyperfine", "tmux", "screen", "at", "batch"}
)
"""Commands whose arguments, together or each, are a line of shell."""
SHELL_WITHOUT_COMMAND = frozenset(
    {"chroot", "unshare", "nsenter", "setarch", "linux32", "linux64", "i386", "x86_64", "uname26"}
    | {"fakeroot", "fakechroot", "proot", "firejail", "pkexec", "run0"}
)
"""Prefixes that start a shell where no command follows."""
SHELL_OPTIONS: Mapping[str, re.Pattern[str]] = {
    "sudo": re.compile(""),
    "doas": re.compile(r"-\w*s"),
    "systemd-run": re.compile(r"-\w*S|--shell"),
}
"""Those that do so with an option."""
PROGRAMS_IN_OPTIONS: Mapping[str, frozenset[str]] = {
    "ack": frozenset({"--pager"}),
    "ag": frozenset({"--pager"}),
    "mypy": frozenset({"--python-executable"}),
    "rg": frozenset({"--pre", "--hostname-bin"}),
}
"""Long options of programs that otherwise run nothing, whose value is a program."""
EVALUATES = frozenset(
    {
        "let",
        "unset",
        "read",
        "printf",
        "mapfile",
        "readarray",
        "getopts",
        "wait",
        "test",
        "[",
        "declare",
        "local",
        "typeset",
        "export",
        "readonly",
    }
)
"""Commands of the shell that evaluate names and numbers, and what is substituted in them."""
CODE = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|luajit|tclsh|osascript|julia|Rscript)[\d.]*"
)
CODE_OPTION = re.compile(r"-{1,2}[A-Za-z]*(?:[ceErpR]|eval|print|exec)|eval|")
AWKS = frozenset(
    {"awk", "gawk", "mawk", "nawk", "sed", "gsed", "vi", "vim", "nvim", "ex", "ed", "m4", "make", "gmake"}
)
"""Commands whose arguments may hold a program that runs commands."""
EDITORS = frozenset({"vi", "vim", "nvim", "ex", "ed"})
"""Those of them that take commands from their standard input."""
RESERVED = frozenset(
    {
        "{",
        "}",
        "!",
        "[[",
        "]]",
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "in",
        "while",
        "until",
        "do",
        "done",
        "case",
    }
    | {"esac", "select", "function", "time", "coproc", "((", "))"}
)
"""Words of the shell's grammar: where one of them seems to be a command, the grammar was misread."""
RUN_VARIABLES = frozenset(
    {
        "BASH_ENV",
        "ENV",
        "PS0",
        "PS1",
        "PS2",
        "PS4",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "BASH_CMDS",
        "BASH_ALIASES",
    }
)
"""Variables that a shell runs or evaluates by itself."""
COUNTED_VARIABLES = frozenset(
    {"RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "BASH_ARGV0", "EPOCHSECONDS"}
)
"""Shell variables that hold a number: the shell evaluates their value."""
LINE_VARIABLES = frozenset(
    {
        "PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
    }
    | {
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "GIT_SSH",
        "MANPAGER",
        "LESSOPEN",
        "LESSCLOSE",
        "BROWSER",
        "RSYNC_RSH",
        "MAKEFLAGS",
        "GIT_CONFIG_PARAMETERS",
    }
)
"""Variables whose value is a line of shell that some program runs."""
DATA = frozenset(
    {
        ":",
        "true",
        "false",
        "cd",
        "pwd",
        "echo",
        "printf",
        "ls",
        "dir",
        "cat",
        "tac",
        "head",
        "tail",
        "wc",
        "uniq",
        "cut",
        "tr",
        "nl",
    }
    | {
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "rg",
        "ag",
        "ack",
        "which",
        "type",
        "whereis",
        "whatis",
        "apropos",
        "man",
        "info",
        "help",
    }
    | {
        "mkdir",
        "rmdir",
        "touch",
        "cp",
        "mv",
        "ln",
        "stat",
        "file",
        "du",
        "df",
        "date",
        "sleep",
        "seq",
        "basename",
        "dirname",
    }
    | {
        "realpath",
        "readlink",
        "chmod",
        "chown",
        "chgrp",
        "diff",
        "cmp",
        "comm",
        "ps",
        "kill",
        "pkill",
        "pgrep",
        "killall",
        "id",
        "whoami",
    }
    | {
        "hostname",
        "uname",
        "test",
        "[",
        "exit",
        "return",
        "break",
        "continue",
        "shift",
        "set",
        "unset",
        "umask",
        "wait",
        "jobs",
        "export",
    }
    | {
        "tee",
        "column",
        "fold",
        "fmt",
        "join",
        "paste",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "base64",
        "xxd",
        "od",
        "hexdump",
        "strings",
        "jq",
    }
    | {
        "curl",
        "wget",
        "ping",
        "dig",
        "host",
        "nslookup",
        "unzip",
        "gzip",
        "gunzip",
        "tree",
        "free",
        "uptime",
        "top",
        "lsof",
        "ss",
        "netstat",
    }
    | {
        "git",
        "gh",
        "docker",
        "podman",
        "kubectl",
        "npm",
        "pnpm",
        "yarn",
        "pip",
        "pip3",
        "apt",
        "apt-get",
        "brew",
        "systemctl",
        "read",
        "let",
    }
    | {
        "go",
        "rustc",
        "gcc",
        "g++",
        "clang",
        "tsc",
        "eslint",
        "pytest",
        "ruff",
        "mypy",
        "shopt",
        "ulimit",
        "getopts",
        "dpkg",
        "rm",
        "getent",
    }
    | {
        "alias",
        "unalias",
        "declare",
        "local",
        "typeset",
        "readonly",
        "times",
        "logout",
        "fg",
        "bg",
        "disown",
        "pushd",
        "popd",
        "dirs",
        "history",
        "journalctl",
    }
)
"""Commands whose arguments are data: none of them is run, but for what the other tables say."""
TOOLS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            *("npm", "pnpm", "yarn", "docker", "podman", "kubectl", "pip", "pip3", "apt", "apt-get", "brew"),
            *("systemctl", "go", "rustc", "gcc", "g++", "clang", "tsc", "eslint", "pytest", "wget", "dpkg"),
        ),
        frozenset[str](),
    ),
    "git": frozenset(
        {
            *(
                "add",
                "am",
                "apply",
                "blame",
                "branch",
                "checkout",
                "cherry-pick",
                "commit",
                "describe",
                "diff",
                "grep",
            ),
            *(
                "init",
                "log",
                "ls-files",
                "merge",
                "mv",
                "reflog",
                "reset",
                "restore",
                "rev-parse",
                "revert",
                "rm",
            ),
            *("shortlog", "show", "stash", "status", "switch", "tag"),
        }
    ),
    "gh": frozenset(
        {"api", "auth", "browse", "issue", "label", "pr", "release", "repo", "run", "search", "status"}
    ),
}
"""Programs that can run others in many ways, by options or settings; and those of their subcommands that do not."""
WITH_SUBCOMMANDS = frozenset(
    {"git", "gh", "npm", "pnpm", "yarn", "docker", "podman", "kubectl", "pip", "pip3", "apt", "apt-get"}
    | {"brew", "systemctl", "go"}
)
"""Those of them whose first operands say what they do: `docker rm` removes a container."""
GIT_VALUES = frozenset(
    {"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source", "--list-cmds"}
)
GIT_HARMLESS = re.compile(
    r"(?:user|color|advice|column|status|branch|init|safe|tag|commit|push|pull|fetch|rebase|log|http|gc|pack|feature|index|maintenance|i18n|stash|versionsort|merge)"
    r"\.(?!template|instructionformat|recentobjectshook)\w+(?:=.*)?|core\.(?:quotepath|autocrlf|abbrev|safecrlf|longpaths|filemode|symlinks|ignorecase|eol|precomposeunicode|pager=(?:cat|less)?)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Settings of `git -c` that run nothing."""
GIT_LINES: Mapping[str, frozenset[str]] = {
    "archive": frozenset({"--exec"}),
    "clone": frozenset({"--upload-pack", "-u", "-c", "--config"}),
    "difftool": frozenset({"--extcmd", "-x"}),
    "fetch": frozenset({"--upload-pack"}),
    "grep": frozenset({"--open-files-in-pager", "-O"}),
    "ls-remote": frozenset({"--upload-pack", "--exec"}),
    "pull": frozenset({"--upload-pack"}),
    "push": frozenset({"--receive-pack", "--exec"}),
    "rebase": frozenset({"--exec", "-x"}),
}
"""Options of git's subcommands whose value is a line of shell."""


FED = frozenset({"nix-shell", "newgrp", "telnet", "login", "lxc-attach", "mosh", "rsh"})
"""Programs that run a shell which reads what is piped to them."""
FED_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("poetry", "pipenv", "hatch", "pixi", "devbox", "guix", "adb"), frozenset({"shell"})),
    **dict.fromkeys(("docker", "podman", "nerdctl"), frozenset({"attach", "start"})),
    **dict.fromkeys(("toolbox", "distrobox"), frozenset({"enter"})),
    "kubectl": frozenset({"attach"}),
    "nix": frozenset({"develop", "shell"}),
    "vagrant": frozenset({"ssh"}),
}
"""Subcommands that do so."""
SSH_COMMAND = re.compile(r"(?: -[bcDEeFIiJLlmOopQRSWw] ?\S+| -\S+)* [^-\s]\S* +\S")
"""A host with a command behind it, among the arguments of ssh."""
SAYS_WHAT_IS_KNOWN = frozenset(
    {"echo", "printf", "cat", "chmod", "sh", "bash", ".", "source", "true", ":", "cd"} | {"mkdir", "touch"}
)
"""Commands whose output stands in the line, or that have none."""
RUN_BY_NAME = frozenset(
    {
        *("package.json", "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "conftest.py", "setup.py", "setup.cfg", "build.rs", "pyproject.toml", "pytest.ini", "tox.ini"),
        *(".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".bash_login", ".bash_logout", ".envrc", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs"),
        *("noxfile.py", "Cargo.toml", "Gemfile", "Rakefile", "build.gradle", "build.gradle.kts", "pom.xml", "composer.json", "Dockerfile", "docker-compose.yml", "compose.yaml"),
        *("CMakeLists.txt", "Taskfile.yml", ".pre-commit-config.yaml", "lefthook.yml", "sitecustomize.py", "usercustomize.py", ".vimrc", ".exrc", ".gitconfig", ".gitattributes"),
        *("Vagrantfile", "webpack.config.js", "vite.config.js", "vite.config.ts", "jest.config.js", "eslint.config.js", ".eslintrc.js", "babel.config.js", "gulpfile.js", "Gruntfile.js"),
        *("turbo.json", "deno.json", "mise.toml", ".mise.toml", "vitest.config.ts", "next.config.js", "SConstruct", "meson.build", "configure", "ansible.cfg"),
    }
)  # fmt: skip
"""Names of files that programs run without being told to."""


def may_run(name: str) -> bool:
    """Tell whether a program runs the command in its arguments."""
    return name in PREFIXES or name in LINES_IN_ARGUMENTS or name in ANYWHERE or name in SUBCOMMANDS


def is_known(name: str) -> bool:
    """Tell whether it is known what a program does with its arguments."""
    return (
        name in DATA
        or name in SHELLS
        or name in AWKS
        or name in FINDS
        or name in RESERVED
        or name in ("source", ".")
        or may_run(name)
        or CODE.fullmatch(name) is not None
    )
