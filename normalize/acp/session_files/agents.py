"""The agents whose conversation files turnwire reads."""

from collections.abc import Mapping

from turnwire.normalize.acp.session_files.codex import CodexFiles
from turnwire.normalize.acp.session_files.copilot import CopilotFiles
from turnwire.normalize.acp.session_files.cursor import CursorFiles
from turnwire.normalize.acp.session_files.droid import DroidFiles
from turnwire.normalize.acp.session_files.files import ConversationFiles
from turnwire.normalize.acp.session_files.gemini import GeminiFiles
from turnwire.normalize.acp.session_files.kimi import KimiFiles
from turnwire.normalize.acp.session_files.opencode import OpenCodeFiles
from turnwire.normalize.acp.session_files.pi import PiFiles
from turnwire.normalize.acp.session_files.qwen import QwenFiles

RECORDS: Mapping[str, ConversationFiles] = {
    files.agent: files
    for files in (
        CodexFiles(), CopilotFiles(), CursorFiles(), DroidFiles(), GeminiFiles(), KimiFiles(), OpenCodeFiles(), PiFiles(), QwenFiles(),
    )
}  # fmt: skip
"""Agent name -> its files."""
