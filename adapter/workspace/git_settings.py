"""What stands in the place of programs that a repository's configuration names; pure.

An agent may have written a repository's configuration, and a branch brings attributes and folders of hooks. The person's own
configuration (`~/.gitconfig`, `/etc/gitconfig`, the environment) is trusted, as far as it does not lead into the repository.
So a setting that names a program counts with the person's own value, or with git's default where the person has none.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

OFF: Sequence[tuple[str, str]] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("push.recurseSubmodules", "no"),
    ("status.submoduleSummary", "false"),
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "dirty"),
    ("protocol.ext.allow", "never"),
)
"""What no git of ours does, whoever sets it: run hooks or watchers of files, begin work behind our back, enter submodules by itself."""

MERGE_TEXT = "git merge-file --marker-size=%L %A %O %B"
"""What git does with a file that no driver is named for."""

IN_PLACE: Mapping[tuple[str, str], str] = {
    ("core", "alternaterefscommand"): "true",
    ("core", "askpass"): "",
    ("core", "editor"): "true",
    ("core", "pager"): "cat",
    ("core", "sshcommand"): "ssh",
    ("credential", "helper"): "",
    ("diff", "command"): "false",
    ("diff", "external"): "false",
    ("diff", "textconv"): "cat",
    ("filter", "clean"): "",
    ("filter", "process"): "",
    ("filter", "smudge"): "",
    ("gc", "recentobjectshook"): "true",
    ("gpg", "defaultkeycommand"): "",
    ("gpg", "program"): "gpg",
    ("hook", "command"): "true",
    ("interactive", "difffilter"): "cat",
    ("lfs", "clean"): "",
    ("lfs", "path"): "",
    ("lfs", "smudge"): "",
    ("lfs", "standalonetransferagent"): "",
    ("merge", "driver"): MERGE_TEXT,
    ("sequence", "editor"): "true",
    ("submodule", "update"): "checkout",
    ("tar", "command"): "cat",
    ("trailer", "cmd"): "true",
    ("trailer", "command"): "true",
    ("uploadpack", "packobjectshook"): "",
}
"""By section and name of a setting that names a program, whatever stands between them: what git takes where the person has no value.

A pager, an alias, and a tool for merging by hand are not in it: no command of ours runs them.
"""

REMOTE = frozenset({"receivepack", "uploadpack", "vcs"})
"""Settings of a remote that name programs; of two values git takes the first, so nothing can stand in their place."""

PROGRAMS_OF_FORMATS: Mapping[str, str] = {"gpg.x509.program": "gpgsm", "gpg.ssh.program": "ssh-keygen"}
"""The same for whole names."""


class Setting(Struct, frozen=True):
    """One value of git's configuration."""

    scope: str
    """`system`, `global`, `local`, `worktree` or `command`."""
    origin: str
    """Such as `file:.git/config`."""
    key: str
    value: str


def parse_settings(listed: str, scope: str | None = None) -> list[Setting]:
    """Read what `git config --list --null --show-scope --show-origin` says; without scopes and origins where `scope` is given."""
    fields = listed.split("\0")[:-1]
    if scope is not None:
        return [Setting(scope, "", *_split(field)) for field in fields]
    return [
        Setting(scope, origin, *_split(field))
        for scope, origin, field in zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    ]


def _split(field: str) -> tuple[str, str]:
    key, separator, value = field.partition("\n")
    return key, value if separator else "true"


def parts_of(key: str) -> tuple[str, str, str]:
    """Return section, subsection and name of a setting."""
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    return section, subsection, name


def is_brought(setting: Setting, is_inside: Callable[[str], bool]) -> bool:
    """Tell whether a repository brings a setting: it is in its own files, or names a program in the repository.

    Args:
        setting: which.
        is_inside: whether a path, from the working tree or from the root, is a file of the repository.
    """
    if setting.scope in ("local", "worktree", "submodule"):
        return True
    kind, _, place = setting.origin.partition(":")
    if kind == "file" and is_inside(place):
        return True
    if in_place_of(setting.key) is None:
        return False
    try:
        words = shlex.split(setting.value)
    except ValueError:
        words = setting.value.split()
    return any(is_inside(word.lstrip("!")) for word in words)


def in_place_of(key: str) -> str | None:
    """Return what stands in the place of a program that a setting names; None for a setting that names none."""
    section, _, name = parts_of(key)
    return PROGRAMS_OF_FORMATS.get(key) or IN_PLACE.get((section, name))


def overrides(
    settings: Iterable[Setting], is_inside: Callable[[str], bool], *, skips_filters: bool
) -> list[tuple[str, str]]:
    """Return settings that git is to be told, in this order, so that nothing runs that the repository brings.

    Args:
        settings: all that git reads in the repository.
        is_inside: as in is_brought.
        skips_filters: a file whose filter does not run is taken as it is, though the filter is required. Otherwise git refuses.
    """
    own: dict[str, list[str]] = {}
    brought: dict[str, str] = {}
    for one in settings:
        standing = in_place_of(one.key)
        if standing is None:
            continue
        if is_brought(one, is_inside):
            brought[one.key] = standing
        else:
            own.setdefault(one.key, []).append(one.value)
    told: list[tuple[str, str]] = []
    for key, standing in brought.items():
        section, subsection, _ = parts_of(key)
        if section == "credential":
            # an empty value forgets the helpers that came before
            helpers = [*own.get("credential.helper", []), *(own.get(key, []) if subsection else [])]
            told += [(key, value) for value in ("", *helpers)]
        else:
            told.append((key, own[key][-1] if key in own else standing))
        if section == "filter" and skips_filters and key not in own:
            told.append((f"filter.{subsection}.required", "false"))
    return [*told, *OFF]


def as_environment(told: Iterable[tuple[str, str]], environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment by which git reads more settings, after those that it has already."""
    before = environment.get("GIT_CONFIG_COUNT", "")
    start = int(before) if before.isdecimal() else 0
    found = dict(environment)
    for number, (key, value) in enumerate(told, start):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
        found["GIT_CONFIG_COUNT"] = str(number + 1)
    return found


def reaches_by_program(settings: Iterable[Setting], is_inside: Callable[[str], bool]) -> bool:
    """Tell whether a repository names programs of its own by which git would reach a remote, as it does for missing objects too."""
    return any(
        parts_of(one.key)[0] == "remote" and parts_of(one.key)[2] in REMOTE and is_brought(one, is_inside)
        for one in settings
    )


def included(settings: Iterable[Setting]) -> list[str]:
    """Return the files that settings include, on whatever condition."""
    return [
        one.value
        for one in settings
        if parts_of(one.key)[0] in ("include", "includeif") and parts_of(one.key)[2] == "path"
    ]
