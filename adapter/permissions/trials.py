"""What was tried of an agent: whether it asks before it acts under the policy supervised. Pure.

`turnwire conform agent` makes such trials. Those of known agents are in turnwire/config/agents.toml. A trial holds for the
major version that was tried, in the kind of folder in which it was tried.
"""

from collections.abc import Mapping

from msgspec import Struct

from turnwire.normalize.vocabulary import CHANGES, Act, Asked, FolderKind

SCRIPTED = "turnwire.scripted_agent"
"""What stands for the program of turnwire's own agent for demos and tests."""

WORDS: Mapping[Act, str] = {
    "command": "commands",
    "write": "new files",
    "edit": "changes of files",
    "outside": "reading outside of its folder",
    "web": "web pages",
}

PLACES: Mapping[FolderKind, str] = {"plain": "a folder without git", "git": "a git folder"}


class Trial(Struct, frozen=True):
    """A trial of one version of an agent."""

    asked: Mapping[FolderKind, Mapping[Act, Asked]]
    """Kind of folder -> act -> verdict. What is missing was not tried."""
    version: str | None = None
    """The version; None if the agent tells none, or is the same in all versions."""
    since: str | None = None
    """The oldest version that it holds for; None for the beginning of the major version."""


class Standing(Struct, frozen=True):
    """Whether the policy supervised holds for an agent in a folder."""

    refusal: str | None = None
    """Why it does not, as the end of a sentence about the agent."""
    notice: str | None = None
    """What people should know where it does."""


def standing(trial: Trial | None, version: str | None, kind: FolderKind) -> Standing:
    """Return whether supervised holds for an agent of a version in a kind of folder."""
    place = PLACES[kind]
    if trial is None:
        return Standing("was never tried: nobody knows whether it asks before it acts")
    if not _covers(trial, version):
        return Standing(
            f"was tried in version {trial.version}, and this is {version or 'a version that it does not tell'}"
        )
    acts = trial.asked.get(kind, {})
    if failed := [WORDS[act] for act in CHANGES if acts.get(act) == "not held"]:
        return Standing(f"does not ask about {' and '.join(failed)} in {place}")
    missing = [act for act in CHANGES if acts.get(act) != "held"]
    if missing and missing != ["edit"]:
        return Standing(
            f"was not tried in {place}: nobody knows whether it asks about {' and '.join(WORDS[act] for act in missing)}"
        )
    if missing:
        return Standing(
            notice=f"asks about commands and new files in {place}; {WORDS['edit']} were not tried"
        )
    if version != trial.version is not None:
        return Standing(notice=f"was tried in version {trial.version}; this is {version}")
    return Standing()


def _covers(trial: Trial, version: str | None) -> bool:
    if trial.version is None:
        return True
    if version is None:
        return False
    ours, tried = _numbers(version), _numbers(trial.version)
    oldest = tried[:1] if trial.since is None else _numbers(trial.since)
    return bool(ours) and oldest <= ours and ours[:1] <= tried[:1]


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with: 1.10.0-beta.2 is (1, 10, 0)."""
    found = []
    for part in version.lstrip("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
        if digits != part:
            break
    return tuple(found)
