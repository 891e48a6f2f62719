"""Files that a line of shell writes and then runs, as far as its words say which; pure.

What `echo` or a here-document writes stands in the line, and shell.py compares it. What any other program writes nobody
knows, so a line that runs such a file may run anything. Some programs write files that no word names (an archive, a
clone); with those, any file that is named behind them may be one. A program that runs files of its own accord (make,
npm) is asked about where one of these files is written, and behind an archive or a clone.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from turnwire.adapter.permissions import runners

MOST_WORDS = 64
"""Words of a command that are looked at; with more it may write any file."""

_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[\w.+-]+\Z|/dev/|/proc/self/fd/")
"""Programs that no line without a superuser's password writes, and descriptors."""
_INSTALLED = re.compile(
    r"(?:^|/)(?:node_modules/\.bin/|\.?v?env\d*/bin/)|(?:^|/)(?:gradlew|mvnw|configure)\Z"
)
"""Programs of a project that are called by a path as others are by their name."""
_OPTION = re.compile(r"^(?:--?[\w-]+=|-[oOfC](?=.))")
_NAME = re.compile(r"[\w.+@%~-]+")
_PATTERN = re.compile(r"[*?\[\0]|\{\}")
_CODE_WRITES = re.compile(
    r"write|dump|save|copy|move|rename|replace|link|retrieve|extract|unpack|truncate|rsync|['\"][rbt]*[wax]\+?[bt]*['\"]|>"
)
_CODE_UNPACKS = re.compile(r"retrieve|extract|unpack|clone|checkout")
_SED_WRITES = re.compile(
    "|".join(
        (
            r"(?:^|[^A-Za-z_][gpiImMe\d]{0,16})w\s+\S",
            r"(?:[;{}$!]|\b\d{1,9})w\S",
            *(
                rf"s{end}(?:[^{end}\\\n]|\\.)*{end}(?:[^{end}\\\n]|\\.)*{end}[gpiImMe\d]{{0,16}}w"
                for end in ("/", r"\|", ",", "#", "@", ":", "!", "%", r"\+", "~", "=")
            ),
        )
    )
)
"""The command w, and the flag w of s with the usual delimiters."""
_AWK_WRITES = re.compile(r">|\|")
_NPM_KEYS = re.compile(
    r"(?:version|name|description|type|private|license|author|keywords|homepage|repository|engines)\b"
)
_NO_SCRIPTS = re.compile(r"-[A-Za-z]*[cm]\w*|-e|-p|-r|--eval|--print")


