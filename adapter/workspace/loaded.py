"""Places in a workspace from which programs are started without anybody naming them: by agents, editors, shells, package managers and git.

What agents load stands with their other facts (turnwire/config/agents.toml). Files that a person runs on purpose, such as a Makefile,
`package.json` or tests, are none of these.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

LOADED = (
    # git, and what manages its hooks
    ".gitconfig", ".githooks/", ".gitmodules", ".hg/", ".husky/", ".lefthook.toml", ".lefthook.yaml", ".lefthook.yml", ".lefthook/",
    ".jj/repo/config.toml", ".lefthook.json", "lefthook.json", "prek.toml",
    ".overcommit.yml", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook-local.yml", "lefthook.toml", "lefthook.yaml", "lefthook.yml",
    # shells, and what changes their environment in a folder
    ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh", ".env.leave", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".config/mise/", ".config/mise.toml", ".envrc",
    ".mise.local.toml", ".mise.toml", ".mise/", ".profile", ".rtx.toml", ".rvmrc", ".zlogin", ".zprofile", ".zshenv", ".zshrc", "mise.local.toml",
    "mise.toml", "mise/config.toml",
    # editors, and agents in them
    "*.code-workspace", ".aider.conf.yml", ".clinerules/", ".continue/", ".devcontainer.json", ".devcontainer/", ".dir-locals-2.el",
    ".crush.json", ".crush/", ".dir-locals.el", ".exrc", ".helix/", "crush.json", ".fleet/", ".idea/", ".junie/", ".lvimrc", ".mcp.json", ".nvim.lua", ".nvimrc", ".roo/", ".roomodes", ".vimrc",
    ".vscode/", ".windsurf/", ".zed/",
    # package managers and builds
    ".buckconfig.local", ".jvmopts", ".pixi/config.toml", ".sbtopts", "rust-toolchain", "rust-toolchain.toml", "uv.toml",
    ".bazeliskrc", ".bazelrc", ".buckconfig", ".bundle/config", ".cargo/config", ".cargo/config.toml", ".mvn/", ".npmrc", ".pnpmfile.cjs",
    ".pnpmfile.mjs", ".yarnrc", ".yarnrc.yml", "bunfig.toml", "pnpmfile.js",
    # languages and debuggers
    ".erlang", ".iex.exs", ".pdbrc.py", ".rdata", "sitecustomize/", "usercustomize/",
    ".gdbinit", ".ghci", ".irbrc", ".lldbinit", ".ocamlinit", ".octaverc", ".pdbrc", ".pryrc", ".renviron", ".rprofile", "sitecustomize.py",
    "usercustomize.py",
    # turnwire
    "turnwire.toml",
)  # fmt: skip
"""Names and paths, in lower case, in any folder of a workspace. A folder ends in `/`; `*` stands at the beginning alone."""

BROUGHT = (".gitattributes",)
"""What a merge should tell besides: ordinary work, by which git finds the filters and drivers of the person's own configuration."""


class LoadedPlaces(Struct, frozen=True):
    """A table of such places, to look paths up in; case does not count."""

    names: frozenset[str]
    paths: frozenset[str]
    """Places of several names."""
    ends: tuple[str, ...]
    """Ends of names."""

    @classmethod
    def of(cls, places: Iterable[str]) -> "LoadedPlaces":
        """Build the table of names and paths as LOADED has them."""
        found = {place.rstrip("/").casefold() for place in places}
        ends = {place for place in found if place.startswith("*")}
        return cls(
            names=frozenset(place for place in found - ends if "/" not in place),
            paths=frozenset(place for place in found - ends if "/" in place),
            ends=tuple(sorted(place[1:] for place in ends)),
        )

    def is_one(self, path: str) -> bool:
        """Tell whether a path ends with such a place."""
        folded = path.casefold()
        name = folded.rpartition("/")[2]
        if name in self.names or (self.ends and name.endswith(self.ends)):
            return True
        return any(folded == one or folded.endswith(f"/{one}") for one in self.paths)

    def within(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield those paths that are such a place, or in one."""
        for path in paths:
            parts = path.split("/")
            if any(self.is_one("/".join(parts[:length])) for length in range(1, len(parts) + 1)):
                yield path
