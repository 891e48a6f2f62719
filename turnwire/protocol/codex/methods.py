"""Methods of `codex app-server`, as version 0.169.0 writes them with `generate-ts --experimental`.

A method that is in no table is unknown. A new version's methods go here once somebody has looked at them.
"""

INITIALIZE = "initialize"
INITIALIZED = "initialized"
MODEL_LIST = "model/list"
TERMINALS_LIST = "thread/backgroundTerminals/list"
TERMINALS_TERMINATE = "thread/backgroundTerminals/terminate"
THREAD_FORK = "thread/fork"
THREAD_RESUME = "thread/resume"
THREAD_START = "thread/start"
TURN_INTERRUPT = "turn/interrupt"
TURN_START = "turn/start"
TURN_STEER = "turn/steer"

VERSION = "0.169.0"
"""The newest version whose methods are known."""

QUIET = frozenset({
    "account/gatewayOAuth/changed", "account/login/completed", "account/updated", "app/list/updated",
    "autoApprovalReview/strictReviewRequired", "command/exec/outputDelta",
    "externalAgentConfig/import/completed", "externalAgentConfig/import/progress", "fs/changed",
    "fuzzyFileSearch/sessionCompleted", "fuzzyFileSearch/sessionUpdated", "item/autoApprovalReview/completed",
    "item/autoApprovalReview/started", "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta", "item/mcpToolCall/progress", "item/plan/delta",
    "item/reasoning/summaryPartAdded", "mcpServer/event/stream/notification",
    "mcpServer/oauthLogin/completed", "model/safetyBuffering/updated", "model/verification",
    "modelProvider/authRecoveryCompleted", "modelProvider/authRecoveryStarted", "process/exited",
    "process/outputDelta", "project/changed", "rawResponse/completed", "rawResponseItem/completed",
    "remoteControl/status/changed", "skills/changed", "thread/archived", "thread/attachment/updated",
    "thread/closed", "thread/compacted", "thread/deleted", "thread/environment/connected",
    "thread/environment/disconnected", "thread/goal/cleared", "thread/goal/updated", "thread/name/updated",
    "thread/prediction/updated", "thread/project/updated", "thread/queue/changed", "thread/readState/changed",
    "thread/realtime/closed", "thread/realtime/error", "thread/realtime/item/completed",
    "thread/realtime/item/started", "thread/realtime/item/transcript/delta", "thread/realtime/itemAdded",
    "thread/realtime/outputAudio/delta", "thread/realtime/sdp", "thread/realtime/started",
    "thread/realtime/transcript/delta", "thread/realtime/transcript/done", "thread/reverted",
    "thread/section/changed", "thread/status/changed", "thread/unarchived", "turn/moderationMetadata",
    "windows/worldWritableWarning", "windowsSandbox/setupCompleted",
})  # fmt: skip
"""Notifications that tell no frontend anything new."""

QUIET_REQUESTS = frozenset(
    {
        "account/chatgptAuthTokens/refresh",
        "attestation/generate",
        "currentTime/read",
        "item/tool/call",
    }
)
"""Requests that a program answers and no person."""