class WrittenFiles:
    """What a line has written up to a word, and what it runs there."""

    def __init__(self) -> None:
        self.is_loose = False
        """Whether the order of the text is not the order in which it is run: loops, functions, traps, jobs."""
        self._names: set[str] = set()
        """Names of files and folders that are written."""
        self._perhaps: set[str] = set()
        """Names that a program of no table is given, which may write them."""
        self._copied: set[str] = set()
        """Names of files that are copied, and so may be written elsewhere under the same name."""
        self._copies_of: set[str] = set()
        """The same as they are spelled: they are not written where they lie."""
        self._unnamed = False
        """Whether files are written that no word names."""
        self._tree = False
        """Whether git writes files of the repository: what runs them by itself is not asked about, since it runs them anyway."""
        self._of_programs = False
        """Whether files are written that programs run by themselves."""
        self._moves = False
        """Whether the line goes to another folder, or looks for programs in others."""
        self._ran: dict[str, None] = {}
        """Files that are run."""
        self._by_themselves: dict[str, None] = {}
        """Programs that are run, and that run files by themselves."""

    def command(self, name: str, texts: Sequence[str]) -> str:
        """Take a command; return why it may run anything, or ""."""
        if name in ("cd", "pushd", "popd"):
            self._moves = True
        self.is_loose = self.is_loose or name in ("trap", "coproc", "at", "batch")
        path = texts[0]
        why = ""
        if "/" in path and not _SYSTEM.match(path):
            why = self.runs(path) if not _INSTALLED.search(path) else self._run_by_itself(name)
        elif name in self._names or name in self._copied or (name in self._perhaps and self._moves):
            why = self.runs(name)
        for script in _scripts(name, texts):
            why = why or self.runs(script)
        if _runs_by_itself(name, texts):
            why = why or self._run_by_itself(name)
        if name not in _WRITES_NOTHING:
            self._write(name, texts)
        return why

    def searches(self) -> None:
        """Note that programs are looked for elsewhere from now on."""
        self._moves = True

    def writes(self, path: str) -> None:
        """Note a file that is written, nobody knows what."""
        self._name([path])

    def code(self, text: str) -> None:
        """Note the files that a program in another language may write, by the names in it."""
        if _CODE_WRITES.search(text):
            self._unnamed = self._unnamed or _CODE_UNPACKS.search(text) is not None
            self._name(_NAME.findall(text))
            self._of_programs = self._of_programs or any(
                name in text for name in ("hooks", ".git/", ".husky")
            )

    def runs(self, path: str) -> str:
        """Note a file that is run; return why that may be anything, or ""."""
        self._ran[path] = None
        return "a file is written and run" if self._may_be_written(path) else ""

    def at_the_end(self) -> str:
        """Return why the line may run anything where the order of its text is not that of its commands."""
        is_run = self.is_loose and (
            any(map(self._may_be_written, self._ran)) or any(map(self._run_by_itself, [*self._by_themselves]))
        )
        return "a file is written and run" if is_run else ""

    def _run_by_itself(self, name: str) -> str:
        self._by_themselves[name] = None
        may = self._of_programs or (self._unnamed and name != "git")
        return f"{name} may run a file that is written before" if may else ""

    def _may_be_written(self, path: str) -> bool:
        if self._unnamed or self._tree:
            return True
        if not (self._names or self._perhaps or self._copied):
            return False
        if _PATTERN.search(path):
            return True
        parts = path.split("/")
        if not (self._names.isdisjoint(parts) and self._perhaps.isdisjoint(parts)):
            return True
        return parts[-1] in self._copied and (self._moves or path not in self._copies_of)

    def _name(self, paths: Iterable[str], names: set[str] | None = None) -> None:
        names = self._names if names is None else names
        for path in paths:
            spelled = _OPTION.sub("", path, count=1) if path.startswith("-") else path
            parts = [part for part in spelled.partition("=")[2].split("/") if part] if "=" in spelled else []
            parts += [part for part in spelled.split("/") if part not in ("", ".", "..", "~")]
            (self._names if "/" in spelled else names).update(parts)
            if _is_of_programs(parts):
                self._of_programs = True
            if names is self._names and _PATTERN.search(spelled):
                self._unnamed = True

    def _write(self, name: str, texts: Sequence[str]) -> None:
        arguments = texts[1:MOST_WORDS]
        operands = [text for text in arguments if not text.startswith("-") or text == "-"]
        if (unpacks := _UNPACKS.get(name)) is not None:
            self._unnamed = self._unnamed or unpacks(arguments)
            self._name(arguments if unpacks(arguments) else ())
        elif name in _COPIES:
            self._unnamed = self._unnamed or len(texts) > MOST_WORDS
            self._copy(name, arguments, operands)
        elif name == "git":
            self._git(arguments)
        elif name in ("npm", "pnpm", "yarn", "bun"):
            keys = operands[2:] if operands[:2] == ["pkg", "set"] else operands[1:2]
            if operands[:1] in (["pkg"], ["set-script"]) and not all(map(_NPM_KEYS.match, keys)):
                self._of_programs = True
        elif name in runners.AWKS:
            self._awk(name, arguments)
        elif runners.CODE.fullmatch(name):
            if name != "deno" and any(_NO_SCRIPTS.fullmatch(text[:8]) for text in arguments[:8]):
                self.code(" ".join(arguments))
        elif name in _WRITES_BY_OPTION:
            given = [at for at, text in enumerate(arguments) if _WRITES_BY_OPTION[name].match(text)]
            self._name(one for at in given for one in arguments[at : at + 2])
        elif name in _DECOMPRESSES:
            self._name((one for text in arguments for one in (text, text.rpartition(".")[0])), self._perhaps)
        elif name in runners.DATA and name not in _WRITES:
            pass
        elif name not in _BUILDS and name not in runners.SHELLS and not runners.may_run(name):
            self._name(arguments, self._names if name in _WRITES else self._perhaps)

    def _copy(self, name: str, arguments: Sequence[str], operands: Sequence[str]) -> None:
        into = operands[-1:]
        if any(text.startswith(("-t", "--target")) for text in arguments):
            into = arguments
        if name in ("scp", "rsync") and into and ":" in into[0]:
            return  # to another host
        self._name(into)
        sources = operands if name == "mv" or into is arguments else operands[:-1]
        for source in sources:
            if _PATTERN.search(source) or source.endswith(("/.", "/")) or source == ".":
                self._unnamed = True
            last = source.rstrip("/").rpartition("/")[2].rpartition(":")[2]
            self._copied.add(last)
            if _is_of_programs([last]) or _is_of_programs(source.split("/")[-2:-1]):
                self._of_programs = True
            if name != "mv":
                self._copies_of.add(source)

    def _git(self, arguments: Sequence[str]) -> None:
        at = 0
        while at < len(arguments) and arguments[at].startswith("-"):
            at += 2 if arguments[at] in runners.GIT_VALUES | {"-c", "--config-env"} else 1
        sub, rest = (arguments[at], arguments[at + 1 :]) if at < len(arguments) else ("", [])
        plain = [text for text in rest if not text.startswith("-")]
        match sub:
            case "clone" | "am" | "submodule" | "subtree" | "lfs" | "svn" | "worktree" | "archive" | "bundle":
                self._unnamed = self._unnamed or sub not in ("worktree", "submodule", "lfs") or bool(
                    {"add", "update", "pull", "checkout"} & set(plain[:1])
                )  # fmt: skip
                self._of_programs = self._of_programs or any(text.startswith("--template") for text in rest)
            case "apply":
                self._unnamed = self._unnamed or not {"--check", "--stat", "--numstat", "--summary"} & {*rest}
            case "init":
                self._of_programs = self._of_programs or any(text.startswith("--te") for text in rest)
            case "config":
                said = " ".join(rest).lower()
                self._of_programs = self._of_programs or re.search(
                    r"hookspath|template|attributesfile|filter|textconv|alias|command|driver|editor|fsmonitor", said
                ) is not None  # fmt: skip
            case "checkout" | "restore" if "--" in rest:
                self._name(rest[rest.index("--") + 1 :])
            case "restore" | "checkout-index" | "mv" | "show" | "diff" | "log" | "format-patch":
                given = [at for at, text in enumerate(rest) if text.startswith(("--output", "-o"))]
                self._name(one for at in given for one in rest[at : at + 2])
                if sub in ("restore", "checkout-index", "mv") and "--staged" not in rest:
                    self._name(rest)
            case "checkout" | "switch":
                new = {"-b", "-B", "-c", "-C", "--create", "--orphan"} & {*rest}
                self._tree = self._tree or len(plain) > (1 if new else 0)
            case "stash":
                self._tree = self._tree or bool({"pop", "apply", "branch"} & {*plain[:1]})
            case "pull" | "merge" | "rebase" | "reset" | "cherry-pick" | "revert" | "read-tree":
                self._tree = self._tree or (sub != "reset" or "--hard" in rest)
            case _:
                pass

    def _awk(self, name: str, arguments: Sequence[str]) -> None:
        said = " ".join(arguments)
        if name in ("sed", "gsed"):
            in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", text) for text in arguments)
            writes = in_place or _SED_WRITES.search(said) is not None
        else:
            writes = name in runners.EDITORS or ("awk" in name and _AWK_WRITES.search(said) is not None)
        if writes:
            self._name([*_NAME.findall(said), *re.findall(r"w([\w./~-]+)", said)])
            self._of_programs = self._of_programs or "hooks/" in said


