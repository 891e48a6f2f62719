"""Rules that allow more than they seem to: what to say when they are loaded; pure."""

import re
from collections.abc import Iterator, Sequence

from turnwire.adapter.permissions.rules import Rule

_SUBCOMMANDS = re.compile(r"\A(?:\S*/)?([\w.+-]+)(?: ?\*.*)?")

PROGRAMS = {
    "git": ("git -c alias.x='!sh' x", "git status*, git log *, git diff *"),
    **dict.fromkeys(("make", "gmake"), ("make --eval='x:;sh' x", "make test, make lint")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("npm exec sh", "npm test, npm run lint")),
    **dict.fromkeys(("npx", "bunx", "uvx", "pipx"), ("npx any-package", "npx tsc *, npx eslint *")),
    **dict.fromkeys(("uv", "poetry", "hatch", "pdm"), ("uv run sh", "uv run pytest *, uv sync")),
    **dict.fromkeys(
        ("docker", "podman", "kubectl"), ("docker run -v /:/host image", "docker ps*, docker logs *")
    ),
    **dict.fromkeys(("python", "python3"), ("python3 -c CODE", "python3 -m pytest *")),
    **dict.fromkeys(("node", "deno"), ("node -e CODE", "node build.js")),
    **dict.fromkeys(("perl", "ruby", "php"), ("perl -e CODE", "perl check.pl *")),
    **dict.fromkeys(("bash", "sh", "zsh", "dash"), ("bash any-script", "bash build.sh")),
    **dict.fromkeys(("cargo", "go"), ("cargo run, go run", "cargo test *, go test *")),
    **dict.fromkeys(("gradle", "mvn", "gradlew", "mvnw"), ("gradle -I script", "gradle test, mvn test")),
    **dict.fromkeys(("tar", "rsync", "ssh", "scp"), ("tar --checkpoint-action=exec=sh …", "tar -tf *")),
    **dict.fromkeys(("awk", "gawk", "sed"), ("awk 'BEGIN{system(\"sh\")}'", "awk '{print $1}' *")),
    **dict.fromkeys(("vi", "vim", "nvim", "ed", "emacs", "less", "man"), ("vim -c ':!sh'", "less build.log")),
    **dict.fromkeys(("gdb", "strace", "perf"), ("gdb -ex 'shell sh'", "gdb --version")),
}
"""Programs that run any other by their options or arguments: how, and patterns that leave that out."""


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
    for argument, pattern in rule.input:
        found = _SUBCOMMANDS.fullmatch(pattern) if argument == "command" and "*" in pattern else None
        if found is not None and found[1] in PROGRAMS:
            how, instead = PROGRAMS[found[1]]
            yield f"allows {pattern!r}, and {found[1]} runs other programs ({how}); allow what is meant: {instead}"
