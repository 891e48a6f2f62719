"""Rules that allow more than they seem to: what to say when they are loaded; pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from turnwire.adapter.permissions.programs import Program, programs
from turnwire.adapter.permissions.rules import Rule
from turnwire.adapter.permissions.runners import LINES_IN_ARGUMENTS, PREFIXES

_FOLDER = re.compile(r"\A\S*/")
_PREFIX = re.compile(rf"\A(?:(?:{'|'.join(map(re.escape, PREFIXES))}) +)+(?=[^\s\-*?\[])")
_NO_PROGRAM = "a-program-that-nobody-has x"
"""A pattern that covers this means every program, and says so."""

PROGRAMS = {
    **{name: (f"{name} sh", f"{name} ls *") for name in (*PREFIXES, *LINES_IN_ARGUMENTS, "su", "script")},
    "git": ("git -c alias.x='!sh' x", "git status, git log, git diff"),
    **dict.fromkeys(("make", "gmake"), ("make --eval='x:;sh' x", "make test, make lint")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("npm exec sh", "npm test, npm run lint")),
    **dict.fromkeys(("npx", "bunx", "uvx", "pipx"), ("npx any-package", "npx tsc, npx eslint")),
    **dict.fromkeys(("uv", "poetry", "hatch", "pdm"), ("uv run sh", "uv run pytest")),
    **dict.fromkeys(
        ("docker", "podman", "kubectl"), ("docker run -v /:/host image", "docker ps*, docker logs *")
    ),
    **dict.fromkeys(("python", "python3"), ("python3 -c CODE", "python3 -m pytest")),
    **dict.fromkeys(("node", "deno"), ("node -e CODE", "node build.js")),
    **dict.fromkeys(("perl", "ruby", "php"), ("perl -e CODE", "perl check.pl *")),
    **dict.fromkeys(("bash", "sh", "zsh", "dash"), ("bash any-script", "bash build.sh")),
    **dict.fromkeys(("cargo", "go"), ("cargo run, go run", "cargo test, go test")),
    **dict.fromkeys(("gradle", "mvn", "gradlew", "mvnw"), ("gradle -I script", "gradle test, mvn test")),
    **dict.fromkeys(("tar", "rsync", "ssh", "scp"), ("tar --checkpoint-action=exec=sh …", "tar -tf x.tar")),
    **dict.fromkeys(("awk", "gawk", "sed"), ("awk 'BEGIN{system(\"sh\")}'", "awk '{print $1}' *")),
    **dict.fromkeys(("vi", "vim", "nvim", "ed", "emacs", "less", "man"), ("vim -c ':!sh'", "less build.log")),
    **dict.fromkeys(("gdb", "strace", "perf"), ("gdb -ex 'shell sh'", "gdb --version")),
}
"""Programs that run any other by their options or arguments: how, and what leaves that out, a program that is defined or patterns."""


def warnings(rules: Sequence[Rule]) -> list[str]:
    """Return one sentence for each pattern that allows more than it seems to, with a form that does not."""
    return [
        f"rule {number} {told}"
        for number, rule in enumerate(rules, 1)
        if rule.action == "allow"
        for told in (*_tools(rule), *_commands(rule))
    ]


def _tools(rule: Rule) -> Iterator[str]:
    for pattern in rule.tools:
        server = pattern.removeprefix("mcp__").partition("__")[0]
        name = server.rstrip("*?")
        if pattern.startswith("mcp__") and name and re.search(r"[*?\[]", server):
            yield (
                f"allows tools of every MCP server whose name fits {server!r}, such as {name}_evil; "
                f"name the server: mcp__{name}__*"
            )


def _commands(rule: Rule) -> Iterator[str]:
    patterns = [pattern for argument, pattern in rule.input if argument == "command"]
    expressions = [regex for argument, regex in rule.regex if argument == "command"]
    covers: list[Callable[[str], object]] = [_meaning(pattern).match for pattern in patterns]
    covers += [regex.search for regex in expressions]
    if rule.programs or not covers or all(cover(_NO_PROGRAM) for cover in covers):
        return
    for name, (how, instead) in PROGRAMS.items():
        arguments = how.partition(" ")[2]
        if any(
            all(cover(line) for cover in covers)
            for line in (f"{name} {arguments}", f"{name} -C . {arguments}")
        ):
            shown = [*patterns, *(regex.pattern for regex in expressions)][0]
            yield f"allows {shown!r}, and {name} runs other programs ({how}); allow what is meant: {offered(instead)}"
            return
    if all(map(is_exact, patterns)) and not expressions:
        return
    for program in dict.fromkeys(programs().values()):
        for line in program.harms:
            if any(all(cover(one) for cover in covers) for one in _spellings(line, program)):
                shown = [*patterns, *(regex.pattern for regex in expressions)][0]
                meant = offered(_named(shown, line, program))
                yield f"allows {shown!r}, and {line!r} writes a file or runs a program; allow what is meant: {meant}"
                return


def offered(instead: str) -> str:
    """Return what to write into a rule: programs that are defined by name, other commands as they are."""
    return ", ".join(f'program = "{one}"' if one in programs() else one for one in instead.split(", "))


def is_exact(pattern: str) -> bool:
    """Tell whether a pattern has no wildcard: then an operator has written just that."""
    return not re.search(r"[*?\[]", pattern)


def _named(pattern: str, line: str, program: Program) -> str:
    names = (program.name, *program.also)
    return next((one for said in (pattern, line) for one in names if said.startswith(one)), program.name)


def _spellings(line: str, program: Program) -> Iterator[str]:
    """Yield a line as it is written by each name of its program, and without the program that runs it."""
    begin = next((one for one in (program.name, *program.also) if line.startswith(f"{one} ")), None)
    names = (begin,) if begin is None else (program.name, *program.also)
    for one in names:
        spelled = line if one is None or begin is None else one + line.removeprefix(begin)
        yield spelled
        yield _PREFIX.sub("", spelled)


def _meaning(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a command without its folder and without the programs before it that run it."""
    return re.compile(translate(_FOLDER.sub("", re.sub(r" +", " ", _PREFIX.sub("", pattern)))))