def _is_of_programs(parts: Iterable[str]) -> bool:
    return any(part in runners.RUN_BY_NAME or part in ("hooks", ".git", ".husky") for part in parts)


def _scripts(name: str, texts: Sequence[str]) -> Sequence[str]:
    """Return the words of a command that name what it runs as a script."""
    if runners.CODE.fullmatch(name):
        if name != "deno" and any(_NO_SCRIPTS.fullmatch(text[:8]) for text in texts[1:4]):
            module = [texts[at + 1] for at, text in enumerate(texts[:4]) if text == "-m" and texts[at + 1 :]]
            return [one for text in module for one in (f"{text.replace('.', '/')}.py", text)]
        operands = [text for text in texts[1:MOST_WORDS] if not text.startswith("-")]
        return operands[: 2 if name in ("bun", "deno") and operands[:1] in (["run"], ["test"]) else 1]
    if name in runners.AWKS:
        given = [at for at, text in enumerate(texts[1:MOST_WORDS], 1) if re.match(r"-f|--file|-S|-s\b", text)]
        return [
            one.removeprefix("-f").removeprefix("--file=")
            for at in given
            for one in texts[at : at + 2]
            if one
        ]
    if name in _RUNS_SCRIPTS:
        return [text for text in texts[1:MOST_WORDS] if not text.startswith("-")]
    return ()


