"""Hold an agent to what was tried of it, under the policy supervised and where rules deny (adapter/permissions/trials.py)."""

from turnwire._runtime.git_folder import git_above
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.trials import Trial, rules_in_doubt, standing
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.vocabulary import FolderKind

WAY_OUT = (
    "`turnwire conform agent` tries it here and keeps what it finds. Or take another agent or another policy, "
    "or set accept_unasked = true in the configuration to start it all the same"
)


def trial_of(options: SessionOptions) -> Trial | None:
    """Return the trial of an agent whose family has only this one; None if there is none."""
    return options.trials.get("") or next(iter(options.trials.values()), None)


def tell_rules_in_doubt(
    options: SessionOptions, trial: Trial | None, version: str | None, *, who: str, notify: Notify
) -> None:
    """Publish which rules an agent may not be held to, whatever the policy: it does not ask before what they are about."""
    if not options.rules:
        return
    if (in_doubt := rules_in_doubt(options.rules, trial, version, _kind_of(options))) is not None:
        notify(SessionNotice("rules_in_doubt", f"{who} {in_doubt}."))


def _kind_of(options: SessionOptions) -> FolderKind:
    return "plain" if git_above(options.workspace) is None else "git"


def check_tried(
    options: SessionOptions, trial: Trial | None, version: str | None, *, who: str, notify: Notify
) -> None:
    """Publish what is not sure of an agent. Raises RequestFailed if supervised would not hold, unless that is accepted."""
    if options.policy != "supervised":
        return
    found = standing(trial, version, _kind_of(options))
    if found.refusal is not None and not options.accept_unasked:
        raise RequestFailed(
            f"{who} {found.refusal}, so the policy supervised would not hold and the agent is not started. {WAY_OUT}"
        )
    if (said := found.refusal or found.notice) is not None:
        notify(SessionNotice("asks_not_everything", f"{who} {said}."))
