"""What was tried of an agent: whether it asks before it acts under the policy supervised. Pure.

`turnwire conform agent` makes such trials. Those of known agents are in turnwire/config/agents.toml. A trial holds for the
major version that was tried, in the kind of folder in which it was tried.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from turnwire.adapter.permissions.rules import PATHS, Rule
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


def rules_in_doubt(
    rules: Sequence[Rule], trial: Trial | None, version: str | None, kind: FolderKind
) -> str | None:
    """Name the rules that deny or ask about what an agent was not seen to ask about, as the end of a sentence; None for none."""
    acts = trial.asked.get(kind, {}) if trial is not None and _covers(trial, version) else {}
    unseen: dict[Act, None] = {}
    named: list[str] = []
    for number, rule in enumerate(rules, 1):
        if rule.action != "allow" and (
            doubtful := [act for act in _acts_of(rule) if acts.get(act) != "held"]
        ):
            unseen |= dict.fromkeys(doubtful)
            named.append(f"rule {number} ({rule.reason or _in_words(rule)})")
    if not named:
        return None
    return (
        f"was not seen to ask about {' and '.join(WORDS[act] for act in unseen)} in {PLACES[kind]}: turnwire sees those only "
        f"when they are done, and cannot enforce {', '.join(named)}"
    )


def _acts_of(rule: Rule) -> Sequence[Act]:
    """Return what a rule may be about."""
    arguments = {name for name, _ in (*rule.input, *rule.regex)}
    if "command" in arguments:
        return ("command",)
    if "url" in arguments:
        return ("web",)
    if not arguments.isdisjoint(PATHS):
        return ("write", "edit", "outside")
    return () if all(tool.startswith("mcp__") for tool in rule.tools) else tuple(WORDS)


def _in_words(rule: Rule) -> str:
    patterns = [*rule.input, *((name, regex.pattern) for name, regex in rule.regex)]
    return " ".join([rule.action, *rule.tools, *(f"{name} {pattern}" for name, pattern in patterns)])


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