def _runs_by_itself(name: str, texts: Sequence[str]) -> bool:
    """Tell whether a command runs files that it finds by their names."""
    if name in runners.SHELLS:
        return any(re.match(r"-[a-z]*[li]|--login|--rcfile|--init-file", text) for text in texts[1:4])
    if runners.CODE.fullmatch(name) and name not in ("bun", "deno"):
        return "-m" in texts[1:4]
    return name in _RUNS_BY_ITSELF and (len(texts) < 2 or texts[1] not in _INERT)


def _extracts(arguments: Sequence[str]) -> bool:
    """Tell whether tar takes files out of an archive."""
    options = [text for text in arguments if text.startswith("-")]
    first = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    return any("x" in text for text in first) or any(
        text.startswith(("--ex", "--ge"))
        or (not text.startswith("--") and "x" in re.split("[fCIKTX]", text)[0])
        for text in options
    )


def _always(_: Sequence[str]) -> bool:
    return True


def _unless(*options: str) -> Callable[[Sequence[str]], bool]:
    """Tell whether none of the options is there."""
    return lambda arguments: not any(text.startswith(options) for text in arguments)


def _with(*words: str) -> Callable[[Sequence[str]], bool]:
    return lambda arguments: any(text in words for text in arguments)


_UNPACKS: dict[str, Callable[[Sequence[str]], bool]] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _extracts),
    "unzip": _unless("-l", "-t", "-p", "-v", "-Z", "-c"),
    **dict.fromkeys(("7z", "7za", "7zz", "7zr", "unrar", "rar", "ar", "jar", "dpkg", "dpkg-deb"), _with("x", "e", "xf", "xvf", "-x", "-e", "-R", "--extract", "xo", "X")),
    "cpio": _unless("-o", "--create", "-t", "--list"),
    "pax": _with("-r", "-rf", "-rw"),
    "patch": _unless("--dry-run", "-o"),
    **dict.fromkeys(("unar", "cabextract", "uudecode", "unshar", "unsquashfs", "split", "csplit", "degit", "cookiecutter", "copier", "mcopy"), _always),
    "svn": _with("co", "checkout", "export", "up", "update", "switch"),
    **dict.fromkeys(("docker", "podman", "kubectl", "oc", "nerdctl", "lxc"), _with("cp", "file")),
    "hg": _with("clone", "pull", "up", "update", "checkout", "import"),
    "gh": _with("clone", "download", "checkout", "fork", "sync"),
}  # fmt: skip
"""Programs that write files which no word names, and how to tell."""

