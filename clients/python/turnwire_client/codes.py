"""Why a hub closes a connection and why it refuses a command: the hub's own table.

Generated from turnwire/hub/wire/codes.py by `make client-types`; do not edit.
"""

CLOSE_CODES: dict[int, str] = {
    1001: "The sidecar stops. Come back later, with the cursor.",
    1002: "The frontend broke the WebSocket protocol.",
    1006: "Seen by the frontend only: the connection was cut, as after a long silence of the frontend.",
    1007: "A text frame was not UTF-8.",
    1009: "A frame was larger than allowed.",
    1011: "The hub failed at this connection; its log says why.",
    4401: "The token is wrong, or none was shown; or the login is over, or the token was revoked or has expired meanwhile.",
    4408: "No token was shown in time.",
    4429: "Too many wrong tokens from this address, too many connections of the role `view`, or far too many commands on this one.",
}
"""What a client can see as the code of a closed connection."""

FINAL_CLOSE_CODES: frozenset[int] = frozenset({4401})
"""Those after which trying again would not help: the client fails with AccessRefused."""

REPLY_CODES: dict[str, str] = {
    "bad_frame": "The frame is not a text frame holding one JSON object.",
    "unknown_command": "There is no command of this `type`.",
    "invalid_params": "A field is missing, wrong or unknown; `field` names it.",
    "unauthorized": "The token is wrong, or none was shown. Closed with 4401, unless the connection had shown one before.",
    "forbidden": "The role `view`, or a principal that is held to some sessions, may not send this command.",
    "not_allowed": "More than the operator lets frontends ask for; the message names the setting that would allow it.",
    "rate_limited": "Too many commands; this one was not done. Wait, then send it again.",
    "unknown_session": "There is no such session.",
    "unknown_conversation": "There is no such conversation among those that agents have kept, or it cannot be read; the message says which.",
    "no_library": "The conversations of agents are not listed here, or their index cannot be used; the message says why.",
    "no_push": "Web push is not to be had here; the message says why.",
    "followed": "Somebody's own CLI has this conversation open; it is shown as it grows. Close that CLI, or fork.",
    "in_terminal": "The agent's own interface has this conversation in a terminal. `native.take_back` ends it; prompts wait.",
    "busy": "The agent works. Wait for the end of its turn, or interrupt it.",
    "background_work": "The agent runs something in the background, which the message names. Confirm with `end_background`.",
    "no_repository": "The session's workspace is in no git repository, or git cannot read it; the message says why.",
    "unknown_file": "The path names no file of the workspace that can be shown.",
    "no_worktrees": "turnwire makes no worktrees here, or made none for this session; the message says why.",
    "refused_by_git": "git cannot do it, or something would be lost; the message says why and what to do. Nothing has changed.",
    "changed": "The file, the worktree or its base has changed since it was shown; look again, then repeat it.",
    "no_port": "The session has no network of its own, or nothing listens on this port; the message says which.",
    "unknown_event": "The log has no event of this number, or has it no longer.",
    "not_running": "No CLI runs in this session; `session.resume` starts one.",
    "running": "The session's CLI runs already.",
    "not_live": "This command is not for this kind of session, such as a prompt to a replay.",
    "cannot_start": "The CLI could not be started; the message says why.",
    "journal_unavailable": "Events cannot be kept at present, and what is not kept is not shown; the message says why. Nothing was begun.",
    "limit_sessions": "There are as many sessions as there may be.",
    "limit_processes": "As many CLIs run as may.",
    "limit_principal": "A principal has used what it may: sessions, agents, bytes or dollars a day; the message names both.",
    "nothing_to_resume": "The session has no conversation yet.",
    "nothing_to_retry": "The session has had no prompt yet.",
    "unknown_request": "There is no such permission request or question.",
    "already_answered": "Somebody, or a policy, has answered it; the first answer counts.",
    "cancelled": "It is void: withdrawn, or its turn is over.",
    "invalid_answer": "The answer does not fit the request; the message says how.",
    "refused_by_cli": "The CLI refused the request, or the message to go back to; it says why.",
    "not_supported": "The session's agent cannot do this at all, see its `abilities`. Nothing was stopped.",
    "timeout": "The CLI, git, or the worker that runs them, did not answer in time.",
    "no_worker": "No worker of the fleet that is there fits; the message says what was looked for.",
    "unreachable": "The worker that has the session is gone, or ended before it answered; the message says whether it may have been done.",
    "internal": "The sidecar failed at this command; its log says why.",
}
"""`code` of CommandFailed."""
