"""Why a hub closes a connection and why it refuses a command: the hub's own table.

Generated from turnwire/hub/wire/codes.py by `make client-types`; do not edit.
"""

CLOSE_CODES: dict[int, str] = {
    1001: "The sidecar is stopping. Reconnect later, with the cursor.",
    1002: "The frontend broke the WebSocket protocol.",
    1006: "Seen only by the frontend: the connection was lost, for example after a long silence of the frontend.",
    1007: "A text frame was not UTF-8.",
    1009: "A frame was larger than allowed.",
    1011: "The hub failed at this connection. Its log says why.",
    4401: "The token is wrong, missing, revoked or expired, or the login has ended.",
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
    "unauthorized": "The token is wrong or missing. The connection is closed with 4401, unless it had shown a valid one before.",
    "forbidden": "This command is not allowed for the role `view`, or for a principal with access to some sessions only.",
    "not_allowed": "The operator does not let frontends request this. The message names the setting that would allow it.",
    "rate_limited": "Too many commands. This one was not executed. Wait, then send it again.",
    "unknown_session": "There is no such session.",
    "unknown_conversation": "No agent has stored such a conversation, or it cannot be read. The message says which.",
    "no_library": "turnwire does not list agents' conversations here, or their index cannot be used. The message says why.",
    "no_push": "Web push is not available here. The message says why.",
    "followed": "Another CLI has this conversation open, and turnwire shows its new messages. Close that CLI, or fork.",
    "in_session": "Another session has this conversation. The message names it if it is yours. Go on there, or fork.",
    "in_terminal": "The agent's own interface has this conversation open in a terminal. Prompts wait. `native.take_back` ends it.",
    "busy": "The agent is in a turn. Wait for its end, or interrupt it.",
    "background_work": "The agent runs a background task, which the message names. Confirm with `end_background` to end it.",
    "no_repository": "The session's workspace is not in a git repository, or git cannot read it. The message says why.",
    "unknown_file": "The path names no file of the workspace that can be shown.",
    "no_worktrees": "turnwire makes no worktrees here, or made none for this session. The message says why.",
    "refused_by_git": "git cannot do it, or work would be lost. The message says why and what to do. Nothing has changed.",
    "changed": "The file, the worktree or its base has changed since it was shown. Look at it again, then repeat the command.",
    "no_port": "The session has no network of its own, or nothing listens on this port. The message says which.",
    "no_shell": "Shells are off here, this session can have none now, or there is no such shell. The message says which.",
    "unknown_event": "The log has no event with this number, or has deleted it.",
    "not_running": "No CLI runs in this session. `session.resume` starts one.",
    "running": "The session's CLI is already running.",
    "not_live": "This kind of session does not accept the command. Example: a prompt to a replay.",
    "cannot_start": "The CLI could not be started. The message says why.",
    "journal_unavailable": "Events cannot be stored at present, so nothing was started. The message says why.",
    "limit_sessions": "The maximum number of sessions is reached.",
    "limit_processes": "The maximum number of running CLIs is reached.",
    "limit_principal": "A principal has reached a limit: sessions, agents, bytes or dollars a day. The message names both.",
    "nothing_to_resume": "The session has no conversation yet.",
    "nothing_to_retry": "The session has had no prompt yet.",
    "unknown_request": "There is no such permission request or question.",
    "already_answered": "The request is already answered, by a user or a policy. The first answer counts.",
    "cancelled": "The request is no longer open: it was withdrawn, or its turn has ended.",
    "invalid_answer": "The answer does not fit the request. The message says why.",
    "refused_by_cli": "The CLI refused the request, or cannot go back to the message. The message says why.",
    "not_supported": "The session's agent cannot do this; see its `abilities`. Nothing was stopped.",
    "timeout": "The CLI, git, or their worker did not answer in time.",
    "no_worker": "No available worker of the fleet fits. The message says what was required.",
    "unreachable": "The worker of the session is gone, or ended without an answer. The message says whether the command may have run.",
    "internal": "The sidecar failed at this command. Its log says why.",
}
"""`code` of CommandFailed."""