_COPIES = frozenset({"cp", "mv", "ln", "link", "install", "rsync", "scp", "gcp", "gmv", "ginstall", "rename"})
_WRITES = frozenset({"tee", "curl", "wget", "dd", "aria2c", "xxd", "uniq"})
"""Programs that write the files which their words name."""
_DECOMPRESSES = frozenset(
    {"gunzip", "gzip", "xz", "unxz", "bunzip2", "bzip2", "zstd", "unzstd", "lz4", "uncompress", "brotli"}
)
_WRITES_BY_OPTION = {
    "sort": re.compile(r"-\w*o|--o"),
    "find": re.compile(r"-f(?:print|ls)"),
    "gfind": re.compile(r"-f(?:print|ls)"),
    "base64": re.compile(r"-o|--output"),
    "jq": re.compile(r"-o"),
}
"""Those that do so with an option alone."""
_WRITES_NOTHING = frozenset(
    {
        *("echo", "printf", "cd", "pwd", "ls", "cat", "grep", "head", "tail", "wc", "test", "[", "true", "false", "export", "chmod", "chown", "mkdir", "rm", "which", "set"),
        *("black", "isort", "shellcheck", "prettier", "flake8", "pylint", "pyright", "shfmt", "gofmt", "rustfmt", "biome", "stylelint", "htmlhint", "markdownlint", "yamllint"),
        *("hadolint", "bat", "less", "more", "sudo", "time", "env", "source", ".", "exec", "eval", "code", "bandit", "vulture", "radon", "coverage", "file", "md5", "shasum", "sha512sum"),
    }
)  # fmt: skip
"""Programs that write no file, or change one in its layout alone."""
_BUILDS = frozenset(
    {
        *("cc", "c++", "clang++", "ld", "as", "nasm", "javac", "kotlinc", "scalac", "ghc", "swiftc", "zig", "cmake", "ninja", "meson", "bazel", "msbuild", "dotnet", "esbuild"),
        *("webpack", "vite", "rollup", "tsup", "swc", "babel", "ocamlc", "fpc", "nim", "crystal", "dart", "flutter", "strip", "objdump", "nm", "cargo", "gradle", "mvn", "tox", "nox"),
        *("jest", "vitest", "mocha", "just", "rake", "uv", "pdm", "hatch", "poetry", "gdb", "valgrind", "node-gyp"),
    }
)  # fmt: skip
"""Programs that build or test what lies in the workspace, as gcc does; they run it, or what they make of it is its own."""
_RUNS_SCRIPTS = frozenset(
    {
        *("tsx", "ts-node", "bats", "expect", "java", "ansible-playbook", "groovy", "scala", "elixir", "swift", "zx", "wish", "crontab", "runghc", "racket", "guile", "escript", "iex"),
        *("nodemon", "pm2", "gdb", "insmod", "ld.so", "zsh-script", "xonsh", "nu", "elvish", "pipx", "uvx", "jshell", "octave", "sqlite3", "psql", "mysql", "docker-compose"),
    }
)  # fmt: skip
"""Programs of no other table that run the files which they are given."""
_RUNS_BY_ITSELF = frozenset(
    {
        *("npm", "pnpm", "yarn", "bun", "npx", "bunx", "make", "gmake", "git", "pytest", "py.test", "tox", "nox", "cargo", "go", "just", "rake", "bundle", "gradle", "gradlew", "mvn"),
        *("mvnw", "composer", "pip", "pip3", "poetry", "uv", "uvx", "pdm", "hatch", "docker", "docker-compose", "podman", "cmake", "ninja", "task", "pre-commit", "lefthook", "vagrant"),
        *("webpack", "vite", "jest", "vitest", "mocha", "eslint", "gulp", "grunt", "turbo", "nx", "mise", "direnv", "ssh", "vim", "nvim", "deno", "scons", "meson", "bazel", "ansible", "su", "login"),
    }
)  # fmt: skip
"""Programs that run files which they find by their names: runners.RUN_BY_NAME, and hooks."""
_INERT = frozenset(
    {
        *("view", "info", "ls", "list", "outdated", "config", "pkg", "root", "search", "audit", "help", "show", "freeze", "version", "env", "fmt", "doc", "tree", "metadata", "--version"),
        *("-v", "-V", "--help", "-h", "ps", "images", "logs", "inspect", "cp", "login", "pull", "status", "diff", "log", "init", "whoami", "set-script", "get", "set", "why", "clone"),
    }
)  # fmt: skip
"""Their subcommands that run nothing of the workspace."""
